#include <algorithm>
#include <map>

#include "check.hpp"
#include "data.hpp"
#include "kamp/api.hpp"
#include "mining/api.hpp"

using namespace anonset;

namespace {

struct Case {
    static constexpr std::int64_t ROWS = 200, USERS = 40, SUPPORT = 25;
    static constexpr std::int32_t ITEMS = 12;
    OwnedCsr data = sample::rows(51, ROWS, ITEMS, 0.5);
    std::vector<std::int32_t> users;
    Monitor monitor;
    mining::Patterns patterns =
        mining::frequent_patterns(data.view(), ITEMS, SUPPORT, mining::Kind::all, 0, 1000, 1, monitor);

    Case() {
        for (std::int64_t row = 0; row < ROWS; ++row) users.push_back(static_cast<std::int32_t>(row * 13 % USERS));
    }
    kamp::Users given() const { return {users.data(), USERS}; }
    Csr sets() const { return patterns.sets.view(); }
    sample::Set held(std::int64_t u) const {
        sample::Set found;
        for (std::int64_t row = 0; row < ROWS; ++row)
            for (std::int32_t p = 0; users[row] == u && p < sets().rows; ++p)
                if (sample::includes(sample::set(data.view(), row), sample::set(sets(), p))) found.insert(p);
        return found;
    }
};

sample::Set maximal(const Csr& sets, const sample::Set& held) {
    sample::Set out;
    for (const std::int32_t p : held)
        if (std::none_of(held.begin(), held.end(), [&](std::int32_t q) {
                return q != p && sample::includes(sample::set(sets, q), sample::set(sets, p));
            }))
            out.insert(p);
    return out;
}

}  // namespace

TEST(users_hold_the_patterns_of_their_rows) {
    Case c;
    CHECK(c.sets().rows > 20);
    const kamp::UserPatterns found = kamp::user_patterns(c.data.view(), c.given(), c.sets());
    const Csr held = found.held.view();
    for (std::int64_t u = 0; u < Case::USERS; ++u) {
        CHECK(sample::set(held, u) == c.held(u));
        const sample::Set top = maximal(c.sets(), c.held(u));
        for (std::int64_t at = held.offsets[u]; at < held.offsets[u + 1]; ++at)
            CHECK(found.maximal[at] == top.count(held.items[at]));
    }
}

TEST(combinations_are_counted_as_sets_of_maximal_patterns) {
    Case c;
    const kamp::UserPatterns found = kamp::user_patterns(c.data.view(), c.given(), c.sets());
    const auto count = kamp::count_combinations(c.sets(), found.held.view(), 2, 5, 3, c.monitor);
    std::map<sample::Set, std::int64_t> degree;
    for (std::int64_t u = 0; u < Case::USERS; ++u)
        for (const sample::Set& some : sample::subsets(maximal(c.sets(), c.held(u)), 2)) degree[some] = 0;
    std::vector<std::int64_t> all(2, 0), below(2, 0);
    std::int64_t lowest = INT64_MAX;
    for (auto& [members, users] : degree) {
        for (std::int64_t u = 0; u < Case::USERS; ++u) users += sample::includes(c.held(u), members);
        ++all[members.size() - 1];
        below[members.size() - 1] += users < 5;
        lowest = std::min(lowest, users);
    }
    CHECK(count.all == all && count.below == below && count.lowest == lowest);
}

TEST(a_repaired_table_has_no_rare_combination_and_the_rows_follow_it) {
    Case c;
    const std::int64_t k = 5;
    const kamp::Goal goal{c.patterns.counts.data(), Case::SUPPORT, k, 2};
    for (const auto repair : {kamp::Repair::greedy, kamp::Repair::joint, kamp::Repair::suppress}) {
        const auto tables = kamp::repaired_table(c.data.view(), c.given(), c.sets(), goal, repair, 2, c.monitor);
        for (const OwnedCsr* table : {&tables.printed, &tables.target}) {
            const auto count = kamp::count_combinations(c.sets(), table->view(), 2, k, 1, c.monitor);
            CHECK(count.below == std::vector<std::int64_t>(2, 0));
        }
        const Csr target = tables.target.view();
        CHECK(target.rows == c.given().count && tables.printed.view().rows <= 11 * target.rows);
        const auto rows = kamp::rewritten_rows(c.data.view(), c.given(), c.sets(), target, true, c.monitor);
        CHECK(rows.view().rows == c.data.view().rows);
        const auto now = kamp::user_patterns(rows.view(), c.given(), c.sets());
        for (std::int64_t u = 0; u < target.rows; ++u) {
            const auto wanted = sample::set(target, u), held = sample::set(now.held.view(), u);
            CHECK(std::includes(wanted.begin(), wanted.end(), held.begin(), held.end()));
        }
    }
}

TEST(pattern_distance_is_zero_only_to_itself) {
    const OwnedCsr sets = sample::from({{0}, {1}, {0, 1}, {2, 3, 4}}), one = sample::from({{2}, {3}, {}}),
                   two = sample::from({{2}, {0, 1}, {3}});
    const auto same = kamp::pattern_distance({sets.view(), one.view()}, {sets.view(), one.view()});
    CHECK(same == std::vector<std::int64_t>(3, 0));
    // {2,3,4} is 4 items from both {0} and {1}; nothing at all is as far from a pattern as it has items.
    const auto apart = kamp::pattern_distance({sets.view(), one.view()}, {sets.view(), two.view()});
    CHECK(apart == (std::vector<std::int64_t>{0, 4 + 4 + 4, 3}));
}

TEST(similar_groups_have_even_sizes_and_their_first_row_is_with_its_nearest) {
    Case c;
    const auto group = kamp::similar_groups(c.data.view(), Case::ITEMS, 30, c.monitor);
    std::vector<int> size(30, 0);
    for (const std::int32_t g : group) ++size[g];
    CHECK(*std::max_element(size.begin(), size.end()) - *std::min_element(size.begin(), size.end()) <= 1);
    const auto likeness = [&](std::int64_t row) {
        const sample::Set a = sample::set(c.data.view(), 0), b = sample::set(c.data.view(), row);
        const double both = static_cast<double>(a.size() + b.size() - sample::distance(a, b)) / 2;
        return both / static_cast<double>(a.size() + b.size() - both);
    };
    double worst_inside = 1, best_outside = 0;
    for (std::int64_t row = 1; row < Case::ROWS; ++row)
        (group[row] == group[0]) ? worst_inside = std::min(worst_inside, likeness(row))
                                 : best_outside = std::max(best_outside, likeness(row));
    CHECK(worst_inside >= best_outside);
}
