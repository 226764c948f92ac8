// Frequent itemsets.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::mining {

enum class Kind { all = 0, closed = 1, maximal = 2 };

struct Patterns {
    OwnedCsr sets;  // item codes, ascending
    std::vector<std::int64_t> counts;
    bool complete = true;  // false: there are more than were asked for, and what is here is of no use
};

// All itemsets (or the closed, or the maximal ones) that at least `support` ≥ 1 rows hold, shorter ones first, equal
// lengths in the order of their items; at most `most` of them, and, where `longest` is not 0, of at most that many
// items (for all itemsets only). The same for any number of threads. Time: for each itemset visited the items that
// extend it times the support of its rarest item / 64.
Patterns frequent_patterns(const Csr& data, std::int64_t n_items, std::int64_t support, Kind kind, int longest,
                           std::int64_t most, int threads, Monitor& monitor);

}  // namespace anonset::mining
