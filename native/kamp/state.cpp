#include "kamp/state.hpp"

namespace anonset::kamp {

std::int64_t State::loss() const {
    const PatternTable before(in_.tree, in_.found.held.view());
    OwnedCsr old, now;
    for (std::int64_t u = 0; u < table_.users(); ++u) {
        if (u < users_) old.items.insert(old.items.end(), before.own(u).begin(), before.own(u).end());
        now.items.insert(now.items.end(), table_.own(u).begin(), table_.own(u).end());
        old.close_row();
        now.close_row();
    }
    std::int64_t total = 0;
    for (const std::int64_t distance : pattern_distance({in_.tree.sets(), old.view()}, {in_.tree.sets(), now.view()}))
        total += distance;
    return total + lost_by_rarity();
}

std::int64_t State::times(std::int64_t u, std::int32_t p) const {
    if (u >= users_) return 1;
    const Csr held = in_.found.held.view();
    const std::int32_t* at = std::lower_bound(held.begin(u), held.end(u), p);
    return at != held.end(u) && *at == p ? in_.found.counts[at - held.items] : 1;
}

void State::take(std::int64_t u, std::int32_t p) {
    for (const std::int32_t q : table_.contents(u))
        if (in_.tree.includes(q, p)) support_[q] -= times(u, q);
    table_.remove(u, p);
}

std::vector<std::int64_t> State::by_lack(const Combination& members, Rule rule) {
    std::vector<Word> excluded(table_.words(), 0);
    if (in_.goal.most > 1)
        for (const std::int32_t p : members) exclude(p, members, rule, excluded);
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

void State::exclude(std::int32_t p, const Combination& members, Rule rule, std::vector<Word>& excluded) {
    std::vector<Word> both(table_.words());
    const auto covered = [&](std::int32_t q) {  // it would not be maximal any more
        return std::any_of(members.begin(), members.end(), [&](std::int32_t r) { return in_.tree.includes(r, q); });
    };
    for (std::int32_t q = 0; q < table_.patterns(); ++q) {
        if (covered(q)) continue;
        const bool allowed = rule == Rule::known
                                 ? and_any(table_.maximal(p), table_.maximal(q), table_.words(), both.data())
                                 : and_count(table_.held(p), table_.held(q), table_.words(), both.data()) >= in_.goal.k;
        if (allowed) continue;
        for (std::int64_t w = 0; w < table_.words(); ++w) excluded[w] |= table_.maximal(q)[w] & ~table_.held(p)[w];
    }
}

bool State::try_to_add(std::int64_t u, const Combination& members, Rule rule) {
    const Combination contents = table_.contents(u), own = table_.own(u);
    for (const std::int32_t p : members) table_.add(u, p);
    const bool fine = each_new(u, own, [&](const Combination& made, std::int64_t degree, const Word* owners) {
        if (rule == Rule::known) return count_bits(owners, table_.words()) > 1;
        return degree > in_.goal.k || std::all_of(made.begin(), made.end(), [&](std::int32_t p) {
                   return std::binary_search(members.begin(), members.end(), p);
               });
    });
    if (!fine) table_.reset(u, contents);
    return fine;
}

std::int64_t State::lost_by_rarity() const {
    std::vector<std::int64_t> support(table_.patterns(), 0);
    for (std::int64_t u = 0; u < table_.users(); ++u)
        for (const std::int32_t p : table_.contents(u)) support[p] += times(u, p);
    std::int64_t lost = 0;
    for (std::int64_t p = 0; p < table_.patterns(); ++p)
        if (support[p] < in_.goal.least) lost += count_bits(table_.held(p), table_.words());
    return lost;
}

}  // namespace anonset::kamp
