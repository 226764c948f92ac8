// PTA (Lin et al.): short tours through segments of rows in Gray order, and groups of k neighbours on them.
//
// Segment s is order[bounds[s]] … order[bounds[s + 1] - 1]; `bounds` has segments + 1 entries. Items are below
// `vocabulary`. A segment of n rows advances the monitor by n. The answers do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::pta {

struct Tours {
    std::vector<std::int64_t> loops;    // the rows, segment by segment, in the order of the tour
    std::vector<std::int64_t> lengths;  // per segment, in items that neighbours do not share; the closing edge included
};

// PrimTSP (Algorithm 1): for each segment the shortest of the tours grown from each of its rows; the first of equals.
// Time: at most the cube of a segment's rows, mostly far less (see tour.cpp); memory: the square, once per thread.
Tours prim_tours(const Csr& data, const std::int64_t* order, const std::int64_t* bounds, std::int64_t segments,
                 std::int64_t vocabulary, int threads, Monitor& monitor);

struct GeneticOptions {
    std::int64_t population, generations;
    bool random_start;  // the first population holds random tours only, not the order given
    std::uint64_t seed;
};

// Gray-TSP: tours bred by a genetic algorithm; never longer than the order given, unless the start is random.
// Population ≥ 1.
// Time: population × generations × rows; memory: the square of a segment's rows, once per thread.
Tours genetic_tours(const Csr& data, const std::int64_t* order, const std::int64_t* bounds, std::int64_t segments,
                    std::int64_t vocabulary, const GeneticOptions& options, int threads, Monitor& monitor);

struct WindowGroups {
    std::vector<std::int32_t> group;   // of each row
    std::vector<std::uint8_t> voters;  // 1 for the rows of the windows, 0 for the leftovers that joined them
    std::int32_t groups = 0;
};

// Algorithms 2 and 3: disjoint windows of k neighbours on each tour loops[bounds[s]] …, the least loss first, and each
// leftover with the window whose center is nearest. Every segment has at least k rows; every group has at least k.
// Time: items of the rows, plus those of the leftovers times the centers that hold them, plus a sort of the positions.
WindowGroups window_groups(const Csr& data, const std::int64_t* loops, const std::int64_t* bounds,
                           std::int64_t segments, std::int64_t vocabulary, std::int64_t k, int threads,
                           Monitor& monitor);

}  // namespace anonset::pta
