// KAMP (Hsu and Tsai): patterns of users, and how to rewrite them so that every combination of up to M patterns that
// are maximal for a user is contained by at least k users.
//
// `sets` are all frequent itemsets: a downward closed family, shorter sets first, equal lengths in the order of their
// items. `users` gives the user of each row, from 0 on. The answers do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::kamp {

struct Users {
    const std::int32_t* of_row;
    std::int64_t count;
};

// For each user the patterns that one of the user's rows holds (ascending).
struct UserPatterns {
    OwnedCsr held;
    std::vector<std::int64_t> counts;   // how many of the user's rows hold each
    std::vector<std::uint8_t> maximal;  // 1 where no larger pattern of the user includes it
};

// Time: the patterns that the rows hold, and the parts of those that the users hold.
UserPatterns user_patterns(const Csr& data, const Users& users, const Csr& sets);

// How many combinations of each size 1 … most there are, and how many of them fewer than k users contain.
struct CombinationCount {
    std::vector<std::int64_t> all, below;
    std::int64_t lowest = INT64_MAX;  // number of users that contain one
};

// `held`: the patterns that each user contains. Time: combinations × patterns × users / 64.
CombinationCount count_combinations(const Csr& sets, const Csr& held, int most, std::int64_t k, int threads,
                                    Monitor& monitor);

enum class Repair { greedy = 0, joint = 1, suppress = 2 };

struct Goal {
    const std::int64_t* support;  // of each pattern
    std::int64_t least;           // σ
    std::int64_t k;
    int most;  // M
};

struct RepairedTable {
    OwnedCsr printed;  // what phase 1 ends with; users beyond those given are virtual (`greedy` only)
    OwnedCsr target;   // the same where virtual users do not count, because they are not published
};

// Phase 1: the patterns that each user is to contain, so that no combination of up to M of them is contained by fewer
// than k users. There are at most ten virtual users for each real one. Time: rounds of the walk over all combinations.
RepairedTable repaired_table(const Csr& data, const Users& users, const Csr& sets, const Goal& goal, Repair repair,
                             int threads, Monitor& monitor);

// Phase 2: the rows rewritten so that each user contains the patterns of `target` and, of `sets`, no others, as far as
// that goes without new rows; without `may_add`, as far as it goes by leaving items out. Time: users' patterns × the
// rows that are rewritten.
OwnedCsr rewritten_rows(const Csr& data, const Users& users, const Csr& sets, const Csr& target, bool may_add,
                        const Monitor& monitor);

// Maximal patterns of users: those of user u are sets[owned.begin(u)] …
struct OwnedPatterns {
    Csr sets;
    Csr owned;
};

// Of each user: over the patterns before and after, the differing items to the nearest of the other side. Both have
// the same users. Time: the pairs of a user's patterns.
std::vector<std::int64_t> pattern_distance(const OwnedPatterns& before, const OwnedPatterns& after);

// Groups of similar rows by the Jaccard coefficient: the first row that is left and its nearest, again and again. Sizes
// differ by at most one. 1 ≤ groups ≤ rows. Time: for each group the rows that share an item with its first.
std::vector<std::int32_t> similar_groups(const Csr& data, std::int64_t n_items, std::int64_t groups, Monitor& monitor);

}  // namespace anonset::kamp
