#include <cmath>

#include "check.hpp"
#include "core/distinct.hpp"
#include "core/rows.hpp"
#include "data.hpp"
#include "risk/api.hpp"

using namespace anonset;

TEST(candidates_are_the_rows_that_hold_all_that_is_known) {
    const OwnedCsr data = sample::rows(81, 300, 40, 0.5);
    const Csr view = data.view();
    Random random(82, 0);
    std::vector<std::int32_t> queries;
    for (int i = 0; i < 3 * 200; ++i)
        queries.push_back(i % 3 && random.chance(0.2) ? -1 : static_cast<std::int32_t>(random.below(40)));
    Monitor monitor;
    const auto sizes = risk::count_candidates(view, 40, queries.data(), 200, 3, {}, 2, monitor);
    std::vector<std::uint64_t> held(300, 0), absent(200, 0);
    for (std::int64_t row = 0; row < 300; ++row)
        for (const std::int32_t item : sample::set(view, row)) held[row] |= std::uint64_t{1} << item;
    for (std::uint64_t& bits : absent) bits = std::uint64_t{1} << random.below(40);
    const auto fewer =
        risk::count_candidates(view, 40, queries.data(), 200, 3, {held.data(), absent.data()}, 2, monitor);
    for (int query = 0; query < 200; ++query) {
        sample::Set known;
        for (int i = 0; i < 3; ++i)
            if (queries[3 * query + i] >= 0) known.insert(queries[3 * query + i]);
        std::int64_t all = 0, left = 0;
        for (std::int64_t row = 0; row < 300; ++row) {
            const bool fits = sample::includes(sample::set(view, row), known);
            all += fits, left += fits && !(held[row] & absent[query]);
        }
        CHECK(sizes[query] == all && fewer[query] == left);
    }
}

TEST(persons_who_fit_are_counted_once_and_unknown_ones_never) {
    const OwnedCsr data = sample::rows(85, 300, 20, 0.5);
    std::vector<std::int32_t> person(300), queries, own;
    Random random(86, 0);
    for (std::int32_t& who : person) who = random.chance(0.1) ? -1 : static_cast<std::int32_t>(random.below(40));
    std::sort(person.begin(), person.end());
    for (int query = 0; query < 200; ++query) {
        for (int i = 0; i < 2; ++i) queries.push_back(static_cast<std::int32_t>(random.below(20)));
        own.push_back(static_cast<std::int32_t>(random.below(40)));
    }
    Monitor monitor;
    const auto found =
        risk::count_persons(data.view(), person.data(), 20, queries.data(), own.data(), 200, 2, 3, monitor);
    std::size_t several = 0, strangers = 0;
    for (int query = 0; query < 200; ++query) {
        const sample::Set known(queries.begin() + 2 * query, queries.begin() + 2 * query + 2);
        sample::Set who;
        std::int64_t rows = 0;
        for (std::int64_t row = 0; row < 300; ++row)
            if (sample::includes(sample::set(data.view(), row), known)) {
                ++rows;
                if (person[row] >= 0) who.insert(person[row]);
            }
        CHECK(found.persons[query] == static_cast<std::int64_t>(who.size()));
        CHECK(found.found[query] == who.count(own[query]));
        several += rows > static_cast<std::int64_t>(who.size()), strangers += who.count(own[query]) == 0;
    }
    CHECK(several > 50 && strangers > 20);
}

TEST(subsets_are_tallied_as_if_each_were_looked_up) {
    const OwnedCsr data = sample::rows(83, 60, 12, 0.5);
    const Distinct distinct = distinct_rows(data.view());
    std::vector<std::int64_t> order(distinct.first.begin(), distinct.first.end()), weight(distinct.size(), 0);
    for (const std::int32_t set : distinct.of_row) ++weight[set];
    Monitor monitor;
    const OwnedCsr sets = take_rows(data.view(), order.data(), distinct.size(), 1, monitor);
    const auto target = std::make_unique<bool[]>(distinct.size());
    for (std::int32_t i = 0; i < distinct.size(); ++i) target[i] = i % 4 != 0;
    for (const int m : {1, 2, 3}) {
        const auto tally = risk::subset_tally(sets.view(), 12, weight.data(), target.get(), m, 3, monitor);
        for (std::int32_t i = 0; i < distinct.size(); ++i) {
            std::int64_t singled = 0, sizes = 0, smallest = INT64_MAX;
            double success = 0;
            for (const sample::Set& some : sample::subsets(sample::set(sets.view(), i), m)) {
                if (static_cast<int>(some.size()) < m || !target[i]) continue;
                std::int64_t size = 0;
                for (std::int32_t j = 0; j < distinct.size(); ++j)
                    if (sample::includes(sample::set(sets.view(), j), some)) size += weight[j];
                singled += size == 1, sizes += size, smallest = std::min(smallest, size);
                success += 1.0 / static_cast<double>(size);
            }
            CHECK(tally.singled[i] == singled && tally.sizes[i] == sizes && tally.smallest[i] == smallest);
            CHECK(std::abs(static_cast<double>(tally.success[i]) / 4294967296.0 - success) < 1e-6);
        }
    }
}

TEST(links_lead_to_the_nearest_published_sets) {
    const OwnedCsr queries = sample::rows(84, 80, 15), published = sample::rows(85, 50, 15, 0.2);
    std::vector<std::int64_t> weight(50), own(80);
    for (int i = 0; i < 80; ++i) own[i] = i % 60 < 50 ? i % 60 : -1;
    for (int i = 0; i < 50; ++i) weight[i] = 1 + i % 3;
    Monitor monitor;
    for (const bool jaccard : {false, true}) {
        const auto links =
            risk::link_sets(queries.view(), published.view(), weight.data(), own.data(), 15, jaccard, 2, monitor);
        for (int query = 0; query < 80; ++query) {
            const sample::Set mine = sample::set(queries.view(), query);
            const auto apart = [&](std::int64_t set) {
                const sample::Set other = sample::set(published.view(), set);
                const auto differ = static_cast<double>(sample::distance(mine, other));
                const double both = (static_cast<double>(mine.size() + other.size()) + differ) / 2;
                return !jaccard ? differ : both == 0 ? 0.0 : 1.0 - (both - differ) / both;
            };
            double least = 1e9;
            std::int64_t nearest = 0;
            for (std::int64_t set = 0; set < 50; ++set) least = std::min(least, apart(set));
            for (std::int64_t set = 0; set < 50; ++set) nearest += apart(set) == least ? weight[set] : 0;
            CHECK(std::abs(links.distance[query] - least) < 1e-12 && links.nearest[query] == nearest);
            CHECK(links.found[query] == (own[query] >= 0 && apart(own[query]) == least));
        }
    }
}
