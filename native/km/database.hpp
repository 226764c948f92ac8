// Transactions extended with every general node above their items: what k^m-anonymity by hierarchy cuts works on.
//
// Nodes are numbered by *rank*: most frequent first, as the paper's count-tree orders them (ties: depth-first
// order), so a node always comes after everything above it. Rank 0 is the root; it is in no row. Equal transactions
// are one row with a weight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/transpose.hpp"
#include "km/api.hpp"

namespace anonset::km {

struct Tree {
    Nodes parent;                           // −1 above the root
    Nodes begin, end;                       // the span of each node's subtree in depth-first order
    Nodes at;                               // the node at each place of that order
    Nodes children;                         // how many
    std::vector<std::int64_t> support;      // transactions that hold something below
    std::vector<std::int64_t> occurrences;  // items below, over all transactions
    std::vector<std::int64_t> size;         // items of the hierarchy that the node stands for

    std::int32_t count() const { return static_cast<std::int32_t>(parent.size()); }
    bool below(std::int32_t upper, std::int32_t node) const {
        return begin[node] > begin[upper] && begin[node] < end[upper];
    }
    // The loss (NCP times items times transactions' items) if everything below is published as this node.
    std::int64_t loss(std::int32_t node) const { return size[node] > 1 ? occurrences[node] * size[node] : 0; }
};

struct Place {
    std::int32_t row;
    std::int32_t position;  // inside the row
};

struct Database {
    Tree tree;
    Buffer<std::int64_t> offsets{0};
    Buffer<std::int32_t> nodes;         // of each row; by rank once they are sorted
    Nodes items;                        // how many items each row has
    std::vector<std::int32_t> weights;  // transactions per row
    std::vector<std::int32_t> row_of;   // of each transaction; −1 for empty ones
    std::vector<std::int32_t> persons;  // of each row, ascending; none where transactions are counted
    Transposed<Place> places;           // of each node

    std::int64_t rows() const { return static_cast<std::int64_t>(weights.size()); }
    const std::int32_t* row(std::int64_t r) const { return nodes.data() + offsets[r]; }
    std::int32_t length(std::int64_t r) const { return static_cast<std::int32_t>(offsets[r + 1] - offsets[r]); }
    const Place* places_of(std::int32_t node) const { return places.begin(node); }
    std::int64_t place_count(std::int32_t node) const { return places.size(node); }
    bool in_persons() const { return !persons.empty(); }
    // How much a row adds to a support after a row of person `last`, which becomes this one's.
    std::int32_t adds(std::int32_t r, std::int32_t& last) const {
        if (!in_persons()) return weights[r];
        if (persons[r] < 0 || persons[r] == last) return 0;
        last = persons[r];
        return 1;
    }
    bool holds(std::int32_t r, std::int32_t node) const { return std::binary_search(row(r), row(r) + length(r), node); }
    // Asks for the memory behind a place, which may lie anywhere.
    void foresee(Place place) const {
#ifdef __GNUC__
        __builtin_prefetch(nodes.data() + offsets[place.row] + place.position + 1);
        __builtin_prefetch(weights.data() + place.row);
#endif
    }
    Csr view() const { return {offsets.data(), nodes.data(), rows()}; }

    void index_places();
    // Puts every row in order of rank, and indexes the places.
    void sort_rows();
    // How many transactions hold all of `set` (none of which lies above another); stops counting at `enough`.
    std::int64_t support(const Nodes& set, std::int64_t enough) const;
};

// A cut in the making: which nodes are generalised away, and what that loses so far.
struct Cut {
    const Tree& tree;
    std::vector<std::uint8_t> covered;  // something above this node is published instead of it
    std::vector<std::int64_t> loss;     // inside each node's subtree
    std::int64_t covered_count = 0;

    explicit Cut(const Tree& t) : tree(t), covered(t.count(), 0), loss(t.count(), 0) {}

    std::int64_t added_loss(std::int32_t node) const { return tree.loss(node) - loss[node]; }
    void publish(std::int32_t node) {
        const std::int64_t added = added_loss(node);
        for (std::int32_t v = node; v >= 0; v = tree.parent[v]) loss[v] += added;
        for (std::int32_t place = tree.begin[node] + 1; place < tree.end[node]; ++place) {
            covered_count += !covered[tree.at[place]];
            covered[tree.at[place]] = 1;
            loss[tree.at[place]] = 0;
        }
    }
    // The published node of each node: itself, or the lowest one above it that is not covered.
    std::int32_t published(std::int32_t node) const {
        while (covered[node]) node = tree.parent[node];
        return node;
    }
};

// Extends each transaction by everything above its items; the rows are not sorted yet.
Database extend(const Csr& data, const Hierarchy& tree);

// The published node of each node in depth-first order, for published nodes given by rank; −1 above the cut.
Nodes in_given_order(const Tree& tree, const Nodes& cut);

// The same rows without covered nodes; the index of places is out of date afterwards.
void drop_covered(Database& db, const Cut& cut);

}  // namespace anonset::km
