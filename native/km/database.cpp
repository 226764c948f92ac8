#include "km/database.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace anonset::km {

namespace {

std::uint64_t hash_of(const std::int32_t* item, const std::int32_t* end) {
    std::uint64_t h = 1469598103934665603ull;
    for (; item != end; ++item) {
        h = (h ^ static_cast<std::uint64_t>(*item)) * 0x9E3779B97F4A7C15ull;
        h ^= h >> 29;
    }
    return h;
}

// One transaction for each row that differs from all others, in order of appearance; sets the rows' weights and
// each transaction's row. Empty transactions have none.
// Where persons are counted, equal transactions of different ones stay apart.
std::vector<std::int64_t> distinct_rows(const Csr& data, const std::int32_t* person, Database& db) {
    std::size_t slots = 16;
    while (slots < 2 * static_cast<std::size_t>(data.rows)) slots *= 2;
    Buffer<std::int32_t> table(slots, -1);
    std::vector<std::int64_t> examples;
    std::vector<std::uint64_t> hashes;
    db.row_of.assign(data.rows, -1);
    for (std::int64_t t = 0; t < data.rows; ++t) {
        if (data.size(t) == 0) continue;
        const std::uint64_t whose = person ? static_cast<std::uint32_t>(person[t]) * 0x9E3779B97F4A7C15ull : 0;
        const std::uint64_t hash = hash_of(data.begin(t), data.end(t)) ^ whose;
        std::size_t slot = hash & (slots - 1);
        auto same = [&](std::int32_t row) {
            return hashes[row] == hash && (!person || person[examples[row]] == person[t]) &&
                   data.size(examples[row]) == data.size(t) &&
                   std::equal(data.begin(t), data.end(t), data.begin(examples[row]));
        };
        while (table[slot] >= 0 && !same(table[slot])) slot = (slot + 1) & (slots - 1);
        if (table[slot] < 0) {
            table[slot] = static_cast<std::int32_t>(examples.size());
            examples.push_back(t);
            hashes.push_back(hash);
            db.weights.push_back(0);
            if (person) db.persons.push_back(person[t]);
        }
        db.row_of[t] = table[slot];
        ++db.weights[table[slot]];
    }
    return examples;
}

}  // namespace

void Database::index_places() {
    places = transpose_places<Place>(view(), tree.count(),
                                     [](std::int32_t row, std::int32_t position) { return Place{row, position}; });
}

// Node by node, each goes to the next free position of its rows: linear, where sorting row by row is not.
void Database::sort_rows() {
    index_places();
    std::vector<std::int32_t> filled(rows(), 0);
    for (std::int32_t node = 0; node < tree.count(); ++node) {
        for (Place* place = places.begin(node); place != places.end(node); ++place) {
            place->position = filled[place->row]++;
            nodes[offsets[place->row] + place->position] = node;
        }
    }
}

std::int64_t Database::support(const Nodes& set, std::int64_t enough) const {
    if (set.size() == 1) return tree.support[set[0]];
    std::int32_t rarest = set[0];
    for (std::int32_t node : set)
        if (place_count(node) < place_count(rarest)) rarest = node;
    std::int64_t total = 0;
    std::int32_t last = -1;
    const Place* places_here = places_of(rarest);
    for (std::int64_t i = 0; i < place_count(rarest) && total < enough; ++i) {
        const std::int32_t r = places_here[i].row;
        const bool all =
            std::all_of(set.begin(), set.end(), [&](std::int32_t node) { return node == rarest || holds(r, node); });
        if (all) total += adds(r, last);
    }
    return total;
}

Database extend(const Csr& data, const Hierarchy& given) {
    const auto [parent, size, count, leaf, person] = given;
    Database db;
    const std::vector<std::int64_t> rows = distinct_rows(data, person, db);
    std::vector<std::int64_t> support(count, 0), occurrences(count, 0);
    std::vector<std::int32_t> stamp(count, -1), last(count, -1);
    db.offsets.reserve(rows.size() + 1);
    db.nodes.reserve(4 * data.offsets[data.rows]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (const std::int32_t* item = data.begin(rows[r]); item != data.end(rows[r]); ++item) {
            occurrences[leaf[*item]] += db.weights[r];
            for (std::int32_t node = leaf[*item]; node > 0 && stamp[node] != static_cast<std::int32_t>(r);
                 node = parent[node]) {
                stamp[node] = static_cast<std::int32_t>(r);
                support[node] += db.adds(static_cast<std::int32_t>(r), last[node]);
                db.nodes.push_back(node);
            }
        }
        support[0] += db.adds(static_cast<std::int32_t>(r), last[0]);
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

Nodes in_given_order(const Tree& tree, const Nodes& cut) {
    Nodes out(tree.count(), -1);
    for (std::int32_t node : cut)
        for (std::int32_t place = tree.begin[node]; place < tree.end[node]; ++place) out[place] = tree.begin[node];
    return out;
}

void drop_covered(Database& db, const Cut& cut) {
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

}  // namespace anonset::km
