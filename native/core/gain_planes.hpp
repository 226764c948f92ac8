// What a change of groups gains, from four bitmaps per group.
//
// For a group of s rows in which code i occurs c times let v = 2c - s. The gain of the group is the sum of max(0, v):
// what its rows keep, measured against publishing nothing (docs/methods/crowd.md). The bitmaps, one after the other,
// hold the codes with v >= -1, 0, 1, 2. Fixed > 0 is their length in words where the compiler may know it.
#pragma once

#include <cstdint>

#include "core/bitmap.hpp"

namespace anonset::gain {

// Row t of a group with planes g against row u of a group with planes h.
template <int Fixed>
ANONSET_INLINE std::int32_t swapping(const std::uint64_t* t, const std::uint64_t* u, const std::uint64_t* g,
                                     const std::uint64_t* h, std::int64_t runtime) {
    const std::int64_t words = Fixed ? Fixed : runtime;
    std::int32_t sum = 0;
    for (std::int64_t w = 0; w < words; ++w) {
        const std::uint64_t gives = t[w] & ~u[w], takes = u[w] & ~t[w];
        sum += __builtin_popcountll(gives & h[w]) + __builtin_popcountll(gives & h[words + w]) -
               __builtin_popcountll(gives & g[2 * words + w]) - __builtin_popcountll(gives & g[3 * words + w]);
        sum += __builtin_popcountll(takes & g[w]) + __builtin_popcountll(takes & g[words + w]) -
               __builtin_popcountll(takes & h[2 * words + w]) - __builtin_popcountll(takes & h[3 * words + w]);
    }
    return sum;
}

// The same for row t and any row u of h: |u| - |t|, both counted by these weights. An item weighs from -2 to 2; the
// bits of that number, the last of which counts -4, lie in three bitmaps.
template <int Fixed>
ANONSET_INLINE void weigh(const std::uint64_t* t, const std::uint64_t* g, const std::uint64_t* h, std::int64_t runtime,
                          std::uint64_t* weights) {
    const std::int64_t words = Fixed ? Fixed : runtime;
    for (std::int64_t w = 0; w < words; ++w) {
        const auto either = [&](const std::uint64_t* planes, int held, int missing) ANONSET_INLINE_LAMBDA {
            return (planes[held * words + w] & t[w]) | (planes[missing * words + w] & ~t[w]);
        };
        const std::uint64_t more = either(g, 2, 0), much_more = either(g, 3, 1);
        const std::uint64_t less = either(h, 0, 2), much_less = either(h, 1, 3);
        const std::uint64_t negative = (less & ~more) | (much_less & ~much_more);
        weights[w] = more ^ much_more ^ less ^ much_less;
        weights[words + w] = (much_more & ~less) | negative;
        weights[2 * words + w] = negative;
    }
}

template <int Fixed>
ANONSET_INLINE std::int32_t weight(const std::uint64_t* u, const std::uint64_t* weights, std::int64_t runtime) {
    const std::int64_t words = Fixed ? Fixed : runtime;
    std::int32_t ones = 0, twos = 0, fours = 0;
    for (std::int64_t w = 0; w < words; ++w) {
        ones += __builtin_popcountll(u[w] & weights[w]);
        twos += __builtin_popcountll(u[w] & weights[words + w]);
        fours += __builtin_popcountll(u[w] & weights[2 * words + w]);
    }
    return ones + 2 * twos - 4 * fours;
}

template <int Fixed>
ANONSET_INLINE std::int32_t leaving(const std::uint64_t* t, const std::uint64_t* g, std::int64_t runtime) {
    const std::int64_t words = Fixed ? Fixed : runtime;
    std::int32_t sum = 0;
    for (std::int64_t w = 0; w < words; ++w)
        sum += __builtin_popcountll(g[words + w] & ~t[w]) - __builtin_popcountll(g[2 * words + w] & t[w]);
    return sum;
}

template <int Fixed>
ANONSET_INLINE std::int32_t joining(const std::uint64_t* t, const std::uint64_t* h, std::int64_t runtime) {
    const std::int64_t words = Fixed ? Fixed : runtime;
    std::int32_t sum = 0;
    for (std::int64_t w = 0; w < words; ++w)
        sum += __builtin_popcountll(h[words + w] & t[w]) - __builtin_popcountll(h[2 * words + w] & ~t[w]);
    return sum;
}

}  // namespace anonset::gain
