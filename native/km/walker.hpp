// A walk through all itemsets as a preorder walk of the count-tree. The tree is never built: the database is projected
// on a first node, then on a second, …, so memory stays within one projection per level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/monitor.hpp"
#include "km/database.hpp"

namespace anonset::km {

// Which rare itemsets a walk reports: those of exactly the size, those of every size up to it (longer ones before
// their beginning), or of every size but without going on from one that is rare already.
enum class Report { exact, longest_first, shortest };

// Walks over the itemsets with a given first node, in the count-tree's order, and reports the rare ones.
class Walker {
  public:
    Walker(const Database& db, const Cut& cut, std::int64_t k, int size, Report report, Monitor& monitor)
        : db_(db), cut_(cut), k_(k), size_(size), report_(report), monitor_(monitor), levels_(size) {
        for (Level& level : levels_) level.count.assign(db.tree.count(), 0);
        touched_.resize(db.tree.count() + 1);
        if (db.in_persons()) last_.assign(db.tree.count(), NEVER);
    }

    // Calls rare(itemset, supports) for each; it may publish nodes, after which itemsets with covered nodes are
    // skipped. It returns false to end the walk. `supports`, where it is not null, holds those of the itemset with
    // another last node in place of its own, for nodes that come after the others in rank.
    template <class Rare>
    bool walk(std::int32_t node, Rare&& rare) {
        if (cut_.covered[node]) return true;
        prefix_.assign(1, node);
        return descend(db_.places_of(node), db_.place_count(node), db_.tree.support[node], rare);
    }

  private:
    struct Level {
        Nodes count;  // 32 bits: the whole array stays in the fastest cache
        Nodes touched;
        std::vector<std::int64_t> start;
        std::vector<Place> places;
    };

    bool usable(std::int32_t node) const {
        if (cut_.covered[node]) return false;
        for (std::int32_t upper : prefix_)
            if (db_.tree.below(upper, node)) return false;
        return true;
    }
    bool broken() const {
        return std::any_of(prefix_.begin(), prefix_.end(), [&](std::int32_t node) { return cut_.covered[node]; });
    }

    template <class Rare>
    bool descend(const Place* places, std::int64_t count, std::int64_t support, Rare&& rare) {
        monitor_.check();
        const int depth = static_cast<int>(prefix_.size());
        if (report_ == Report::shortest && support < k_) return rare(prefix_, nullptr);
        if (depth < size_) {
            const bool go_on = depth + 1 == size_ ? last(places, count, rare) : inner(places, count, rare);
            if (!go_on) return false;
        }
        const bool reports = depth == size_ || report_ == Report::longest_first;
        if (reports && support < k_ && !broken()) return rare(prefix_, nullptr);
        return true;
    }

    // One item from the full size: count what follows; nothing is kept but the rare ones.
    template <class Rare>
    bool last(const Place* places, std::int64_t count, Rare&& rare) {
        std::int32_t* counts = levels_[prefix_.size()].count.data();
        std::int32_t* touched = touched_.data();
        std::size_t size = 0;
        constexpr std::int64_t AHEAD = 8;
        if (db_.in_persons()) size = count_persons(places, count, counts);
        for (std::int64_t i = 0; i < count && !db_.in_persons(); ++i) {
            if (i + AHEAD < count) db_.foresee(places[i + AHEAD]);
            const std::int32_t r = places[i].row;
            const std::int32_t weight = db_.weights[r];
            const std::int32_t* node = db_.row(r) + places[i].position + 1;
            for (const std::int32_t* end = db_.row(r) + db_.length(r); node != end; ++node) {
                const std::int32_t before = counts[*node];
                touched[size] = *node;  // without a branch: which nodes are new is hard to foresee
                size += before == 0;
                counts[*node] = before + weight;
            }
        }
        Nodes found;
        for (std::size_t i = 0; i < size; ++i)
            if (counts[touched[i]] < k_ && usable(touched[i])) found.push_back(touched[i]);
        std::sort(found.begin(), found.end());
        bool go_on = true;
        for (std::size_t i = 0; go_on && i < found.size() && !broken(); ++i) {
            if (cut_.covered[found[i]]) continue;
            prefix_.push_back(found[i]);
            go_on = rare(prefix_, counts);
            prefix_.pop_back();
        }
        for (std::size_t i = 0; i < size; ++i) counts[touched[i]] = 0;
        for (std::size_t i = 0; db_.in_persons() && i < size; ++i) last_[touched[i]] = NEVER;
        return go_on;
    }
    // The same count in different persons, whose rows lie side by side. Returns how many nodes were met.
    std::size_t count_persons(const Place* places, std::int64_t count, std::int32_t* counts) {
        std::size_t size = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int32_t r = places[i].row;
            const std::int32_t* node = db_.row(r) + places[i].position + 1;
            for (const std::int32_t* end = db_.row(r) + db_.length(r); node != end; ++node) {
                if (last_[*node] == NEVER) touched_[size++] = *node, last_[*node] = -1;
                counts[*node] += db_.adds(r, last_[*node]);
            }
        }
        return size;
    }

    // Further from the full size: put the places of each following node side by side, and descend into each.
    template <class Rare>
    bool inner(const Place* places, std::int64_t count, Rare&& rare) {
        Level& level = levels_[prefix_.size()];
        level.touched.clear();
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int32_t* node = db_.row(places[i].row) + places[i].position + 1;
            for (const std::int32_t* end = db_.row(places[i].row) + db_.length(places[i].row); node != end; ++node) {
                if (level.count[*node]++ == 0) level.touched.push_back(*node);
            }
        }
        std::sort(level.touched.begin(), level.touched.end());
        level.start.assign(1, 0);
        for (std::int32_t node : level.touched) {
            const std::int64_t begin = level.start.back();
            level.start.push_back(begin + level.count[node]);
            level.count[node] = static_cast<std::int32_t>(begin);  // from here on: where its next place goes
        }
        level.places.resize(level.start.back());
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int32_t r = places[i].row;
            for (std::int32_t p = places[i].position + 1; p < db_.length(r); ++p)
                level.places[level.count[db_.row(r)[p]]++] = {r, p};
        }
        for (std::int32_t node : level.touched) level.count[node] = 0;
        for (std::size_t i = 0; i < level.touched.size(); ++i) {
            const std::int32_t node = level.touched[i];
            if (!usable(node)) continue;
            const Place* inside = level.places.data() + level.start[i];
            const std::int64_t size = level.start[i + 1] - level.start[i];
            std::int64_t support = 0;
            std::int32_t last = -1;
            for (std::int64_t p = 0; report_ != Report::exact && p < size; ++p)
                support += db_.adds(inside[p].row, last);
            prefix_.push_back(node);
            const bool go_on = descend(inside, size, support, rare);
            prefix_.pop_back();
            if (!go_on) return false;
            if (broken()) return true;
        }
        return true;
    }

    const Database& db_;
    const Cut& cut_;
    const std::int64_t k_;
    const int size_;
    const Report report_;
    Monitor& monitor_;
    std::vector<Level> levels_;
    Nodes touched_;  // one more than there are nodes: the last entry is only ever overwritten
    Nodes prefix_;
    static constexpr std::int32_t NEVER = -2;
    Nodes last_;  // of each node: the person who was counted last, where persons are
};

}  // namespace anonset::km
