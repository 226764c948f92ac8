#include <map>

#include "check.hpp"
#include "data.hpp"
#include "partition/api.hpp"

using namespace anonset;

namespace {

// Twelve leaves under four categories under the root: nodes 0, then each category followed by its leaves.
struct Case {
    std::vector<std::int32_t> end{17}, leaf;
    std::vector<std::int64_t> loss{12};
    OwnedCsr data;
    Monitor monitor;

    Case() {
        for (int category = 0; category < 4; ++category) {
            const auto node = static_cast<std::int32_t>(end.size());
            end.push_back(node + 4), loss.push_back(3);
            for (int i = 1; i <= 3; ++i) leaf.push_back(node + i), end.push_back(node + i + 1), loss.push_back(0);
        }
        data = sample::rows(29, 200, 12, 0.35);
        for (auto& item : data.items) item = leaf[item];
    }
    partition::Tree tree() const { return {end.data(), loss.data(), static_cast<std::int32_t>(end.size())}; }
};

}  // namespace

TEST(partition_publishes_nodes_that_stand_for_exactly_what_each_member_holds) {
    Case one;
    const partition::Parts out = partition::local_generalisation(one.data.view(), one.tree(), nullptr, 5, one.monitor);
    std::map<std::int32_t, int> sizes;
    for (std::int64_t row = 0; row < one.data.view().rows; ++row) {
        const std::int32_t part = out.part[row];
        ++sizes[part];
        sample::Set leaves = sample::set(one.data.view(), row), covered;
        for (std::int64_t at = out.bounds[part]; at < out.bounds[part + 1]; ++at) {
            const std::int32_t node = out.nodes[at];
            bool used = node == 0 && leaves.empty();
            for (const auto item : leaves)
                if (node <= item && item < one.end[node]) used = true, covered.insert(item);
            CHECK(used);
        }
        CHECK(covered == leaves);
    }
    CHECK(sizes.size() > 3);
    for (const auto& [_, size] : sizes) CHECK(size >= 5);
}

TEST(partition_leaves_too_few_transactions_as_the_root) {
    Case one;
    const partition::Parts out =
        partition::local_generalisation(one.data.view(), one.tree(), nullptr, 150, one.monitor);
    CHECK(out.bounds.size() == 2);
    CHECK(out.nodes == std::vector<std::int32_t>{0});
}
