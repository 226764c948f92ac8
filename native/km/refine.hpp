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
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "core/monitor.hpp"
#include "km/attempt.hpp"
#include "km/optimal.hpp"

namespace anonset::km {

struct Refined {
    Nodes cut;
    std::vector<LeftOut> left_out;
    std::int64_t loss = 0;
};

// Which node is tried first: the one that saves most, the one that stands for most items, or the one that saves most
// for a transaction that holds it.
enum class Order { saving, size, saving_each };

// How many sets of m nodes the rows hold, about; stops counting at `enough`.
double sets_of_nodes(const Database& db, int m, double enough);

template <class Rows>
class Refiner {
  public:
    Refiner(const Database& db, std::int64_t k, int m, std::int64_t budget, Order order, Monitor& monitor)
        : db_(db),
          k_(k),
          m_(m),
          order_(order),
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
        if (order_ == Order::saving) search();
        return {cut(), out_, total_loss()};
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
    std::int64_t saving(std::int32_t node) const {
        std::int64_t saved = loss(node, occurrences_[node]);
        for (std::int32_t child : children_of(db_.tree, node)) saved -= loss(child, occurrences_[child]);
        return saved;
    }
    std::int64_t urgency(std::int32_t node) const {
        if (order_ == Order::size) return db_.tree.size[node];
        return order_ == Order::saving ? saving(node)
                                       : 1000 * saving(node) / std::max<std::int64_t>(1, db_.tree.support[node]);
    }

    void specialise(const Nodes& start) {
        std::priority_queue<std::pair<std::int64_t, std::int32_t>> open;
        auto offer = [&](std::int32_t node) {
            if (db_.tree.children[node] > 0) open.push({urgency(node), -node});
        };
        for (std::int32_t node : start) offer(node);
        while (!open.empty()) {
            const std::int32_t node = -open.top().second;
            open.pop();
            monitor_.check();
            if (order_ == Order::saving) monitor_.advance();
            const Attempt found = rows_.attempt(node, std::min(left_, saving(node) / full()));
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
        constexpr double MOST_SETS = 1e5;
        constexpr std::int64_t MOST_CUTS = 2000, MOST_RARE = 20000;
        if (sets_of_nodes(db_, m_, MOST_SETS) > MOST_SETS) return;
        Database sorted = db_;
        sorted.sort_rows();
        const SearchLimits limits{total_loss(), MOST_CUTS, MOST_RARE, std::numeric_limits<std::int64_t>::max()};
        const OptimalCut found = search_optimal(sorted, k_, m_, limits, monitor_);
        if (found.stopped == Stopped::finished && !found.cut.empty()) adopt(found.cut);
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
    const Order order_;
    Monitor& monitor_;
    const std::int64_t budget_;
    std::int64_t left_;  // of the budget
    Rows rows_;
    std::vector<std::uint8_t> in_cut_;
    std::vector<std::int64_t> occurrences_;  // items at or below each node that are not left out
    std::vector<LeftOut> out_;
};

// How many orders are tried.
std::size_t orders_to_try(const Database& db, std::int64_t budget);

template <class Rows>
Refined best_refined(const Database& db, std::int64_t k, int m, std::int64_t budget, int threads, Monitor& monitor) {
    const Order orders[] = {Order::saving, Order::saving_each, Order::size};
    std::vector<Refined> found(orders_to_try(db, budget));
    parallel_for(static_cast<std::int64_t>(found.size()), threads, monitor,
                 [&](std::int64_t i, int) { found[i] = Refiner<Rows>(db, k, m, budget, orders[i], monitor).run(); });
    auto cheaper = [](const Refined& a, const Refined& b) { return a.loss < b.loss; };
    return *std::min_element(found.begin(), found.end(), cheaper);
}

// The two instances: rows as bitmaps, rows as lists.
Refined refine_dense(const Database& db, std::int64_t k, int m, std::int64_t budget, int threads, Monitor& monitor);
Refined refine_sparse(const Database& db, std::int64_t k, int m, std::int64_t budget, int threads, Monitor& monitor);

}  // namespace anonset::km
