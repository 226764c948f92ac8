// k^m-anonymity by cuts of a hierarchy (Terrovitis, Mamoulis and Kalnis): any m or fewer published nodes that occur
// together do so in at least k transactions.
//
// A cut is given as the published node of each node of the tree: itself or one above it, in depth-first order; −1 for
// nodes above the cut. Preconditions of all functions: k ≥ 1, m ≥ 1, and at least k transactions are not empty (or
// none). The answers do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::km {

using Nodes = std::vector<std::int32_t>;

// The tree in depth-first order: node 0 is the root.
struct Hierarchy {
    const std::int32_t* parent;  // of each node; of the root anything
    const std::int64_t* size;    // items that each node stands for
    std::int32_t count;
    const std::int32_t* leaf;  // the node of each item
    // The person of each transaction, ascending, negative where unknown; then supports count different persons. Null:
    // they count transactions.
    const std::int32_t* person = nullptr;
};

// Direct anonymization (Algorithm 3), or, with `apriori`, apriori anonymization (Algorithm 4): generalises each rare
// itemset as cheaply as possible where it is met. Time: the itemsets of up to m nodes that the transactions hold;
// memory: one projection of them per level.
Nodes greedy_cut(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, bool apriori, int threads,
                 Monitor& monitor);

// Why a search ended: it was complete, or a limit was reached.
enum class Stopped { finished = 0, cuts = 1, rare = 2, memory = 3 };

struct SearchLimits {
    std::int64_t bound;  // only cuts that cost less
    std::int64_t cuts;   // so many are examined
    std::int64_t rare;   // so many rare itemsets are kept
    std::int64_t bytes;  // so much memory is taken for cuts and rare itemsets
};

struct OptimalCut {
    Stopped stopped = Stopped::finished;
    Nodes cut;                  // all −1 if nothing costs less than the bound
    std::int64_t examined = 0;  // cuts
    std::int64_t rare = 0;      // itemsets
};

// The cheapest safe cut within the limits, exactly: best first, or as in Algorithm 2 (Optimal anonymization) breadth
// first. Time: exponential in the worst case.
OptimalCut optimal_cut(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, bool breadth_first,
                       const SearchLimits& limits, Monitor& monitor);

struct MinimalCuts {
    Stopped stopped = Stopped::finished;
    std::vector<Nodes> cuts;  // the cheapest first
    std::int64_t examined = 0;
};

// All safe cuts within the limits of which no node can be replaced by its children.
MinimalCuts minimal_cuts(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, const SearchLimits& limits,
                         Monitor& monitor);

// How many nodes the paper's count-tree has: one for each set of up to m nodes of the hierarchy (but the root) that
// some transaction holds, none above another and none below a published one; with `exact` for the sets of m nodes and
// their beginnings only, as in the last round of Algorithm 4.
std::int64_t count_tree_size(const Csr& data, const Hierarchy& tree, const std::int32_t* published, int m, bool exact,
                             Monitor& monitor);

// How the rows are kept while a refinement runs; the answer is the same.
enum class Form { best = 0, sparse = 1, dense = 2 };

struct RefinedCut {
    Nodes cut;
    std::vector<std::uint8_t> kept;  // of each item occurrence: 0 where it is left out
};

// From the root down: replaces a published node by its children wherever that stays safe. The cut is minimal: no
// published node can be replaced. At most `budget` item occurrences are left out, where that loses less than it saves.
// Time: each node is tried once, at the cost of the sets of up to m nodes that its children are part of. Where persons
// are counted, rows are bitmaps; empty where these take too much memory.
RefinedCut refined_cut(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, std::int64_t budget, Form form,
                       int threads, Monitor& monitor);

struct RareItemsets {
    OwnedCsr sets;  // nodes in depth-first order
    std::vector<std::int64_t> supports;
};

// Sets of up to m nodes, none above another, that fewer than k transactions hold; the first `most` of them in the order
// of the count-tree. With `shortest`, none that contains another. Time: as for greedy_cut.
RareItemsets rare_itemsets(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, bool shortest,
                           std::int64_t most, Monitor& monitor);

}  // namespace anonset::km
