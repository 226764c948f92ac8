// What attackers find: candidates for what is known, subsets that single out, and the nearest published sets.
//
// Sums are whole numbers and queries are independent, so the answers do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::risk {

// What the attacker knows to be absent: bit b of held[row] says that the row holds the b-th most frequent item, bit b
// of absent[query] that the person behind the query does not. Null: nothing is known to be absent.
struct Absence {
    const std::uint64_t* held = nullptr;
    const std::uint64_t* absent = nullptr;

    bool knows(std::int64_t query) const { return held && absent[query] != 0; }
    bool rules_out(std::int64_t row, std::int64_t query) const { return held && (held[row] & absent[query]) != 0; }
};

// For each query of m items (negative: fewer), 1 ≤ m ≤ 64, the number of rows that hold them all and that nothing rules
// out. A query without items throws std::invalid_argument. Time: the rows of a query's rarest item, or rows / 64.
std::vector<std::int64_t> count_candidates(const Csr& data, std::int64_t n_items, const std::int32_t* queries,
                                           std::int64_t n_queries, int m, const Absence& absence, int threads,
                                           Monitor& monitor);

struct Companions {
    std::vector<std::int64_t> persons;  // different ones with a row that holds all items of the query
    std::vector<std::uint8_t> found;    // whether the query's own person is one of them
};

// The same in persons: rows stand in ascending order of their persons (from 0 on), own[query] is the person whom the
// query is about. Time: the rows of a query's rarest item.
Companions count_persons(const Csr& data, const std::int32_t* person, std::int64_t n_items, const std::int32_t* queries,
                         const std::int32_t* own, std::int64_t n_queries, int m, int threads, Monitor& monitor);

// Over the m-subsets of each row: how many lead to one transaction, the sum of the candidates, the sum of 1 /
// candidates in units of 2⁻³², and the fewest candidates.
struct SubsetTally {
    std::vector<std::int64_t> singled, sizes, success, smallest;

    explicit SubsetTally(std::int64_t rows = 0);
};

// Tallies over all m-subsets of the target rows; rows are distinct, row r stands for weight[r] transactions. Targets
// must have fewer than 2³¹ subsets each. Time: the itemsets of m items that more than one row holds, and their rows.
SubsetTally subset_tally(const Csr& distinct, std::int64_t n_items, const std::int64_t* weight, const bool* target,
                         int m, int threads, Monitor& monitor);

struct Links {
    std::vector<double> distance;       // to the nearest published set
    std::vector<std::int64_t> nearest;  // transactions that publish a set at that distance
    std::vector<std::uint8_t> found;    // whether the query's own published set is among them
};

// For each query the nearest of the published sets (distinct, each published by weight[set] transactions), by Hamming
// or Jaccard distance. own[query] is the query's own published set, or negative. Time: the sets that share an item.
Links link_sets(const Csr& queries, const Csr& sets, const std::int64_t* weight, const std::int64_t* own,
                std::int64_t n_items, bool jaccard, int threads, Monitor& monitor);

}  // namespace anonset::risk
