#include "kamp/greedy.hpp"

#include <iterator>

namespace anonset::kamp {

void GreedyRepair::greedy_pass() {
    for (int m = 1; m <= in_.goal.most; ++m) {
        std::vector<Degree> list = too_rare(table_, m, m, in_.goal.k, threads_, monitor_);
        std::stable_sort(list.begin(), list.end(),
                         [](const Degree& a, const Degree& b) { return a.degree > b.degree; });
        for (const Degree& found : list) {
            monitor_.check();
            repair(found.members, m);
        }
    }
}

void GreedyRepair::repair(const Combination& members, int m) {
    std::vector<Word> users, owners;
    const std::int64_t degree = table_.common(members, users);
    if (degree >= in_.goal.k || !table_.owners(members, owners)) return;
    std::int64_t cheapest = INT64_MAX;
    std::int32_t chosen = -1;
    for (const std::int32_t p : members) {
        const std::int64_t price = cost(p, users);
        if (price < cheapest && suppressible(p, users, m)) {
            cheapest = price;
            chosen = p;
        }
    }
    if (in_.goal.k - degree <= cheapest) {
        generalize(members, degree);
    } else {
        suppress(chosen, users);
    }
}

std::int64_t GreedyRepair::cost(std::int32_t p, const std::vector<Word>& users) const {
    std::int64_t total = 0;
    each_bit(users.data(), table_.words(), [&](std::int64_t u) { total += times(u, p); });
    return total;
}

bool GreedyRepair::suppressible(std::int32_t p, const std::vector<Word>& users, int m) {
    return keeps_other_patterns(p, users) && leaves_patterns(p, users) && harms_none(p, users, m);
}

bool GreedyRepair::harms_none(std::int32_t p, const std::vector<Word>& users, int m) {
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

bool GreedyRepair::harms_none_from(const std::vector<Word>& held, const std::vector<Word>& owners,
                                   const std::vector<Word>& users, const Combination& pool, std::size_t from,
                                   int more) {
    const std::int64_t degree = count_bits(held.data(), table_.words());
    if (degree < in_.goal.k) return true;
    std::vector<Word> next_held(table_.words()), next_owners(table_.words());
    if (degree - and_count(held.data(), users.data(), table_.words(), next_held.data()) < in_.goal.k) return false;
    for (std::size_t i = from; more > 0 && i < pool.size(); ++i) {
        if (!and_any(owners.data(), table_.maximal(pool[i]), table_.words(), next_owners.data())) continue;
        and_any(held.data(), table_.held(pool[i]), table_.words(), next_held.data());
        if (!harms_none_from(next_held, next_owners, users, pool, i + 1, more - 1)) return false;
    }
    return true;
}

bool GreedyRepair::keeps_other_patterns(std::int32_t p, const std::vector<Word>& users) {
    std::int64_t lost = 0;
    std::vector<std::int32_t> beside;
    each_row(p, users, [&](std::int32_t row) {
        ++lost;
        in_.tree.each_in(in_.data.begin(row), in_.data.end(row), [&](std::int64_t q) {
            if (q != p) beside.push_back(static_cast<std::int32_t>(q));
        });
    });
    return std::all_of(beside.begin(), beside.end(),
                       [&](std::int32_t q) { return support_[q] - lost >= in_.goal.least; });
}

bool GreedyRepair::leaves_patterns(std::int32_t p, const std::vector<Word>& users) const {
    const Csr& sets = in_.tree.sets();
    bool fine = true;
    std::vector<std::int32_t> left;
    each_row(p, users, [&](std::int32_t row) {
        left.clear();
        std::set_difference(in_.data.begin(row), in_.data.end(row), sets.begin(p), sets.end(p),
                            std::back_inserter(left));
        fine = fine && (left.empty() || in_.tree.has(left));
    });
    return fine;
}

void GreedyRepair::suppress(std::int32_t p, const std::vector<Word>& users) {
    each_bit(users.data(), table_.words(), [&](std::int64_t u) { take(u, p); });
}

void GreedyRepair::generalize(const Combination& members, std::int64_t degree) {
    std::int64_t need = in_.goal.k - degree;
    for (const std::int64_t u : by_lack(members, Rule::known)) {
        if (need == 0) return;
        if (try_to_add(u, members, Rule::known)) --need;
    }
    if (table_.users() + need > (1 + VIRTUAL) * users_) return;
    for (; need > 0; --need) {
        const std::int64_t u = table_.new_user();
        for (const std::int32_t p : members) table_.add(u, p);
    }
}

}  // namespace anonset::kamp
