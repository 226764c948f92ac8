// ANT: inside a cluster groups of k are filled nearest first, as long as no sensitive attribute becomes too frequent.
// What that leaves over is placed in the nearest group that can take it; where none can, groups are merged.
//
// B. Zhang et al., "A (k, p)-anonymity framework to sanitize transactional database with personalized sensitivity",
// Algorithm 1. Precondition: over all rows every sensitive attribute keeps the limit, and there are at least k rows.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/rows.hpp"
#include "kp/ant_fill.hpp"
#include "kp/ant_place.hpp"
#include "kp/attributes.hpp"
#include "kp/shares.hpp"

namespace anonset::kp {

namespace {

struct AntProblem : Problem {
    const std::int64_t* place;  // of each row among those that were given; none: its own number
};

// The group of each row that was given, numbered by first appearance.
std::vector<std::int32_t> numbered(const ShareGroups& groups, const AntProblem& problem) {
    std::vector<std::int32_t> group(problem.rows.rows, -1), number(groups.count(), -1);
    for (std::int32_t g = 0; g < groups.count(); ++g)
        for (const std::int32_t row : groups.members(g)) group[problem.place ? problem.place[row] : row] = g;
    std::int32_t next = 0;
    for (std::int32_t& g : group) {
        if (number[g] < 0) number[g] = next++;
        g = number[g];
    }
    return group;
}

// Rows without a group are placed; the others stay together.
std::vector<std::int32_t> place_rest(const AntProblem& problem, const std::vector<std::vector<std::int32_t>>& full,
                                     std::vector<LeftPart> parts, int threads, Monitor& monitor) {
    ShareGroups groups(problem.secret, problem.limit);
    for (const auto& members : full) groups.found(members);
    if (std::all_of(parts.begin(), parts.end(), [](const LeftPart& part) { return part.left.empty(); }))
        return numbered(groups, problem);
    const OwnedCsr centers = mean_centers(problem.rows, problem.codes, full, threads, monitor);
    LeftoverPlacer(problem.rows, problem.place, groups, centers.view(), problem.codes.count())
        .place(std::move(parts), threads, monitor);
    return numbered(groups, problem);
}

std::vector<std::int32_t> largest_first(const std::vector<std::vector<std::int32_t>>& clusters) {
    std::vector<std::int32_t> order(clusters.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return clusters[a].size() > clusters[b].size(); });
    return order;
}

// Of more clusters than `MANY_CLUSTERS`, who is left over looks first among the groups of those around its own.
constexpr std::int64_t MANY_CLUSTERS = 1500, CLUSTERS_OF_PART = 250;

// The rows of each cluster follow each other.
std::vector<std::int32_t> fill_and_place(const AntProblem& problem,
                                         const std::vector<std::vector<std::int32_t>>& clusters, int threads,
                                         Monitor& monitor) {
    const auto count = static_cast<std::int64_t>(clusters.size());
    const OwnedCsr centers = mean_centers(problem.rows, problem.codes, clusters, threads, monitor);
    std::vector<Filled> filled(count);
    std::vector<ClusterFiller> fillers(thread_count(threads),
                                       ClusterFiller(problem.rows, problem.secret, problem.codes.count(),
                                                     problem.codes.attributes, problem.k, problem.limit));
    const Csr center = centers.view();
    const std::vector<std::int32_t> order = largest_first(clusters);  // so that no thread ends with a large one
    parallel_for(count, threads, monitor, [&](std::int64_t task, int worker) {
        const std::int32_t c = order[task];
        fillers[worker].fill(clusters[c], center.begin(c), center.end(c), filled[c], monitor);
    });
    std::vector<std::vector<std::int32_t>> full;
    std::vector<LeftPart> parts;
    const std::int64_t together = count > MANY_CLUSTERS ? CLUSTERS_OF_PART : MANY_CLUSTERS;
    for (std::int64_t c = 0; c < count; ++c) {
        const auto here = static_cast<std::int32_t>(full.size());
        if (c % together == 0) parts.push_back({here, here, {}});
        for (auto& members : filled[c].groups) full.push_back(std::move(members));
        parts.back().to = static_cast<std::int32_t>(full.size());
        parts.back().left.insert(parts.back().left.end(), filled[c].left.begin(), filled[c].left.end());
    }
    return place_rest(problem, full, std::move(parts), threads, monitor);
}

}  // namespace

// Rows of one cluster meet again and again, so they are put next to each other first: of a million rows each would have
// to be fetched from memory every time.
std::vector<std::int32_t> ant_groups(const Problem& given, const std::int32_t* cluster, int threads, Monitor& monitor) {
    const std::int64_t rows = given.rows.rows;
    std::vector<std::vector<std::int32_t>> clusters(rows ? *std::max_element(cluster, cluster + rows) + 1 : 0);
    for (std::int64_t row = 0; row < rows; ++row) clusters[cluster[row]].push_back(static_cast<std::int32_t>(row));
    std::vector<std::int64_t> order;
    order.reserve(rows);
    for (auto& members : clusters)
        for (std::int32_t& row : members) {
            order.push_back(row);
            row = static_cast<std::int32_t>(order.size()) - 1;
        }
    const OwnedCsr codes = take_rows(given.rows, order.data(), rows, threads, monitor);
    const OwnedCsr secret = take_rows(given.secret, order.data(), rows, threads, monitor);
    const AntProblem problem{{codes.view(), secret.view(), given.codes, given.k, given.limit}, order.data()};
    return fill_and_place(problem, clusters, threads, monitor);
}

std::vector<std::int32_t> place_rows(const Problem& given, const std::int32_t* group, int threads, Monitor& monitor) {
    const std::int64_t rows = given.rows.rows;
    std::vector<std::int32_t> left;
    for (std::int64_t row = 0; row < rows; ++row)
        if (group[row] < 0) left.push_back(static_cast<std::int32_t>(row));
    const std::int32_t groups = rows ? std::max(0, *std::max_element(group, group + rows) + 1) : 0;
    auto full = members_of(group, rows, groups);
    full.erase(std::remove_if(full.begin(), full.end(), [](const auto& members) { return members.empty(); }),
               full.end());
    const auto count = static_cast<std::int32_t>(full.size());
    return place_rest({given, nullptr}, full, {{0, count, std::move(left)}}, threads, monitor);
}

}  // namespace anonset::kp
