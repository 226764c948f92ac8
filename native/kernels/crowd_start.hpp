// How the groups of sparse rows begin: as runs of k in Gray order, or grown around seeds.
#pragma once

#include <atomic>
#include <numeric>

#include "crowd_groups.hpp"
#include "crowd_grow.hpp"

namespace anonset {

namespace crowd {

// The first row after `from` that differs from it; equal rows lie side by side in Gray order.
inline std::int32_t end_of_equals(const Csr& rows, std::int32_t from) {
    std::int32_t to = from + 1;
    while (to < rows.rows && rows.size(to) == rows.size(from) &&
           std::equal(rows.begin(from), rows.end(from), rows.begin(to)))
        ++to;
    return to;
}

// Runs of k; the last one takes what is left.
template <class Take>
void for_runs(const std::vector<std::int32_t>& rows, std::int32_t k, Take&& take) {
    const auto runs = static_cast<std::int64_t>(rows.size()) / k;
    for (std::int64_t run = 0; run < runs; ++run) {
        const auto from = rows.begin() + run * k;
        take(std::vector<std::int32_t>(from, run + 1 == runs ? rows.end() : from + k));
    }
}

struct Starts {
    std::int64_t runs = 0, grown = 0;  // what the groups keep
};

inline Starts compare_starts(const Csr& rows, std::int32_t n_items, std::int32_t k, std::int64_t visits,
                             Monitor& monitor) {
    std::vector<std::int32_t> waiting;
    for (std::int32_t from = 0, to; from < rows.rows; from = to) {
        to = end_of_equals(rows, from);
        for (std::int32_t r = from; r < to && to - from < k; ++r) waiting.push_back(r);
    }
    Groups groups(rows, n_items);
    Starts kept;
    for_runs(waiting, k, [&](const std::vector<std::int32_t>& run) { kept.runs += groups.gain_of(run); });
    Grower grower(rows, waiting.data(), static_cast<std::int32_t>(waiting.size()), n_items, k, visits);
    auto anybody = [](std::int32_t) { return true; };
    grower.run(1.0, monitor, anybody, [&](const std::vector<std::int32_t>& members) {
        kept.grown += groups.gain_of(members);
        return true;
    });
    return kept;
}

}  // namespace crowd

// How much groups that grow keep, divided by what runs keep, in stretches of the data: one row of `every` or more.
inline double crowd_growth(const Csr& data, std::int32_t n_items, std::int64_t k, std::int64_t visits,
                           std::int64_t stretch, std::int64_t every, int threads, Monitor& monitor) {
    const std::int64_t size = std::min(data.rows, stretch);
    const std::int64_t count = std::max<std::int64_t>(1, data.rows / (stretch * every));
    std::atomic<std::int64_t> runs{0}, grown{0};
    parallel_for(count, threads, monitor, [&](std::int64_t i, int) {
        const std::int64_t from = (data.rows - size) * (2 * i + 1) / (2 * count);
        const crowd::Starts kept = crowd::compare_starts(Csr{data.offsets + from, data.items, size}, n_items,
                                                         static_cast<std::int32_t>(k), visits, monitor);
        runs += kept.runs;
        grown += kept.grown;
    });
    return static_cast<double>(grown) / static_cast<double>(std::max<std::int64_t>(1, runs));
}

}  // namespace anonset
