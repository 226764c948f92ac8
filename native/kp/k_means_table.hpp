// The distances of rows to many centers at a time, as sums of a few rows of a table (see k_means.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/bitmap.hpp"
#include "core/csr.hpp"
#include "kp/attributes.hpp"

namespace anonset::kp::kmeans {

// 256 bits of numbers, of which a few registers are summed side by side.
#if defined(__GNUC__)
template <class Cell>
struct Vector;
template <>
struct Vector<std::int16_t> {
    using Lane = std::int16_t __attribute__((vector_size(32)));
    using Stored = std::int16_t __attribute__((vector_size(32), aligned(2), may_alias));  // in memory, anywhere
};
template <>
struct Vector<std::int32_t> {
    using Lane = std::int32_t __attribute__((vector_size(32)));
    using Stored = std::int32_t __attribute__((vector_size(32), aligned(4), may_alias));
};
#else
#error "k_means.cpp needs the vector types of GCC and Clang"
#endif
constexpr int VECTORS = 8;
template <class Cell>
constexpr std::int64_t WIDTH = VECTORS * 32 / sizeof(Cell);

// Into how many parts a count is divided. Sums of the means of a center, which are at most as long as the longest row
// (and a little more for rounding), must fit into 16 bits if that leaves parts that are fine enough; else 32 bits do.
constexpr std::int32_t FINEST = 1024, COARSEST = 64;
inline std::int32_t scale_for(std::int64_t longest, std::int64_t attributes) {
    std::int32_t scale = FINEST;
    while (scale >= COARSEST && longest * scale + attributes >= INT16_MAX) scale /= 2;
    return scale >= COARSEST ? scale : FINEST;
}
inline bool fits_16_bits(std::int64_t longest, std::int64_t attributes) {
    return longest * scale_for(longest, attributes) + attributes < INT16_MAX;
}

struct Centers {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> attribute, mean;  // the mean times the scale

    std::int64_t size() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
    void close() { offsets.push_back(static_cast<std::int64_t>(attribute.size())); }
    void add(const Centers& other, std::int64_t c) {
        for (std::int64_t at = other.offsets[c]; at < other.offsets[c + 1]; ++at) {
            attribute.push_back(other.attribute[at]);
            mean.push_back(other.mean[at]);
        }
        close();
    }
    void add_point(const Csr& rows, std::int64_t row, const Levels& levels, std::int32_t scale) {
        for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code) {
            attribute.push_back(levels.attribute[*code]);
            mean.push_back(levels.value[*code] * scale);
        }
        close();
    }
};

// For each code a row of what to add for each center; `base` is the sum of the means of each.
template <class Cell>
struct Table {
    std::vector<Cell> corrections;
    Cell base[WIDTH<Cell>];
    std::int64_t vectors = 0;  // with centers

    void load(const Centers& centers, std::int64_t from, std::int64_t to, const Levels& levels,
              const std::int32_t* first, std::int32_t scale) {
        corrections.assign(static_cast<std::size_t>(levels.size()) * WIDTH<Cell>, 0);
        vectors = ((to - from) * static_cast<std::int64_t>(sizeof(Cell)) + 31) / 32;
        std::fill(base, base + WIDTH<Cell>, std::numeric_limits<Cell>::max());
        for (std::int64_t column = 0; column < to - from; ++column) {
            std::int32_t sum = 0;
            for (std::int64_t at = centers.offsets[from + column]; at < centers.offsets[from + column + 1]; ++at) {
                const std::int32_t a = centers.attribute[at], mean = centers.mean[at];
                sum += mean;
                for (std::int32_t code = first[a]; code < first[a + 1]; ++code)
                    corrections[code * WIDTH<Cell> + column] =
                        static_cast<Cell>(-2 * std::min(levels.value[code] * scale, mean));
            }
            base[column] = static_cast<Cell>(sum);
        }
    }
};

// The distance of a row to one center of a table.
template <class Cell>
std::int32_t distance_to(const std::int32_t* begin, const std::int32_t* end, const Table<Cell>& table,
                         std::int64_t column) {
    std::int32_t sum = table.base[column];
    for (const std::int32_t* code = begin; code != end; ++code) sum += table.corrections[*code * WIDTH<Cell> + column];
    return sum;
}

template <class Lane, class Cell>
ANONSET_INLINE bool any_below(const Lane& numbers, Cell limit) {
    const auto below = numbers < limit;
    std::uint64_t words[4];
    std::memcpy(words, &below, sizeof words);
    return (words[0] | words[1] | words[2] | words[3]) != 0;
}

// The first of the columns that hold a number that one of them holds.
template <int Vectors, class Lane, class Cell>
ANONSET_INLINE std::int32_t first_column(const Lane* sum, Cell number) {
    constexpr int BITS = 8 * sizeof(Cell), LANES = 256 / BITS;
    Lane found{};  // bit v of each lane: whether that of the v-th vector holds it
    for (int v = 0; v < Vectors; ++v) {
        const auto bit = static_cast<Cell>(1 << v);
        found |= (sum[v] == number) & bit;
    }
    std::uint64_t words[4];
    std::memcpy(words, &found, sizeof words);
    std::int32_t first = INT32_MAX;
    for (int w = 0; w < 4; ++w)
        for (std::uint64_t left = words[w]; left; left &= left - 1) {
            const int bit = __builtin_ctzll(left) + 64 * w;
            first = std::min(first, bit % BITS * LANES + bit / BITS);
        }
    return first;
}

// The nearest of the centers of a table for each of these rows, where it is nearer than the best one so far. The
// vectors after the first few, `Vectors`, have no centers.
template <int Vectors, class Cell>
ANONSET_INLINE void nearest_in(const Csr& rows, std::int64_t from, std::int64_t to, const Table<Cell>& table,
                               std::int32_t first_center, std::int32_t* distance, std::int32_t* center) {
    using Lane = typename Vector<Cell>::Lane;
    using Stored = typename Vector<Cell>::Stored;
    constexpr std::int32_t MOST = std::numeric_limits<Cell>::max();
    const auto* corrections = reinterpret_cast<const Stored*>(table.corrections.data());
    const auto* base = reinterpret_cast<const Stored*>(table.base);
    for (std::int64_t row = from; row < to; ++row) {
        Lane sum[Vectors];
        for (int v = 0; v < Vectors; ++v) sum[v] = base[v];
        for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code) {
            const Stored* add = corrections + std::int64_t{*code} * VECTORS;
            for (int v = 0; v < Vectors; ++v) sum[v] += add[v];
        }
        Lane least = sum[0];
        for (int v = 1; v < Vectors; ++v) least = sum[v] < least ? sum[v] : least;
        // Ties go to the lowest center, and one that was known before may have a higher number than these.
        const std::int32_t limit = distance[row] + (center[row] >= first_center ? 1 : 0);
        if (!any_below(least, static_cast<Cell>(std::min(limit, MOST)))) continue;
        Cell few[32 / sizeof(Cell)];
        std::memcpy(few, &least, sizeof few);
        Cell best = few[0];
        for (const Cell other : few) best = std::min(best, other);
        distance[row] = best;
        center[row] = first_center + first_column<Vectors>(sum, best);
    }
}

template <class Cell>
ANONSET_INLINE void nearest_in(const Csr& rows, std::int64_t from, std::int64_t to, const Table<Cell>& table,
                               std::int32_t first_center, std::int32_t* distance, std::int32_t* center) {
    if (table.vectors <= 2) return nearest_in<2>(rows, from, to, table, first_center, distance, center);
    if (table.vectors <= 4) return nearest_in<4>(rows, from, to, table, first_center, distance, center);
    if (table.vectors <= 6) return nearest_in<6>(rows, from, to, table, first_center, distance, center);
    nearest_in<VECTORS>(rows, from, to, table, first_center, distance, center);
}

ANONSET_CLONES inline void nearest_in_table(const Csr& rows, std::int64_t from, std::int64_t to,
                                            const Table<std::int16_t>& table, std::int32_t first_center,
                                            std::int32_t* distance, std::int32_t* center) {
    nearest_in(rows, from, to, table, first_center, distance, center);
}
ANONSET_CLONES inline void nearest_in_table(const Csr& rows, std::int64_t from, std::int64_t to,
                                            const Table<std::int32_t>& table, std::int32_t first_center,
                                            std::int32_t* distance, std::int32_t* center) {
    nearest_in(rows, from, to, table, first_center, distance, center);
}

}  // namespace anonset::kp::kmeans
