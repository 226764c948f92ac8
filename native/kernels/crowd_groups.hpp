// Groups of sparse rows, their gain, and an index that finds the group a row would best join.
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

    std::int32_t size() const { return static_cast<std::int32_t>(members.size()); }
};

struct Target {
    std::int32_t group = -1;
    std::int32_t gain = INT32_MIN;
};

// What a thread needs of its own to look for groups.
struct Scratch {
    std::vector<std::int32_t> score, touched, mine, theirs;
    std::int64_t visits = 0;
};

class Groups {
  public:
    Groups(const Csr& rows, std::int32_t n_items)
        : rows_(rows), group_(rows.rows, -1), index_(n_items), slot_(n_items, 0) {}

    const Csr& rows() const { return rows_; }
    std::int32_t of(std::int64_t row) const { return group_[row]; }
    std::int32_t count() const { return static_cast<std::int32_t>(groups_.size()); }
    const Group& operator[](std::int32_t g) const { return groups_[g]; }
    bool holds(std::int64_t row, std::int32_t item) const {
        return std::binary_search(rows_.begin(row), rows_.end(row), item);
    }

    void prepare(Scratch& scratch) const {
        if (scratch.score.size() < groups_.size()) scratch.score.resize(groups_.size() + groups_.size() / 2 + 64, 0);
        scratch.mine.resize(index_.size(), 0);
        scratch.theirs.resize(index_.size(), 0);
    }

    std::int32_t found(const std::vector<std::int32_t>& members) {
        groups_.emplace_back();
        Group& group = groups_.back();
        group.members = members;
        for (const std::int32_t row : members) {
            add_items(group, row, 1);
            group_[row] = count() - 1;
        }
        publish(count() - 1);
        return count() - 1;
    }

    void join(std::int32_t row, std::int32_t g) {
        withdraw(g);
        groups_[g].members.push_back(row);
        add_items(groups_[g], row, 1);
        group_[row] = g;
        publish(g);
    }

    void leave(std::int32_t row) {
        const std::int32_t g = group_[row];
        withdraw(g);
        auto& members = groups_[g].members;
        members.erase(std::find(members.begin(), members.end(), row));
        add_items(groups_[g], row, -1);
        group_[row] = -1;
        publish(g);
    }

    std::vector<std::int32_t> disband(std::int32_t g) {
        withdraw(g);
        std::vector<std::int32_t> members = std::move(groups_[g].members);
        groups_[g] = Group();
        for (const std::int32_t row : members) group_[row] = -1;
        return members;
    }

    // Only groups that share a half item with the row are looked at: joining any other cannot gain.
    Target best(std::int32_t row, std::int32_t except, Scratch& scratch) const {
        scratch.touched.clear();
        for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
            for (const std::int32_t code : index_[*i]) {
                if (scratch.score[code >> 1] == 0) scratch.touched.push_back(code >> 1);
                scratch.score[code >> 1] += 1 + (code & 1);
            }
            scratch.visits += static_cast<std::int64_t>(index_[*i].size());
        }
        Target best;
        for (const std::int32_t g : scratch.touched) {
            const std::int32_t gain = scratch.score[g] - groups_[g].center;
            scratch.score[g] = 0;
            if (g != except && (gain > best.gain || (gain == best.gain && g < best.group))) best = {g, gain};
        }
        return best;
    }

    std::int32_t joining(std::int32_t row, std::int32_t g) const {
        std::int32_t gain = 0;
        for (const HalfItem& half : groups_[g].half) {
            const bool mine = holds(row, half.item);
            gain += mine ? 1 : -static_cast<std::int32_t>(half.central);
        }
        return gain;
    }

    std::int32_t leaving(std::int32_t row) const {
        std::int32_t gain = 0;
        for (const HalfItem& half : groups_[group_[row]].half) {
            const bool mine = holds(row, half.item);
            gain += mine ? -static_cast<std::int32_t>(half.central) : 1;
        }
        return gain;
    }

    void load(std::int32_t g, std::vector<std::int32_t>& counts) const {
        for (std::size_t i = 0; i < groups_[g].items.size(); ++i) counts[groups_[g].items[i]] = groups_[g].counts[i];
    }
    void unload(std::int32_t g, std::vector<std::int32_t>& counts) const {
        for (const std::int32_t item : groups_[g].items) counts[item] = 0;
    }

    // What swapping row t with row u of another group gains; `mine` and `theirs` hold the counts of their groups.
    std::int32_t swapping(std::int32_t t, std::int32_t u, const Scratch& scratch) const {
        const std::int32_t size_mine = groups_[group_[t]].size(), size_theirs = groups_[group_[u]].size();
        std::int32_t gain = 0;
        auto cross = [&](std::int32_t from_v, std::int32_t to_v) {
            gain += (to_v >= -1) + (to_v >= 0) - (from_v >= 1) - (from_v >= 2);
        };
        const std::int32_t *a = rows_.begin(t), *b = rows_.begin(u);
        while (a != rows_.end(t) || b != rows_.end(u)) {
            if (b == rows_.end(u) || (a != rows_.end(t) && *a < *b)) {
                cross(2 * scratch.mine[*a] - size_mine, 2 * scratch.theirs[*a] - size_theirs);
                ++a;
            } else if (a == rows_.end(t) || *b < *a) {
                cross(2 * scratch.theirs[*b] - size_theirs, 2 * scratch.mine[*b] - size_mine);
                ++b;
            } else {
                ++a, ++b;
            }
        }
        return gain;
    }

    std::int64_t gain_of(const std::vector<std::int32_t>& members) {
        Group group;
        for (const std::int32_t row : members) add_items(group, row, 1);
        std::int64_t gain = 0;
        for (const std::int32_t c : group.counts)
            gain += std::max<std::int64_t>(0, 2 * c - static_cast<std::int64_t>(members.size()));
        return gain;
    }

  private:
    void add_items(Group& group, std::int32_t row, std::int32_t sign) {
        for (std::size_t i = 0; i < group.items.size(); ++i) slot_[group.items[i]] = static_cast<std::int32_t>(i) + 1;
        for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
            if (slot_[*i] == 0) {
                group.items.push_back(*i);
                group.counts.push_back(0);
                slot_[*i] = static_cast<std::int32_t>(group.items.size());
            }
            group.counts[slot_[*i] - 1] += sign;
        }
        for (const std::int32_t item : group.items) slot_[item] = 0;
        if (sign > 0) return;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < group.items.size(); ++i)
            if (group.counts[i]) group.items[kept] = group.items[i], group.counts[kept++] = group.counts[i];
        group.items.resize(kept);
        group.counts.resize(kept);
    }

    // Enters a group's half items into the index.
    void publish(std::int32_t g) {
        Group& group = groups_[g];
        group.half.clear();
        group.center = 0;
        group.gain = 0;
        for (std::size_t i = 0; i < group.items.size(); ++i) {
            const std::int32_t v = 2 * group.counts[i] - group.size();
            if (v < 0) continue;
            group.half.push_back({group.items[i], v > 0});
            index_[group.items[i]].push_back(2 * g + (v > 0));
            group.center += v > 0;
            group.gain += v;
        }
    }

    void withdraw(std::int32_t g) {
        for (const HalfItem& half : groups_[g].half) {
            auto& list = index_[half.item];
            const auto at = std::find(list.begin(), list.end(), 2 * g + static_cast<std::int32_t>(half.central));
            *at = list.back();
            list.pop_back();
        }
        groups_[g].half.clear();
    }

    const Csr rows_;
    std::vector<std::int32_t> group_;
    std::vector<Group> groups_;
    std::vector<std::vector<std::int32_t>> index_;  // item -> 2 * group + (in its center?)
    std::vector<std::int32_t> slot_;
};

}  // namespace anonset::crowd
