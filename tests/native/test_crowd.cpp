#include <map>

#include "check.hpp"
#include "core/gray.hpp"
#include "core/rows.hpp"
#include "crowd/api.hpp"
#include "data.hpp"

using namespace anonset;

namespace {

constexpr std::int64_t ROWS = 600;

// Rows in Gray order.
OwnedCsr ordered(std::uint64_t seed, std::int32_t items, double dense) {
    const OwnedCsr data = sample::rows(seed, ROWS, items, dense);
    std::vector<std::int32_t> rank(items);
    for (std::int32_t item = 0; item < items; ++item) rank[item] = item;
    Monitor monitor;
    const Buffer<std::int64_t> order = gray_order(data.view(), rank.data(), items, 1, monitor);
    return take_rows(data.view(), order.data(), ROWS, 1, monitor);
}

// Every group has at least k rows and publishes what more than half of them hold.
void check_groups(const OwnedCsr& data, const crowd::Result& found, std::int64_t k) {
    std::map<std::int32_t, std::int64_t> size;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> holders;
    for (std::int64_t row = 0; row < ROWS; ++row) {
        ++size[found.group[row]];
        for (const std::int32_t item : sample::set(data.view(), row)) ++holders[{found.group[row], item}];
    }
    CHECK(size.size() + 1 == found.offsets.size() && size.size() > 5);
    for (const auto& [g, count] : size) {
        CHECK(count >= k);
        sample::Set center;
        for (const auto& [key, held] : holders)
            if (key.first == g && 2 * held > count) center.insert(key.second);
        CHECK(center ==
              sample::Set(found.items.begin() + found.offsets[g], found.items.begin() + found.offsets[g + 1]));
    }
}

}  // namespace

TEST(sparse_groups_have_k_rows_and_publish_their_majority_with_any_number_of_threads) {
    const OwnedCsr data = ordered(71, 90, 0.08);
    Monitor monitor;
    for (const std::int32_t k : {2, 5, 20})
        for (const std::int64_t shards : {1, 3}) {
            const crowd::SparseSettings settings{shards, 2, 20, 3 * k, 1, 2, 10, 16};
            const crowd::Result one = crowd::sparse_groups(data.view(), 90, k, settings, 1, monitor);
            check_groups(data, one, k);
            CHECK(one.group == crowd::sparse_groups(data.view(), 90, k, settings, 3, monitor).group);
        }
}

TEST(dense_groups_have_k_rows_and_publish_their_majority_with_any_number_of_threads) {
    Monitor monitor;
    for (const std::int32_t items : {40, 100, 150, 200}) {  // one word, two, three, any number
        const OwnedCsr data = ordered(72, items, 0.5);
        for (const std::int64_t rounds : {1, 3}) {
            const crowd::DenseSettings settings{200, 64, 5, 2, rounds, 4.0};
            const crowd::Result one = crowd::dense_groups(data.view(), items, 5, settings, 9, 1, monitor);
            check_groups(data, one, 5);
            CHECK(one.group == crowd::dense_groups(data.view(), items, 5, settings, 9, 3, monitor).group);
        }
    }
}

TEST(diverse_groups_hold_no_sensitive_item_too_often) {
    const OwnedCsr data = ordered(73, 60, 0.1), sensitive = sample::rows(74, ROWS, 4, 0.1);
    std::vector<std::int32_t> group(ROWS);
    for (std::int32_t row = 0; row < ROWS; ++row) group[row] = row / 5;
    Monitor monitor;
    const std::vector<std::int32_t> found =
        crowd::diverse_groups(data.view(), sensitive.view(), 60, group.data(), {5, 4, 3}, 2, monitor);
    std::map<std::int32_t, std::int64_t> size;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> holders;
    for (std::int64_t row = 0; row < ROWS; ++row) {
        ++size[found[row]];
        for (const std::int32_t item : sample::set(sensitive.view(), row)) ++holders[{found[row], item}];
    }
    for (const auto& [g, count] : size) CHECK(count >= 5);
    for (const auto& [key, held] : holders) CHECK(4 * held <= size[key.first]);
}
