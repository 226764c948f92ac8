// k-anonymity by top-down local generalisation (He and Naughton, VLDB 2009): parts of transactions that publish the
// same nodes of a hierarchy, nothing added and nothing left out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::partition {

// The tree in depth-first order: node 0 is the root, below node v are v + 1 … end[v] − 1.
struct Tree {
    const std::int32_t* end;
    const std::int64_t*
        loss;  // of an occurrence that is published as this node; 0 for leaves, never less than a child's
    std::int32_t count;
};

struct Parts {
    std::vector<std::int32_t> part;    // of each transaction
    std::vector<std::int64_t> bounds;  // the nodes that part p publishes are nodes[bounds[p] … bounds[p + 1] − 1]
    std::vector<std::int32_t> nodes;
};

// Parts of at least k transactions whose nodes stand for exactly the leaves of each member. Precondition: the items are
// leaves of the tree, ascending in a transaction; k ≥ 1; no transactions or at least k.
// Time: a pass over the leaves of a part for every node that is tried there. Memory: that of the data.
// With the person of each transaction (negative: unknown, who counts for nobody) parts have k different persons
// instead.
Parts local_generalisation(const Csr& data, const Tree& tree, const std::int32_t* person, std::int64_t k,
                           Monitor& monitor);

}  // namespace anonset::partition
