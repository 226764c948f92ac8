// Row operations on CSR data: put rows in another order, vote for the center of a group of rows, measure what that
// changes. The answers do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset {

// How often each item of the vocabulary occurs.
std::vector<std::int64_t> item_counts(const std::int32_t* items, std::int64_t size, std::int64_t vocabulary,
                                      int threads, Monitor& monitor);

// The rows of `data` named by `order`, one after the other.
OwnedCsr take_rows(const Csr& data, const std::int64_t* order, std::int64_t count, int threads, Monitor& monitor);

// The rows without the hidden items, and with nothing but these.
std::pair<OwnedCsr, OwnedCsr> part_rows(const Csr& data, const bool* hidden, int threads, Monitor& monitor);

// Each row's items through `code` (−1: left out), in order and without repetitions.
OwnedCsr recoded(const Csr& data, const std::int32_t* code);

// For each group the items that more than half of its voters hold (strict majority: ties are left out).
// `voters` may be null: then every row votes. Time: items of the rows, sorted inside each center.
OwnedCsr majority_centers(const Csr& data, const std::int32_t* group, const bool* voters, std::int32_t groups,
                          int threads, Monitor& monitor);

// How many items each row and the center of its group do not share.
std::vector<std::int64_t> center_distances(const Csr& data, const Csr& centers, const std::int32_t* group, int threads,
                                           Monitor& monitor);

// How often each item was added to, and removed from, the rows of `before` to give those of `after`. Row i of `after`
// comes from row origin[i] of `before`; a row with a negative origin is passed over.
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> item_changes(const Csr& before, const Csr& after,
                                                                             const std::int64_t* origin,
                                                                             std::int64_t n_items);

}  // namespace anonset
