// Transactions extended with every general node above their items: what k^m-anonymity by hierarchy cuts works on.
//
// Nodes are numbered by *rank*: most frequent first, as the paper's count-tree orders them (ties: depth-first
// order), so a node always comes after everything above it. Rank 0 is the root; it is in no row. Equal transactions
// are one row with a weight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::km {

using Nodes = std::vector<std::int32_t>;

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
    std::vector<std::int64_t> first;    // where each node's places begin
    Buffer<Place> places;

    std::int64_t rows() const { return static_cast<std::int64_t>(weights.size()); }
    const std::int32_t* row(std::int64_t r) const { return nodes.data() + offsets[r]; }
    std::int32_t length(std::int64_t r) const { return static_cast<std::int32_t>(offsets[r + 1] - offsets[r]); }
    const Place* places_of(std::int32_t node) const { return places.data() + first[node]; }
    std::int64_t place_count(std::int32_t node) const { return first[node + 1] - first[node]; }
    bool holds(std::int32_t r, std::int32_t node) const { return std::binary_search(row(r), row(r) + length(r), node); }
    // Asks for the memory behind a place, which may lie anywhere.
    void foresee(Place place) const {
#ifdef __GNUC__
        __builtin_prefetch(nodes.data() + offsets[place.row] + place.position + 1);
        __builtin_prefetch(weights.data() + place.row);
#endif
    }
    void index_places();
    void sort_rows();
    std::int64_t support(const Nodes& set, std::int64_t enough) const;
};

inline std::uint64_t hash_of(const std::int32_t* item, const std::int32_t* end) {
    std::uint64_t h = 1469598103934665603ull;
    for (; item != end; ++item) {
        h = (h ^ static_cast<std::uint64_t>(*item)) * 0x9E3779B97F4A7C15ull;
        h ^= h >> 29;
    }
    return h;
}

// One transaction for each row that differs from all others, in order of appearance; sets the rows' weights and
// each transaction's row. Empty transactions have none.
inline std::vector<std::int64_t> distinct_rows(const Csr& data, Database& db) {
    std::size_t slots = 16;
    while (slots < 2 * static_cast<std::size_t>(data.rows)) slots *= 2;
    Buffer<std::int32_t> table(slots, -1);
    std::vector<std::int64_t> examples;
    std::vector<std::uint64_t> hashes;
    db.row_of.assign(data.rows, -1);
    for (std::int64_t t = 0; t < data.rows; ++t) {
        if (data.size(t) == 0) continue;
        const std::uint64_t hash = hash_of(data.begin(t), data.end(t));
        std::size_t slot = hash & (slots - 1);
        auto same = [&](std::int32_t row) {
            return hashes[row] == hash && data.size(examples[row]) == data.size(t) &&
                   std::equal(data.begin(t), data.end(t), data.begin(examples[row]));
        };
        while (table[slot] >= 0 && !same(table[slot])) slot = (slot + 1) & (slots - 1);
        if (table[slot] < 0) {
            table[slot] = static_cast<std::int32_t>(examples.size());
            examples.push_back(t);
            hashes.push_back(hash);
            db.weights.push_back(0);
        }
        db.row_of[t] = table[slot];
        ++db.weights[table[slot]];
    }
    return examples;
}

inline void Database::index_places() {
    first.assign(tree.count() + 1, 0);
    for (std::int32_t node : nodes) ++first[node + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    places.resize(nodes.size());
    std::vector<std::int64_t> cursor(first.begin(), first.end() - 1);
    for (std::int64_t r = 0; r < rows(); ++r)
        for (std::int32_t i = 0; i < length(r); ++i) places[cursor[row(r)[i]]++] = {static_cast<std::int32_t>(r), i};
}

// Puts every row in order of rank, and indexes the places. Node by node, each goes to the next free position of its
// rows: linear, where sorting row by row is not.
inline void Database::sort_rows() {
    first.assign(tree.count() + 1, 0);
    for (std::int32_t node : nodes) ++first[node + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    places.resize(nodes.size());
    std::vector<std::int64_t> cursor(first.begin(), first.end() - 1);
    for (std::int64_t r = 0; r < rows(); ++r)
        for (std::int32_t i = 0; i < length(r); ++i) places[cursor[row(r)[i]]++].row = static_cast<std::int32_t>(r);
    std::vector<std::int32_t> filled(rows(), 0);
    for (std::int32_t node = 0; node < tree.count(); ++node) {
        for (std::int64_t i = first[node]; i < first[node + 1]; ++i) {
            Place& place = places[i];
            place.position = filled[place.row]++;
            nodes[offsets[place.row] + place.position] = node;
        }
    }
}

// How many transactions hold all of `set` (none of which lies above another); stops counting at `enough`.
inline std::int64_t Database::support(const Nodes& set, std::int64_t enough) const {
    if (set.size() == 1) return tree.support[set[0]];
    std::int32_t rarest = set[0];
    for (std::int32_t node : set)
        if (place_count(node) < place_count(rarest)) rarest = node;
    std::int64_t total = 0;
    const Place* places_here = places_of(rarest);
    for (std::int64_t i = 0; i < place_count(rarest) && total < enough; ++i) {
        const std::int32_t r = places_here[i].row;
        const bool all =
            std::all_of(set.begin(), set.end(), [&](std::int32_t node) { return node == rarest || holds(r, node); });
        if (all) total += weights[r];
    }
    return total;
}

// Extends each transaction by everything above its items; the rows are not sorted yet. `parent` and `size` describe the
// tree in depth-first order, `leaf` gives each item's node there.
inline Database extend(const Csr& data, const std::int32_t* parent, const std::int64_t* size, std::int32_t count,
                       const std::int32_t* leaf) {
    Database db;
    const std::vector<std::int64_t> rows = distinct_rows(data, db);
    std::vector<std::int64_t> support(count, 0), occurrences(count, 0);
    std::vector<std::int32_t> stamp(count, -1);
    db.offsets.reserve(rows.size() + 1);
    db.nodes.reserve(4 * data.offsets[data.rows]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (const std::int32_t* item = data.begin(rows[r]); item != data.end(rows[r]); ++item) {
            occurrences[leaf[*item]] += db.weights[r];
            for (std::int32_t node = leaf[*item]; node > 0 && stamp[node] != static_cast<std::int32_t>(r);
                 node = parent[node]) {
                stamp[node] = static_cast<std::int32_t>(r);
                support[node] += db.weights[r];
                db.nodes.push_back(node);
            }
        }
        support[0] += db.weights[r];
        db.items.push_back(static_cast<std::int32_t>(data.size(rows[r])));
        db.offsets.push_back(static_cast<std::int64_t>(db.nodes.size()));
    }
    if (db.nodes.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::length_error("the transactions with everything above their items exceed 2^31 entries");
    Nodes end(count), order(count), rank(count);
    for (std::int32_t v = count - 1; v >= 0; --v) {
        end[v] = std::max(end[v], v + 1);
        if (v > 0) {
            end[parent[v]] = std::max(end[parent[v]], end[v]);
            occurrences[parent[v]] += occurrences[v];
        }
    }
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](std::int32_t a, std::int32_t b) { return support[a] > support[b]; });
    for (std::int32_t r = 0; r < count; ++r) rank[order[r]] = r;
    Tree& tree = db.tree;
    tree.at = rank;
    tree.children.assign(count, 0);
    for (std::int32_t r = 0; r < count; ++r) {
        const std::int32_t v = order[r];
        tree.parent.push_back(v == 0 ? -1 : rank[parent[v]]);
        tree.begin.push_back(v);
        tree.end.push_back(end[v]);
        tree.support.push_back(support[v]);
        tree.occurrences.push_back(occurrences[v]);
        tree.size.push_back(size[v]);
        if (v > 0) ++tree.children[rank[parent[v]]];
    }
    for (std::int32_t& node : db.nodes) node = rank[node];
    return db;
}

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

// The same rows without covered nodes; the index of places is out of date afterwards.
inline void drop_covered(Database& db, const Cut& cut) {
    std::int64_t out = 0, begin = 0;
    for (std::int64_t r = 0; r < db.rows(); ++r) {
        const std::int64_t end = db.offsets[r + 1];
        for (std::int64_t i = begin; i < end; ++i)
            if (!cut.covered[db.nodes[i]]) db.nodes[out++] = db.nodes[i];
        begin = end;
        db.offsets[r + 1] = out;
    }
    db.nodes.resize(out);
}

inline void shrink(Database& db, const Cut& cut) {
    drop_covered(db, cut);
    db.index_places();
}

}  // namespace anonset::km
