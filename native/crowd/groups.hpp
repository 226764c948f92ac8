// Groups of sparse rows and their gain (api.hpp).
//
// `half` are the items of a group with 2c >= s; those with 2c > s are its center. A row t that joins gains |t & half| -
// |center \ t|; one that leaves gains |half \ t| - |t & center|; both may be negative.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::crowd {

struct Counted {
    std::int32_t item, count;
};

struct HalfItem {
    std::int32_t item;
    bool central;
};

struct Group {
    std::vector<std::int32_t> members;
    std::vector<Counted> counts;  // of the items that members hold, in no particular order
    std::int32_t forgotten = 0;   // no item that is not counted any more is held by more members than that
    std::vector<HalfItem> half;
    std::int32_t center = 0;
    std::int64_t gain = 0;

    std::int32_t size() const { return static_cast<std::int32_t>(members.size()); }
};

// What swapping a row with others needs: its items, the counts of both groups, and what each item of the others adds.
struct SwapTable {
    std::vector<std::int32_t> mine, theirs;
    std::vector<std::int8_t> worth, held, adds;
    std::vector<std::int32_t> adding;  // items that may add something
    std::int32_t all = 0;

    void prepare(std::int32_t n_items) {
        mine.resize(n_items, 0), theirs.resize(n_items, 0);
        worth.resize(n_items, 0), held.resize(n_items, 0), adds.resize(n_items, 0);
    }
};

// A row and the group it goes to.
struct Move {
    std::int32_t row, to;
};

class Groups {
  public:
    // Forgetful groups do not count items that few members hold, until so many have come or gone that one of these
    // might matter. (Large groups hold very many of them.) They cannot tell what two groups gain together.
    Groups(const Csr& rows, std::int32_t n_items, int threads = 1, bool forgetful = false);

    const Csr& rows() const { return rows_; }
    std::int32_t n_items() const { return static_cast<std::int32_t>(counters_[0].slot.size()); }
    std::int32_t of(std::int64_t row) const { return group_[row]; }
    std::int32_t count() const { return static_cast<std::int32_t>(groups_.size()); }
    const Group& operator[](std::int32_t g) const { return groups_[g]; }
    bool holds(std::int64_t row, std::int32_t item) const {
        return std::binary_search(rows_.begin(row), rows_.end(row), item);
    }

    void found(const std::vector<std::int32_t>& members);
    // Many at once: rows[ends[g - 1]], … are the members of the g-th.
    void found(const std::vector<std::int32_t>& rows, const std::vector<std::int64_t>& ends, Monitor& monitor);
    void restore(std::int32_t g, const std::vector<std::int32_t>& members);
    std::vector<std::int32_t> disband(std::int32_t g);

    // These change one group and return what it gained.
    std::int64_t join(std::int32_t row, std::int32_t g);
    std::int64_t leave(std::int32_t row);
    // Rows without a group join at once: row rows[i] joins group to[i].
    void join(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& to, Monitor& monitor);
    // Rows leave their groups for others, all at once.
    void rearrange(const std::vector<Move>& moves, Monitor& monitor);
    // h joins g as a whole; what g would gain after that.
    void merge(std::int32_t g, std::int32_t h);
    std::int64_t gain_together(std::int32_t g, std::int32_t h);

    std::int32_t joining(std::int32_t row, std::int32_t g) const;
    std::int32_t leaving(std::int32_t row) const;
    // What a row gains in a group that publishes what it does now.
    std::int32_t worth(std::int32_t row, std::int32_t g) const;
    // Whether the row keeps all its items, and its group publishes nothing else.
    bool keeps_all(std::int32_t row) const;

    // Notes the items of t; `close` must follow.
    void hold(std::int32_t t, SwapTable& table) const;
    // What is gained if t, which the table holds, goes to h.
    std::int32_t moving(std::int32_t t, std::int32_t h, const SwapTable& table) const;
    // Opens the table for swaps of t, which it holds, with members of group h.
    void open(std::int32_t t, std::int32_t h, SwapTable& table) const;
    // What is gained if t and u, a member of h, change places.
    std::int32_t swapping(std::int32_t u, const SwapTable& table) const;
    void close(std::int32_t t, SwapTable& table) const;

    // What g publishes, in ascending order, after what is there already.
    void append_center(std::int32_t g, std::vector<std::int32_t>& items) const;

  private:
    // Where a group is counted.
    struct Counter {
        std::vector<std::int32_t> slot;  // where an item is counted, plus one
        std::vector<Counted> counts;     // of which so many are used
        std::int32_t used;
    };

    template <class Body>
    void side_by_side(std::int64_t tasks, Monitor& monitor, Body&& body) {
        parallel_for(tasks, threads_, monitor, body, 64);
    }
    void enter(std::int32_t g, std::size_t from, int worker);
    void change(Group& group, const std::int32_t* rows, std::size_t count, std::int32_t sign, int worker = 0);
    static void lay_out(const Group& group, Counter& counter);
    void count_all(const std::int32_t* rows, std::size_t count, std::int32_t sign, Counter& counter) const;
    void count_known(const std::int32_t* rows, std::size_t count, std::int32_t sign, Counter& counter) const;
    void vote(Group& group, Counter& counter) const;

    const Csr rows_;
    std::vector<std::int32_t> group_, place_;  // of each row: its group, and where it stands among the members
    std::vector<Group> groups_;
    int threads_;
    bool forgetful_;
    std::vector<Counter> counters_;  // of each thread
};

}  // namespace anonset::crowd
