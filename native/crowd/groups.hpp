// Groups of sparse rows and their gain.
//
// The gain of a group of s rows in which item i occurs c times is the sum of max(0, 2c - s) (docs/methods/crowd.md).
// `half` are its items with 2c >= s; those with 2c > s are its center. A row t that joins gains |t & half| -
// |center \ t|; one that leaves gains |half \ t| - |t & center|; both may be negative.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "crowd/without.hpp"

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
    std::int64_t changed = 0;  // when that was last, by the clock of `Groups`
    bool silent = false;       // publishes nothing, whatever its members hold: no counts are kept

    std::int32_t size() const { return static_cast<std::int32_t>(members.size()); }
};

// What swapping a row with others needs: its items, the counts of both groups, and what each item of the others adds.
struct SwapTable {
    std::vector<std::int32_t> mine, theirs;
    std::vector<std::int8_t> worth, held, adds;
    std::vector<std::int32_t> noted;  // items that may add something
    std::int32_t all = 0;

    void prepare(std::int32_t n_items) {
        mine.resize(n_items, 0), theirs.resize(n_items, 0);
        worth.resize(n_items, 0), held.resize(n_items, 0), adds.resize(n_items, 0);
    }
    // What a member of a group of `from` gains by changing places with one of a group of `to`, for one item it has
    // and the other has not; v = 2c - s there.
    static std::int32_t cross(std::int32_t from, std::int32_t to) {
        return (to >= -1) + (to >= 0) - (from >= 1) - (from >= 2);
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
    Groups(const Csr& rows, std::int32_t n_items, int threads = 1, bool forgetful = false)
        : rows_(rows),
          group_(rows.rows, -1),
          place_(rows.rows, 0),
          threads_(threads),
          forgetful_(forgetful),
          benches_(thread_count(threads), Bench{std::vector<std::int32_t>(n_items, 0), {}, 0}) {}

    void clear() { groups_.clear(); }
    std::int64_t tick() { return ++now_; }
    const Csr& rows() const { return rows_; }
    std::int32_t n_items() const { return static_cast<std::int32_t>(benches_[0].slot.size()); }
    std::int32_t of(std::int64_t row) const { return group_[row]; }
    std::int32_t count() const { return static_cast<std::int32_t>(groups_.size()); }
    const Group& operator[](std::int32_t g) const { return groups_[g]; }
    bool holds(std::int64_t row, std::int32_t item) const {
        return std::binary_search(rows_.begin(row), rows_.end(row), item);
    }

    std::int32_t found(const std::vector<std::int32_t>& members) {
        groups_.emplace_back();
        restore(count() - 1, members);
        return count() - 1;
    }
    // Many at once: rows[ends[g - 1]], … are the members of the g-th.
    void found(const std::vector<std::int32_t>& rows, const std::vector<std::int64_t>& ends, Monitor& monitor) {
        const std::int32_t first = count();
        groups_.resize(first + ends.size());
        side_by_side(static_cast<std::int64_t>(ends.size()), monitor, [&](std::int64_t g, int worker) {
            const std::int64_t from = g == 0 ? 0 : ends[g - 1];
            groups_[first + g].members.assign(rows.begin() + from, rows.begin() + ends[g]);
            enter(first + static_cast<std::int32_t>(g), 0, worker);
        });
    }
    void found_silent(const std::vector<std::int32_t>& members) {
        groups_.emplace_back();
        groups_.back().silent = true;
        restore(count() - 1, members);
    }
    void restore(std::int32_t g, const std::vector<std::int32_t>& members) {
        groups_[g].members = members;
        enter(g, 0, 0);
    }

    // These change one group and return what it gained.
    std::int64_t join(std::int32_t row, std::int32_t g) {
        const std::int64_t before = groups_[g].gain;
        place_[row] = groups_[g].size();
        groups_[g].members.push_back(row);
        group_[row] = g;
        change(groups_[g], &row, 1, 1);
        return groups_[g].gain - before;
    }
    std::int64_t leave(std::int32_t row) {
        Group& group = groups_[group_[row]];
        const std::int64_t before = group.gain;
        const std::int32_t last = group.members.back();
        group.members[place_[row]] = last;
        place_[last] = place_[row];
        group.members.pop_back();
        group_[row] = -1;
        change(group, &row, 1, -1);
        return group.gain - before;
    }

    std::vector<std::int32_t> disband(std::int32_t g) {
        std::vector<std::int32_t> members = std::move(groups_[g].members);
        groups_[g] = Group();
        for (const std::int32_t row : members) group_[row] = -1;
        return members;
    }

    // Rows without a group join g at once.
    void join(const std::vector<std::int32_t>& newcomers, std::int32_t g) {
        const std::size_t before = groups_[g].members.size();
        groups_[g].members.insert(groups_[g].members.end(), newcomers.begin(), newcomers.end());
        enter(g, before, 0);
    }
    // The same for many groups: row rows[i] joins group to[i].
    void join(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& to, Monitor& monitor) {
        std::vector<std::int32_t> before(count());
        for (std::int32_t g = 0; g < count(); ++g) before[g] = groups_[g].size();
        for (std::size_t i = 0; i < rows.size(); ++i) groups_[to[i]].members.push_back(rows[i]);
        side_by_side(count(), monitor, [&](std::int64_t g, int worker) {
            if (groups_[g].size() > before[g]) enter(static_cast<std::int32_t>(g), before[g], worker);
        });
    }
    // Rows leave their groups for others, all at once.
    void rearrange(const std::vector<Move>& moves, Monitor& monitor) {
        std::vector<std::int32_t> changed;
        for (const Move& move : moves) {
            changed.insert(changed.end(), {group_[move.row], move.to});
            group_[move.row] = move.to;
        }
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        for (const std::int32_t g : changed) {
            auto& members = groups_[g].members;
            members.erase(std::remove_if(members.begin(), members.end(), [&](auto row) { return group_[row] != g; }),
                          members.end());
        }
        for (const Move& move : moves) groups_[move.to].members.push_back(move.row);
        side_by_side(static_cast<std::int64_t>(changed.size()), monitor, [&](std::int64_t i, int worker) {
            groups_[changed[i]].counts.clear();
            groups_[changed[i]].forgotten = 0;
            enter(changed[i], 0, worker);
        });
    }
    // h joins g as a whole.
    void merge(std::int32_t g, std::int32_t h) { join(disband(h), g); }
    // What g would gain after that.
    std::int64_t gain_together(std::int32_t g, std::int32_t h) {
        const Group &one = groups_[g], &other = groups_[h];
        const std::int64_t size = one.size() + other.size();
        const auto kept = [&](std::int64_t count) { return std::max<std::int64_t>(0, 2 * count - size); };
        std::vector<std::int32_t>& slot = benches_[0].slot;
        for (const Counted& mine : one.counts) slot[mine.item] = mine.count;
        std::int64_t sum = 0;
        for (const Counted& theirs : other.counts)
            sum += kept(std::int64_t{theirs.count} + std::exchange(slot[theirs.item], 0));
        for (const Counted& mine : one.counts) sum += std::exchange(slot[mine.item], 0) ? kept(mine.count) : 0;
        return sum;
    }

    std::int32_t joining(std::int32_t row, std::int32_t g) const {
        std::int32_t gain = 0;
        for (const HalfItem& half : groups_[g].half)
            gain += holds(row, half.item) ? 1 : -static_cast<std::int32_t>(half.central);
        return gain;
    }
    std::int32_t leaving(std::int32_t row) const {
        std::int32_t gain = 0;
        for (const HalfItem& half : groups_[group_[row]].half)
            gain += holds(row, half.item) ? -static_cast<std::int32_t>(half.central) : 1;
        return gain;
    }

    // Whether the row keeps all its items, and its group publishes nothing else.
    bool keeps_all(std::int32_t row) const {
        const Group& group = groups_[group_[row]];
        const std::int64_t size = rows_.size(row);
        return group.center == size && static_cast<std::int64_t>(group.half.size()) == size && leaving(row) == -size;
    }

    // Notes the items of t; `close` must follow.
    void hold(std::int32_t t, SwapTable& table) const {
        for (const std::int32_t* i = rows_.begin(t); i != rows_.end(t); ++i) table.held[*i] = 1;
    }
    // What is gained if t, which the table holds, goes to h.
    std::int32_t moving(std::int32_t t, std::int32_t h, const SwapTable& table) const {
        std::int32_t gain = 0;
        for (const HalfItem& half : groups_[h].half) gain += table.held[half.item] ? 1 : -half.central;
        for (const HalfItem& half : groups_[group_[t]].half) gain += table.held[half.item] ? -half.central : 1;
        return gain;
    }
    // Opens the table for swaps of t, which it holds, with members of group h.
    void open(std::int32_t t, std::int32_t h, SwapTable& table) const {
        const Group &g = groups_[group_[t]], &other = groups_[h];
        for (const Counted& mine : g.counts) table.mine[mine.item] = mine.count;
        for (const Counted& theirs : other.counts) table.theirs[theirs.item] = theirs.count;
        const auto here = [&](std::int32_t item) { return 2 * table.mine[item] - g.size(); };
        const auto there = [&](std::int32_t item) { return 2 * table.theirs[item] - other.size(); };
        table.all = 0;
        for (const std::int32_t* i = rows_.begin(t); i != rows_.end(t); ++i) {
            table.worth[*i] = static_cast<std::int8_t>(SwapTable::cross(here(*i), there(*i)));
            table.all += table.worth[*i];
        }
        const auto note = [&](std::int32_t item) {
            table.adds[item] = static_cast<std::int8_t>(table.held[item] ? -table.worth[item]
                                                                         : SwapTable::cross(there(item), here(item)));
            table.noted.push_back(item);
        };
        for (const Counted& theirs : other.counts) note(theirs.item);
        for (const Counted& mine : g.counts) note(mine.item);
        for (const Counted& mine : g.counts) table.mine[mine.item] = 0;
        for (const Counted& theirs : other.counts) table.theirs[theirs.item] = 0;
    }
    // What is gained if t and u, a member of h, change places.
    std::int32_t swapping(std::int32_t u, const SwapTable& table) const {
        std::int32_t gain = table.all;
        for (const std::int32_t* i = rows_.begin(u); i != rows_.end(u); ++i) gain += table.adds[*i];
        return gain;
    }
    void close(std::int32_t t, SwapTable& table) const {
        for (const std::int32_t* i = rows_.begin(t); i != rows_.end(t); ++i) table.held[*i] = 0;
        for (const std::int32_t item : table.noted) table.adds[item] = 0;
        table.noted.clear();
    }

    // What g publishes, in ascending order, after what is there already. (A silent group has kept no counts.)
    void append_center(std::int32_t g, std::vector<std::int32_t>& items) {
        Group counted;
        if (groups_[g].silent) {
            counted.members = groups_[g].members;
            change(counted, counted.members.data(), counted.members.size(), 1);
        }
        const auto first = static_cast<std::ptrdiff_t>(items.size());
        for (const HalfItem& half : (groups_[g].silent ? counted : groups_[g]).half)
            if (half.central) items.push_back(half.item);
        std::sort(items.begin() + first, items.end());
    }

    std::int64_t gain_of(const std::vector<std::int32_t>& members) {
        Group group;
        group.members = members;
        change(group, members.data(), members.size(), 1);
        return group.gain;
    }

  private:
    static constexpr std::size_t FEW = 8;  // items that half of a group holds; most groups need no more room

    // Where a group is counted.
    struct Bench {
        std::vector<std::int32_t> slot;  // where an item is counted, plus one
        std::vector<Counted> counts;     // of which so many are used
        std::int32_t used;
    };

    template <class Body>
    void side_by_side(std::int64_t tasks, Monitor& monitor, Body&& body) {
        parallel_for(tasks, threads_, monitor, body, 64);
    }

    // The members from this one on are new.
    void enter(std::int32_t g, std::size_t from, int worker) {
        Group& group = groups_[g];
        for (std::size_t i = from; i < group.members.size(); ++i) {
            group_[group.members[i]] = g;
            place_[group.members[i]] = static_cast<std::int32_t>(i);
        }
        change(group, group.members.data() + from, group.members.size() - from, 1, worker);
    }

    // Counts rows in or out of a group whose members are already what they shall be.
    void change(Group& group, const std::int32_t* rows, std::size_t count, std::int32_t sign, int worker = 0) {
        group.changed = now_;
        if (group.silent) return;
        Bench& bench = benches_[worker];
        if (group.forgotten > 0 && sign > 0) group.forgotten += static_cast<std::int32_t>(count);
        const bool anew = group.forgotten > 0 && 2 * group.forgotten + 2 > group.size();
        if (anew) {
            group.counts.clear();
            group.forgotten = 0;
        }
        lay_out(group, bench);
        if (anew) {
            count_all(group.members.data(), group.members.size(), 1, bench);
        } else if (group.forgotten == 0) {
            count_all(rows, count, sign, bench);
        } else {
            count_known(rows, count, sign, bench);
        }
        vote(group, bench);
    }

    static void lay_out(const Group& group, Bench& bench) {
        bench.used = static_cast<std::int32_t>(group.counts.size());
        if (bench.counts.size() < group.counts.size()) bench.counts.resize(group.counts.size());
        std::copy(group.counts.begin(), group.counts.end(), bench.counts.begin());
        for (std::int32_t i = 0; i < bench.used; ++i) bench.slot[bench.counts[i].item] = i + 1;
    }
    // Counts rows in or out, without branches: whether an item is new is anybody's guess.
    void count_all(const std::int32_t* rows, std::size_t count, std::int32_t sign, Bench& bench) const {
        std::size_t most = bench.used;
        for (std::size_t r = 0; r < count; ++r) most += rows_.size(rows[r]);
        if (bench.counts.size() < most) bench.counts.resize(most);
        Counted* counts = bench.counts.data();
        std::int32_t *slot = bench.slot.data(), used = bench.used;
        for_rows(rows_, rows, static_cast<std::int64_t>(count), [&](std::int32_t row) {
            for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
                const bool fresh = slot[*i] == 0;
                used += fresh;
                const std::int32_t at = fresh ? used : slot[*i];
                slot[*i] = at;
                counts[at - 1] = {*i, (fresh ? 0 : counts[at - 1].count) + sign};
            }
        });
        bench.used = used;
    }
    // The same where others have been forgotten, and stay so.
    void count_known(const std::int32_t* rows, std::size_t count, std::int32_t sign, Bench& bench) const {
        for (std::size_t r = 0; r < count; ++r)
            for (const std::int32_t* i = rows_.begin(rows[r]); i != rows_.end(rows[r]); ++i)
                if (bench.slot[*i] > 0) bench.counts[bench.slot[*i] - 1].count += sign;
    }

    // The half items, the center and the gain of a group. Items that nobody has any more are dropped, or that few have.
    void vote(Group& group, Bench& bench) const {
        group.half.clear();
        if (group.half.capacity() == 0) group.half.reserve(FEW);
        group.center = 0;
        group.gain = 0;
        const std::int32_t few = forgetful_ ? group.size() / 4 : 0;
        Counted *kept = bench.counts.data(), *end = kept + bench.used;
        for (const Counted* one = kept; one != end; ++one) {
            const std::int32_t v = 2 * one->count - group.size();
            bench.slot[one->item] = 0;
            if (one->count <= few) {
                group.forgotten = std::max(group.forgotten, one->count);
                continue;
            }
            *kept++ = *one;
            if (v < 0) continue;
            group.half.push_back({one->item, v > 0});
            group.center += v > 0;
            group.gain += v;
        }
        group.counts.assign(bench.counts.data(), kept);
    }

    const Csr rows_;
    std::vector<std::int32_t> group_, place_;  // of each row: its group, and where it stands among the members
    std::vector<Group> groups_;
    std::int64_t now_ = 0;
    int threads_;
    bool forgetful_;
    std::vector<Bench> benches_;  // of each thread
};

}  // namespace anonset::crowd
