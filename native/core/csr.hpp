// The one data layout that every kernel takes: rows of ascending item codes, one after the other.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/buffer.hpp"

namespace anonset {

struct Csr {
    const std::int64_t* offsets;  // rows + 1
    const std::int32_t* items;
    std::int64_t rows;

    std::int64_t size(std::int64_t row) const { return offsets[row + 1] - offsets[row]; }
    const std::int32_t* begin(std::int64_t row) const { return items + offsets[row]; }
    const std::int32_t* end(std::int64_t row) const { return items + offsets[row + 1]; }
};

// Calls body(row) for each of the rows named. They lie anywhere, so the memory of those to come is asked for ahead.
template <class Row, class Body>
void for_rows(const Csr& data, const Row* rows, std::int64_t count, Body&& body) {
    constexpr std::int64_t FAR = 16, NEAR = 8;
    for (std::int64_t i = 0; i < count; ++i) {
#ifdef __GNUC__
        if (i + FAR < count) __builtin_prefetch(data.offsets + rows[i + FAR]);
        if (i + NEAR < count) __builtin_prefetch(data.begin(rows[i + NEAR]));
#endif
        body(rows[i]);
    }
}

// Bounds of so many stretches of rows that hold about as many rows and items each, and at least `least` rows, which
// must be possible.
inline std::vector<std::int64_t> even_stretches(const Csr& data, std::int64_t count, std::int64_t least) {
    const auto weight = [&](std::int64_t row) { return data.offsets[row] - data.offsets[0] + row; };
    std::vector<std::int64_t> bounds(count + 1, 0);
    for (std::int64_t i = 1; i < count; ++i) {
        std::int64_t from = bounds[i - 1] + least, to = data.rows - (count - i) * least;
        while (from < to) {
            const std::int64_t middle = from + (to - from) / 2;
            if (weight(middle) * count < weight(data.rows) * i) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        bounds[i] = from;
    }
    bounds[count] = data.rows;
    return bounds;
}

// The same, owning its memory: what kernels return.
struct OwnedCsr {
    Buffer<std::int64_t> offsets{0};
    Buffer<std::int32_t> items;

    Csr view() const { return {offsets.data(), items.data(), static_cast<std::int64_t>(offsets.size()) - 1}; }
    void close_row() { offsets.push_back(static_cast<std::int64_t>(items.size())); }
};

// All parts, one after the other. Each part is freed once it is copied, so that memory peaks at little more
// than the whole.
inline OwnedCsr joined(std::vector<OwnedCsr>&& parts) {
    OwnedCsr whole;
    std::size_t rows = 1, items = 0;
    for (const OwnedCsr& part : parts) {
        rows += part.offsets.size() - 1;
        items += part.items.size();
    }
    whole.offsets.reserve(rows);
    whole.items.reserve(items);
    for (OwnedCsr& slot : parts) {
        const OwnedCsr part = std::exchange(slot, OwnedCsr());
        const auto before = static_cast<std::int64_t>(whole.items.size());
        for (std::size_t row = 1; row < part.offsets.size(); ++row) whole.offsets.push_back(before + part.offsets[row]);
        whole.items.insert(whole.items.end(), part.items.begin(), part.items.end());
    }
    return whole;
}

}  // namespace anonset
