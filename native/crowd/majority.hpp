// Rows vote for the items of a center. All items are counted at once: a word holds the same bit of all their counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bitmap.hpp"

namespace anonset::crowd {

// Candidates of an anchor, and how many rows of each there are.
struct Member {
    std::int32_t candidate, copies;
};

struct Members {
    std::vector<Member> all;  // of which so many count
    std::int32_t count = 0;

    const Member* begin() const { return all.data(); }
    const Member* end() const { return all.data() + count; }
};

struct Votes {
    std::int64_t gain;     // the sum of 2c - k over the items of the center, c the number of rows that hold them
    std::uint64_t center;  // what more than half of k hold
};

// Counts begin so high that their topmost bit says whether it is more than half.
template <int Planes>
ANONSET_INLINE Votes count_in(const Members& members, const std::uint64_t* masks, std::uint64_t items, std::int32_t k,
                              std::int32_t own) {
    constexpr std::int32_t TOP = Planes - 1;
    const std::int64_t begin = (std::int64_t{1} << TOP) - 1 - k / 2 + own;
    std::uint64_t planes[Planes];
    for (std::int32_t p = 0; p < Planes; ++p) planes[p] = begin >> p & 1 ? ~std::uint64_t{0} : 0;
    for (const auto& [candidate, copies] : members)
        for (std::int32_t copy = 0; copy < copies; ++copy) {
            std::uint64_t carry = masks[candidate];
            for (std::int32_t p = 0; p < Planes; ++p) {
                const std::uint64_t both = planes[p] & carry;
                planes[p] ^= carry;
                carry = both;
            }
        }
    const std::uint64_t center = planes[TOP] & items;
    std::int64_t gain = std::int64_t{__builtin_popcountll(center)} * (2 + 2 * (k / 2) - k);
    for (std::int32_t p = 0; p < TOP; ++p) gain += std::int64_t{2} * __builtin_popcountll(planes[p] & center) << p;
    return {gain, center};
}

// The vote of these members and of `own` rows that hold all these items; together they are k.
ANONSET_CLONES inline Votes count_votes(const Members& members, const std::uint64_t* masks, std::uint64_t items,
                                        std::int32_t k, std::int32_t own) {
    if (k < 8) return count_in<3>(members, masks, items, k, own);
    if (k < 32) return count_in<5>(members, masks, items, k, own);
    return count_in<32>(members, masks, items, k, own);
}

}  // namespace anonset::crowd
