// (k, p)-anonymity (Zhang et al.): groups of at least k rows of attribute counts, of which at most a share of p holds
// something sensitive of one attribute.
//
// Counts are in unary code: attribute a with count c is the codes first[a] … first[a] + c - 1, so rows stay sets, and
// the Hamming distance of two rows is the L1 distance of their counts. `first` has attributes + 1 entries. The answers
// depend on the seed and never on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::kp {

struct Mapped {
    OwnedCsr rows;                    // the counts of what is not sensitive, in unary code
    OwnedCsr secret;                  // the attributes of which a row holds something sensitive
    std::vector<std::int32_t> first;  // attribute -> its code for "at least 1"; one more for the end
};

// Items as counts of attributes; `secret` says for each item occurrence whether it is sensitive.
// Time: items, sorted inside each row.
Mapped map_attributes(const Csr& data, const std::uint8_t* secret, const std::int32_t* attribute_of,
                      std::int32_t attributes, int threads, Monitor& monitor);

struct Codes {
    const std::int32_t* first;
    std::int32_t attributes;

    std::int64_t count() const { return first[attributes]; }
};

// At most this share of a group may hold something sensitive of one attribute.
struct ShareLimit {
    std::int64_t numerator, denominator;

    bool allows(std::int64_t holders, std::int64_t size) const { return holders * denominator <= numerator * size; }
    std::int64_t most(std::int64_t size) const { return numerator * size / denominator; }
};

struct KMeansOptions {
    std::int64_t clusters;
    std::int64_t iterations;  // at most
    std::uint64_t seed;
};

// The cluster of each row, nearest center in L1. `starts` are rows whose counts are the first centers; none:
// k-means++. Time: rows × centers per round; per row it does not grow beyond 1,500 clusters.
std::vector<std::int32_t> k_means(const Csr& rows, const Codes& codes, const std::vector<std::int64_t>& starts,
                                  const KMeansOptions& options, int threads, Monitor& monitor);

struct Problem {
    Csr rows, secret;
    Codes codes;
    std::int64_t k;
    ShareLimit limit;
};

// ANT (Algorithm 1): the group of each row, numbered by first appearance; groups are formed inside clusters.
// Precondition: there are at least k rows, and over all of them every sensitive attribute keeps the limit. Then every
// group does, and has at least k rows. Time: the square of a cluster's rows at worst.
std::vector<std::int32_t> ant_groups(const Problem& problem, const std::int32_t* cluster, int threads,
                                     Monitor& monitor);

// Rows with a negative group join the nearest group that can take them; groups are merged where none can. The groups
// that are there keep the limit. Numbered by first appearance. Time: such rows × what they meet of the centers.
std::vector<std::int32_t> place_rows(const Problem& problem, const std::int32_t* group, int threads, Monitor& monitor);

// For each group the mean of its rows' counts, rounded half up, in unary code. Rows with a negative group do not count.
// Throws std::invalid_argument where a group is not below `groups`. Time: items of the rows.
OwnedCsr mean_centers(const Csr& rows, const Codes& codes, const std::int32_t* group, std::int32_t groups, int threads,
                      Monitor& monitor);

// What is published: the counts of a row's group as (attribute, count), then its own sensitive items, whose codes
// follow those of the attributes.
struct PublishedCounts {
    OwnedCsr rows;
    std::vector<std::int32_t> counts;
};
PublishedCounts publish_counts(const Csr& centers, const Codes& codes, const std::int32_t* group, const Csr& data,
                               const std::uint8_t* secret, int threads, Monitor& monitor);

struct ImproveOptions {
    std::int64_t k;
    ShareLimit limit;
    double proposals;  // dense: random ones per row; sparse: rounds
    std::int64_t partners;
    double hot, cold;    // temperatures of the first and the last proposal
    std::int64_t shard;  // rows that are worked on together, about
    bool build;          // `group` are clusters, in which groups are built anew
    bool dense;
    std::uint64_t seed;
};

// Better groups by exchange of rows. Afterwards every group keeps the limit and has at least k rows; rows that fit
// nowhere have the group -1. Time: proposals × rows × codes / 64 (dense), proposals × codes of the rows (sparse).
std::vector<std::int32_t> improve_groups(const Csr& data, const Csr& secret, const std::int32_t* group,
                                         const ImproveOptions& options, int threads, Monitor& monitor);

}  // namespace anonset::kp
