// k-means for rows of counts: the nearest center in L1, centers are means. Distances to 64 centers at a time are sums
// of a few rows of a table; all arithmetic is in whole numbers, so that no order of summing can change the answer.
//
// A center's mean m of an attribute is kept to 1/1,024. For a row with count v of that attribute the distance is
// |v - m|, for all other rows m: a row's distance is the sum of all m, corrected by |v - m| - m for what it has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "bitmap.hpp"
#include "csr.hpp"
#include "distinct.hpp"
#include "monitor.hpp"
#include "random.hpp"

namespace anonset {

struct KMeansOptions {
    std::int64_t clusters;
    std::int64_t iterations;  // at most
    std::uint64_t seed;
};

namespace kmeans {

constexpr std::int32_t kScale = 1024;
constexpr int kLane = 8, kVectors = 8, kWidth = kLane * kVectors;
constexpr std::int64_t kMostClusters = 1500;  // above, the rows are first cut into parts
constexpr std::int64_t kUsualClusters = 1000;
constexpr std::int64_t kRowBlock = 1024;

#if defined(__GNUC__)
using Lane = std::int32_t __attribute__((vector_size(kLane * sizeof(std::int32_t))));
// The same in memory, anywhere.
using StoredLane =
    std::int32_t __attribute__((vector_size(kLane * sizeof(std::int32_t)), aligned(sizeof(std::int32_t)), may_alias));
#else
#error "k_means.hpp needs the vector types of GCC and Clang"
#endif

// Rows of codes of the largest count only (see Levels::for_counts), and how often each occurs.
struct Points {
    OwnedCsr rows;
    std::vector<std::int64_t> weight;

    std::int64_t size() const { return static_cast<std::int64_t>(weight.size()); }
};

struct Centers {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> attribute, mean;  // mean times kScale

    std::int64_t size() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
    void close() { offsets.push_back(static_cast<std::int64_t>(attribute.size())); }
    void add(const Centers& other, std::int64_t c) {
        for (std::int64_t at = other.offsets[c]; at < other.offsets[c + 1]; ++at) {
            attribute.push_back(other.attribute[at]);
            mean.push_back(other.mean[at]);
        }
        close();
    }
    void add_point(const Csr& rows, std::int64_t row, const Levels& levels) {
        for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code) {
            attribute.push_back(levels.attribute[*code]);
            mean.push_back(levels.value[*code] * kScale);
        }
        close();
    }
};

// For each code a row of kWidth corrections, one per center; `base` is the sum of the means of each.
struct Table {
    std::vector<std::int32_t> corrections;
    std::int32_t base[kWidth];

    void load(const Centers& centers, std::int64_t from, std::int64_t to, const Levels& levels,
              const std::int32_t* first) {
        corrections.resize(static_cast<std::size_t>(levels.size()) * kWidth);
        std::int32_t *cell = corrections.data(), *sum = base;
        for (std::int32_t code = 0; code < levels.size(); ++code)
            std::fill(cell + std::int64_t{code} * kWidth, cell + (std::int64_t{code} + 1) * kWidth,
                      levels.value[code] * kScale);
        for (std::int64_t column = 0; column < kWidth; ++column) {
            sum[column] = from + column < to ? 0 : INT32_MAX / 2;
            if (from + column >= to) continue;
            for (std::int64_t at = centers.offsets[from + column]; at < centers.offsets[from + column + 1]; ++at) {
                const std::int32_t a = centers.attribute[at], mean = centers.mean[at];
                sum[column] += mean;
                for (std::int32_t code = first[a]; code < first[a + 1]; ++code) {
                    const std::int32_t apart = levels.value[code] * kScale - mean;
                    cell[std::int64_t{code} * kWidth + column] = (apart < 0 ? -apart : apart) - mean;
                }
            }
        }
    }
};

// The nearest of 64 centers for each of these rows, where it is nearer than the best one so far.
ANONSET_CLONES inline void nearest_in_table(const Csr& rows, std::int64_t from, std::int64_t to, const Table& table,
                                            std::int32_t first_center, std::int32_t* distance, std::int32_t* center) {
    const auto* corrections = reinterpret_cast<const StoredLane*>(table.corrections.data());
    const auto* base = reinterpret_cast<const StoredLane*>(table.base);
    for (std::int64_t row = from; row < to; ++row) {
        Lane sum[kVectors];
        for (int v = 0; v < kVectors; ++v) sum[v] = base[v];
        for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code) {
            const StoredLane* add = corrections + std::int64_t{*code} * kVectors;
            for (int v = 0; v < kVectors; ++v) sum[v] += add[v];
        }
        Lane least = sum[0];
        for (int v = 1; v < kVectors; ++v) least = sum[v] < least ? sum[v] : least;
        Lane other = __builtin_shufflevector(least, least, 4, 5, 6, 7, 0, 1, 2, 3);
        least = other < least ? other : least;
        other = __builtin_shufflevector(least, least, 2, 3, 0, 1, 6, 7, 4, 5);
        least = other < least ? other : least;
        const std::int32_t best = std::min(static_cast<std::int32_t>(least[0]), static_cast<std::int32_t>(least[1]));
        if (best >= distance[row]) continue;
        distance[row] = best;
        std::int32_t all[kWidth];  // a copy, so that the sums themselves can stay in registers
        for (int v = 0; v < kVectors; ++v) reinterpret_cast<StoredLane*>(all)[v] = sum[v];
        center[row] = first_center + static_cast<std::int32_t>(std::find(all, all + kWidth, best) - all);
    }
}

class Clustering {
  public:
    Clustering(const Points& points, const Levels& levels, const std::int32_t* first, std::int64_t iterations,
               int threads, Monitor& monitor)
        : points_(points),
          rows_(points.rows.view()),
          levels_(levels),
          first_(first),
          iterations_(iterations),
          threads_(threads),
          monitor_(monitor),
          center_of_(points.size(), -1),
          distance_(points.size()) {}

    // From these centers until nothing changes, or the iterations are used up; the cluster of each point.
    std::vector<std::int32_t> run(Centers centers) {
        std::vector<std::int32_t> before;
        for (std::int64_t round = 0;; ++round) {
            assign(centers);
            if (center_of_ == before || round == iterations_) break;
            before = center_of_;
            centers = means(centers);
        }
        return std::move(center_of_);
    }

    // k-means++ on samples: each next center is a point, with a chance proportional to its distance to the nearest one
    // before it. For every 256 centers there is a sample of its own, so that the time stays linear.
    Centers start(std::int64_t clusters, Random& random) const {
        constexpr std::int64_t few = 256;
        std::vector<std::int32_t> all(points_.size());
        std::iota(all.begin(), all.end(), 0);
        Centers centers;
        std::int64_t from = 0;
        while (centers.size() < clusters && from < points_.size()) {
            const std::int64_t wanted = std::min(few, clusters - centers.size());
            const std::int64_t size = std::min(points_.size() - from, std::max<std::int64_t>(4 * wanted, 64));
            for (std::int64_t i = from; i < from + size; ++i)
                std::swap(all[i], all[i + random.below(static_cast<std::uint32_t>(points_.size() - i))]);
            add_centers({all.begin() + from, all.begin() + from + size}, wanted, random, centers);
            from += size;
        }
        return centers;
    }

  private:
    void add_centers(const std::vector<std::int32_t>& sample, std::int64_t wanted, Random& random,
                     Centers& centers) const {
        std::vector<std::int64_t> chance(sample.size());
        std::vector<std::int32_t> nearest(sample.size(), INT32_MAX), correction(levels_.value);
        for (std::size_t i = 0; i < sample.size(); ++i) chance[i] = points_.weight[sample[i]];
        for (; wanted > 0; --wanted) {
            monitor_.check();
            const std::int64_t total = std::accumulate(chance.begin(), chance.end(), std::int64_t{0});
            if (total == 0) return;  // every point of the sample is a center
            auto left = static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(total));
            std::size_t pick = 0;
            while (left >= chance[pick]) left -= chance[pick++];
            centers.add_point(rows_, sample[pick], levels_);
            nearer(sample, sample[pick], correction, nearest, chance);
        }
    }

    // The distance of each point of the sample to the nearest center, now that `pick` is one. `correction` is what each
    // code adds to the distance to a point without anything, before and after.
    void nearer(const std::vector<std::int32_t>& sample, std::int32_t pick, std::vector<std::int32_t>& correction,
                std::vector<std::int32_t>& nearest, std::vector<std::int64_t>& chance) const {
        std::int32_t base = 0;
        for (const std::int32_t* code = rows_.begin(pick); code != rows_.end(pick); ++code) {
            const std::int32_t a = levels_.attribute[*code], v = levels_.value[*code];
            base += v;
            for (std::int32_t other = first_[a]; other < first_[a + 1]; ++other)
                correction[other] = std::abs(levels_.value[other] - v) - v;
        }
        for (std::size_t i = 0; i < sample.size(); ++i) {
            std::int32_t sum = base;
            for (const std::int32_t* code = rows_.begin(sample[i]); code != rows_.end(sample[i]); ++code)
                sum += correction[*code];
            nearest[i] = std::min(nearest[i], sum);
            chance[i] = nearest[i] * points_.weight[sample[i]];
        }
        for (const std::int32_t* code = rows_.begin(pick); code != rows_.end(pick); ++code)
            for (std::int32_t a = levels_.attribute[*code], other = first_[a]; other < first_[a + 1]; ++other)
                correction[other] = levels_.value[other];
    }

    void assign(const Centers& centers) {
        std::fill(distance_.begin(), distance_.end(), INT32_MAX);
        const std::int64_t tables = (centers.size() + kWidth - 1) / kWidth;
        // As many tables at a time as fit into 64 MB, and at least one.
        const std::int64_t batch = std::max<std::int64_t>(
            1, (std::int64_t{64} << 20) / std::max<std::int64_t>(1, std::int64_t{levels_.size()} * kWidth * 4));
        for (std::int64_t from = 0; from < tables; from += batch) assign(centers, from, std::min(tables, from + batch));
    }

    void assign(const Centers& centers, std::int64_t from, std::int64_t to) {
        if (static_cast<std::int64_t>(tables_.size()) < to - from) tables_.resize(to - from);
        parallel_for(to - from, threads_, monitor_, [&](std::int64_t t, int) {
            tables_[t].load(centers, (from + t) * kWidth, std::min(centers.size(), (from + t + 1) * kWidth), levels_,
                            first_);
        });
        parallel_for((points_.size() + kRowBlock - 1) / kRowBlock, threads_, monitor_, [&](std::int64_t block, int) {
            for (std::int64_t t = 0; t < to - from; ++t)
                nearest_in_table(rows_, block * kRowBlock, std::min(points_.size(), (block + 1) * kRowBlock),
                                 tables_[t], static_cast<std::int32_t>((from + t) * kWidth), distance_.data(),
                                 center_of_.data());
        });
    }

    // The mean of each cluster; one without points keeps its center.
    Centers means(const Centers& old) const {
        std::vector<std::int64_t> start(old.size() + 1, 0);
        for (const std::int32_t c : center_of_) ++start[c + 1];
        std::partial_sum(start.begin(), start.end(), start.begin());
        std::vector<std::int32_t> members(points_.size());
        std::vector<std::int64_t> cursor(start.begin(), start.end() - 1);
        for (std::int64_t point = 0; point < points_.size(); ++point)
            members[cursor[center_of_[point]]++] = static_cast<std::int32_t>(point);
        const std::int64_t blocks = std::min<std::int64_t>(old.size(), 8 * thread_count(threads_));
        std::vector<Centers> parts(blocks);
        parallel_for(blocks, threads_, monitor_, [&](std::int64_t block, int) {
            std::vector<std::int64_t> sum(levels_.size() ? levels_.attribute.back() + 1 : 0, 0);
            for (std::int64_t c = old.size() * block / blocks; c < old.size() * (block + 1) / blocks; ++c)
                start[c] == start[c + 1]
                    ? parts[block].add(old, c)
                    : add_mean(members.data() + start[c], members.data() + start[c + 1], sum, parts[block]);
        });
        Centers out;
        for (const Centers& part : parts)
            for (std::int64_t c = 0; c < part.size(); ++c) out.add(part, c);
        return out;
    }

    void add_mean(const std::int32_t* begin, const std::int32_t* end, std::vector<std::int64_t>& sum,
                  Centers& out) const {
        std::int64_t weight = 0;
        std::vector<std::int32_t> touched;
        for (const std::int32_t* point = begin; point != end; ++point) {
            weight += points_.weight[*point];
            for (const std::int32_t* code = rows_.begin(*point); code != rows_.end(*point); ++code) {
                const std::int32_t a = levels_.attribute[*code];
                if (sum[a] == 0) touched.push_back(a);
                sum[a] += levels_.value[*code] * points_.weight[*point];
            }
        }
        for (const std::int32_t a : touched) {
            out.attribute.push_back(a);
            out.mean.push_back(
                static_cast<std::int32_t>((2 * kScale * std::exchange(sum[a], 0) + weight) / (2 * weight)));
        }
        out.close();
    }

    const Points& points_;
    const Csr rows_;
    const Levels& levels_;
    const std::int32_t* first_;
    std::int64_t iterations_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::int32_t> center_of_, distance_;
    std::vector<Table> tables_;
};

// Equal rows become one point.
inline Points points_of(const Csr& rows, const Levels& levels, const Distinct& distinct) {
    Points points;
    points.weight.assign(distinct.size(), 0);
    for (const std::int32_t point : distinct.of_row) ++points.weight[point];
    for (const std::int32_t row : distinct.first) {
        levels.for_counts(rows.begin(row), rows.end(row),
                          [&](auto, auto, std::int32_t code) { points.rows.items.push_back(code); });
        points.rows.close_row();
    }
    return points;
}

inline Points take_points(const Points& all, const std::vector<std::int32_t>& which) {
    Points part;
    const Csr rows = all.rows.view();
    for (const std::int32_t point : which) {
        part.rows.items.insert(part.rows.items.end(), rows.begin(point), rows.end(point));
        part.rows.close_row();
        part.weight.push_back(all.weight[point]);
    }
    return part;
}

// What all clusterings of one call share.
struct Setting {
    const Levels& levels;
    const std::int32_t* first;
    std::int64_t iterations;
    int threads;
    Monitor& monitor;
};

// The cluster of each point. Many clusters are made in steps, first parts and then clusters inside each part.
inline std::vector<std::int32_t> cluster_points(const Points& points, std::int64_t clusters, Random& random,
                                                const Setting& setting) {
    Clustering whole(points, setting.levels, setting.first, setting.iterations, setting.threads, setting.monitor);
    if (clusters <= kMostClusters) return whole.run(whole.start(clusters, random));
    const std::int64_t parts = std::min<std::int64_t>(kWidth, (clusters + kUsualClusters - 1) / kUsualClusters);
    std::vector<std::int32_t> cluster = whole.run(whole.start(parts, random));
    std::vector<std::vector<std::int32_t>> members(parts);
    for (std::int32_t point = 0; point < points.size(); ++point) members[cluster[point]].push_back(point);
    std::int32_t before = 0;
    for (const auto& part : members) {
        if (part.empty()) continue;
        const Points own = take_points(points, part);
        std::int64_t share = std::max<std::int64_t>(1, clusters * own.size() / points.size());
        if (own.size() == points.size()) share = std::min(share, kMostClusters);  // it cannot be cut any further
        const std::vector<std::int32_t> found = cluster_points(own, share, random, setting);
        for (std::size_t i = 0; i < part.size(); ++i) cluster[part[i]] = before + found[i];
        before += static_cast<std::int32_t>(share);
    }
    return cluster;
}

}  // namespace kmeans

// The cluster of each row. `starts` are rows whose counts are the first centers; none: k-means++. The time per row does
// not grow with the number of clusters beyond 1,500 of them.
inline std::vector<std::int32_t> k_means(const Csr& rows, const std::int32_t* first, std::int32_t attributes,
                                         const std::vector<std::int64_t>& starts, const KMeansOptions& options,
                                         int threads, Monitor& monitor) {
    using namespace kmeans;
    if (rows.rows == 0) return {};
    const Levels levels(first, attributes);
    const Distinct distinct = distinct_rows(rows);
    const Points points = points_of(rows, levels, distinct);
    Random random(options.seed, 0);
    std::vector<std::int32_t> cluster;
    if (starts.empty()) {
        cluster =
            cluster_points(points, options.clusters, random, {levels, first, options.iterations, threads, monitor});
    } else {
        Centers centers;
        for (const std::int64_t row : starts) centers.add_point(points.rows.view(), distinct.of_row[row], levels);
        cluster = Clustering(points, levels, first, options.iterations, threads, monitor).run(std::move(centers));
    }
    std::vector<std::int32_t> out(rows.rows);
    for (std::int64_t row = 0; row < rows.rows; ++row) out[row] = cluster[distinct.of_row[row]];
    return out;
}

}  // namespace anonset
