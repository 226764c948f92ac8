// The one data layout that every kernel takes: rows of ascending item codes, one after the other.
#pragma once

#include <cstdint>
#include <vector>

namespace anonset {

struct Csr {
    const std::int64_t* offsets;  // rows + 1
    const std::int32_t* items;
    std::int64_t rows;

    std::int64_t size(std::int64_t row) const { return offsets[row + 1] - offsets[row]; }
    const std::int32_t* begin(std::int64_t row) const { return items + offsets[row]; }
    const std::int32_t* end(std::int64_t row) const { return items + offsets[row + 1]; }
};

// The same, owning its memory: what kernels return.
struct OwnedCsr {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> items;

    Csr view() const { return {offsets.data(), items.data(), static_cast<std::int64_t>(offsets.size()) - 1}; }
    void close_row() { offsets.push_back(static_cast<std::int64_t>(items.size())); }
};

}  // namespace anonset
