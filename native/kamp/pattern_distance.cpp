// Pattern distance: how far a user's maximal patterns after anonymization are from those before.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kamp/api.hpp"

namespace anonset::kamp {

namespace {

std::int64_t differing_items(const Csr& a, std::int64_t i, const Csr& b, std::int64_t j) {
    std::int64_t shared = 0;
    const std::int32_t *x = a.begin(i), *y = b.begin(j);
    while (x != a.end(i) && y != b.end(j)) {
        shared += *x == *y;
        const bool forward = *x <= *y;
        y += *y <= *x;
        x += forward;
    }
    return a.size(i) + b.size(j) - 2 * shared;
}

// The sum over a user's patterns of the distance to the nearest of the others; to none at all, a pattern is as far as
// it has items.
std::int64_t distance_to(const OwnedPatterns& from, const OwnedPatterns& to, std::int64_t u) {
    std::int64_t total = 0;
    for (const std::int32_t* p = from.owned.begin(u); p != from.owned.end(u); ++p) {
        std::int64_t nearest = to.owned.size(u) ? INT64_MAX : from.sets.size(*p);
        for (const std::int32_t* q = to.owned.begin(u); q != to.owned.end(u); ++q)
            nearest = std::min(nearest, differing_items(from.sets, *p, to.sets, *q));
        total += nearest;
    }
    return total;
}

}  // namespace

std::vector<std::int64_t> pattern_distance(const OwnedPatterns& before, const OwnedPatterns& after) {
    std::vector<std::int64_t> distance(before.owned.rows);
    for (std::int64_t u = 0; u < before.owned.rows; ++u)
        distance[u] = distance_to(before, after, u) + distance_to(after, before, u);
    return distance;
}

}  // namespace anonset::kamp
