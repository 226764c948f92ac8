// Groups of privacy degree p (Ghinita, Kalnis and Tao): in a group of n transactions a sensitive item occurs in at most
// n / p of them.
//
// Every function that forms groups takes a problem that some grouping solves (p times the occurrences of each sensitive
// item is at most the number of rows), and returns the group of each row, numbered from 0, all of degree p. Ties go to
// the lower row, so the answers depend on nothing but the arguments.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::cahd {

// Transactions in the order in which they are worked on; sensitive items are numbered from 0 to `sensitive` - 1.
struct Problem {
    Csr quasi;
    Csr secrets;
    std::int32_t items;
    std::int32_t sensitive;
    std::int64_t p;

    std::int64_t rows() const { return quasi.rows; }
    bool is_sensitive(std::int64_t row) const { return secrets.size(row) > 0; }
};

// Reverse Cuthill-McKee: an order of the rows in which rows that share items are near each other.
// Time: a walk over all items of the rows for each component, and the neighbours counted by bitmaps; the graph of the
// rows is never formed.
std::vector<std::int64_t> band_order(const Csr& data, std::int32_t items, int threads, Monitor& monitor);

// CAHD (section 5.3): the p - 1 most similar of the alpha · p nearest on each side join a sensitive row. Alpha ≥ 1.
// Time: sensitive rows × alpha · p × (sensitive items + length of a row).
std::vector<std::int32_t> cahd_groups(const Problem& problem, std::int64_t alpha, Monitor& monitor);

// The same candidates and the holders of the row's rarest items; of these, the ones that balance the release best join.
// Time: sensitive rows × p × candidates × length of a row.
std::vector<std::int32_t> balanced_groups(const Problem& problem, std::int64_t alpha, Monitor& monitor);

// The exact nearest rows by Hamming distance (section 4.1). Time: sensitive rows × what they meet in inverted lists or
// in bitmaps of all distinct rows, whichever is less.
std::vector<std::int32_t> nearest_groups(const Problem& problem, Monitor& monitor);

// The items that hash the rows: `width` for each table, at most 64, one table after the other.
struct HashTables {
    const std::int32_t* dims;
    std::int32_t width, tables;
    std::int64_t most;  // candidates after which a search stops; 0: never
};
struct LshGroups {
    std::vector<std::int32_t> group;
    std::int64_t exact = 0;  // how many groups the tables did not fill, so that the search was exact
};

// The nearest among the rows that share a bucket in some table (section 4.2); exact where they do not fill the group.
LshGroups lsh_groups(const Problem& problem, const HashTables& tables, int threads, Monitor& monitor);

// Of each row: bit j says whether it holds item dims[j]. Width ≤ 64. Time: items of the rows.
std::vector<std::uint64_t> lsh_signatures(const Csr& data, std::int32_t items, const std::int32_t* dims,
                                          std::int32_t width);

// PermMondrian: splits on one quasi-identifier item after the other while both parts keep degree p.
// Time: splits × (items of the rows of the smaller part + items in use).
std::vector<std::int32_t> mondrian_groups(const Problem& problem, Monitor& monitor);

// Rows in an order in which neighbours are similar. `keys` are random and decide everything that chance decides; a
// block has at least `block` · p rows and at most `cells` cells, a power of two.
struct Blind {
    Csr secrets;
    const std::int32_t* lengths;
    const double* keys;
    std::int32_t sensitive;
    std::int64_t p, block, cells;
};
struct BlindGroups {
    std::vector<std::int32_t> group, cell;  // of each row; cells are numbered through all blocks
};

// Blind groups: the rows are cut into blocks of degree p, blocks into cells, and the holders of a block are spread over
// groups of at least p of its rows, each with an equal share of all cells, without a look at quasi-identifier items.
// Time: rows × depth of the tree of blocks + sensitive items × groups that refuse a holder.
BlindGroups blind_groups(const Blind& problem, Monitor& monitor);

// For every person and sensitive item the sum, over the person's rows, of the item's holders in the row's group by the
// group's rows of known persons is to be at most 1/p. The given groups where they keep that; else others, formed of
// rows near each other, in which no item is held twice. `person` is negative where unknown. Empty if some sensitive row
// found no place. Time: for each sensitive row the rows that are passed on the way to those that can join.
std::vector<std::int32_t> spread_for_persons(const Csr& secrets, const std::int32_t* person, const std::int32_t* group,
                                             std::int32_t p, Monitor& monitor);

}  // namespace anonset::cahd
