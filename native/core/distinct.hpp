// Equal rows found once: real data repeat themselves, and work on distinct rows is work saved.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"

namespace anonset {

struct Distinct {
    std::vector<std::int32_t> of_row;  // row → its distinct row, numbered by first appearance
    std::vector<std::int32_t> first;   // distinct row → the first row that equals it

    std::int32_t size() const { return static_cast<std::int32_t>(first.size()); }
};

inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

inline std::uint64_t hash_row(const Csr& data, std::int64_t row) {
    std::uint64_t value = 0x9e3779b97f4a7c15ULL;
    for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i)
        value = mix(value + static_cast<std::uint64_t>(*i) + 1);
    return value;
}

inline bool equal_rows(const Csr& data, std::int64_t one, std::int64_t two) {
    return data.size(one) == data.size(two) && std::equal(data.begin(one), data.end(one), data.begin(two));
}

inline Distinct distinct_rows(const Csr& data) {
    Distinct found;
    found.of_row.resize(data.rows);
    std::size_t slots = 16;
    while (slots < static_cast<std::size_t>(data.rows) * 2) slots *= 2;
    std::vector<std::int32_t> table(slots, -1);
    for (std::int64_t row = 0; row < data.rows; ++row) {
        std::size_t slot = hash_row(data, row) & (slots - 1);
        while (table[slot] >= 0 && !equal_rows(data, found.first[table[slot]], row)) slot = (slot + 1) & (slots - 1);
        if (table[slot] < 0) {
            table[slot] = found.size();
            found.first.push_back(static_cast<std::int32_t>(row));
        }
        found.of_row[row] = table[slot];
    }
    return found;
}

}  // namespace anonset
