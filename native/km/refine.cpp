#include "km/refine.hpp"

namespace anonset::km {

double sets_of_nodes(const Database& db, int m, double enough) {
    double sets = 0;
    for (std::int64_t r = 0; r < db.rows() && sets <= enough; ++r) {
        double ways = 1;
        for (int i = 0; i < m; ++i) ways *= static_cast<double>(std::max(db.length(r) - i, 0)) / (i + 1);
        sets += ways;
    }
    return sets;
}

// Several where they cost little. With nothing to leave out an attempt is short; and where
// the rows are long beside the number of nodes there are few attempts.
std::size_t orders_to_try(const Database& db, std::int64_t budget) {
    const double many = 20 * static_cast<double>(db.tree.count()) * static_cast<double>(db.tree.count());
    if (sets_of_nodes(db, 2, many) > many) return 3;
    return budget == 0 ? 2 : 1;
}

namespace {

// Bitmaps are faster wherever they fit, up to three times. Persons are counted in bitmaps only.
bool prefers_bitmaps(const Database& db) {
    constexpr double MOST_BYTES = 48e6, MOST_IN_PERSONS = 512e6;
    const double bytes = static_cast<double>(db.rows()) / 8 * static_cast<double>(db.tree.count());
    return bytes < (db.in_persons() ? MOST_IN_PERSONS : MOST_BYTES);
}

// Which item occurrences are published: all but those below a node that is left out of their row.
std::vector<std::uint8_t> kept_items(const Database& db, const Csr& data, const std::int32_t* leaf,
                                     const std::vector<LeftOut>& left_out) {
    std::vector<std::uint8_t> kept(data.offsets[data.rows], 1);
    std::vector<Nodes> out_of(db.rows());
    for (const auto& [row, node] : left_out) out_of[row].push_back(node);
    for (std::int64_t t = 0; t < data.rows; ++t) {
        if (db.row_of[t] < 0) continue;
        for (std::int32_t node : out_of[db.row_of[t]])
            for (std::int64_t i = data.offsets[t]; i < data.offsets[t + 1]; ++i)
                if (leaf[data.items[i]] >= db.tree.begin[node] && leaf[data.items[i]] < db.tree.end[node]) kept[i] = 0;
    }
    return kept;
}

}  // namespace

RefinedCut refined_cut(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, std::int64_t budget, Form form,
                       int threads, Monitor& monitor) {
    const Database db = extend(data, tree);
    const bool bitmaps = form == Form::best ? prefers_bitmaps(db) : form == Form::dense;
    if (db.in_persons() && !bitmaps) return {};
    const Refined found =
        bitmaps ? refine_dense(db, k, m, budget, threads, monitor) : refine_sparse(db, k, m, budget, threads, monitor);
    return {in_given_order(db.tree, found.cut), kept_items(db, data, tree.leaf, found.left_out)};
}

}  // namespace anonset::km
