// Near neighbours of dense rows, approximately: rows that stand side by side in Gray order or when sorted by a few
// items in random order.
//
// A row's list holds the nearest of all that it has met, whatever the order it met them in. Every part of the rows is
// looked at by one thread, which writes to no other lists; so the answer does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/monitor.hpp"
#include "core/random.hpp"

namespace anonset::crowd {

// Rows of so many words each, one after the other; item i is bit i.
struct Bitmaps {
    const std::uint64_t* bits;
    std::int64_t rows, words;
};

constexpr std::uint32_t NOBODY = UINT32_MAX;

// So many rows for each, the nearest first, and NOBODY where fewer were met; found in Gray order, which is that of
// the rows, and under so many sorts. Time: rows × sorts × words.
std::vector<std::uint32_t> near_rows(const Bitmaps& rows, std::int64_t near, std::int64_t sorts, Random& random,
                                     int threads, Monitor& monitor);

}  // namespace anonset::crowd
