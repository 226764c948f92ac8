// Direct and apriori anonymization: walk through all itemsets and generalise where one is rare.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "km/api.hpp"
#include "km/walker.hpp"

namespace anonset::km {

namespace {

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
void shrink_if_stale(Database& db, const Cut& cut) {
    std::int64_t stale = 0;
    for (std::int32_t node = 0; node < db.tree.count(); ++node)
        if (cut.covered[node]) stale += db.place_count(node);
    if (3 * stale <= static_cast<std::int64_t>(db.nodes.size())) return;
    drop_covered(db, cut);
    db.index_places();
}

// One pass over all itemsets of `size` (or up to it): mend each rare one in the order of the walk.
//
// Several first nodes are searched at once with the cut as it is; then their rare itemsets are mended one after the
// other, passing over those that are covered by then. That is what one thread would have done in turn.
void mend_all(Database& db, Cut& cut, std::int64_t k, int size, Report report, int threads, Monitor& monitor) {
    constexpr std::size_t MOST_FOUND = 1 << 14;  // per first node; a node with more is searched again in turn
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
                                                       return found[task].size() < MOST_FOUND;
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
void mend_singles(Database& db, Cut& cut, std::int64_t k, Monitor& monitor) {
    Generaliser generaliser(db, cut, k);
    for (std::int32_t node = 1; node < db.tree.count(); ++node)
        if (!cut.covered[node] && db.tree.support[node] < k) generaliser.mend(Nodes{node}, nullptr);
    monitor.advance(db.tree.count());
}

// Apriori anonymization: first all single nodes, then all pairs of what is left, … up to m. The rows need not be
// sorted.
void apriori(Database& db, Cut& cut, std::int64_t k, int m, int threads, Monitor& monitor) {
    mend_singles(db, cut, k, monitor);
    if (m == 1) return;
    drop_covered(db, cut);
    db.sort_rows();
    for (int size = 2; size <= m; ++size) mend_all(db, cut, k, size, Report::exact, threads, monitor);
}

// Direct anonymization: all sizes up to m at once. The rows need not be sorted.
void direct(Database& db, Cut& cut, std::int64_t k, int m, int threads, Monitor& monitor) {
    db.sort_rows();
    mend_all(db, cut, k, m, Report::longest_first, threads, monitor);
}

// The lowest published nodes, without repetitions.
Nodes published(const Tree& tree, const Cut& cut) {
    Nodes out;
    for (std::int32_t node = 0; node < tree.count(); ++node)
        if (tree.children[node] == 0) out.push_back(cut.published(node));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace

Nodes greedy_cut(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, bool by_size, int threads,
                 Monitor& monitor) {
    Database db = extend(data, tree);
    Cut cut(db.tree);
    by_size ? apriori(db, cut, k, m, threads, monitor) : direct(db, cut, k, m, threads, monitor);
    return in_given_order(db.tree, published(db.tree, cut));
}

RareItemsets rare_itemsets(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, bool shortest,
                           std::int64_t most, Monitor& monitor) {
    Database db = extend(data, tree);
    db.sort_rows();
    const Cut nothing(db.tree);
    Walker walker(db, nothing, k, m, shortest ? Report::shortest : Report::longest_first, monitor);
    RareItemsets out;
    auto keep = [&](const Nodes& itemset, const std::int32_t*) {
        for (std::int32_t node : itemset) out.sets.items.push_back(db.tree.begin[node]);
        out.sets.close_row();
        out.supports.push_back(db.support(itemset, std::numeric_limits<std::int64_t>::max()));
        return static_cast<std::int64_t>(out.supports.size()) < most;
    };
    for (std::int32_t node = 1; node < db.tree.count(); ++node)
        if (!walker.walk(node, keep)) break;
    return out;
}

}  // namespace anonset::km
