// Gray order: sort transactions by the rank of their bitmap, read as a Gray code word.
//
// For ascending item positions i0 < i1 < … in a domain of d items that order equals the lexicographic order
// of these tokens: d − i at even depth, i + 1 at odd depth; the end is 0 at even depth and d + 1 at odd
// depth. So it is a plain sort of re-coded rows: 64 bits of tokens at a time, and only rows that still tie
// look at their next 64 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset {

// The rows in Gray order; equal rows keep their order, so the answer is one for any number of threads. `rank` gives
// each item's position in [0, domain). Time: a sort of the rows, 64 bits of tokens at a time.
Buffer<std::int64_t> gray_order(const Csr& data, const std::int32_t* rank, std::int64_t domain, int threads,
                                Monitor& monitor);

// The Gray order as byte strings: fixed-width big-endian tokens, for what can sort bytes (Arrow, Spark).
// Shorter strings sort first, so the end token at even depth is left out.
struct GrayKeys {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint8_t> bytes;
};
GrayKeys gray_keys(const Csr& data, const std::int32_t* rank, std::int64_t domain);

}  // namespace anonset
