#include "kamp/pattern_table.hpp"

namespace anonset::kamp {

PatternTable::PatternTable(const PatternTree& tree, const Csr& held) : tree_(&tree), covered_(tree.size(), 0) {
    words_ = (held.rows + 63) / 64 + 1;
    held_.assign(tree.size() * words_, 0);
    maximal_.assign(tree.size() * words_, 0);
    for (std::int64_t u = 0; u < held.rows; ++u) {
        contents_.emplace_back(held.begin(u), held.end(u));
        own_.emplace_back();
        for (const std::int32_t p : contents_[u]) set(held_, p, u, true);
        refresh(u);
    }
}

std::int64_t PatternTable::common(const Combination& members, std::vector<Word>& out) const {
    out.assign(held(members[0]), held(members[0]) + words_);
    std::int64_t degree = count_bits(out.data(), words_);
    for (std::size_t i = 1; i < members.size(); ++i)
        degree = and_count(out.data(), held(members[i]), words_, out.data());
    return degree;
}

bool PatternTable::owners(const Combination& members, std::vector<Word>& out) const {
    out.assign(words_, ~Word{0});
    bool any = true;
    for (const std::int32_t p : members) any = and_any(out.data(), maximal(p), words_, out.data());
    return any;
}

void PatternTable::add(std::int64_t u, std::int32_t pattern) {
    if (holds(u, pattern)) return;
    const Csr smaller = tree_->smaller();
    std::vector<std::int32_t> open{pattern};
    while (!open.empty()) {
        const std::int32_t p = open.back();
        open.pop_back();
        if (holds(u, p)) continue;
        set(held_, p, u, true);
        contents_[u].push_back(p);
        open.insert(open.end(), smaller.begin(p), smaller.end(p));
    }
    std::sort(contents_[u].begin(), contents_[u].end());
    refresh(u);
}

void PatternTable::remove(std::int64_t u, std::int32_t pattern) {
    Combination kept;
    for (const std::int32_t p : contents_[u]) {
        if (tree_->includes(p, pattern)) {
            set(held_, p, u, false);
        } else {
            kept.push_back(p);
        }
    }
    contents_[u].swap(kept);
    refresh(u);
}

void PatternTable::reset(std::int64_t u, const Combination& contents) {
    for (const std::int32_t p : contents_[u]) set(held_, p, u, false);
    for (const std::int32_t p : contents) set(held_, p, u, true);
    contents_[u] = contents;
    refresh(u);
}

std::int64_t PatternTable::new_user() {
    if (users() == words_ * 64) widen();
    contents_.emplace_back();
    own_.emplace_back();
    return users() - 1;
}

void PatternTable::set(std::vector<Word>& bits, std::int64_t p, std::int64_t u, bool on) {
    Word& word = bits[p * words_ + u / 64];
    const Word bit = Word{1} << u % 64;
    word = on ? word | bit : word & ~bit;
}

void PatternTable::refresh(std::int64_t u) {
    for (const std::int32_t p : own_[u]) set(maximal_, p, u, false);
    maximal_of(*tree_, contents_[u], covered_, own_[u]);
    for (const std::int32_t p : own_[u]) set(maximal_, p, u, true);
}

void PatternTable::widen() {
    const std::int64_t wide = words_ + words_ / 2 + 1;
    for (std::vector<Word>* bits : {&held_, &maximal_}) {
        std::vector<Word> larger(patterns() * wide, 0);
        for (std::int64_t p = 0; p < patterns(); ++p) std::copy_n(&(*bits)[p * words_], words_, &larger[p * wide]);
        bits->swap(larger);
    }
    words_ = wide;
}

namespace {

std::vector<std::int32_t> live_patterns(const PatternTable& table) {
    std::vector<std::int32_t> live;
    for (std::int64_t p = 0; p < table.patterns(); ++p)
        if (count_bits(table.maximal(p), table.words()) > 0) live.push_back(static_cast<std::int32_t>(p));
    return live;
}

}  // namespace

std::vector<Degree> too_rare(const PatternTable& table, int least, int most, std::int64_t k, int threads,
                             Monitor& monitor) {
    const std::vector<std::int32_t> live = live_patterns(table);
    std::vector<std::vector<Degree>> parts(live.size());
    std::vector<CombinationWalk> walks(thread_count(threads), CombinationWalk(table, live, most));
    parallel_for(static_cast<std::int64_t>(live.size()), threads, monitor, [&](std::int64_t first, int worker) {
        walks[worker].walk(first, monitor, [&](const Combination& members, std::int64_t degree) {
            if (degree >= k) return true;
            if (static_cast<int>(members.size()) >= least) parts[first].push_back({members, degree});
            return false;
        });
    });
    std::vector<Degree> found;
    for (auto& part : parts) found.insert(found.end(), part.begin(), part.end());
    return found;
}

CombinationCount count_combinations(const Csr& sets, const Csr& held, int most, std::int64_t k, int threads,
                                    Monitor& monitor) {
    const PatternTree tree(sets);
    const PatternTable table(tree, held);
    const std::vector<std::int32_t> live = live_patterns(table);
    std::vector<CombinationCount> parts(
        live.size(), {std::vector<std::int64_t>(most, 0), std::vector<std::int64_t>(most, 0), INT64_MAX});
    std::vector<CombinationWalk> walks(thread_count(threads), CombinationWalk(table, live, most));
    parallel_for(static_cast<std::int64_t>(live.size()), threads, monitor, [&](std::int64_t first, int worker) {
        CombinationCount& part = parts[first];
        walks[worker].walk(first, monitor, [&](const Combination& members, std::int64_t degree) {
            ++part.all[members.size() - 1];
            part.below[members.size() - 1] += degree < k;
            part.lowest = std::min(part.lowest, degree);
            return true;
        });
    });
    CombinationCount total{std::vector<std::int64_t>(most, 0), std::vector<std::int64_t>(most, 0), INT64_MAX};
    for (const CombinationCount& part : parts) {
        for (int i = 0; i < most; ++i) {
            total.all[i] += part.all[i];
            total.below[i] += part.below[i];
        }
        total.lowest = std::min(total.lowest, part.lowest);
    }
    return total;
}

}  // namespace anonset::kamp
