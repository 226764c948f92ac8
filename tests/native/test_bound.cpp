#include <cmath>
#include <numeric>

#include "bound/api.hpp"
#include "check.hpp"
#include "data.hpp"

using namespace anonset;

namespace {

constexpr std::int64_t K = 3;
constexpr std::int32_t ITEMS = 7;

// Tiny data of distinct rows, some with copies; what groups lose is found by looking at all of them.
struct Case {
    OwnedCsr data;
    std::vector<std::int64_t> weight, wanted;
    std::vector<double> price;
    Monitor monitor;

    explicit Case(std::uint64_t seed) {
        std::set<sample::Set> distinct;
        const OwnedCsr drawn = sample::rows(seed, 9, ITEMS, 0.7);
        for (std::int64_t row = 0; row < drawn.view().rows; ++row) distinct.insert(sample::set(drawn.view(), row));
        std::vector<std::vector<std::int32_t>> rows;
        for (const sample::Set& each : distinct) rows.emplace_back(each.begin(), each.end());
        // The price is half of the length, so that rows by length come by rising length less price.
        std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
        data = sample::from(rows);
        for (const auto& row : rows) price.push_back(static_cast<double>(row.size()) / 2);
        for (std::size_t row = 0; row < rows.size(); ++row) weight.push_back(row % 4 == 1 ? 2 : 1);
        wanted.resize(rows.size());
        std::iota(wanted.begin(), wanted.end(), 0);
    }
    std::int64_t rows() const { return data.view().rows; }

    // The least that a group of K or more loses beyond the values of its members.
    double slack(const std::vector<double>& value) const {
        std::vector<std::int64_t> copies;
        for (std::int64_t row = 0; row < rows(); ++row) copies.insert(copies.end(), weight[row], row);
        double least = 1e9;
        for (std::uint32_t group = 0; group < 1u << copies.size(); ++group) {
            const int size = __builtin_popcount(group);
            if (size < K) continue;
            std::vector<int> holders(ITEMS, 0);
            double values = 0, loss = 0;
            for (std::size_t i = 0; i < copies.size(); ++i) {
                if (!(group >> i & 1)) continue;
                values += value[copies[i]];
                for (const std::int32_t item : sample::set(data.view(), copies[i])) ++holders[item];
            }
            for (const int count : holders) loss += std::min(count, size - count);
            least = std::min(least, loss - values);
        }
        return least;
    }
    std::vector<double> anchors(int threads) {
        return bound::anchor_values(data.view(), weight.data(), price.data(), ITEMS, K, wanted.data(), rows(), 100000,
                                    threads, monitor)
            .value;
    }
};

// In whole multiples of 1 / 1024, as everything but pair_values wants them.
std::vector<double> rounded(std::vector<double> values) {
    for (double& value : values) value = std::floor(value * 1024) / 1024;
    return values;
}

}  // namespace

TEST(pairs_and_anchors_are_feasible_and_anchors_are_no_lower) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Case one(seed);
        for (const bool dense : {false, true}) {
            const bound::PairValues pairs =
                bound::pair_values(one.data.view(), one.weight.data(), one.price.data(), ITEMS, K, one.wanted.data(),
                                   one.rows(), dense, 2, one.monitor);
            const std::vector<double> anchors = one.anchors(2);
            CHECK(one.slack(pairs.value) >= -1e-9);
            CHECK(one.slack(anchors) >= -1e-9);
            for (std::int64_t row = 0; row < one.rows(); ++row) CHECK(anchors[row] >= pairs.value[row] - 1e-9);
        }
    }
}

TEST(targets_that_violate_cuts_are_lowered_until_they_are_feasible) {
    int violated = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Case one(seed);
        std::vector<double> target = rounded(one.anchors(1)), increment(target.size());
        for (std::size_t row = 0; row < target.size(); ++row) {
            const double most = (static_cast<double>(one.data.view().size(row)) + one.price[row]) / 2 - target[row];
            increment[row] = std::max(0.0, std::floor(std::min(most, 0.25 * (row % 3)) * 32) / 32);
            target[row] += increment[row];
        }
        violated += one.slack(target) < 0;
        const std::vector<double> raised =
            bound::dual_increments(one.data.view(), one.weight.data(), one.price.data(), target.data(),
                                   increment.data(), ITEMS, K, 100000, 2, one.monitor);
        CHECK(one.slack(raised) >= -1e-9);
        const bound::Restored restored =
            bound::restore_feasibility(one.data.view(), one.weight.data(), target.data(), increment.data(), ITEMS, K,
                                       false, {4, 16, 100000, 8}, 2, one.monitor);
        CHECK(one.slack(restored.value) >= -1e-9);
        CHECK((one.slack(target) < -1e-9) == !restored.cuts.key.empty());
        for (std::size_t row = 0; row < target.size(); ++row)
            CHECK(raised[row] <= target[row] && restored.value[row] <= target[row]);
    }
    CHECK(violated > 5);
}

TEST(a_subgradient_step_satisfies_a_single_cut) {
    const std::vector<std::int64_t> start{0, 4}, weight{1, 1, 1, 1};
    const std::vector<std::int32_t> row{0, 1, 2, 3}, distance{1, 1, 1, 2};
    const std::vector<double> most(4, 9.0), rise{1.0};
    Monitor monitor;
    const std::vector<double> target =
        bound::subgradient_steps({start.data(), row.data(), distance.data(), 1}, weight.data(), K, {1, 1, 1, 1},
                                 most.data(), rise.data(), 1, monitor);
    CHECK((target == std::vector<double>{1, 1, 1, 2}));
}
