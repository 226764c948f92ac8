// Groups of sparse rows and their gain.
//
// The gain of a group of s rows in which item i occurs c times is the sum of max(0, 2c - s) (docs/methods/crowd.md).
// `half` are its items with 2c >= s; those with 2c > s are its center. A row t that joins gains |t & half| -
// |center \ t|; one that leaves gains |half \ t| - |t & center|; both may be negative.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.hpp"

namespace anonset::crowd {

struct HalfItem {
    std::int32_t item;
    bool central;
};

struct Group {
    std::vector<std::int32_t> members;
    std::vector<std::int32_t> items, counts;  // in no particular order
    std::vector<HalfItem> half;
    std::int32_t center = 0;
    std::int64_t gain = 0;
    std::int64_t changed = 0;  // when that was last, by the clock of `Groups`
    bool silent = false;       // publishes nothing, whatever its members hold: no counts are kept

    std::int32_t size() const { return static_cast<std::int32_t>(members.size()); }
};

// What swapping a row with others needs: the counts of both groups, and what each item of the row is worth over there.
struct SwapTable {
    std::vector<std::int32_t> mine, theirs;
    std::vector<std::int8_t> worth, held;
    std::int32_t size_mine = 0, size_theirs = 0, all = 0;

    void prepare(std::int32_t n_items) {
        mine.resize(n_items, 0), theirs.resize(n_items, 0);
        worth.resize(n_items, 0), held.resize(n_items, 0);
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
    Groups(const Csr& rows, std::int32_t n_items)
        : rows_(rows), group_(rows.rows, -1), place_(rows.rows, 0), slot_(n_items, 0) {}

    std::int64_t tick() { return ++now_; }
    const Csr& rows() const { return rows_; }
    std::int32_t n_items() const { return static_cast<std::int32_t>(slot_.size()); }
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
    void found_silent(const std::vector<std::int32_t>& members) {
        groups_.emplace_back();
        groups_.back().silent = true;
        restore(count() - 1, members);
    }
    void restore(std::int32_t g, const std::vector<std::int32_t>& members) {
        groups_[g].members = members;
        for (std::size_t i = 0; i < members.size(); ++i) {
            group_[members[i]] = g;
            place_[members[i]] = static_cast<std::int32_t>(i);
        }
        change(groups_[g], members.data(), members.size(), 1);
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
        for (const std::int32_t row : newcomers) {
            group_[row] = g;
            place_[row] = groups_[g].size();
            groups_[g].members.push_back(row);
        }
        change(groups_[g], newcomers.data(), newcomers.size(), 1);
    }
    // Rows leave their groups for others, all at once.
    void rearrange(const std::vector<Move>& moves) {
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
        for (const std::int32_t g : changed) {
            groups_[g].items.clear();
            groups_[g].counts.clear();
            restore(g, groups_[g].members);
        }
    }
    // h joins g as a whole.
    void merge(std::int32_t g, std::int32_t h) { join(disband(h), g); }
    // What g would gain after that.
    std::int64_t gain_together(std::int32_t g, std::int32_t h) {
        const Group &one = groups_[g], &other = groups_[h];
        const std::int64_t size = one.size() + other.size();
        const auto kept = [&](std::int64_t count) { return std::max<std::int64_t>(0, 2 * count - size); };
        for (std::size_t i = 0; i < one.items.size(); ++i) slot_[one.items[i]] = one.counts[i];
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < other.items.size(); ++i) {
            sum += kept(std::int64_t{other.counts[i]} + slot_[other.items[i]]);
            slot_[other.items[i]] = 0;
        }
        for (std::size_t i = 0; i < one.items.size(); ++i) {
            sum += slot_[one.items[i]] ? kept(one.counts[i]) : 0;
            slot_[one.items[i]] = 0;
        }
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

    // Opens the table for swaps of t with members of group h; `close` must follow.
    void open(std::int32_t t, std::int32_t h, SwapTable& table) const {
        const Group &g = groups_[group_[t]], &other = groups_[h];
        for (std::size_t i = 0; i < g.items.size(); ++i) table.mine[g.items[i]] = g.counts[i];
        for (std::size_t i = 0; i < other.items.size(); ++i) table.theirs[other.items[i]] = other.counts[i];
        table.size_mine = g.size(), table.size_theirs = other.size();
        table.all = 0;
        for (const std::int32_t* i = rows_.begin(t); i != rows_.end(t); ++i) {
            const std::int32_t worth =
                SwapTable::cross(2 * table.mine[*i] - table.size_mine, 2 * table.theirs[*i] - table.size_theirs);
            table.worth[*i] = static_cast<std::int8_t>(worth);
            table.held[*i] = 1;
            table.all += worth;
        }
    }
    std::int32_t swapping(std::int32_t u, const SwapTable& table) const {
        std::int32_t gain = table.all;
        for (const std::int32_t* i = rows_.begin(u); i != rows_.end(u); ++i)
            gain += table.held[*i] ? -table.worth[*i]
                                   : SwapTable::cross(2 * table.theirs[*i] - table.size_theirs,
                                                      2 * table.mine[*i] - table.size_mine);
        return gain;
    }
    void close(std::int32_t t, std::int32_t h, SwapTable& table) const {
        for (const std::int32_t item : groups_[group_[t]].items) table.mine[item] = 0;
        for (const std::int32_t item : groups_[h].items) table.theirs[item] = 0;
        for (const std::int32_t* i = rows_.begin(t); i != rows_.end(t); ++i) table.held[*i] = 0;
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
    static constexpr std::int64_t MUCH = 128;

    // Counts rows in or out of a group whose members are already what they shall be.
    void change(Group& group, const std::int32_t* rows, std::size_t count, std::int32_t sign) {
        group.changed = now_;
        if (group.silent) return;
        for (std::size_t i = 0; i < group.items.size(); ++i) slot_[group.items[i]] = static_cast<std::int32_t>(i) + 1;
        if (group.items.empty()) make_room(group, rows, count);
        for (std::size_t r = 0; r < count; ++r)
            for (const std::int32_t* i = rows_.begin(rows[r]); i != rows_.end(rows[r]); ++i) {
                if (slot_[*i] == 0) {
                    group.items.push_back(*i);
                    group.counts.push_back(0);
                    slot_[*i] = static_cast<std::int32_t>(group.items.size());
                }
                group.counts[slot_[*i] - 1] += sign;
            }
        vote(group);
    }

    // Most new groups need no more than that, so that their memory is asked for once.
    void make_room(Group& group, const std::int32_t* rows, std::size_t count) const {
        std::int64_t most = 0;
        for (std::size_t r = 0; r < count && most < MUCH; ++r) most += rows_.size(rows[r]);
        group.items.reserve(std::min(most, MUCH));
        group.counts.reserve(std::min(most, MUCH));
    }

    // The half items, the center and the gain of a group; items that nobody has any more are dropped.
    void vote(Group& group) {
        group.half.clear();
        group.center = 0;
        group.gain = 0;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < group.items.size(); ++i) {
            const std::int32_t item = group.items[i], count = group.counts[i], v = 2 * count - group.size();
            slot_[item] = 0;
            if (count == 0) continue;
            group.items[kept] = item;
            group.counts[kept++] = count;
            if (v < 0) continue;
            group.half.push_back({item, v > 0});
            group.center += v > 0;
            group.gain += v;
        }
        group.items.resize(kept);
        group.counts.resize(kept);
    }

    const Csr rows_;
    std::vector<std::int32_t> group_, place_;  // of each row: its group, and where it stands among the members
    std::vector<Group> groups_;
    std::int64_t now_ = 0;
    std::vector<std::int32_t> slot_;
};

}  // namespace anonset::crowd
