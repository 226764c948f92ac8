// A lower bound of what any k-anonymous release loses: dual values of rows (docs/explanation/bound.md has the proofs).
//
// Rows are distinct sets of items below n_items; weight[u] >= 1 counts the copies of row u, and k >= 2. Values are
// *feasible* if no group of k rows or more, copies counted, loses less than the values of its members add up to. Then
// the sum of all values, each times its weight, is a lower bound. A *cut* is this condition for one group, which is
// named by its *center*, the set that it publishes. A row *contributes* its value less its distance from the center to
// the violation of a cut.
//
// Prices, values and targets are whole multiples of 1 / 1024, which makes sums and comparisons exact; only pair_values
// takes any prices. No answer depends on the number of threads. Each row asked for advances the monitor by one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::bound {

struct PairValues {
    std::vector<double> value;    // of each row asked for
    std::vector<double> dearest;  // the last of the k - 1 offers that it takes: the price that suits it best
};

// The values that pairs of rows prove at any prices 0 <= price[v] <= |v|. Those of all rows are feasible.
// `dense`: compare bitmaps of all pairs (rows * items / 64 steps for each of the `count` rows wanted) instead of
// visiting the rows that share an item by an inverted index.
PairValues pair_values(const Csr& data, const std::int64_t* weight, const double* price, std::int32_t n_items,
                       std::int64_t k, const std::int64_t* wanted, std::int64_t count, bool dense, int threads,
                       Monitor& monitor);

struct AnchorValues {
    std::vector<double> value;        // of each row asked for
    std::vector<std::int64_t> steps;  // `budget` or more: the value may rise with a larger one
};

// The least that each of the `count` rows wanted is charged in any group of k, or a little less; never less than
// pair_values says at the same prices. Those of all rows are feasible. Rows come by rising |row| - price.
// Time: about `budget` looks at a helper for each row, at most.
AnchorValues anchor_values(const Csr& data, const std::int64_t* weight, const double* price, std::int32_t n_items,
                           std::int64_t k, const std::int64_t* wanted, std::int64_t count, std::int64_t budget,
                           int threads, Monitor& monitor);

// Violated cuts, by their centers, and the rows that contribute most to each.
struct Cuts {
    std::vector<std::uint64_t> key;  // the same for the same center; ascending
    std::vector<std::int64_t> violation, anchor;
    std::vector<std::int64_t> start{0};  // of the rows of each, and the end
    std::vector<std::int32_t> row, distance;
};

// `nearest` rows around each are looked at, and more (up to `widest`) where those may not be all that matter. Around
// each row the search ends after about `budget` looks at a row for one center, and the worst `cuts` are kept.
struct SeparationEffort {
    std::int64_t nearest, widest, budget, cuts;
};

struct Restored {
    std::vector<double> value;
    std::vector<std::int64_t> steps;  // taken around each row
    Cuts cuts;                        // that the target violates
};

// Separation at all centers, then feasibility restored. Precondition: target - increment is feasible, target[v] <= |v|,
// and increments are multiples of 1 / 32. The values returned are at most the target, and feasible.
Restored restore_feasibility(const Csr& data, const std::int64_t* weight, const double* target, const double* increment,
                             std::int32_t n_items, std::int64_t k, bool dense, const SeparationEffort& effort,
                             int threads, Monitor& monitor);

// The same where values are so high that there are too many centers: separation only around rows with an increment.
// Precondition: rows come by rising |row| - price; target - increment is at most what anchor_values says at these
// prices. Time: about `budget` looks at a row for each increment, and as many for a half of it, a quarter and so on.
std::vector<double> dual_increments(const Csr& data, const std::int64_t* weight, const double* price,
                                    const double* target, const double* increment, std::int32_t n_items, std::int64_t k,
                                    std::int64_t budget, int threads, Monitor& monitor);

// A number of cuts as `Cuts` has them.
struct CutList {
    const std::int64_t* start;
    const std::int32_t *row, *distance;
    std::int64_t count;
};

// Subgradient steps towards a large sum of values that violates these cuts little. Before each of the sweeps over the
// cuts all values rise by its `rise`, but to `most` at most; then at each cut the k rows that contribute most give back
// its violation in equal parts. The result may be infeasible: it is a target. Time: sweeps times rows of all cuts.
std::vector<double> subgradient_steps(const CutList& cuts, const std::int64_t* weight, std::int64_t k,
                                      std::vector<double> value, const double* most, const double* rise,
                                      std::int64_t sweeps, Monitor& monitor);

}  // namespace anonset::bound
