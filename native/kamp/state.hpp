// What both repairs of KAMP's pattern table share: the table as it changes, what it costs, and who may get a pattern.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/monitor.hpp"
#include "kamp/pattern_distance.hpp"
#include "kamp/pattern_table.hpp"

namespace anonset {

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

class KampState {
  public:
    KampState(const KampInput& in, int threads, Monitor& monitor)
        : in_(in),
          table_(in.tree, in.found.held.view()),
          threads_(threads),
          monitor_(monitor),
          support_(in.support, in.support + in.tree.size()),
          users_(table_.users()) {}

    const PatternTable& table() const { return table_; }

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

  protected:
    static constexpr int kPasses = 4;  // before nothing but suppression is left, and of giving back

    std::vector<Degree> rare(int least = 1) { return too_rare(table_, least, in_.most, in_.k, threads_, monitor_); }

    std::int64_t times(std::int64_t u, std::int32_t p) const {
        if (u >= users_) return 1;
        const Csr held = in_.found.held.view();
        const std::int32_t* at = std::lower_bound(held.begin(u), held.end(u), p);
        return at != held.end(u) && *at == p ? in_.found.counts[at - held.items] : 1;
    }

    void take(std::int64_t u, std::int32_t p) {
        for (const std::int32_t q : table_.contents(u))
            if (in_.tree.includes(q, p)) support_[q] -= times(u, q);
        table_.remove(u, p);
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

    const KampInput& in_;
    PatternTable table_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::int64_t> support_;
    std::int64_t users_;  // without virtual ones

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

    std::vector<Word> space_;
};

}  // namespace anonset
