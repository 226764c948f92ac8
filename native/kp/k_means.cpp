// k-means for rows of counts: the nearest center in L1, centers are means. Distances to 128 centers at a time are sums
// of a few rows of a table; all arithmetic is in whole numbers, so that no order of summing can change the answer.
//
// A center's mean m of an attribute is kept to 1/1,024, or coarser for long rows (see `scale_for`). The distance of a
// row with counts v is the sum of all v, plus the sum of all m, minus 2 min(v, m) for each attribute of the row. The
// first term is the same for all centers and is left out.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/distinct.hpp"
#include "core/random.hpp"
#include "core/transpose.hpp"
#include "kp/attributes.hpp"
#include "kp/k_means_seed.hpp"
#include "kp/k_means_table.hpp"

namespace anonset::kp {

namespace kmeans {

namespace {

constexpr std::int64_t MOST_CLUSTERS = 1500;  // above, the rows are first cut into parts
constexpr std::int64_t PARTS = 128;           // and then clusters are made in each
constexpr std::int64_t ROW_BLOCK = 1024;

// Rows of codes of the largest count only (see Levels::for_counts), and how often each occurs.
struct Points {
    OwnedCsr rows;
    std::vector<std::int64_t> weight;

    std::int64_t size() const { return static_cast<std::int64_t>(weight.size()); }
};

// What all clusterings of one call share.
struct Setting {
    const Levels& levels;
    const std::int32_t* first;
    std::int32_t scale;
    std::int64_t iterations;
    int threads;
    Monitor& monitor;
};

template <class Cell>
class Clustering {
  public:
    Clustering(const Points& points, const Setting& setting)
        : points_(points),
          rows_(points.rows.view()),
          levels_(setting.levels),
          first_(setting.first),
          scale_(setting.scale),
          threads_(setting.threads),
          monitor_(setting.monitor),
          center_of_(points.size(), -1),
          distance_(points.size()) {}

    // From these centers until nothing changes, or the rounds are used up; the cluster of each point.
    std::vector<std::int32_t> run(Centers centers, std::int64_t rounds) {
        std::vector<std::int32_t> before;
        for (std::int64_t round = 0;; ++round) {
            assign(centers);
            if (center_of_ == before || round == rounds) break;
            before = center_of_;
            centers = means(centers);
        }
        return std::move(center_of_);
    }

    // k-means++ on samples: each next center is a point, with a chance proportional to its distance to the nearest one
    // before it. For every 256 centers there is a sample of its own, so that the time stays linear.
    Centers start(std::int64_t clusters, Random& random) const {
        constexpr std::int64_t CENTERS_OF_SAMPLE = 256;
        std::vector<std::int32_t> all(points_.size());
        std::iota(all.begin(), all.end(), 0);
        Centers centers;
        std::int64_t from = 0;
        while (centers.size() < clusters && from < points_.size()) {
            const std::int64_t wanted = std::min(CENTERS_OF_SAMPLE, clusters - centers.size());
            const std::int64_t size = std::min(points_.size() - from, std::max<std::int64_t>(4 * wanted, 64));
            for (std::int64_t i = from; i < from + size; ++i)
                std::swap(all[i], all[i + random.below(static_cast<std::uint32_t>(points_.size() - i))]);
            const std::vector<std::int32_t> sample(all.begin() + from, all.begin() + from + size);
            SeedSample seeds(rows_, points_.weight, sample, levels_, first_);
            for (std::int64_t i = 0; i < wanted; ++i) {
                monitor_.check();
                const std::int32_t point = seeds.draw(random);
                if (point < 0) break;  // every point of the sample is a center
                centers.add_point(rows_, point, levels_, scale_);
            }
            from += size;
        }
        return centers;
    }

  private:
    void assign(const Centers& centers) {
        const std::int64_t tables = (centers.size() + WIDTH<Cell> - 1) / WIDTH<Cell>;
        // As many tables at a time as fit into 64 MB, and at least one.
        const std::int64_t batch = std::max<std::int64_t>(
            1, (std::int64_t{64} << 20) / std::max<std::int64_t>(1, std::int64_t{levels_.size()} * VECTORS * 32));
        std::fill(distance_.begin(), distance_.end(), INT32_MAX);
        if (tables > batch) std::fill(center_of_.begin(), center_of_.end(), -1);
        for (std::int64_t from = 0; from < tables; from += batch) assign(centers, from, std::min(tables, from + batch));
    }

    void assign(const Centers& centers, std::int64_t from, std::int64_t to) {
        if (static_cast<std::int64_t>(tables_.size()) < to - from) tables_.resize(to - from);
        parallel_for(to - from, threads_, monitor_, [&](std::int64_t t, int) {
            tables_[t].load(centers, (from + t) * WIDTH<Cell>, std::min(centers.size(), (from + t + 1) * WIDTH<Cell>),
                            levels_, first_, scale_);
        });
        parallel_for((points_.size() + ROW_BLOCK - 1) / ROW_BLOCK, threads_, monitor_, [&](std::int64_t block, int) {
            const std::int64_t first = block * ROW_BLOCK, last = std::min(points_.size(), first + ROW_BLOCK);
            if (from == 0) start_from_known(first, last);
            for (std::int64_t t = 0; t < to - from; ++t)
                nearest_in_table(rows_, first, last, tables_[t], static_cast<std::int32_t>((from + t) * WIDTH<Cell>),
                                 distance_.data(), center_of_.data());
        });
    }

    // The center of the round before is a good guess, and most others are then passed over.
    void start_from_known(std::int64_t first, std::int64_t last) {
        for (std::int64_t point = first; point < last; ++point)
            if (const std::int32_t c = center_of_[point]; c >= 0)
                distance_[point] =
                    distance_to(rows_.begin(point), rows_.end(point), tables_[c / WIDTH<Cell>], c % WIDTH<Cell>);
    }

    // The mean of each cluster; one without points keeps its center.
    Centers means(const Centers& old) const {
        const Transposed<> members = rows_by_key(center_of_.data(), points_.size(), old.size());
        const std::int64_t blocks = std::min<std::int64_t>(old.size(), 8 * thread_count(threads_));
        std::vector<Centers> parts(blocks);
        parallel_for(blocks, threads_, monitor_, [&](std::int64_t block, int) {
            std::vector<std::int64_t> sum(levels_.size() ? levels_.attribute.back() + 1 : 0, 0);
            for (std::int64_t c = old.size() * block / blocks; c < old.size() * (block + 1) / blocks; ++c)
                members.size(c) == 0 ? parts[block].add(old, c)
                                     : add_mean(members.begin(c), members.end(c), sum, parts[block]);
        });
        Centers out;
        for (const Centers& part : parts)
            for (std::int64_t c = 0; c < part.size(); ++c) out.add(part, c);
        return out;
    }

    void add_mean(const std::int32_t* begin, const std::int32_t* end, std::vector<std::int64_t>& sum,
                  Centers& out) const {
        std::int64_t weight = 0, count = 0;
        std::vector<std::int32_t> touched(sum.size() + 1);
        for_rows(rows_, begin, end - begin, [&](std::int32_t point) {
            const std::int64_t times = points_.weight[point];
            weight += times;
            for (const std::int32_t* code = rows_.begin(point); code != rows_.end(point); ++code) {
                const std::int32_t a = levels_.attribute[*code];
                touched[count] = a;  // kept if it is new; a branch would be guessed wrong too often
                count += sum[a] == 0;
                sum[a] += levels_.value[*code] * times;
            }
        });
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int32_t a = touched[i];
            out.attribute.push_back(a);
            const auto twice = static_cast<double>(2 * scale_ * std::exchange(sum[a], 0) + weight);
            // Exact below 2^53, and many times faster than a division of whole numbers.
            out.mean.push_back(static_cast<std::int32_t>(twice / static_cast<double>(2 * weight)));
        }
        out.close();
    }

    const Points& points_;
    const Csr rows_;
    const Levels& levels_;
    const std::int32_t* first_;
    std::int32_t scale_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::int32_t> center_of_, distance_;
    std::vector<Table<Cell>> tables_;
};

// Equal rows become one point.
Points points_of(const Csr& rows, const Levels& levels, const Distinct& distinct) {
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

Points take_points(const Points& all, const std::vector<std::int32_t>& which) {
    Points part;
    const Csr rows = all.rows.view();
    for (const std::int32_t point : which) {
        part.rows.items.insert(part.rows.items.end(), rows.begin(point), rows.end(point));
        part.rows.close_row();
        part.weight.push_back(all.weight[point]);
    }
    return part;
}

// All at once.
template <class Cell>
std::vector<std::int32_t> few_clusters(const Points& points, std::int64_t clusters, Random& random,
                                       const Setting& setting) {
    Clustering<Cell> whole(points, setting);
    return whole.run(whole.start(clusters, random), setting.iterations);
}

// The cluster of each point. Many clusters are made in steps, first parts and then clusters inside each part.
template <class Cell>
std::vector<std::int32_t> cluster_points(const Points& points, std::int64_t clusters, Random& random,
                                         const Setting& setting) {
    if (clusters <= MOST_CLUSTERS) return few_clusters<Cell>(points, clusters, random, setting);
    std::vector<std::int32_t> cluster = few_clusters<Cell>(points, PARTS, random, setting);
    std::vector<std::vector<std::int32_t>> members(PARTS);
    for (std::int32_t point = 0; point < points.size(); ++point) members[cluster[point]].push_back(point);
    std::int32_t before = 0;
    for (const auto& part : members) {
        if (part.empty()) continue;
        const Points own = take_points(points, part);
        std::int64_t share = std::max<std::int64_t>(1, clusters * own.size() / points.size());
        if (own.size() == points.size()) share = std::min(share, MOST_CLUSTERS);  // it cannot be cut any further
        const std::vector<std::int32_t> found = cluster_points<Cell>(own, share, random, setting);
        for (std::size_t i = 0; i < part.size(); ++i) cluster[part[i]] = before + found[i];
        before += static_cast<std::int32_t>(share);
    }
    return cluster;
}

// The same from given centers, or from none.
template <class Cell>
std::vector<std::int32_t> cluster_from(const Points& points, const std::vector<std::int32_t>& starts,
                                       const KMeansOptions& options, const Setting& setting) {
    Random random(options.seed, 0);
    if (starts.empty()) return cluster_points<Cell>(points, options.clusters, random, setting);
    Centers centers;
    for (const std::int32_t point : starts) centers.add_point(points.rows.view(), point, setting.levels, setting.scale);
    Clustering<Cell> whole(points, setting);
    return whole.run(std::move(centers), setting.iterations);
}

}  // namespace

}  // namespace kmeans

std::vector<std::int32_t> k_means(const Csr& rows, const Codes& codes, const std::vector<std::int64_t>& starts,
                                  const KMeansOptions& options, int threads, Monitor& monitor) {
    using namespace kmeans;
    if (rows.rows == 0) return {};
    const auto [first, attributes] = codes;
    const Levels levels(codes);
    const Distinct distinct = distinct_rows(rows);
    const Points points = points_of(rows, levels, distinct);
    std::int64_t longest = 0;
    for (std::int64_t row = 0; row < rows.rows; ++row) longest = std::max(longest, rows.size(row));
    const Setting setting{levels, first, scale_for(longest, attributes), options.iterations, threads, monitor};
    std::vector<std::int32_t> chosen;
    for (const std::int64_t row : starts) chosen.push_back(distinct.of_row[row]);
    const std::vector<std::int32_t> cluster = fits_16_bits(longest, attributes)
                                                  ? cluster_from<std::int16_t>(points, chosen, options, setting)
                                                  : cluster_from<std::int32_t>(points, chosen, options, setting);
    std::vector<std::int32_t> out(rows.rows);
    for (std::int64_t row = 0; row < rows.rows; ++row) out[row] = cluster[distinct.of_row[row]];
    return out;
}

}  // namespace anonset::kp
