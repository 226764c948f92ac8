// The blocks that blind groups are dealt in.
#pragma once

#include <cstdint>
#include <vector>

#include "cahd/api.hpp"

namespace anonset::cahd {

// Cells of about equally many rows, one after the other; a block is a stretch of cells.
struct Blocks {
    std::vector<std::int64_t> rows, cells{0},
        blocks{0};  // all rows; where cells end in them; where blocks end in cells

    std::int64_t size() const { return static_cast<std::int64_t>(blocks.size()) - 1; }
};

// A binary tree over the rows, cut in two wherever both halves have degree p and at least `least` rows. A node that
// cannot be cut is folded: rows of its halves that are equally long stand beside one another, as two cells, and from
// then on it is cut between shorter and longer ones; where that fails it is folded once more, into twice as many cells,
// up to `most`. The rows must have degree p. Time: rows + sensitive items, times the depth of the tree.
Blocks blind_blocks(const Blind& problem);

}  // namespace anonset::cahd
