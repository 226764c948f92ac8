#include <map>

#include "check.hpp"
#include "data.hpp"
#include "km/api.hpp"

using namespace anonset;

namespace {

// Twelve items under four categories under the root: nodes 0, then each category followed by its items.
struct Case {
    static constexpr std::int32_t ITEMS = 12, NODES = 17;
    OwnedCsr data = sample::rows(41, 120, ITEMS, 0.35);
    std::vector<std::int32_t> parent{0}, leaf;
    std::vector<std::int64_t> size{ITEMS};
    Monitor monitor;

    Case() {
        for (std::int32_t category = 0; category < 4; ++category) {
            const auto node = static_cast<std::int32_t>(parent.size());
            parent.push_back(0), size.push_back(3);
            for (int i = 0; i < 3; ++i) leaf.push_back(node + 1 + i), parent.push_back(node), size.push_back(1);
        }
    }
    km::Hierarchy tree() const { return {parent.data(), size.data(), NODES, leaf.data()}; }

    std::map<sample::Set, int> supports(const std::vector<std::int32_t>& cut, int m,
                                        const std::vector<std::uint8_t>& kept = {}) const {
        std::map<sample::Set, int> found;
        const Csr view = data.view();
        for (std::int64_t row = 0; row < view.rows; ++row) {
            sample::Set nodes;
            for (std::int64_t at = view.offsets[row]; at < view.offsets[row + 1]; ++at)
                if (kept.empty() || kept[at]) nodes.insert(cut[leaf[view.items[at]]]);
            for (const sample::Set& some : sample::subsets(nodes, m)) ++found[some];
        }
        return found;
    }
    std::int64_t loss(const std::vector<std::int32_t>& cut) const {
        std::int64_t sum = 0;
        for (const std::int32_t item : data.items) {
            const std::int64_t items = size[cut[leaf[item]]];
            sum += items > 1 ? items : 0;
        }
        return sum;
    }
};

constexpr km::SearchLimits LIMITS{INT64_MAX, 100000, 100000, INT64_MAX};

void check_safe(const std::map<sample::Set, int>& supports, int k) {
    for (const auto& [nodes, count] : supports) CHECK(count >= k);
}

}  // namespace

TEST(every_cut_is_safe_and_the_optimal_one_loses_least) {
    Case c;
    for (const int m : {1, 2, 3})
        for (const int k : {3, 12}) {
            const auto optimal = km::optimal_cut(c.data.view(), c.tree(), k, m, false, LIMITS, c.monitor);
            CHECK(optimal.stopped == km::Stopped::finished);
            check_safe(c.supports(optimal.cut, m), k);
            const auto literal = km::optimal_cut(c.data.view(), c.tree(), k, m, true, LIMITS, c.monitor);
            CHECK(literal.stopped == km::Stopped::finished);
            check_safe(c.supports(literal.cut, m), k);
            CHECK(c.loss(literal.cut) == c.loss(optimal.cut));
            const auto minimal = km::minimal_cuts(c.data.view(), c.tree(), k, m, LIMITS, c.monitor);
            CHECK(minimal.stopped == km::Stopped::finished && !minimal.cuts.empty());
            CHECK(c.loss(minimal.cuts.front()) == c.loss(optimal.cut));
            for (const auto& cut : minimal.cuts) check_safe(c.supports(cut, m), k);
            for (const bool apriori : {false, true}) {
                const auto cut = km::greedy_cut(c.data.view(), c.tree(), k, m, apriori, 1, c.monitor);
                check_safe(c.supports(cut, m), k);
                CHECK(c.loss(cut) >= c.loss(optimal.cut));
                CHECK(cut == km::greedy_cut(c.data.view(), c.tree(), k, m, apriori, 3, c.monitor));
            }
            for (const std::int64_t budget : {0, 30}) {
                const auto sparse =
                    km::refined_cut(c.data.view(), c.tree(), k, m, budget, km::Form::sparse, 2, c.monitor);
                const auto dense =
                    km::refined_cut(c.data.view(), c.tree(), k, m, budget, km::Form::dense, 2, c.monitor);
                CHECK(sparse.cut == dense.cut && sparse.kept == dense.kept);
                CHECK(std::count(sparse.kept.begin(), sparse.kept.end(), 0) <= budget);
                check_safe(c.supports(sparse.cut, m, sparse.kept), k);
                if (budget == 0) CHECK(c.loss(sparse.cut) >= c.loss(optimal.cut));
            }
        }
}

TEST(a_search_that_reaches_a_limit_says_which) {
    Case c;
    const auto stopped = [&](km::SearchLimits limits, bool breadth_first) {
        return km::optimal_cut(c.data.view(), c.tree(), 12, 2, breadth_first, limits, c.monitor).stopped;
    };
    for (const bool breadth_first : {false, true}) {
        CHECK(stopped({INT64_MAX, 1, 100000, INT64_MAX}, breadth_first) == km::Stopped::cuts);
        CHECK(stopped({INT64_MAX, 100000, 1, INT64_MAX}, breadth_first) == km::Stopped::rare);
        CHECK(stopped({INT64_MAX, 100000, 100000, 100}, breadth_first) == km::Stopped::memory);
    }
}

TEST(rare_itemsets_are_those_that_counting_finds) {
    Case c;
    const int k = 6, m = 2;
    const auto rare = km::rare_itemsets(c.data.view(), c.tree(), k, m, false, INT64_MAX, c.monitor);
    std::map<sample::Set, std::int64_t> found, expected;
    for (std::int64_t i = 0; i < rare.sets.view().rows; ++i) found[sample::set(rare.sets.view(), i)] = rare.supports[i];
    const auto below = [&](std::int32_t upper, std::int32_t node) { return c.parent[node] == upper && upper != node; };
    for (std::int64_t row = 0; row < c.data.view().rows; ++row) {
        sample::Set nodes;
        for (const std::int32_t item : sample::set(c.data.view(), row))
            nodes.insert(c.leaf[item]), nodes.insert(c.parent[c.leaf[item]]);
        for (const sample::Set& some : sample::subsets(nodes, m)) {
            const bool nested = some.size() == 2 && (below(*some.begin(), *some.rbegin()));
            if (!nested) ++expected[some];
        }
    }
    for (auto at = expected.begin(); at != expected.end();) at = at->second >= k ? expected.erase(at) : std::next(at);
    CHECK(found == expected && !found.empty());
}

// A set of nodes leads through the tree by falling support; its beginnings are nodes of the tree as well.
TEST(a_count_tree_has_a_node_for_each_set_that_counting_finds) {
    Case c;
    const std::vector<std::int32_t> nothing(Case::NODES, -1);
    const auto related = [&](const sample::Set& nodes) {
        return std::any_of(nodes.begin(), nodes.end(), [&](auto node) { return nodes.count(c.parent[node]) > 0; });
    };
    for (const int m : {1, 2, 3}) {
        std::set<sample::Set> sets;
        for (std::int64_t row = 0; row < c.data.view().rows; ++row) {
            sample::Set nodes;
            for (const std::int32_t item : sample::set(c.data.view(), row))
                nodes.insert(c.leaf[item]), nodes.insert(c.parent[c.leaf[item]]);
            for (const sample::Set& some : sample::subsets(nodes, m))
                if (!related(some)) sets.insert(some);
        }
        CHECK(km::count_tree_size(c.data.view(), c.tree(), nothing.data(), m, false, c.monitor) ==
              static_cast<std::int64_t>(sets.size()));
    }
    // Below a published category nothing is counted any more.
    std::vector<std::int32_t> published = nothing;
    for (int node = 1; node <= 4; ++node) published[node] = 1;
    CHECK(km::count_tree_size(c.data.view(), c.tree(), published.data(), 1, true, c.monitor) == Case::NODES - 4);
}

namespace {

// The same transactions, of 30 persons who have one to eight of them each; the first ten belong to nobody who is known.
struct PersonCase : Case {
    std::vector<std::int32_t> person;

    PersonCase() {
        Random random(42, 0);
        for (std::int32_t row = 0; row < 120; ++row)
            person.push_back(row < 10 ? -1 : static_cast<std::int32_t>(random.below(30)));
        std::sort(person.begin(), person.end());
    }
    km::Hierarchy tree() const {
        km::Hierarchy found = Case::tree();
        found.person = person.data();
        return found;
    }
    std::map<sample::Set, std::set<std::int32_t>> holders(const std::vector<std::int32_t>& cut, int m,
                                                          const std::vector<std::uint8_t>& kept) const {
        std::map<sample::Set, std::set<std::int32_t>> found;
        const Csr view = data.view();
        for (std::int64_t row = 0; row < view.rows; ++row) {
            sample::Set nodes;
            for (std::int64_t at = view.offsets[row]; at < view.offsets[row + 1]; ++at)
                if (kept.empty() || kept[at]) nodes.insert(cut[leaf[view.items[at]]]);
            for (const sample::Set& some : sample::subsets(nodes, m)) {
                auto& who = found[some];
                if (person[row] >= 0) who.insert(person[row]);
            }
        }
        return found;
    }
};

bool safe_for_persons(const PersonCase& c, const std::vector<std::int32_t>& cut, int k, int m,
                      const std::vector<std::uint8_t>& kept = {}) {
    for (const auto& [nodes, who] : c.holders(cut, m, kept))
        if (static_cast<int>(who.size()) < k) return false;
    return true;
}

}  // namespace

TEST(cuts_are_safe_for_persons_and_the_optimal_one_loses_least) {
    PersonCase c;
    for (const int m : {1, 2, 3})
        for (const int k : {3, 9}) {
            const auto optimal = km::optimal_cut(c.data.view(), c.tree(), k, m, false, LIMITS, c.monitor);
            CHECK(optimal.stopped == km::Stopped::finished && safe_for_persons(c, optimal.cut, k, m));
            const auto minimal = km::minimal_cuts(c.data.view(), c.tree(), k, m, LIMITS, c.monitor);
            CHECK(!minimal.cuts.empty() && c.loss(minimal.cuts.front()) == c.loss(optimal.cut));
            for (const auto& cut : minimal.cuts) CHECK(safe_for_persons(c, cut, k, m));
            for (const bool apriori : {false, true}) {
                const auto cut = km::greedy_cut(c.data.view(), c.tree(), k, m, apriori, 1, c.monitor);
                CHECK(safe_for_persons(c, cut, k, m) && c.loss(cut) >= c.loss(optimal.cut));
                CHECK(cut == km::greedy_cut(c.data.view(), c.tree(), k, m, apriori, 3, c.monitor));
            }
            for (const std::int64_t budget : {0, 30}) {
                const auto refine = [&](km::Form form, int threads) {
                    return km::refined_cut(c.data.view(), c.tree(), k, m, budget, form, threads, c.monitor);
                };
                const auto found = refine(km::Form::best, 2);
                CHECK(safe_for_persons(c, found.cut, k, m, found.kept));
                CHECK(std::count(found.kept.begin(), found.kept.end(), 0) <= budget);
                if (budget == 0) CHECK(c.loss(found.cut) >= c.loss(optimal.cut));
                const auto again = refine(km::Form::dense, 1);
                CHECK(found.cut == again.cut && found.kept == again.kept);
                CHECK(refine(km::Form::sparse, 1).cut.empty());
            }
        }
}

// No cut that loses less is safe: every replacement of a published node by its children leaves a set with too few.
TEST(the_optimal_cut_for_persons_is_the_cheapest_of_all_safe_cuts) {
    PersonCase c;
    const int k = 9, m = 2;
    std::int64_t least = INT64_MAX;
    for (int raised = 0; raised < 16; ++raised) {  // which of the four categories are published instead of their items
        std::vector<std::int32_t> cut(Case::NODES);
        for (std::int32_t node = 0; node < Case::NODES; ++node) {
            const std::int32_t category = node == 0 ? -1 : (node - 1) / 4;
            cut[node] = node > 0 && (raised >> category & 1) ? 1 + 4 * category : node;
        }
        if (safe_for_persons(c, cut, k, m)) least = std::min(least, c.loss(cut));
    }
    const std::vector<std::int32_t> root(Case::NODES, 0);
    if (safe_for_persons(c, root, k, m)) least = std::min(least, c.loss(root));
    const auto found = km::optimal_cut(c.data.view(), c.tree(), k, m, false, LIMITS, c.monitor);
    CHECK(least < c.loss(root) && c.loss(found.cut) == least);
}

TEST(with_one_transaction_for_each_person_both_units_cut_alike) {
    PersonCase c;
    for (std::int32_t row = 0; row < 120; ++row) c.person[row] = row;
    for (const int k : {3, 12})
        for (const bool apriori : {false, true}) {
            const auto persons = km::greedy_cut(c.data.view(), c.tree(), k, 2, apriori, 2, c.monitor);
            CHECK(persons == km::greedy_cut(c.data.view(), c.Case::tree(), k, 2, apriori, 2, c.monitor));
            const auto dense = km::Form::dense;
            const auto refined = km::refined_cut(c.data.view(), c.tree(), k, 2, 30, dense, 2, c.monitor);
            const auto plain = km::refined_cut(c.data.view(), c.Case::tree(), k, 2, 30, dense, 2, c.monitor);
            CHECK(refined.cut == plain.cut && refined.kept == plain.kept);
        }
}
