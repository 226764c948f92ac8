// Random data, and what oracles need: plain sets instead of flat arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "core/csr.hpp"
#include "core/random.hpp"

namespace sample {

using anonset::Csr;
using anonset::OwnedCsr;
using Set = std::set<std::int32_t>;

// Rows that hold each item with a probability that falls from `dense` to a tenth of it.
inline OwnedCsr rows(std::uint64_t seed, std::int64_t count, std::int32_t items, double dense = 0.4) {
    anonset::Random random(seed, 0);
    OwnedCsr out;
    for (std::int64_t row = 0; row < count; ++row) {
        for (std::int32_t item = 0; item < items; ++item)
            if (random.chance(dense * (1 - 0.9 * item / items))) out.items.push_back(item);
        out.close_row();
    }
    return out;
}

inline OwnedCsr from(const std::vector<std::vector<std::int32_t>>& rows) {
    OwnedCsr out;
    for (const auto& row : rows) {
        out.items.insert(out.items.end(), row.begin(), row.end());
        out.close_row();
    }
    return out;
}

inline Set set(const Csr& data, std::int64_t row) { return Set(data.begin(row), data.end(row)); }

inline std::int64_t distance(const Set& a, const Set& b) {
    std::vector<std::int32_t> out;
    std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
    return static_cast<std::int64_t>(out.size());
}

inline bool includes(const Set& whole, const Set& part) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

inline bool equal(const OwnedCsr& a, const OwnedCsr& b) { return a.offsets == b.offsets && a.items == b.items; }

// All subsets of 1 to `most` elements.
inline std::vector<Set> subsets(const Set& of, std::size_t most) {
    std::vector<Set> out{{}};
    for (const std::int32_t item : of) {
        const std::size_t known = out.size();
        for (std::size_t i = 0; i < known; ++i)
            if (out[i].size() < most) {
                out.push_back(out[i]);
                out.back().insert(item);
            }
    }
    out.erase(out.begin());
    return out;
}

}  // namespace sample
