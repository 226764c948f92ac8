// `crowd` (docs/methods/crowd.md): groups of at least k rows that keep much. The gain of a group of s rows in which
// item i occurs c times is the sum of max(0, 2c - s): what it keeps, counted against publishing nothing.
//
// Common preconditions: rows lie in Gray order, items are below `n_items`, 2 <= k <= rows unless there are none.
// Common postconditions: every row has a group, groups are numbered from 0 without gaps, every group has at least k
// rows. The answers depend on data, settings and seed, never on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::crowd {

// The group of each row, and what each group publishes: the items that more than half of its rows hold, ascending.
struct Result {
    std::vector<std::int32_t> group;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> items;
};

struct SparseSettings {
    std::int64_t shards;   // stretches of rows that are solved by themselves; fewer where one would have under 2k rows
    std::int32_t every;    // one class of equal rows of so many is an anchor
    std::int32_t reach;    // classes that an anchor looks at in the list of each of its items, on either side of itself
    std::int32_t keep;     // candidates that it remembers
    std::int64_t rounds;   // of dissolving, moves and swaps after groups have begun
    std::int64_t augment;  // times that rows change places along augmenting paths, each followed by a round
    std::int64_t block;    // groups among which paths run
};

// For many items and short rows. Groups begin as the best ones around anchors, the best first; then whole groups are
// dissolved, rows move or swap, and change places along augmenting paths, each only if that gains.
// Time: rows × reach × items of a row for the beginning, rows × groups of a shard that share an item for a round.
// With `person` (of each row; negative: unknown) groups begin with k different persons, and moves, swaps and paths
// leave them that many; rows without a place do not look at persons: `person_groups` has to follow.
Result sparse_groups(const Csr& rows, std::int32_t n_items, std::int32_t k, const SparseSettings& settings, int threads,
                     Monitor& monitor, const std::int32_t* person = nullptr);

struct DenseSettings {
    std::int64_t block;   // rows of a block, which is solved by itself in each round
    std::int64_t pool;    // waiting rows among which a new group chooses
    std::int64_t near;    // neighbours of a row whose groups it may move to
    std::int64_t sorts;   // by random items, to find these
    std::int64_t rounds;  // in which groups come to other blocks
    double visits;        // of each row, in all rounds together
};

// For few items and long rows: groups of k to 2k - 1 from a pool of neighbours, improved by local search.
// Time: rows × visits × near × words of a bitmap. Memory: a few bitmaps per row.
Result dense_groups(const Csr& rows, std::int32_t n_items, std::int32_t k, const DenseSettings& settings,
                    std::uint64_t seed, int threads, Monitor& monitor);

struct DiverseSettings {
    std::int64_t k, p, rounds;  // rounds of improvement after the repair
};

// Given groups of at least k, changed so that no sensitive item occurs in more than one of p rows of any group.
// Precondition: no sensitive item occurs in more than one of p of all rows. `group` numbers the group of each row.
// Time: the repair looks at a few groups for each row that leaves one, or at all where none nearby has room.
std::vector<std::int32_t> diverse_groups(const Csr& rows, const Csr& sensitive, std::int32_t n_items,
                                         const std::int32_t* group, const DiverseSettings& settings, int threads,
                                         Monitor& monitor);

struct PersonSettings {
    std::int64_t k, rounds;  // rounds of improvement after the repair
};

// Given groups, changed so that the rows of each belong to at least k different persons. `person` is the person of each
// row, negative where that is unknown; such rows count for nobody. `group` numbers the group of each row.
// Precondition: there are at least k different persons, or no rows. Groups that hold k persons already are left alone
// unless they exchange rows with others. Time: as for diverse_groups.
std::vector<std::int32_t> person_groups(const Csr& rows, const std::int32_t* person, std::int32_t n_items,
                                        const std::int32_t* group, const PersonSettings& settings, int threads,
                                        Monitor& monitor);

struct MergeSettings {
    std::int64_t k, numerator, denominator;
};

// Groups merged until the rows of each belong to at least k different persons, and at most a share numerator /
// denominator of its rows, and of its persons, hold the same secret (those of unknown persons count as one holder
// each). Precondition: one group of all rows would keep that. Time: a few groups are looked at for each merge.
std::vector<std::int32_t> merged_for_persons(const Csr& rows, const Csr& secrets, const std::int32_t* person,
                                             std::int32_t n_items, const std::int32_t* group,
                                             const MergeSettings& settings, Monitor& monitor);

}  // namespace anonset::crowd
