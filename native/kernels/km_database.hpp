// Transactions extended with every general node above their items: what k^m-anonymity by hierarchy cuts works on.
//
// Nodes are numbered by *rank*: most frequent first, as the paper's count-tree orders them (ties: depth-first
// order), so a node always comes after everything above it. Rank 0 is the root; it is in no row. Equal transactions
// are one row with a weight.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "monitor.hpp"

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
    std::vector<std::int64_t> offsets{0};
    Nodes nodes;                        // of each row, by rank
    std::vector<std::int32_t> weights;  // transactions per row
    std::vector<std::int32_t> row_of;   // of each transaction; −1 for empty ones
    std::vector<std::int64_t> first;    // where each node's places begin
    std::vector<Place> places;

    std::int64_t rows() const { return static_cast<std::int64_t>(weights.size()); }
    const std::int32_t* row(std::int64_t r) const { return nodes.data() + offsets[r]; }
    std::int32_t length(std::int64_t r) const { return static_cast<std::int32_t>(offsets[r + 1] - offsets[r]); }
    const Place* places_of(std::int32_t node) const { return places.data() + first[node]; }
    std::int64_t place_count(std::int32_t node) const { return first[node + 1] - first[node]; }
    bool holds(std::int32_t r, std::int32_t node) const { return std::binary_search(row(r), row(r) + length(r), node); }
    void index_places();
    std::int64_t support(const Nodes& set, std::int64_t enough) const;
};

// One transaction for each row that differs from all others; sets the rows' weights and each transaction's row.
inline std::vector<std::int64_t> distinct_rows(const Csr& data, Database& db) {
    std::vector<std::uint64_t> hash(data.rows);
    for (std::int64_t r = 0; r < data.rows; ++r) {
        std::uint64_t h = 1469598103934665603ull;
        for (const std::int32_t* item = data.begin(r); item != data.end(r); ++item) {
            h = (h ^ static_cast<std::uint64_t>(*item)) * 0x9E3779B97F4A7C15ull;
            h ^= h >> 29;
        }
        hash[r] = h;
    }
    std::vector<std::int64_t> order;
    for (std::int64_t r = 0; r < data.rows; ++r)
        if (data.size(r) > 0) order.push_back(r);
    auto less = [&](std::int64_t a, std::int64_t b) {
        if (hash[a] != hash[b]) return hash[a] < hash[b];
        if (data.size(a) != data.size(b)) return data.size(a) < data.size(b);
        return std::lexicographical_compare(data.begin(a), data.end(a), data.begin(b), data.end(b));
    };
    std::sort(order.begin(), order.end(), less);
    std::vector<std::int64_t> examples;
    db.row_of.assign(data.rows, -1);
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i > 0 && !less(order[i - 1], order[i])) {
            ++db.weights.back();
        } else {
            examples.push_back(order[i]);
            db.weights.push_back(1);
        }
        db.row_of[order[i]] = static_cast<std::int32_t>(examples.size()) - 1;
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

// Extends each transaction by everything above its items. `parent` and `size` describe the tree in depth-first
// order, `leaf` gives each item's node there.
inline Database extend(const Csr& data, const std::int32_t* parent, const std::int64_t* size, std::int32_t count,
                       const std::int32_t* leaf) {
    Database db;
    const std::vector<std::int64_t> rows = distinct_rows(data, db);
    std::vector<std::int64_t> support(count, 0), occurrences(count, 0);
    std::vector<std::int64_t> stamp(count, -1);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (const std::int32_t* item = data.begin(rows[r]); item != data.end(rows[r]); ++item) {
            occurrences[leaf[*item]] += db.weights[r];
            for (std::int32_t node = leaf[*item]; node > 0 && stamp[node] != static_cast<std::int64_t>(r);
                 node = parent[node]) {
                stamp[node] = static_cast<std::int64_t>(r);
                support[node] += db.weights[r];
                db.nodes.push_back(node);
            }
        }
        support[0] += db.weights[r];
        db.offsets.push_back(static_cast<std::int64_t>(db.nodes.size()));
    }
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
    for (std::int64_t r = 0; r < db.rows(); ++r)
        std::sort(db.nodes.begin() + db.offsets[r], db.nodes.begin() + db.offsets[r + 1]);
    db.index_places();
    return db;
}

// A cut in the making: which nodes are generalised away, and what that loses so far.
struct Cut {
    const Tree& tree;
    std::vector<std::uint8_t> covered;  // something above this node is published instead of it
    std::vector<std::int64_t> loss;     // inside each node's subtree

    explicit Cut(const Tree& t) : tree(t), covered(t.count(), 0), loss(t.count(), 0) {}

    std::int64_t added_loss(std::int32_t node) const { return tree.loss(node) - loss[node]; }
    void publish(std::int32_t node) {
        const std::int64_t added = added_loss(node);
        for (std::int32_t v = node; v >= 0; v = tree.parent[v]) loss[v] += added;
        for (std::int32_t place = tree.begin[node] + 1; place < tree.end[node]; ++place) {
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

// The same rows without covered nodes.
inline void shrink(Database& db, const Cut& cut) {
    std::int64_t out = 0, begin = 0;
    for (std::int64_t r = 0; r < db.rows(); ++r) {
        const std::int64_t end = db.offsets[r + 1];
        for (std::int64_t i = begin; i < end; ++i)
            if (!cut.covered[db.nodes[i]]) db.nodes[out++] = db.nodes[i];
        begin = end;
        db.offsets[r + 1] = out;
    }
    db.nodes.resize(out);
    db.index_places();
}

}  // namespace anonset::km
