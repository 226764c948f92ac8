#include <cstdlib>
#include <map>

#include "cahd/api.hpp"
#include "check.hpp"
#include "data.hpp"

using namespace anonset;

namespace {

// 240 rows; each of four sensitive items occurs in a few of them.
struct Case {
    static constexpr std::int64_t ROWS = 240;
    static constexpr std::int32_t ITEMS = 40, SENSITIVE = 4;
    OwnedCsr quasi = sample::rows(31, ROWS, ITEMS, 0.3), secrets;
    Monitor monitor;

    Case() {
        Random random(32, 0);
        for (std::int64_t row = 0; row < ROWS; ++row) {
            for (std::int32_t s = 0; s < SENSITIVE; ++s)
                if (random.chance(0.04)) secrets.items.push_back(s);
            secrets.close_row();
        }
    }
    cahd::Problem problem(std::int64_t p) const { return {quasi.view(), secrets.view(), ITEMS, SENSITIVE, p}; }
};

void check_degree(const Case& c, const std::vector<std::int32_t>& group, std::int64_t p) {
    std::map<std::int32_t, std::int64_t> size;
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> holders;
    CHECK(group.size() == Case::ROWS);
    for (std::int64_t row = 0; row < Case::ROWS; ++row) {
        CHECK(group[row] >= 0);
        ++size[group[row]];
        for (const std::int32_t s : sample::set(c.secrets.view(), row)) ++holders[{group[row], s}];
    }
    for (const auto& [key, count] : holders) CHECK(count * p <= size[key.first]);
    CHECK(size.size() > 3);
}

}  // namespace

TEST(all_groupings_reach_the_privacy_degree) {
    Case c;
    for (const std::int64_t p : {2, 4, 8}) {
        const cahd::Problem problem = c.problem(p);
        check_degree(c, cahd::cahd_groups(problem, 3, c.monitor), p);
        check_degree(c, cahd::balanced_groups(problem, 3, c.monitor), p);
        check_degree(c, cahd::nearest_groups(problem, c.monitor), p);
        check_degree(c, cahd::mondrian_groups(problem, c.monitor), p);
        const std::vector<std::int32_t> dims{0, 5, 9, 1, 7, 30};
        for (const std::int64_t most : {0, 20})
            check_degree(c, cahd::lsh_groups(problem, {dims.data(), 3, 2, most}, 2, c.monitor).group, p);
    }
}

TEST(the_first_sensitive_row_gets_its_nearest_rows) {
    Case c;
    const std::int64_t p = 4;
    const cahd::Problem problem = c.problem(p);
    const std::vector<std::int32_t> group = cahd::nearest_groups(problem, c.monitor);
    std::int64_t first = 0;
    while (!problem.is_sensitive(first)) ++first;
    std::vector<std::pair<std::int64_t, std::int64_t>> others;
    for (std::int64_t row = 0; row < Case::ROWS; ++row)
        if (row != first)
            others.emplace_back(sample::distance(sample::set(c.quasi.view(), row), sample::set(c.quasi.view(), first)),
                                row);
    std::sort(others.begin(), others.end());
    sample::Set taken = sample::set(c.secrets.view(), first), members;
    for (const auto& [apart, row] : others) {
        const sample::Set own = sample::set(c.secrets.view(), row);
        const bool clash = std::any_of(own.begin(), own.end(), [&](std::int32_t s) { return taken.count(s) > 0; });
        if (clash || static_cast<std::int64_t>(members.size()) == p - 1) continue;
        members.insert(static_cast<std::int32_t>(row));
        taken.insert(own.begin(), own.end());
    }
    for (const std::int32_t row : members) CHECK(group[row] == group[first]);
}

TEST(band_order_keeps_components_together) {
    // Even rows hold even items only, odd rows odd ones: two components that share nothing.
    OwnedCsr data;
    Random random(33, 0);
    for (int row = 0; row < 80; ++row) {
        for (std::int32_t item = row % 2; item < 20; item += 2)
            if (item < 2 || random.chance(0.3)) data.items.push_back(item);
        data.close_row();
    }
    Monitor monitor;
    const std::vector<std::int64_t> order = cahd::band_order(data.view(), 20, 2, monitor);
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    int changes = 0;
    for (int row = 0; row < 80; ++row) {
        CHECK(sorted[row] == row);
        changes += row > 0 && (order[row] + order[row - 1]) % 2;
    }
    CHECK(changes == 1);
    CHECK(order == cahd::band_order(data.view(), 20, 1, monitor));
}

TEST(signatures_say_which_items_a_row_holds) {
    Case c;
    const std::vector<std::int32_t> dims{3, 17, 0};
    const auto signatures = cahd::lsh_signatures(c.quasi.view(), Case::ITEMS, dims.data(), 3);
    for (std::int64_t row = 0; row < Case::ROWS; ++row)
        for (std::size_t j = 0; j < dims.size(); ++j)
            CHECK((signatures[row] >> j & 1) == sample::set(c.quasi.view(), row).count(dims[j]));
}

// Groups that meet in a cell are those of a block: of each of its cells they take equally many rows, but for one.
TEST(blind_groups_reach_the_degree_and_take_equal_shares_of_all_cells) {
    Case c;
    Random random(35, 0);
    std::vector<std::int32_t> lengths;
    std::vector<double> keys;
    for (std::int64_t row = 0; row < Case::ROWS; ++row) {
        lengths.push_back(static_cast<std::int32_t>(c.quasi.view().size(row)));
        keys.push_back(random.uniform());
    }
    for (const std::int64_t p : {2, 4, 8}) {
        const cahd::BlindGroups found =
            cahd::blind_groups({c.secrets.view(), lengths.data(), keys.data(), Case::SENSITIVE, p, 3, 4}, c.monitor);
        check_degree(c, found.group, p);
        std::map<std::int32_t, std::map<std::int32_t, std::int64_t>> taken;  // of each cell, by groups
        std::map<std::int32_t, sample::Set> cells;                           // of each group
        for (std::int64_t row = 0; row < Case::ROWS; ++row) {
            ++taken[found.cell[row]][found.group[row]];
            cells[found.group[row]].insert(found.cell[row]);
        }
        CHECK(taken.size() > 1);
        for (const auto& [cell, groups] : taken)
            for (const auto& [group, count] : groups) {
                CHECK(std::abs(count - groups.begin()->second) <= 1);
                CHECK(cells[group] == cells[groups.begin()->first]);
            }
    }
}

TEST(what_the_groups_of_a_person_say_adds_up_to_one_of_p) {
    Case c;
    const std::int32_t p = 2;
    const std::vector<std::int32_t> before = cahd::cahd_groups(c.problem(p), 3, c.monitor);
    std::vector<std::int32_t> person(Case::ROWS);
    Random random(34, 0);
    for (std::int32_t& who : person) who = random.chance(0.1) ? -1 : static_cast<std::int32_t>(random.below(150));
    const auto worst = [&](const std::vector<std::int32_t>& group) {
        std::map<std::int32_t, double> known;
        std::map<std::pair<std::int32_t, std::int32_t>, double> held, sum;
        for (std::int64_t row = 0; row < Case::ROWS; ++row) {
            known[group[row]] += person[row] >= 0;
            for (const std::int32_t s : sample::set(c.secrets.view(), row)) ++held[{group[row], s}];
        }
        double most = 0;
        for (std::int64_t row = 0; row < Case::ROWS; ++row)
            for (std::int32_t s = 0; s < Case::SENSITIVE; ++s)
                if (person[row] >= 0 && held.count({group[row], s}))
                    most = std::max(most, sum[{person[row], s}] += held[{group[row], s}] / known[group[row]]);
        return most;
    };
    CHECK(worst(before) > 1.0 / p);
    const auto after = cahd::spread_for_persons(c.secrets.view(), person.data(), before.data(), p, c.monitor);
    CHECK(after.size() == Case::ROWS && worst(after) <= 1.0 / p + 1e-9);
    CHECK(sample::Set(after.begin(), after.end()).size() > 1);
    CHECK(cahd::spread_for_persons(c.secrets.view(), person.data(), after.data(), p, c.monitor) == after);

    std::fill(person.begin(), person.end(), 0);  // one person cannot be spread
    CHECK(cahd::spread_for_persons(c.secrets.view(), person.data(), before.data(), p, c.monitor).empty());
}
