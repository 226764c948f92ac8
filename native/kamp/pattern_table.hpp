// The pattern table of KAMP: which user contains which pattern, as bitmaps over the users, and the walk over the
// combinations of patterns that are maximal for one user.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bitmap.hpp"
#include "core/monitor.hpp"
#include "kamp/pattern_tree.hpp"

namespace anonset {

using Word = std::uint64_t;

ANONSET_CLONES inline std::int64_t count_bits(const Word* bits, std::int64_t words) {
    std::int64_t ones = 0;
    for (std::int64_t w = 0; w < words; ++w) ones += __builtin_popcountll(bits[w]);
    return ones;
}

ANONSET_CLONES inline std::int64_t and_count(const Word* one, const Word* other, std::int64_t words, Word* out) {
    std::int64_t ones = 0;
    for (std::int64_t w = 0; w < words; ++w) {
        out[w] = one[w] & other[w];
        ones += __builtin_popcountll(out[w]);
    }
    return ones;
}

ANONSET_CLONES inline bool and_any(const Word* one, const Word* other, std::int64_t words, Word* out) {
    Word any = 0;
    for (std::int64_t w = 0; w < words; ++w) any |= out[w] = one[w] & other[w];
    return any != 0;
}

template <class Visit>
void each_bit(const Word* bits, std::int64_t words, Visit&& visit) {
    for (std::int64_t w = 0; w < words; ++w)
        for (Word rest = bits[w]; rest; rest &= rest - 1) visit(w * 64 + __builtin_ctzll(rest));
}

using Combination = std::vector<std::int32_t>;

class PatternTable {
  public:
    PatternTable(const PatternTree& tree, const Csr& held) : tree_(&tree), covered_(tree.size(), 0) {
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

    std::int64_t users() const { return static_cast<std::int64_t>(contents_.size()); }
    std::int64_t patterns() const { return tree_->size(); }
    std::int64_t words() const { return words_; }
    const PatternTree& tree() const { return *tree_; }
    const Word* held(std::int64_t p) const { return &held_[p * words_]; }
    const Word* maximal(std::int64_t p) const { return &maximal_[p * words_]; }
    const Combination& contents(std::int64_t u) const { return contents_[u]; }
    const Combination& own(std::int64_t u) const { return own_[u]; }  // maximal patterns, ascending
    bool holds(std::int64_t u, std::int64_t p) const { return held_[p * words_ + u / 64] >> u % 64 & 1; }

    // The users that contain all of a combination.
    std::int64_t common(const Combination& members, std::vector<Word>& out) const {
        out.assign(held(members[0]), held(members[0]) + words_);
        std::int64_t degree = count_bits(out.data(), words_);
        for (std::size_t i = 1; i < members.size(); ++i)
            degree = and_count(out.data(), held(members[i]), words_, out.data());
        return degree;
    }

    // The users for whom all of a combination are maximal.
    bool owners(const Combination& members, std::vector<Word>& out) const {
        out.assign(words_, ~Word{0});
        bool any = true;
        for (const std::int32_t p : members) any = and_any(out.data(), maximal(p), words_, out.data());
        return any;
    }

    // The user gets a pattern with all its parts.
    void add(std::int64_t u, std::int32_t pattern) {
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

    // The user loses a pattern and every larger one that includes it.
    void remove(std::int64_t u, std::int32_t pattern) {
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

    // Back to an earlier state of one user.
    void reset(std::int64_t u, const Combination& contents) {
        for (const std::int32_t p : contents_[u]) set(held_, p, u, false);
        for (const std::int32_t p : contents) set(held_, p, u, true);
        contents_[u] = contents;
        refresh(u);
    }

    std::int64_t new_user() {
        if (users() == words_ * 64) widen();
        contents_.emplace_back();
        own_.emplace_back();
        return users() - 1;
    }

  private:
    void set(std::vector<Word>& bits, std::int64_t p, std::int64_t u, bool on) {
        Word& word = bits[p * words_ + u / 64];
        const Word bit = Word{1} << u % 64;
        word = on ? word | bit : word & ~bit;
    }

    void refresh(std::int64_t u) {
        for (const std::int32_t p : own_[u]) set(maximal_, p, u, false);
        maximal_of(*tree_, contents_[u], covered_, own_[u]);
        for (const std::int32_t p : own_[u]) set(maximal_, p, u, true);
    }

    void widen() {
        const std::int64_t wide = words_ + words_ / 2 + 1;
        for (std::vector<Word>* bits : {&held_, &maximal_}) {
            std::vector<Word> larger(patterns() * wide, 0);
            for (std::int64_t p = 0; p < patterns(); ++p) std::copy_n(&(*bits)[p * words_], words_, &larger[p * wide]);
            bits->swap(larger);
        }
        words_ = wide;
    }

    const PatternTree* tree_;
    std::int64_t words_;
    std::vector<Word> held_, maximal_;
    std::vector<Combination> contents_, own_;
    std::vector<char> covered_;
};

struct Degree {
    Combination members;
    std::int64_t degree;
};

// Walks the combinations of up to `most` patterns that are maximal for one user, each once, prefix before extension.
class CombinationWalk {
  public:
    CombinationWalk(const PatternTable& table, const std::vector<std::int32_t>& live, int most)
        : table_(table), live_(live), most_(most), space_(2 * (most + 1) * table.words()) {}

    // All those that begin with live[first]. visit(members, degree) says whether to go on from there.
    template <class Visit>
    void walk(std::size_t first, const Monitor& monitor, Visit&& visit) {
        const std::int32_t p = live_[first];
        members_.assign(1, p);
        std::copy_n(table_.held(p), table_.words(), held(1));
        std::copy_n(table_.maximal(p), table_.words(), owned(1));
        if (visit(members_, count_bits(held(1), table_.words()))) extend(first, 1, monitor, visit);
    }

  private:
    Word* held(int size) { return &space_[2 * size * table_.words()]; }
    Word* owned(int size) { return held(size) + table_.words(); }

    template <class Visit>
    void extend(std::size_t last, int size, const Monitor& monitor, Visit&& visit) {
        if (size == most_) return;
        monitor.check();
        for (std::size_t next = last + 1; next < live_.size(); ++next) {
            const std::int32_t p = live_[next];
            if (!and_any(owned(size), table_.maximal(p), table_.words(), owned(size + 1))) continue;
            members_.push_back(p);
            const std::int64_t degree = and_count(held(size), table_.held(p), table_.words(), held(size + 1));
            if (visit(members_, degree)) extend(next, size + 1, monitor, visit);
            members_.pop_back();
        }
    }

    const PatternTable& table_;
    const std::vector<std::int32_t>& live_;
    const int most_;
    std::vector<Word> space_;
    Combination members_;
};

inline std::vector<std::int32_t> live_patterns(const PatternTable& table) {
    std::vector<std::int32_t> live;
    for (std::int64_t p = 0; p < table.patterns(); ++p)
        if (count_bits(table.maximal(p), table.words()) > 0) live.push_back(static_cast<std::int32_t>(p));
    return live;
}

// How many combinations of each size 1 … most there are, and how many of them have a degree below k.
struct CombinationCount {
    std::vector<std::int64_t> all, below;
    std::int64_t lowest = INT64_MAX;
};

inline CombinationCount count_combinations(const PatternTable& table, int most, std::int64_t k, int threads,
                                           Monitor& monitor) {
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

// The combinations of sizes from `least` to `most` whose degree is below k and none of whose prefixes' is.
inline std::vector<Degree> too_rare(const PatternTable& table, int least, int most, std::int64_t k, int threads,
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

}  // namespace anonset
