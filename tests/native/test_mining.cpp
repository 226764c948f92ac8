#include <map>

#include "check.hpp"
#include "data.hpp"
#include "mining/api.hpp"

using namespace anonset;

TEST(frequent_closed_and_maximal_itemsets_are_those_that_counting_finds) {
    const OwnedCsr data = sample::rows(71, 80, 12, 0.5);
    const std::int64_t support = 8;
    std::map<sample::Set, std::int64_t> frequent;
    for (std::int64_t row = 0; row < 80; ++row)
        for (const sample::Set& some : sample::subsets(sample::set(data.view(), row), 12)) ++frequent[some];
    for (auto at = frequent.begin(); at != frequent.end();)
        at = at->second < support ? frequent.erase(at) : std::next(at);
    for (const auto kind : {mining::Kind::all, mining::Kind::closed, mining::Kind::maximal}) {
        std::map<sample::Set, std::int64_t> expected, found;
        for (const auto& [set, count] : frequent) {
            const bool extended = std::any_of(frequent.begin(), frequent.end(), [&](const auto& other) {
                return other.first.size() == set.size() + 1 && sample::includes(other.first, set) &&
                       (kind == mining::Kind::maximal || other.second == count);
            });
            if (kind == mining::Kind::all || !extended) expected[set] = count;
        }
        Monitor monitor;
        const auto patterns = mining::frequent_patterns(data.view(), 12, support, kind, 0, 100000, 3, monitor);
        CHECK(patterns.complete);
        for (std::int64_t i = 0; i < patterns.sets.view().rows; ++i)
            found[sample::set(patterns.sets.view(), i)] = patterns.counts[i];
        CHECK(found == expected && found.size() == patterns.counts.size());
    }
}

TEST(a_limit_on_patterns_and_on_their_length_holds) {
    const OwnedCsr data = sample::rows(72, 80, 12, 0.5);
    Monitor monitor;
    CHECK(!mining::frequent_patterns(data.view(), 12, 8, mining::Kind::all, 0, 5, 1, monitor).complete);
    const auto two = mining::frequent_patterns(data.view(), 12, 8, mining::Kind::all, 2, 100000, 1, monitor);
    for (std::int64_t i = 0; i < two.sets.view().rows; ++i) CHECK(two.sets.view().size(i) <= 2);
}
