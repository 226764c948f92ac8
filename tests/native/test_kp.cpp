#include <map>

#include "check.hpp"
#include "data.hpp"
#include "kp/api.hpp"

using namespace anonset;

namespace {

// Items 0 … 29 belong to ten attributes; some occurrences are sensitive.
struct Case {
    static constexpr std::int64_t ROWS = 300;
    static constexpr std::int32_t ITEMS = 30, ATTRIBUTES = 10;
    OwnedCsr data = sample::rows(61, ROWS, ITEMS, 0.3);
    std::vector<std::int32_t> attribute_of;
    std::vector<std::uint8_t> secret;
    Monitor monitor;
    kp::Mapped mapped;

    Case() {
        Random random(62, 0);
        for (std::int32_t item = 0; item < ITEMS; ++item) attribute_of.push_back(item / 3);
        for (std::size_t i = 0; i < data.items.size(); ++i) secret.push_back(random.chance(0.05));
        mapped = kp::map_attributes(data.view(), secret.data(), attribute_of.data(), ATTRIBUTES, 2, monitor);
    }
    kp::Codes codes() const { return {mapped.first.data(), ATTRIBUTES}; }
    kp::Problem problem(std::int64_t k) const { return {mapped.rows.view(), mapped.secret.view(), codes(), k, {1, 2}}; }
    std::map<std::int32_t, int> counts(std::int64_t row) const {
        std::map<std::int32_t, int> found;
        for (std::int64_t at = data.view().offsets[row]; at < data.view().offsets[row + 1]; ++at)
            if (!secret[at]) ++found[attribute_of[data.items[at]]];
        return found;
    }
};

// At least k rows, of which at most half hold something sensitive of one attribute.
void check_groups(const Case& c, const std::vector<std::int32_t>& group, std::int64_t k, bool all) {
    std::map<std::int32_t, std::int64_t> size;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> holders;
    for (std::int64_t row = 0; row < Case::ROWS; ++row) {
        CHECK(!all || group[row] >= 0);
        if (group[row] < 0) continue;
        ++size[group[row]];
        for (const std::int32_t a : sample::set(c.mapped.secret.view(), row)) ++holders[{group[row], a}];
    }
    for (const auto& [g, count] : size) CHECK(count >= k);
    for (const auto& [key, count] : holders) CHECK(2 * count <= size[key.first]);
    CHECK(size.size() > 5);
}

}  // namespace

TEST(attributes_are_counted_in_unary_code) {
    Case c;
    for (std::int64_t row = 0; row < Case::ROWS; ++row) {
        std::map<std::int32_t, int> found;
        for (const std::int32_t code : sample::set(c.mapped.rows.view(), row))
            for (std::int32_t a = 0; a < Case::ATTRIBUTES; ++a)
                if (code >= c.mapped.first[a] && code < c.mapped.first[a + 1]) {
                    CHECK(found[a] == code - c.mapped.first[a]);  // every lower count is there as well
                    ++found[a];
                }
        CHECK(found == c.counts(row));
    }
}

TEST(k_means_finds_clusters_that_lie_apart) {
    // Even rows hold attributes 0 and 1, odd ones 2 and 3, each once or twice.
    std::vector<std::vector<std::int32_t>> rows;
    Random random(63, 0);
    for (int row = 0; row < 60; ++row) {
        const std::int32_t base = row % 2 ? 4 : 0;
        rows.push_back({base});
        if (random.chance(0.5)) rows.back().push_back(base + 1);
        rows.back().push_back(base + 2);
    }
    const OwnedCsr data = sample::from(rows);
    const std::vector<std::int32_t> first{0, 2, 4, 6, 8};
    Monitor monitor;
    for (const std::vector<std::int64_t>& starts : {std::vector<std::int64_t>{0, 1}, {}}) {
        const auto cluster = kp::k_means(data.view(), {first.data(), 4}, starts, {2, 20, 1}, 2, monitor);
        for (int row = 2; row < 60; ++row) CHECK(cluster[row] == cluster[row % 2]);
        CHECK(cluster[0] != cluster[1]);
    }
}

TEST(ant_and_improved_groups_keep_k_and_the_share) {
    Case c;
    const std::int64_t k = 5;
    const auto cluster = kp::k_means(c.mapped.rows.view(), c.codes(), {}, {6, 20, 1}, 2, c.monitor);
    const auto group = kp::ant_groups(c.problem(k), cluster.data(), 1, c.monitor);
    check_groups(c, group, k, true);
    CHECK(group == kp::ant_groups(c.problem(k), cluster.data(), 3, c.monitor));
    for (const bool dense : {false, true})
        for (const bool build : {false, true}) {
            const kp::ImproveOptions options{k, {1, 2}, 3, 4, 1.0, 0.1, 100, build, dense, 9};
            const auto improve = [&](int threads) {
                return kp::improve_groups(c.mapped.rows.view(), c.mapped.secret.view(),
                                          build ? cluster.data() : group.data(), options, threads, c.monitor);
            };
            const auto better = improve(1);
            check_groups(c, better, k, false);
            CHECK(better == improve(3));
            check_groups(c, kp::place_rows(c.problem(k), better.data(), 2, c.monitor), k, true);
        }
}

TEST(means_are_rounded_and_published_with_the_sensitive_items) {
    Case c;
    std::vector<std::int32_t> group;
    for (std::int64_t row = 0; row < Case::ROWS; ++row) group.push_back(static_cast<std::int32_t>(row % 50));
    const OwnedCsr centers = kp::mean_centers(c.mapped.rows.view(), c.codes(), group.data(), 50, 2, c.monitor);
    const kp::PublishedCounts out =
        kp::publish_counts(centers.view(), c.codes(), group.data(), c.data.view(), c.secret.data(), 2, c.monitor);
    for (std::int64_t row = 0; row < Case::ROWS; ++row) {
        std::map<std::int32_t, int> sum, expected, found;
        for (std::int64_t other = row % 50; other < Case::ROWS; other += 50)
            for (const auto& [a, count] : c.counts(other)) sum[a] += count;
        for (const auto& [a, count] : sum)
            if (const int mean = (2 * count + 6) / 12; mean > 0) expected[a] = mean;
        for (std::int64_t at = c.data.view().offsets[row]; at < c.data.view().offsets[row + 1]; ++at)
            if (c.secret[at]) expected[Case::ATTRIBUTES + c.data.items[at]] = 1;
        for (std::int64_t at = out.rows.offsets[row]; at < out.rows.offsets[row + 1]; ++at)
            found[out.rows.items[at]] = out.counts[at];
        CHECK(found == expected);
    }
}
