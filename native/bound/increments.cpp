// Branch and bound at an anchor: the groups in which it saves more than its demand (docs/explanation/bound.md, "Dual
// increments").
//
// The items that a center holds are decided one after the other, first those of the anchor, the rarest first; then, in
// the leaf check, those that it lacks.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "bound/api.hpp"
#include "bound/leaf_check.hpp"
#include "bound/neighbours.hpp"
#include "bound/restore_feasibility.hpp"

namespace anonset::bound {

namespace {

class AnchorSearch {
  public:
    Centers violated;

    explicit AnchorSearch(const IncrementProblem& problem)
        : p_(problem), k_(problem.k), half_(problem.half), near_(problem), leaf_(problem, effort_) {}
    AnchorSearch(const AnchorSearch&) = delete;  // its parts share the effort

    // Searches with the whole increment of a row, or with half of it, a quarter and so on if that takes more than
    // `budget` steps. Returns by how much its value has to be lowered for what was not searched.
    std::int64_t pending_decrease(std::int64_t anchor, std::int64_t budget) {
        const std::int32_t increment = p_.increment[anchor];
        std::int64_t least = increment;
        if (!near_.around(anchor)) return least;
        leaf_.around(near_.found);
        for (std::int32_t part = increment; part >= SMALLEST; part /= 2) {
            near_.keep(part);
            run(budget);
            note();
            least = std::min(least, increment - part + effort_.unsearched);
            if (!effort_.spent()) break;
        }
        return least;
    }

  private:
    static constexpr std::int32_t SMALLEST = UNIT / 32;  // part of an increment that is worth a search

    void run(std::int64_t budget) {
        const Neighbours& near = near_.found;
        effort_ = {budget};
        if (near.need < 0) effort_.leave_out(violation_of(-near.need));  // it may save enough without any item
        const auto items = static_cast<int>(near.items.size());
        for (int b = 0; b < items; ++b) {
            const Set bit = Set{1} << b, all = ~Set{0} >> (64 - items), open = b == 63 ? 0 : all & (~Set{0} << (b + 1));
            Left& left = at_depth(0);
            left.with.clear();
            left.without.clear();
            for (const HelperClass& one : near.classes) (one.held & bit ? left.with : left.without).push_back(one);
            effort_.steps += static_cast<std::int64_t>(near.classes.size()) / 4;
            visit(0, {bit, 1, open}, p_.tangents.size() - 1);
        }
    }
    void visit(std::size_t depth, const Choice& choice, std::size_t tangent) {
        const Left& left = at_depth(depth);
        const Saving here = least(left, choice, tangent);
        if (here.most <= 0) return;
        if (effort_.spent()) return effort_.leave_out(violation_of(here.most));
        Left& next = at_depth(depth + 1);
        narrow(left.with, choice, here.tangent, here.low, next.with);
        narrow(left.without, choice, here.tangent, here.low_without, next.without);
        const Choice closed{choice.kept, choice.size, 0};
        const Saving own = choice.open ? least(next, closed, here.tangent) : here;
        if (own.most > 0) leaf_.look(next, closed, own);
        for (Set open = choice.open; open;) {
            const Set bit = open & (~open + 1);
            open ^= bit;
            visit(depth + 1, {choice.kept | bit, choice.size + 1, open}, here.tangent);
        }
    }
    Left& at_depth(std::size_t depth) {
        while (levels_.size() <= depth) levels_.emplace_back();
        return levels_[depth];
    }

    // An upper bound by the best k - 1 helpers; at least half of the group hold the rarest kept item.
    Saving saving(const Left& left, const Choice& choice, std::size_t tangent) {
        with_.begin(k_ - 1, NONE);
        fill(with_, left.with, choice, p_.tangents[tangent]);
        without_.begin(k_ - half_, std::max(with_[k_ - 2], -p_.fee[0]));
        fill(without_, left.without, choice, p_.tangents[tangent]);
        const std::int64_t sure = p_.sure(near_.found.need, choice, tangent);
        return {sure + sum_of_largest(with_, without_, half_ - 1, k_ - 1),
                -sure - sum_of_largest(with_, without_, half_ - 2, k_ - 2),
                -sure - sum_of_largest(with_, without_, half_ - 1, k_ - 2), tangent};
    }
    ANONSET_CLONES void fill(LargestRanked& best, const std::vector<HelperClass>& classes, const Choice& choice,
                             const Tangent& tangent) {
        const std::int32_t extra = std::max(0, tangent.slope - 2 * UNIT) * choice.size;
        const Helper* helpers = near_.found.helpers.data();
        for (const HelperClass& one : classes) {
            if (one.most + extra <= best.floor()) return;
            const std::int32_t all = saved(one.held, choice, tangent);
            std::int32_t i = one.first;
            for (; i < one.last && all - helpers[i].fee > best.floor(); ++i)
                best.add(all - helpers[i].fee, helpers[i].copies);
            effort_.steps += 1 + i - one.first;
        }
    }
    // By the tangent that gives the least, near the one that did so before.
    Saving least(const Left& left, const Choice& choice, std::size_t tangent) {
        Saving least = saving(left, choice, tangent);
        const auto lower = [&](std::size_t other) {
            const Saving one = saving(left, choice, other);
            if (one.most >= least.most) return false;
            least = one;
            return true;
        };
        for (std::size_t l = tangent + 1; least.most > 0 && l < p_.tangents.size() && lower(l); ++l) continue;
        if (least.tangent != tangent) return least;
        for (std::size_t l = tangent; least.most > 0 && l-- > 0 && lower(l);) continue;
        return least;
    }
    ANONSET_CLONES void narrow(const std::vector<HelperClass>& from, const Choice& choice, std::size_t tangent,
                               std::int64_t low, std::vector<HelperClass>& to) {
        const Helper* helpers = near_.found.helpers.data();
        to.clear();
        for (HelperClass one : from) {
            const std::int64_t all = saved(one.held, choice, p_.tangents[tangent]);
            if (all - helpers[one.first].fee <= low) continue;
            one.last = static_cast<std::int32_t>(
                std::partition_point(helpers + one.first, helpers + one.last,
                                     [&](const Helper& helper) { return all - helper.fee > low; }) -
                helpers);
            to.push_back(one);
        }
        effort_.steps += static_cast<std::int64_t>(from.size());
    }
    // A group in which no member saves more than so much beyond its demand has at most this violation.
    std::int64_t violation_of(std::int64_t saved) const { return (saved * k_ + 2 * (k_ - 1) - 1) / (2 * (k_ - 1)); }

    void note() {
        for (const Center& center : leaf_.violated) {
            Items all = center.added;
            for (Set left = center.kept; left; left &= left - 1)
                all.push_back(near_.found.items[__builtin_ctzll(left)]);
            std::sort(all.begin(), all.end());
            violated.insert(std::move(all));
        }
        leaf_.violated.clear();
    }

    const IncrementProblem& p_;
    const std::int64_t k_, half_;
    NeighbourSearch near_;
    Effort effort_;
    LeafCheck leaf_;
    std::deque<Left> levels_;
    LargestRanked with_, without_;
};

}  // namespace

std::vector<double> dual_increments(const Csr& data, const std::int64_t* weight, const double* price,
                                    const double* target, const double* increment, std::int32_t n_items, std::int64_t k,
                                    std::int64_t budget, int threads, Monitor& monitor) {
    const IncrementProblem problem(data, weight, price, target, increment, n_items, k);
    std::deque<AnchorSearch> searches;
    while (static_cast<int>(searches.size()) < thread_count(threads)) searches.emplace_back(problem);
    std::vector<std::int64_t> decrease(data.rows, 0);
    parallel_for(data.rows, threads, monitor, [&](std::int64_t u, int number) {
        if (problem.increment[u] > 0) decrease[u] = searches[number].pending_decrease(u, budget);
    });
    Centers& violated = searches[0].violated;
    for (std::size_t other = 1; other < searches.size(); ++other) violated.merge(searches[other].violated);
    RestoreFeasibility(problem, decrease).run(violated, monitor);
    std::vector<double> value(target, target + data.rows);
    for (std::int64_t u = 0; u < data.rows; ++u) value[u] -= static_cast<double>(decrease[u]) / UNIT;
    return value;
}

}  // namespace anonset::bound
