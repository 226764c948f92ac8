#include <numeric>

#include "check.hpp"
#include "data.hpp"
#include "pta/api.hpp"

using namespace anonset;

namespace {

constexpr std::int64_t ROWS = 150, ITEMS = 30;

struct Case {
    OwnedCsr data = sample::rows(21, ROWS, ITEMS);
    std::vector<std::int64_t> order, bounds{0, 1, 3, 20, 60, ROWS};
    Monitor monitor;

    Case() {
        for (std::int64_t i = 0; i < ROWS; ++i) order.push_back(i * 7 % ROWS);
    }
    std::int64_t segments() const { return static_cast<std::int64_t>(bounds.size()) - 1; }
    std::int64_t apart(std::int64_t a, std::int64_t b) const {
        return sample::distance(sample::set(data.view(), a), sample::set(data.view(), b));
    }
    std::int64_t length(const std::int64_t* loop, std::int64_t count) const {
        std::int64_t sum = 0;
        for (std::int64_t i = 0; i < count; ++i) sum += apart(loop[i], loop[(i + 1) % count]);
        return sum;
    }
    // Algorithm 1 as it is printed, from one start.
    std::int64_t prim(const std::int64_t* rows, std::int64_t count, std::int64_t start) const {
        std::vector<char> visited(count, 0);
        std::int64_t star = start, dest = start, sum = 0;
        visited[start] = 1;
        for (std::int64_t left = count - 1; left > 0; --left) {
            const auto nearest = [&](std::int64_t to, std::int64_t but) {
                std::pair<std::int64_t, std::int64_t> best{INT64_MAX, -1};
                for (std::int64_t j = 0; j < count; ++j)
                    if (!visited[j] && j != but) best = std::min(best, {apart(rows[to], rows[j]), j});
                return best;
            };
            const auto one = nearest(star, -1), two = nearest(dest, one.second);
            const bool side = two.second >= 0 && two.first < one.first;
            sum += side ? two.first : one.first;
            (side ? dest : star) = side ? two.second : one.second;
            visited[side ? two.second : one.second] = 1;
        }
        return sum + apart(rows[star], rows[dest]);
    }
};

void check_tours(const Case& c, const pta::Tours& tours) {
    for (std::int64_t s = 0; s < c.segments(); ++s) {
        const std::int64_t from = c.bounds[s], count = c.bounds[s + 1] - from;
        CHECK(std::is_permutation(c.order.begin() + from, c.order.begin() + from + count, tours.loops.begin() + from));
        CHECK(tours.lengths[s] == c.length(tours.loops.data() + from, count));
    }
}

}  // namespace

TEST(prim_tours_are_the_shortest_of_those_from_every_start) {
    Case c;
    const pta::Tours tours =
        pta::prim_tours(c.data.view(), c.order.data(), c.bounds.data(), c.segments(), ITEMS, 1, c.monitor);
    check_tours(c, tours);
    for (std::int64_t s = 0; s < c.segments(); ++s) {
        const std::int64_t* rows = c.order.data() + c.bounds[s];
        const std::int64_t count = c.bounds[s + 1] - c.bounds[s];
        std::int64_t best = INT64_MAX;
        for (std::int64_t start = 0; start < count; ++start) best = std::min(best, c.prim(rows, count, start));
        CHECK(tours.lengths[s] == best);
    }
    const pta::Tours more =
        pta::prim_tours(c.data.view(), c.order.data(), c.bounds.data(), c.segments(), ITEMS, 4, c.monitor);
    CHECK(more.loops == tours.loops && more.lengths == tours.lengths);
}

TEST(genetic_tours_are_never_longer_than_the_order_given) {
    Case c;
    const auto solve = [&](int threads, bool random_start) {
        return pta::genetic_tours(c.data.view(), c.order.data(), c.bounds.data(), c.segments(), ITEMS,
                                  {10, 30, random_start, 5}, threads, c.monitor);
    };
    check_tours(c, solve(1, true));
    const pta::Tours tours = solve(1, false);
    check_tours(c, tours);
    for (std::int64_t s = 0; s < c.segments(); ++s)
        CHECK(tours.lengths[s] <= c.length(c.order.data() + c.bounds[s], c.bounds[s + 1] - c.bounds[s]));
    CHECK(solve(4, false).loops == tours.loops);
}

TEST(windows_of_k_vote_and_leftovers_join_the_nearest) {
    Case c;
    c.bounds = {0, 6, 27, 80, ROWS};
    for (const std::int64_t k : {2, 5, 6}) {
        const pta::WindowGroups found =
            pta::window_groups(c.data.view(), c.order.data(), c.bounds.data(), c.segments(), ITEMS, k, 3, c.monitor);
        std::vector<std::int64_t> voters(found.groups, 0);
        for (std::int64_t row = 0; row < ROWS; ++row) voters[found.group[row]] += found.voters[row];
        for (const std::int64_t count : voters) CHECK(count == k);
        for (std::int64_t s = 0; s < c.segments(); ++s) {  // no group reaches over a bound
            sample::Set inside, outside;
            for (std::int64_t i = 0; i < ROWS; ++i)
                (i >= c.bounds[s] && i < c.bounds[s + 1] ? inside : outside).insert(found.group[c.order[i]]);
            for (const std::int32_t group : inside) CHECK(outside.count(group) == 0);
        }
    }
}
