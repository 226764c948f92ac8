// From the root down: replace a published node by its children wherever that stays safe, the largest saving first.
//
// A node needs to be tried only once: if a cut is not safe, no finer one is, so what fails now fails for ever. What
// is left is a minimal cut: no published node can be replaced by its children.
//
// With a budget of items that may be left out, a child that would be rare together with something else is left out of
// those transactions, as long as all that loses less than the replacement saves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "km_dense.hpp"
#include "km_optimal.hpp"
#include "km_sparse.hpp"

namespace anonset::km {

struct Refined {
    Nodes cut;
    std::vector<LeftOut> left_out;
};

template <class Rows>
class Refiner {
  public:
    Refiner(const Database& db, std::int64_t k, int m, std::int64_t budget, Monitor& monitor)
        : db_(db),
          k_(k),
          m_(m),
          monitor_(monitor),
          budget_(budget),
          left_(budget),
          rows_(db, k, m, monitor),
          in_cut_(db.tree.count(), 0),
          occurrences_(db.tree.occurrences) {
        in_cut_[0] = 1;
    }

    Refined run() {
        specialise(Nodes{0});
        search();
        return {cut(), out_};
    }

  private:
    Nodes cut() const {
        Nodes out;
        for (std::int32_t node = 0; node < db_.tree.count(); ++node)
            if (in_cut_[node]) out.push_back(node);
        return out;
    }

    // What leaving out one item costs, and what publishing `items` of them as this node loses.
    std::int64_t full() const { return db_.tree.size[0]; }
    std::int64_t loss(std::int32_t node, std::int64_t items) const {
        return db_.tree.size[node] > 1 ? items * db_.tree.size[node] : 0;
    }
    std::int64_t saving(const Nodes& children, std::int32_t node) const {
        std::int64_t saved = loss(node, occurrences_[node]);
        for (std::int32_t child : children) saved -= loss(child, occurrences_[child]);
        return saved;
    }

    void specialise(const Nodes& start) {
        std::priority_queue<std::pair<std::int64_t, std::int32_t>> open;
        auto offer = [&](std::int32_t node) {
            if (db_.tree.children[node] > 0) open.push({saving(children_of(db_.tree, node), node), -node});
        };
        for (std::int32_t node : start) offer(node);
        while (!open.empty()) {
            const auto [saved, negative] = open.top();
            open.pop();
            monitor_.check();
            monitor_.advance();
            const Attempt found = rows_.attempt(-negative, std::min(left_, saved / full()));
            if (!found.possible || !worth(found)) continue;
            commit(found);
            for (std::int32_t child : found.children) offer(child);
        }
    }

    bool worth(const Attempt& found) const {
        if (found.items == 0) return true;
        std::int64_t after = found.items * full();
        for (std::size_t c = 0; c < found.children.size(); ++c)
            after += loss(found.children[c], occurrences_[found.children[c]] - found.items_of[c]);
        return after < loss(found.node, occurrences_[found.node]);
    }

    void commit(const Attempt& found) {
        rows_.commit(found);
        in_cut_[found.node] = 0;
        for (std::int32_t child : found.children) in_cut_[child] = 1;
        left_ -= found.items;
        out_.insert(out_.end(), found.left_out.begin(), found.left_out.end());
        for (const LeftOut& out : found.left_out) forget(out);
    }

    // Takes the items of a row at or below a node out of the occurrences.
    void forget(const LeftOut& out) {
        const std::int32_t upper = db_.tree.parent[out.node];
        for (std::int32_t i = 0; i < db_.length(out.row); ++i) {
            const std::int32_t item = db_.row(out.row)[i];
            if (db_.tree.children[item] > 0 || !(item == out.node || db_.tree.below(out.node, item))) continue;
            for (std::int32_t node = item; node != upper; node = db_.tree.parent[node])
                occurrences_[node] -= db_.weights[out.row];
        }
    }

    std::int64_t total_loss() const {
        std::int64_t total = (budget_ - left_) * full();
        for (std::int32_t node : cut()) total += loss(node, occurrences_[node]);
        return total;
    }

    // On a small domain a short exact search may find a better cut than any that is merely minimal.
    void search() {
        constexpr double most_itemsets = 1e5;
        constexpr std::int64_t most_cuts = 2000, most_rare = 20000;
        double itemsets = 0;
        for (std::int64_t r = 0; r < db_.rows() && itemsets <= most_itemsets; ++r) {
            double ways = 1;
            for (int i = 0; i < m_; ++i) ways *= static_cast<double>(std::max(db_.length(r) - i, 0)) / (i + 1);
            itemsets += ways;
        }
        if (itemsets > most_itemsets) return;
        Database sorted = db_;
        sorted.sort_rows();
        const OptimalResult found = OptimalSearch(sorted, total_loss(), most_cuts, most_rare).run(k_, m_, monitor_);
        if (found.finished && !found.cut.empty()) adopt(found.cut);
    }

    // Starts again from the root, down to a cut that is known to be safe, and on from there.
    void adopt(const Nodes& target) {
        rows_.reset();
        out_.clear();
        left_ = budget_;
        occurrences_ = db_.tree.occurrences;
        std::fill(in_cut_.begin(), in_cut_.end(), 0);
        in_cut_[0] = 1;
        std::vector<std::uint8_t> wanted(db_.tree.count(), 0);
        for (std::int32_t node : target) wanted[node] = 1;
        for (std::int32_t node = 0; node < db_.tree.count(); ++node)  // parents come before children
            if (in_cut_[node] && !wanted[node]) commit(rows_.attempt(node, 0));
        specialise(target);
    }

    const Database& db_;
    const std::int64_t k_;
    const int m_;
    Monitor& monitor_;
    const std::int64_t budget_;
    std::int64_t left_;  // of the budget
    Rows rows_;
    std::vector<std::uint8_t> in_cut_;
    std::vector<std::int64_t> occurrences_;  // items at or below each node that are not left out
    std::vector<LeftOut> out_;
};

// How the rows are kept while the search runs; the answer is the same.
enum Form { best = 0, sparse = 1, dense = 2 };

inline Form best_form(const Database& db) {
    constexpr double most_bytes = 96e6;  // bitmaps are faster wherever they fit
    return static_cast<double>(db.rows()) / 8 * static_cast<double>(db.tree.count()) < most_bytes ? dense : sparse;
}

// `budget`: how many item occurrences may be left out.
inline Refined refine(const Database& db, std::int64_t k, int m, std::int64_t budget, int form, int, Monitor& monitor) {
    if ((form == best ? best_form(db) : form) == dense) return Refiner<DenseRows>(db, k, m, budget, monitor).run();
    return Refiner<SparseRows>(db, k, m, budget, monitor).run();
}

}  // namespace anonset::km
