// KAMP, phase 1: rewrite the pattern table until every combination of up to M patterns that are maximal for a user is
// contained by at least k users.
//
// `joint` looks at all combinations of a user at once: it takes from each user the patterns that most of the user's
// rare combinations have in common, and afterwards gives back whatever does no harm. It begins in several ways and
// keeps the table with the smallest pattern distance.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kamp/greedy.hpp"

namespace anonset::kamp {

namespace {

// How to begin; the rest is suppressed.
enum class Plan { one_by_one, crowds, gifts, nothing };

class JointRepair : public GreedyRepair {
  public:
    using GreedyRepair::GreedyRepair;

    void run(Plan plan, bool giving) {
        if (plan == Plan::one_by_one) {
            for (int pass = 0; pass < PASSES && !rare().empty(); ++pass) greedy_pass();
        } else if (plan == Plan::crowds) {
            complete_crowds();
        }
        if (plan == Plan::crowds || plan == Plan::gifts) generalize_cheaply();
        suppress_all();
        printed_ = contents(table_.users());
        if (table_.users() > users_) {  // virtual users are not published
            for (std::int64_t u = users_; u < table_.users(); ++u) table_.reset(u, {});
            suppress_all();
        }
        if (giving) give_back();
    }

    // The patterns that each real user is to contain.
    OwnedCsr target() const { return contents(users_); }

    // The same before virtual users were dropped, and with them.
    OwnedCsr printed() && { return std::move(printed_); }

  private:
    static constexpr int FAILURES = 8;  // users in a row whose crowd is not worth completing

    OwnedCsr printed_;

    OwnedCsr contents(std::int64_t users) const {
        OwnedCsr out;
        for (std::int64_t u = 0; u < users; ++u) {
            const Combination& held = table_.contents(u);
            out.items.insert(out.items.end(), held.begin(), held.end());
            out.close_row();
        }
        return out;
    }

    // Nothing but suppression: every round takes at least one pattern from a user, so it ends.
    void suppress_all() {
        for (std::vector<Degree> left = rare(); !left.empty(); left = rare()) suppress_jointly(left);
    }

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
        if (table_.users() < in_.goal.k) return;
        std::vector<char> tried(table_.users(), 0);
        for (int failures = 0; failures < FAILURES;) {
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
        std::partial_sort(price.begin(), price.begin() + in_.goal.k, price.end());
        std::int64_t cost = 0;
        for (std::int64_t i = 0; i < in_.goal.k; ++i) cost += price[i].first;
        if (cost >= takes_within(all, rare, lists)) return false;
        const Combination given = all;  // the table may change what `all` refers to
        for (std::int64_t i = 0; i < in_.goal.k; ++i)
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
            if (degree >= in_.goal.k || !table_.owners(list[c].members, owners)) continue;
            double taking = 0;
            each_bit(owners.data(), table_.words(), [&](std::int64_t u) { taking += 1.0 / lists[u].size(); });
            give_if_cheap(list[c].members, in_.goal.k - degree, taking);
        }
    }

    void give_if_cheap(const Combination& members, std::int64_t need, double budget) {
        std::vector<std::pair<std::int64_t, Combination>> undo;
        for (const std::int64_t u : by_lack(members, Rule::safe)) {
            if (need == 0) break;
            std::int64_t missing = 0;
            for (const std::int32_t p : members) missing += !table_.holds(u, p);
            budget -= static_cast<double>(missing);
            if (budget < 0) break;
            Combination before = table_.contents(u);
            if (try_to_add(u, members, Rule::safe)) {
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
        for (int pass = 0; pass < PASSES && changed; ++pass) {
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
        const bool fine = each_new(
            u, own, [&](const Combination&, std::int64_t degree, const Word*) { return degree >= in_.goal.k; });
        if (!fine) table_.reset(u, contents);
        return fine;
    }
};

}  // namespace

RepairedTable repaired_table(const Csr& data, const Users& users, const Csr& sets, const Goal& goal, Repair repair,
                             int threads, Monitor& monitor) {
    const PatternTree tree(sets);
    const Transposed<> rows = rows_of_users(data, users);
    const UserPatterns found = user_patterns(data, rows, tree);
    const Input in{data, rows, tree, found, goal};
    constexpr std::int64_t ONE_BY_ONE = 500;  // rare combinations that may well be repaired one by one, too
    std::vector<Plan> plans{repair == Repair::greedy ? Plan::one_by_one : Plan::nothing};
    if (repair == Repair::joint) {
        plans = {Plan::crowds, Plan::gifts};
        if (JointRepair(in, threads, monitor).count_rare() <= ONE_BY_ONE) plans.push_back(Plan::one_by_one);
    }
    RepairedTable best;
    std::int64_t least = INT64_MAX;
    for (const Plan plan : plans) {
        JointRepair kamp(in, threads, monitor);
        kamp.run(plan, repair == Repair::joint);
        const std::int64_t loss = kamp.loss();
        if (loss >= least) continue;
        least = loss;
        best.target = kamp.target();
        best.printed = repair == Repair::greedy ? std::move(kamp).printed() : best.target;
    }
    return best;
}

}  // namespace anonset::kamp
