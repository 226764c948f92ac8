// Direct and apriori anonymization: walk through all itemsets as a preorder walk of the count-tree would, and
// generalise where one is rare. The tree is never built: the database is projected on a first node, then on a second,
// …, so memory stays within one projection per level.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

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
        constexpr std::int64_t ahead = 8;
        for (std::int64_t i = 0; i < count; ++i) {
            if (i + ahead < count) db_.foresee(places[i + ahead]);
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
        return go_on;
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
            for (std::int64_t p = 0; report_ != Report::exact && p < size; ++p) support += db_.weights[inside[p].row];
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
};

// Generalises the nodes of one rare itemset so that it is frequent enough and as little as possible is lost.
class Generaliser {
  public:
    Generaliser(const Database& db, Cut& cut, std::int64_t k) : db_(db), cut_(cut), k_(k) {}

    // `supports`: as a walker gives them, or null.
    void mend(const Nodes& itemset, const std::int32_t* supports) {
        choices_.clear();
        pool_.clear();
        chosen_ = itemset;
        enumerate(itemset, 0, 0);
        std::stable_sort(choices_.begin(), choices_.end(), [](const Choice& a, const Choice& b) {
            return a.loss != b.loss ? a.loss < b.loss : a.steps < b.steps;
        });
        for (const Choice& choice : choices_) {
            published_.assign(pool_.begin() + choice.begin, pool_.begin() + choice.begin + choice.count);
            if (support(published_, itemset, supports) < k_) continue;
            for (std::int32_t node : published_)
                if (std::find(itemset.begin(), itemset.end(), node) == itemset.end()) cut_.publish(node);
            return;
        }
    }

  private:
    struct Choice {
        std::int64_t loss;
        int steps;
        std::int64_t begin, count;  // in the pool: the itemset as it would be published
    };

    std::int64_t support(const Nodes& nodes, const Nodes& itemset, const std::int32_t* supports) const {
        const std::size_t last = itemset.size() - 1;
        const bool counted = supports != nullptr && nodes.size() == itemset.size() && last > 0 &&
                             std::equal(nodes.begin(), nodes.end() - 1, itemset.begin()) &&
                             nodes[last] > itemset[last - 1];
        return counted ? supports[nodes[last]] : db_.support(nodes, k_);
    }

    void enumerate(const Nodes& itemset, std::size_t place, int steps) {
        if (place == itemset.size()) {
            if (steps > 0) consider(itemset, steps);
            return;
        }
        int up = 0;
        for (std::int32_t node = itemset[place]; node >= 0; node = db_.tree.parent[node], ++up) {
            chosen_[place] = node;
            enumerate(itemset, place + 1, steps + up);
        }
    }

    // A node below another chosen one goes along with it; raising it by itself as well would be the same choice.
    void consider(const Nodes& itemset, int steps) {
        Choice choice{0, steps, static_cast<std::int64_t>(pool_.size()), 0};
        for (std::size_t i = 0; i < chosen_.size(); ++i) {
            bool inside = false;
            for (std::size_t j = 0; j < chosen_.size(); ++j) {
                if (j == i) continue;
                const bool swallowed = db_.tree.below(chosen_[j], chosen_[i]);
                if (swallowed && chosen_[i] != itemset[i]) {
                    pool_.resize(choice.begin);
                    return;
                }
                inside |= swallowed || (chosen_[j] == chosen_[i] && j < i);
            }
            if (inside) continue;
            pool_.push_back(chosen_[i]);
            ++choice.count;
            if (chosen_[i] != itemset[i]) choice.loss += cut_.added_loss(chosen_[i]);
        }
        choices_.push_back(choice);
    }

    const Database& db_;
    Cut& cut_;
    const std::int64_t k_;
    Nodes chosen_, published_, pool_;
    std::vector<Choice> choices_;
};

// Nodes that were covered on the way are passed over, but still in the rows: take them out once they are a third.
inline void shrink_if_stale(Database& db, const Cut& cut) {
    std::int64_t stale = 0;
    for (std::int32_t node = 0; node < db.tree.count(); ++node)
        if (cut.covered[node]) stale += db.place_count(node);
    if (3 * stale > static_cast<std::int64_t>(db.nodes.size())) shrink(db, cut);
}

// One pass over all itemsets of `size` (or up to it): mend each rare one in the order of the walk.
//
// Several first nodes are searched at once with the cut as it is; then their rare itemsets are mended one after the
// other, passing over those that are covered by then. That is what one thread would have done in turn.
inline void mend_all(Database& db, Cut& cut, std::int64_t k, int size, Report report, int threads, Monitor& monitor) {
    constexpr std::size_t most_found = 1 << 14;  // per first node; a node with more is searched again in turn
    const int workers = thread_count(threads);
    const std::int32_t batch = workers == 1 ? 1 : 8 * workers;
    std::vector<Walker> walkers;
    for (int w = 0; w < workers; ++w) walkers.emplace_back(db, cut, k, size, report, monitor);
    Generaliser generaliser(db, cut, k);
    auto mend = [&](const Nodes& itemset, const std::int32_t* supports) {
        generaliser.mend(itemset, supports);
        return true;
    };
    std::int64_t known = 0;
    auto tidy = [&] {
        if (cut.covered_count < known + 64) return;
        known = cut.covered_count;
        shrink_if_stale(db, cut);
    };
    tidy();
    std::vector<std::vector<Nodes>> found(batch);
    std::vector<std::uint8_t> all_found(batch);
    for (std::int32_t begin = 1; begin < db.tree.count(); begin += batch) {
        const std::int32_t end = std::min(db.tree.count(), begin + batch);
        if (workers == 1) {
            walkers[0].walk(begin, mend);
            monitor.advance();
            tidy();
            continue;
        }
        parallel_for(end - begin, workers, monitor, [&](std::int64_t task, int worker) {
            found[task].clear();
            all_found[task] = walkers[worker].walk(begin + static_cast<std::int32_t>(task),
                                                   [&](const Nodes& itemset, const std::int32_t*) {
                                                       found[task].push_back(itemset);
                                                       return found[task].size() < most_found;
                                                   });
        });
        for (std::int32_t node = begin; node < end; ++node) {
            for (const Nodes& itemset : found[node - begin]) {
                const bool gone =
                    std::any_of(itemset.begin(), itemset.end(), [&](std::int32_t v) { return cut.covered[v]; });
                if (!gone) mend(itemset, nullptr);
            }
            if (!all_found[node - begin]) walkers[0].walk(node, mend);
        }
        tidy();
    }
}

// Rare single nodes. Their supports are known, so this needs no rows, and the rows that follow are shorter for it.
inline void mend_singles(Database& db, Cut& cut, std::int64_t k, Monitor& monitor) {
    Generaliser generaliser(db, cut, k);
    for (std::int32_t node = 1; node < db.tree.count(); ++node)
        if (!cut.covered[node] && db.tree.support[node] < k) generaliser.mend(Nodes{node}, nullptr);
    monitor.advance(db.tree.count());
}

// Apriori anonymization: first all single nodes, then all pairs of what is left, … up to m. The rows need not be
// sorted.
inline void apriori(Database& db, Cut& cut, std::int64_t k, int m, int threads, Monitor& monitor) {
    mend_singles(db, cut, k, monitor);
    if (m == 1) return;
    drop_covered(db, cut);
    db.sort_rows();
    for (int size = 2; size <= m; ++size) mend_all(db, cut, k, size, Report::exact, threads, monitor);
}

// Direct anonymization: all sizes up to m at once. The rows need not be sorted.
inline void direct(Database& db, Cut& cut, std::int64_t k, int m, int threads, Monitor& monitor) {
    db.sort_rows();
    mend_all(db, cut, k, m, Report::longest_first, threads, monitor);
}

}  // namespace anonset::km
