// Replacing one published node by its children: what that takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "km/database.hpp"

namespace anonset::km {

struct LeftOut {
    std::int32_t row, node;
};

struct Attempt {
    std::int32_t node;
    Nodes children;
    bool possible = false;
    std::int64_t items = 0;              // occurrences that are left out, over all transactions
    std::vector<std::int64_t> items_of;  // of each child
    std::vector<LeftOut> left_out;       // the children, row by row

    Attempt(std::int32_t replaced, Nodes by) : node(replaced), children(std::move(by)), items_of(children.size(), 0) {}

    void leave_out(std::size_t child, std::int32_t row, std::int64_t occurrences) {
        items += occurrences;
        items_of[child] += occurrences;
        left_out.push_back({row, children[child]});
    }
};

// The rarest first: where a replacement fails, it mostly fails there.
inline Nodes children_of(const Tree& tree, std::int32_t node) {
    Nodes out;
    for (std::int32_t place = tree.begin[node] + 1; place < tree.end[node];) {
        out.push_back(tree.at[place]);
        place = tree.end[out.back()];
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](std::int32_t a, std::int32_t b) { return tree.support[a] < tree.support[b]; });
    return out;
}

// Items of a row at or below a node, over all transactions that the row stands for.
inline std::int64_t items_below(const Database& db, std::int32_t row, std::int32_t node) {
    std::int64_t found = 0;
    const std::int32_t* nodes = db.row(row);
    for (std::int32_t i = 0; i < db.length(row); ++i)
        found += db.tree.children[nodes[i]] == 0 && (nodes[i] == node || db.tree.below(node, nodes[i]));
    return found * db.weights[row];
}

}  // namespace anonset::km
