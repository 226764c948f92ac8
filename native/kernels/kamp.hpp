// KAMP, phase 1: rewrite the pattern table until every combination of up to M patterns that are maximal for a user is
// contained by at least k users.
//
// `greedy` follows Hsu and Tsai: combinations one at a time, generalised or suppressed, whichever changes fewer
// transactions. `joint` looks at all combinations of a user at once: it takes from each user the patterns that most of
// the user's rare combinations have in common, and afterwards gives back whatever does no harm. It begins in several
// ways and keeps the table with the smallest pattern distance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "monitor.hpp"
#include "pattern_distance.hpp"
#include "pattern_table.hpp"

namespace anonset {

enum class Repair { greedy, joint, suppress };

// How to begin; the rest is suppressed.
enum class Plan { one_by_one, crowds, gifts, nothing };

struct KampInput {
    const Csr& data;
    const UserRows& rows;
    const PatternTree& tree;
    const UserPatterns& found;
    const std::int64_t* support;  // of each pattern
    std::int64_t least;           // σ
    std::int64_t k;
    int most;  // M
};

class KampTable {
  public:
    KampTable(const KampInput& in, int threads, Monitor& monitor)
        : in_(in),
          table_(in.tree, in.found.held.view()),
          threads_(threads),
          monitor_(monitor),
          support_(in.support, in.support + in.tree.size()),
          users_(table_.users()) {}

    const PatternTable& table() const { return table_; }

    void run(Plan plan, bool giving) {
        if (plan == Plan::one_by_one) {
            for (int pass = 0; pass < kPasses && !rare().empty(); ++pass) greedy_pass();
        } else if (plan == Plan::crowds) {
            complete_crowds();
        }
        if (plan == Plan::crowds || plan == Plan::gifts) generalize_cheaply();
        // Nothing but suppression from here on: every round takes at least one pattern from a user, so it ends.
        for (std::vector<Degree> left = rare(); !left.empty(); left = rare()) suppress_jointly(left);
        if (giving) give_back();
    }

    std::int64_t count_rare() { return static_cast<std::int64_t>(rare().size()); }

    // The pattern distance of all users to what they were; a virtual user's patterns count with all their items.
    std::int64_t loss() const {
        const PatternTable before(in_.tree, in_.found.held.view());
        OwnedCsr old, now;
        for (std::int64_t u = 0; u < table_.users(); ++u) {
            if (u < users_) old.items.insert(old.items.end(), before.own(u).begin(), before.own(u).end());
            now.items.insert(now.items.end(), table_.own(u).begin(), table_.own(u).end());
            old.close_row();
            now.close_row();
        }
        std::int64_t total = 0;
        for (const std::int64_t distance :
             pattern_distance({in_.tree.sets(), old.view()}, {in_.tree.sets(), now.view()}))
            total += distance;
        return total + lost_by_rarity();
    }

  private:
    // Patterns that too few transactions would hold after the change are lost to everybody.
    std::int64_t lost_by_rarity() const {
        std::vector<std::int64_t> support(table_.patterns(), 0);
        for (std::int64_t u = 0; u < table_.users(); ++u)
            for (const std::int32_t p : table_.contents(u)) support[p] += times(u, p);
        std::int64_t lost = 0;
        for (std::int64_t p = 0; p < table_.patterns(); ++p)
            if (support[p] < in_.least) lost += count_bits(table_.held(p), table_.words());
        return lost;
    }

    static constexpr int kPasses = 4;    // before nothing but suppression is left, and of giving back
    static constexpr int kFailures = 8;  // users in a row whose crowd is not worth completing

    std::vector<Degree> rare(int least = 1) { return too_rare(table_, least, in_.most, in_.k, threads_, monitor_); }

    // --- one combination at a time, as in the paper --------------------------------------------------------------

    void greedy_pass() {
        for (int m = 1; m <= in_.most; ++m) {
            std::vector<Degree> list = too_rare(table_, m, m, in_.k, threads_, monitor_);
            std::stable_sort(list.begin(), list.end(),
                             [](const Degree& a, const Degree& b) { return a.degree > b.degree; });
            for (const Degree& found : list) {
                monitor_.check();
                repair(found.members, m);
            }
        }
    }

    void repair(const Combination& members, int m) {
        std::vector<Word> users, owners;
        const std::int64_t degree = table_.common(members, users);
        if (degree >= in_.k || !table_.owners(members, owners)) return;
        std::int64_t cheapest = INT64_MAX;
        std::int32_t chosen = -1;
        for (const std::int32_t p : members) {
            const std::int64_t price = cost(p, users);
            if (price < cheapest && suppressible(p, users, m)) {
                cheapest = price;
                chosen = p;
            }
        }
        if (in_.k - degree <= cheapest) {
            generalize(members, m, degree);
        } else {
            suppress(chosen, users);
        }
    }

    std::int64_t times(std::int64_t u, std::int32_t p) const {
        if (u >= users_) return 1;
        const Csr held = in_.found.held.view();
        const std::int32_t* at = std::lower_bound(held.begin(u), held.end(u), p);
        return at != held.end(u) && *at == p ? in_.found.counts[at - held.items] : 1;
    }

    // |T(U, p)|: how many transactions of these users hold p.
    std::int64_t cost(std::int32_t p, const std::vector<Word>& users) const {
        std::int64_t total = 0;
        each_bit(users.data(), table_.words(), [&](std::int64_t u) { total += times(u, p); });
        return total;
    }

    bool suppressible(std::int32_t p, const std::vector<Word>& users, int m) {
        return keeps_other_patterns(p, users) && makes_no_pattern(p, users) && harms_none(p, users, m);
    }

    // Rule 1: every combination of these users that enough users share now is shared by enough others.
    bool harms_none(std::int32_t p, const std::vector<Word>& users, int m) {
        Combination pool, gone;
        each_bit(users.data(), table_.words(), [&](std::int64_t u) {
            for (const std::int32_t q : table_.own(u)) (in_.tree.includes(q, p) ? gone : pool).push_back(q);
        });
        for (Combination* list : {&pool, &gone}) {
            std::sort(list->begin(), list->end());
            list->erase(std::unique(list->begin(), list->end()), list->end());
        }
        std::vector<Word> held, owners;
        for (const std::int32_t q : gone) {
            held.assign(table_.held(q), table_.held(q) + table_.words());
            owners.resize(table_.words());
            and_any(users.data(), table_.maximal(q), table_.words(), owners.data());
            if (!harms_none_from(held, owners, users, pool, 0, m - 1)) return false;
        }
        return true;
    }

    bool harms_none_from(const std::vector<Word>& held, const std::vector<Word>& owners, const std::vector<Word>& users,
                         const Combination& pool, std::size_t from, int more) {
        const std::int64_t degree = count_bits(held.data(), table_.words());
        if (degree < in_.k) return true;
        std::vector<Word> next_held(table_.words()), next_owners(table_.words());
        if (degree - and_count(held.data(), users.data(), table_.words(), next_held.data()) < in_.k) return false;
        for (std::size_t i = from; more > 0 && i < pool.size(); ++i) {
            if (!and_any(owners.data(), table_.maximal(pool[i]), table_.words(), next_owners.data())) continue;
            and_any(held.data(), table_.held(pool[i]), table_.words(), next_held.data());
            if (!harms_none_from(next_held, next_owners, users, pool, i + 1, more - 1)) return false;
        }
        return true;
    }

    // Rule 2: whatever else those transactions hold stays frequent even if all of them lost it.
    bool keeps_other_patterns(std::int32_t p, const std::vector<Word>& users) {
        const Csr& sets = in_.tree.sets();
        std::int64_t lost = 0;
        std::vector<std::int32_t> beside;
        each_bit(users.data(), table_.words(), [&](std::int64_t u) {
            for (std::int64_t i = u < users_ ? in_.rows.first[u] : 0; u < users_ && i < in_.rows.first[u + 1]; ++i) {
                const std::int64_t row = in_.rows.rows[i];
                if (!std::includes(in_.data.begin(row), in_.data.end(row), sets.begin(p), sets.end(p))) continue;
                ++lost;
                in_.tree.each_in(in_.data.begin(row), in_.data.end(row), [&](std::int64_t q) {
                    if (q != p) beside.push_back(static_cast<std::int32_t>(q));
                });
            }
        });
        return std::all_of(beside.begin(), beside.end(),
                           [&](std::int32_t q) { return support_[q] - lost >= in_.least; });
    }

    // Rule 3: what becomes maximal for these users is maximal for somebody already.
    bool makes_no_pattern(std::int32_t p, const std::vector<Word>& users) {
        bool none = true;
        each_bit(users.data(), table_.words(), [&](std::int64_t u) {
            if (!none) return;
            const Combination contents = table_.contents(u), own = table_.own(u);
            table_.remove(u, p);
            for (const std::int32_t q : table_.own(u))
                if (!std::binary_search(own.begin(), own.end(), q))
                    none = none && count_bits(table_.maximal(q), table_.words()) > 1;
            table_.reset(u, contents);
        });
        return none;
    }

    void suppress(std::int32_t p, const std::vector<Word>& users) {
        each_bit(users.data(), table_.words(), [&](std::int64_t u) { take(u, p); });
    }

    void take(std::int64_t u, std::int32_t p) {
        for (const std::int32_t q : table_.contents(u))
            if (in_.tree.includes(q, p)) support_[q] -= times(u, q);
        table_.remove(u, p);
    }

    // Gives the combination to as many users as it lacks: those who lack least, then virtual ones.
    void generalize(const Combination& members, int m, std::int64_t degree) {
        std::int64_t need = in_.k - degree;
        for (const std::int64_t u : by_lack(members, m)) {
            if (need == 0) return;
            if (try_to_add(u, members, m)) --need;
        }
        for (; need > 0; --need) {
            const std::int64_t u = table_.new_user();
            for (const std::int32_t p : members) table_.add(u, p);
        }
    }

    // Who lacks something of the combination and may be a candidate, those who lack least first.
    std::vector<std::int64_t> by_lack(const Combination& members, int m) {
        std::vector<Word> excluded(table_.words(), 0);
        if (m > 1)
            for (const std::int32_t p : members) exclude(p, members, excluded);
        std::vector<std::vector<std::int64_t>> lack(members.size() + 1);
        for (std::int64_t u = 0; u < table_.users(); ++u) {
            if (excluded[u / 64] >> u % 64 & 1) continue;
            std::size_t missing = 0;
            for (const std::int32_t p : members) missing += !table_.holds(u, p);
            lack[missing].push_back(u);
        }
        std::vector<std::int64_t> order;
        for (std::size_t missing = 1; missing < lack.size(); ++missing)
            order.insert(order.end(), lack[missing].begin(), lack[missing].end());
        return order;
    }

    // Whoever lacks p and has a pattern that would be rare together with it can be no candidate. One look at all pairs
    // spares most users the full test.
    void exclude(std::int32_t p, const Combination& members, std::vector<Word>& excluded) {
        std::vector<Word> both(table_.words());
        for (std::int32_t q = 0; q < table_.patterns(); ++q) {
            if (in_.tree.includes(p, q) || std::binary_search(members.begin(), members.end(), q)) continue;
            if (and_count(table_.held(p), table_.held(q), table_.words(), both.data()) >= in_.k) continue;
            for (std::int64_t w = 0; w < table_.words(); ++w) excluded[w] |= table_.maximal(q)[w] & ~table_.held(p)[w];
        }
    }

    // The candidate rule: of the combinations that would arise, those of at most m patterns must be shared by k users
    // already or be part of the one at hand; larger ones must be somebody's already. (Printed, the rule lets in any
    // that exists; that would bring suppressed ones back.)
    bool try_to_add(std::int64_t u, const Combination& members, int m) {
        const Combination contents = table_.contents(u), own = table_.own(u);
        for (const std::int32_t p : members) table_.add(u, p);
        const bool fine = each_new(u, own, [&](const Combination& made, std::int64_t degree, const Word* owners) {
            if (static_cast<int>(made.size()) > m) return count_bits(owners, table_.words()) > 1;
            return degree > in_.k || std::all_of(made.begin(), made.end(), [&](std::int32_t p) {
                       return std::binary_search(members.begin(), members.end(), p);
                   });
        });
        if (!fine) table_.reset(u, contents);
        return fine;
    }

    // Whether accept(combination, degree, owners) holds for every combination that u has beyond those of `before`.
    template <class Accept>
    bool each_new(std::int64_t u, const Combination& before, Accept&& accept) {
        Combination old, fresh;
        for (const std::int32_t p : table_.own(u))
            (std::binary_search(before.begin(), before.end(), p) ? old : fresh).push_back(p);
        old.insert(old.begin(), fresh.begin(), fresh.end());  // the first of them is always a fresh one
        if (fresh.empty()) return true;
        space_.resize(2 * (in_.most + 2) * table_.words());
        std::fill_n(space_.begin(), 2 * table_.words(), ~Word{0});
        Combination members;
        for (std::size_t i = 0; i < fresh.size(); ++i)
            if (!grow(old, i, members, accept)) return false;
        return true;
    }

    template <class Accept>
    bool grow(const Combination& pool, std::size_t at, Combination& members, Accept&& accept) {
        const std::int64_t words = table_.words();
        Word* held = &space_[2 * members.size() * words];
        Word *both = held + 2 * words, *own = both + words;
        const std::int64_t degree = and_count(held, table_.held(pool[at]), words, both);
        and_any(held + words, table_.maximal(pool[at]), words, own);
        members.push_back(pool[at]);
        bool fine = accept(members, degree, own);
        for (std::size_t i = at + 1; fine && i < pool.size() && static_cast<int>(members.size()) < in_.most; ++i)
            fine = grow(pool, i, members, accept);
        members.pop_back();
        return fine;
    }

    // --- all combinations of a user at once ----------------------------------------------------------------------

    // Which of the rare combinations each user has, all of them maximal.
    std::vector<std::vector<std::int32_t>> by_owner(const std::vector<Degree>& rare) const {
        std::vector<std::vector<std::int32_t>> lists(table_.users());
        std::vector<Word> owners;
        for (std::size_t c = 0; c < rare.size(); ++c) {
            table_.owners(rare[c].members, owners);
            each_bit(owners.data(), table_.words(),
                     [&](std::int64_t u) { lists[u].push_back(static_cast<std::int32_t>(c)); });
        }
        return lists;
    }

    // Users with very many patterns have most of the rare combinations, and others have some of them. Giving all
    // patterns of such a user to the k − 1 most similar ones repairs every combination of them at once, for everybody;
    // it is done where that costs less than taking patterns from everybody.
    void complete_crowds() {
        if (table_.users() < in_.k) return;
        std::vector<char> tried(table_.users(), 0);
        for (int failures = 0; failures < kFailures;) {
            monitor_.check();
            const std::vector<Degree> list = rare();
            if (list.empty()) return;
            const auto lists = by_owner(list);
            std::int64_t richest = -1;
            for (std::int64_t u = 0; u < table_.users(); ++u)
                if (!tried[u] && !lists[u].empty() && (richest < 0 || lists[u].size() > lists[richest].size()))
                    richest = u;
            if (richest < 0) return;
            tried[richest] = 1;
            failures = complete(table_.own(richest), list, lists) ? 0 : failures + 1;
        }
    }

    bool complete(const Combination& all, const std::vector<Degree>& rare,
                  const std::vector<std::vector<std::int32_t>>& lists) {
        std::vector<std::pair<std::int64_t, std::int64_t>> price;
        for (std::int64_t u = 0; u < table_.users(); ++u) price.emplace_back(strangeness(u, all), u);
        std::partial_sort(price.begin(), price.begin() + in_.k, price.end());
        std::int64_t cost = 0;
        for (std::int64_t i = 0; i < in_.k; ++i) cost += price[i].first;
        if (cost >= takes_within(all, rare, lists)) return false;
        const Combination given = all;  // the table may change what `all` refers to
        for (std::int64_t i = 0; i < in_.k; ++i)
            for (const std::int32_t p : given) table_.add(price[i].second, p);
        return true;
    }

    // What the user lacks of these patterns, and what the user has besides.
    std::int64_t strangeness(std::int64_t u, const Combination& all) const {
        std::int64_t strange = 0;
        for (const std::int32_t p : all) strange += !table_.holds(u, p);
        for (const std::int32_t q : table_.own(u))
            strange += std::none_of(all.begin(), all.end(), [&](std::int32_t p) { return in_.tree.includes(p, q); });
        return strange;
    }

    // How many patterns would have to be taken for the sake of the rare combinations of these patterns alone.
    std::int64_t takes_within(const Combination& all, const std::vector<Degree>& rare,
                              const std::vector<std::vector<std::int32_t>>& lists) const {
        std::vector<char> inside(rare.size(), 0);
        for (std::size_t c = 0; c < rare.size(); ++c)
            inside[c] = std::includes(all.begin(), all.end(), rare[c].members.begin(), rare[c].members.end());
        std::int64_t takes = 0;
        for (std::size_t u = 0; u < lists.size(); ++u) {
            std::vector<std::int32_t> left;
            for (const std::int32_t c : lists[u])
                if (inside[c]) left.push_back(c);
            takes += static_cast<std::int64_t>(hitting(static_cast<std::int64_t>(u), std::move(left), rare).size());
        }
        return takes;
    }

    // A combination that many have but not quite enough: give it to a few who lack little, if that costs less than
    // taking something from everybody who has it.
    void generalize_cheaply() {
        std::vector<Degree> list = rare();
        const auto lists = by_owner(list);
        std::vector<std::size_t> order(list.size());
        for (std::size_t c = 0; c < list.size(); ++c) order[c] = c;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return list[a].degree > list[b].degree; });
        for (const std::size_t c : order) {
            monitor_.check();
            std::vector<Word> users, owners;
            const std::int64_t degree = table_.common(list[c].members, users);
            if (degree >= in_.k || !table_.owners(list[c].members, owners)) continue;
            double taking = 0;
            each_bit(owners.data(), table_.words(), [&](std::int64_t u) { taking += 1.0 / lists[u].size(); });
            give_if_cheap(list[c].members, in_.k - degree, taking);
        }
    }

    void give_if_cheap(const Combination& members, std::int64_t need, double budget) {
        std::vector<std::pair<std::int64_t, Combination>> undo;
        for (const std::int64_t u : by_lack(members, in_.most)) {
            if (need == 0) break;
            std::int64_t missing = 0;
            for (const std::int32_t p : members) missing += !table_.holds(u, p);
            budget -= static_cast<double>(missing);
            if (budget < 0) break;
            Combination before = table_.contents(u);
            if (try_to_add(u, members, in_.most)) {
                undo.emplace_back(u, std::move(before));
                --need;
            } else {
                budget += static_cast<double>(missing);
            }
        }
        if (need > 0)
            for (const auto& [u, contents] : undo) table_.reset(u, contents);
    }

    // From each user, the patterns that hit most of the rare combinations left to that user, until none is left.
    void suppress_jointly(const std::vector<Degree>& rare) {
        auto lists = by_owner(rare);
        for (std::size_t u = 0; u < lists.size(); ++u) {
            monitor_.check();
            const auto user = static_cast<std::int64_t>(u);
            for (const std::int32_t p : hitting(user, std::move(lists[u]), rare)) take(user, p);
        }
    }

    // Patterns of the user, one of which is in each of these combinations: again and again the one that is in most.
    Combination hitting(std::int64_t u, std::vector<std::int32_t> left, const std::vector<Degree>& rare) const {
        Combination chosen;
        if (left.empty()) return chosen;
        std::vector<std::int64_t> hits(table_.patterns(), 0);
        while (!left.empty()) {
            std::fill(hits.begin(), hits.end(), 0);
            for (const std::int32_t c : left)
                for (const std::int32_t p : rare[c].members) ++hits[p];
            std::int32_t best = -1;
            for (const std::int32_t p : table_.own(u))
                if (hits[p] > 0 && (best < 0 || better(p, best, hits))) best = p;
            chosen.push_back(best);
            const auto hit = [&](std::int32_t c) {
                const Combination& members = rare[c].members;
                return std::find(members.begin(), members.end(), best) != members.end();
            };
            left.erase(std::remove_if(left.begin(), left.end(), hit), left.end());
        }
        return chosen;
    }

    // More hits first; among equals the pattern that most users have, which can best spare one of them.
    bool better(std::int32_t p, std::int32_t q, const std::vector<std::int64_t>& hits) const {
        if (hits[p] != hits[q]) return hits[p] > hits[q];
        return count_bits(table_.held(p), table_.words()) > count_bits(table_.held(q), table_.words());
    }

    // Patterns that were taken and would do no harm (any more) are given back, largest first.
    void give_back() {
        const Csr before = in_.found.held.view();
        bool changed = true;
        for (int pass = 0; pass < kPasses && changed; ++pass) {
            changed = false;
            for (std::int64_t u = 0; u < users_; ++u) {
                monitor_.check();
                for (std::int64_t i = before.size(u); i-- > 0;) {
                    const std::int32_t p = before.begin(u)[i];
                    if (!table_.holds(u, p) && may_have(u, p)) changed = true;
                }
            }
        }
    }

    bool may_have(std::int64_t u, std::int32_t p) {
        const Combination contents = table_.contents(u), own = table_.own(u);
        table_.add(u, p);
        const bool fine =
            each_new(u, own, [&](const Combination&, std::int64_t degree, const Word*) { return degree >= in_.k; });
        if (!fine) table_.reset(u, contents);
        return fine;
    }

    const KampInput& in_;
    PatternTable table_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::int64_t> support_;
    std::int64_t users_;  // without virtual ones
    std::vector<Word> space_;
};

// The patterns that each user, real and virtual, is to contain.
inline OwnedCsr new_contents(const KampTable& kamp) {
    OwnedCsr out;
    for (std::int64_t u = 0; u < kamp.table().users(); ++u) {
        const Combination& contents = kamp.table().contents(u);
        out.items.insert(out.items.end(), contents.begin(), contents.end());
        out.close_row();
    }
    return out;
}

inline OwnedCsr kamp_table(const KampInput& in, Repair repair, int threads, Monitor& monitor) {
    constexpr std::int64_t few = 500;  // rare combinations that may well be repaired one by one, too
    if (repair != Repair::joint) {
        KampTable kamp(in, threads, monitor);
        kamp.run(repair == Repair::greedy ? Plan::one_by_one : Plan::nothing, false);
        return new_contents(kamp);
    }
    std::vector<Plan> plans{Plan::crowds, Plan::gifts};
    if (KampTable(in, threads, monitor).count_rare() <= few) plans.push_back(Plan::one_by_one);
    OwnedCsr best;
    std::int64_t least = INT64_MAX;
    for (const Plan plan : plans) {
        KampTable kamp(in, threads, monitor);
        kamp.run(plan, true);
        if (kamp.loss() >= least) continue;
        least = kamp.loss();
        best = new_contents(kamp);
    }
    return best;
}

}  // namespace anonset
