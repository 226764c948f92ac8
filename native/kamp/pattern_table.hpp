// The pattern table of KAMP: which user contains which pattern, as bitmaps over the users, and the walk over the
// combinations of patterns that are maximal for one user.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bitmap.hpp"
#include "core/monitor.hpp"
#include "kamp/pattern_tree.hpp"

namespace anonset::kamp {

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
    PatternTable(const PatternTree& tree, const Csr& held);

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
    std::int64_t common(const Combination& members, std::vector<Word>& out) const;

    // The users for whom all of a combination are maximal.
    bool owners(const Combination& members, std::vector<Word>& out) const;

    // The user gets a pattern with all its parts.
    void add(std::int64_t u, std::int32_t pattern);

    // The user loses a pattern and every larger one that includes it.
    void remove(std::int64_t u, std::int32_t pattern);

    // Back to an earlier state of one user.
    void reset(std::int64_t u, const Combination& contents);

    std::int64_t new_user();

  private:
    void set(std::vector<Word>& bits, std::int64_t p, std::int64_t u, bool on);

    void refresh(std::int64_t u);

    void widen();

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

// The combinations of sizes from `least` to `most` whose degree is below k and none of whose prefixes' is.
std::vector<Degree> too_rare(const PatternTable& table, int least, int most, std::int64_t k, int threads,
                             Monitor& monitor);

}  // namespace anonset::kamp
