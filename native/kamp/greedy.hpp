// KAMP's greedy repair, as Hsu and Tsai describe it: one combination at a time is generalised or suppressed, whichever
// changes fewer transactions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kamp/state.hpp"

namespace anonset {

class KampGreedy : public KampState {
  public:
    using KampState::KampState;

  protected:
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
};

}  // namespace anonset
