// Groups of exactly k sparse rows, the best ones first.
//
// Equal rows are one class of so many *copies*. Around every class, the *anchor*, the group is sought that gains most
// beyond what its members can expect anyway. Of all these groups the best one is taken; others that wanted one of its
// rows look for another group; and so on. Only centers inside the anchor are considered: then all that matters of a
// candidate is which of the anchor's items it holds, one bit each.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::crowd {

struct BestFirstOptions {
    std::int32_t k, every, reach, keep;  // see SparseSettings
    // The person of each row, numbered from 0 (negative: unknown), where a group needs k different ones; else null.
    // Then every row is a class of its own, and a group takes no two rows of one person.
    const std::int32_t* person = nullptr;
    std::int32_t persons = 0;
};

// The rows of all groups, one group after the other, and where each ends.
struct FoundGroups {
    std::vector<std::int32_t> rows;
    std::vector<std::int64_t> ends;
};

// Rows for which nobody found k - 1 others are in no group; k or more equal rows always are in one.
FoundGroups best_first(const Csr& rows, std::int32_t n_items, const BestFirstOptions& options, int threads,
                       Monitor& monitor);

}  // namespace anonset::crowd
