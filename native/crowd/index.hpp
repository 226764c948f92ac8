// Which group a row would best join: every group gets a score, two for each item of the row in its center, one for each
// that just half of its members hold, less the size of its center. That is what the row would gain there.
#pragma once

#include <cstring>
#include <utility>

#include "core/bitmap.hpp"
#include "crowd/groups.hpp"

namespace anonset::crowd {

struct Target {
    std::int32_t group = -1;
    std::int32_t gain = INT32_MIN;
    std::int32_t more = 0;  // than where the row is
};

// Scores of short rows fit into a byte, so that a vector unit adds and compares many at once.
using Small = std::int8_t;
using Large = std::int16_t;

// Two arrays are added at once, so that sums are read and written half as often.
#define ANONSET_ADD_SCORES(Score)                                                                                   \
    ANONSET_CLONES inline void add_scores(Score* sums, const Score* scores, const Small* one, std::int32_t count) { \
        for (std::int32_t g = 0; g < count; ++g) sums[g] = static_cast<Score>(scores[g] + one[g]);                  \
    }                                                                                                               \
    ANONSET_CLONES inline void add_scores(Score* sums, const Score* scores, const Small* one, const Small* other,   \
                                          std::int32_t count) {                                                     \
        for (std::int32_t g = 0; g < count; ++g) sums[g] = static_cast<Score>(scores[g] + one[g] + other[g]);       \
    }
ANONSET_ADD_SCORES(Small)
ANONSET_ADD_SCORES(Large)
#undef ANONSET_ADD_SCORES

ANONSET_CLONES inline Small largest_score(const Small* scores, std::int32_t count) {
    Small best = INT8_MIN;
    for (std::int32_t g = 0; g < count; ++g) best = scores[g] > best ? scores[g] : best;
    return best;
}
ANONSET_CLONES inline Large largest_score(const Large* scores, std::int32_t count) {
    Large best = INT16_MIN;
    for (std::int32_t g = 0; g < count; ++g) best = scores[g] > best ? scores[g] : best;
    return best;
}

inline std::int32_t first_with(Small score, const Small* scores, std::int32_t count) {
    return static_cast<std::int32_t>(static_cast<const Small*>(std::memchr(scores, score, count)) - scores);
}
inline std::int32_t first_with(Large score, const Large* scores, std::int32_t count) {
    return static_cast<std::int32_t>(std::find(scores, scores + count, score) - scores);
}

struct Scores {
    std::vector<Small> small;
    std::vector<Large> large;
    std::vector<std::int32_t> listed;  // items of the row that are in a list,
    std::int32_t count = 0;            // of which so many count
    bool brief = false;                // whether the scores of the row fit into a byte
};

// For each item the groups whose centers hold it, and perhaps those in which just half of the rows do. Items of many
// groups are kept as arrays, so that adding them is vector work.
class GroupLists {
  public:
    void build(const Groups& groups, const std::vector<std::int32_t>& numbers, bool with_half) {
        padded_ = (static_cast<std::int32_t>(numbers.size()) + VECTOR - 1) / VECTOR * VECTOR;
        starts_.assign(groups.n_items() + 1, 0);
        const auto each_item = [&](auto&& body) {
            for (std::size_t i = 0; i < numbers.size(); ++i)
                for (const HalfItem& half : groups[numbers[i]].half)
                    if (half.central || with_half) body(static_cast<std::uint32_t>(i), half);
        };
        each_item([&](std::uint32_t, const HalfItem& half) { ++starts_[half.item + 1]; });
        listed_.assign(groups.n_items() / 64 + 1, 0);
        for (std::int32_t item = 0; item < groups.n_items(); ++item)
            listed_[item / 64] |= std::uint64_t{starts_[item + 1] > 0} << item % 64;
        for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
        entries_.resize(starts_.back());
        std::vector<std::int32_t> cursor(starts_.begin(), starts_.end() - 1);
        each_item([&](std::uint32_t i, const HalfItem& half) { entries_[cursor[half.item]++] = 2 * i + half.central; });
        spread(groups.n_items());
    }

    // Copies the items that some group has; most are in none. Returns the end. All are written down, and the others are
    // written over.
    std::int32_t* filter(const std::int32_t* item, const std::int32_t* end, std::int32_t* out) const {
        for (; item != end; ++item) {
            *out = *item;
            out += listed_[*item / 64] >> *item % 64 & 1;
        }
        return out;
    }
    // The number of scores: of all groups, and of some that do not exist.
    std::int32_t padded() const { return padded_; }

    // The scores of a row without items, and two for each item in the center of a group, one for each that half of its
    // rows hold.
    template <class Score>
    void score(const std::int32_t* item, const std::int32_t* end, const Score* base, Score* scores) const {
        const Small* one = nullptr;  // that waits for another
        for (const std::int32_t* i = item; i != end; ++i) {
            if (wide_[*i] < 0) continue;
            const Small* const array = weights_.data() + std::int64_t{wide_[*i]} * padded_;
            if (one == nullptr) {
                one = array;
                continue;
            }
            add_scores(scores, std::exchange(base, scores), std::exchange(one, nullptr), array, padded_);
        }
        if (one != nullptr) add_scores(scores, std::exchange(base, scores), one, padded_);
        if (base != scores) std::copy_n(base, padded_, scores);
        for (; item != end; ++item) {
            if (wide_[*item] >= 0) continue;
            const std::uint32_t *at = entries_.data() + starts_[*item], *last = entries_.data() + starts_[*item + 1];
            for (; at != last; ++at) scores[*at / 2] = static_cast<Score>(scores[*at / 2] + 1 + *at % 2);
        }
    }

  private:
    static constexpr std::int32_t VECTOR = 64;
    static constexpr std::int32_t WIDE = 64;  // lists of more than so small a share of all groups are kept as arrays

    void spread(std::int32_t n_items) {
        wide_.assign(n_items, -1);
        weights_.clear();
        for (std::int32_t item = 0; item < n_items; ++item) {
            if (WIDE * (starts_[item + 1] - starts_[item]) <= padded_) continue;
            wide_[item] = static_cast<std::int32_t>(weights_.size() / padded_);
            weights_.resize(weights_.size() + padded_, 0);
            Small* mine = weights_.data() + std::int64_t{wide_[item]} * padded_;
            for (std::int32_t e = starts_[item]; e < starts_[item + 1]; ++e)
                mine[entries_[e] / 2] = static_cast<Small>(1 + entries_[e] % 2);
        }
    }

    std::int32_t padded_ = 0;
    std::vector<std::int32_t> starts_, wide_;  // of each item: its groups, in a list or (from 0 on) in an array
    std::vector<std::uint64_t> listed_;        // whether an item has any, one bit each
    std::vector<std::uint32_t> entries_;       // twice the place of a group, plus one if the item is in its center
    std::vector<Small> weights_;
};

// Groups as they stood when the index was built.
class Index {
  public:
    // Of the groups that have changed since that time.
    void build(const Groups& groups, std::int64_t since) {
        numbers_.clear();
        places_.assign(groups.count(), -1);
        for (std::int32_t g = 0; g < groups.count(); ++g)
            if (groups[g].size() > 0 && groups[g].changed >= since) {
                places_[g] = static_cast<std::int32_t>(numbers_.size());
                numbers_.push_back(g);
            }
        lists_.build(groups, numbers_, true);
        small_.assign(lists_.padded(), NEVER<Small>);
        large_.assign(lists_.padded(), NEVER<Large>);
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            const std::int32_t center = groups[numbers_[i]].center;
            small_[i] = static_cast<Small>(-std::min(center, 2 * MOST<Small>));
            large_[i] = static_cast<Large>(-std::min(center, 2 * MOST<Large>));
        }
    }

    bool knows(std::int32_t group) const { return places_[group] >= 0; }

    // Lists the items of a row that some group has, which may be none, and says how many. (Of a very long row only the
    // first items count, so that scores fit; what a change really gains is counted when it is made.)
    std::int32_t list(const Csr& rows, std::int32_t row, Scores& work) const {
        const auto size = std::min<std::int64_t>(rows.size(row), MOST<Large>);
        if (static_cast<std::int64_t>(work.listed.size()) <= size) work.listed.resize(2 * size + 1);
        work.brief = size <= MOST<Small> && !without(Mechanism::bytes);
        return work.count = static_cast<std::int32_t>(
                   lists_.filter(rows.begin(row), rows.begin(row) + size, work.listed.data()) - work.listed.data());
    }

    // What the row whose items are listed gains in the group that suits it best, other than `except`; `there` becomes
    // the score of that one, if the index knows it.
    Target best(std::int32_t except, Scores& work, std::int32_t& there) const {
        if (numbers_.empty()) return Target();
        return work.brief ? best(except, small_, work.small, work, there)
                          : best(except, large_, work.large, work, there);
    }

  private:
    template <class Score>
    static constexpr Score NEVER = sizeof(Score) == 1 ? INT8_MIN : INT16_MIN;
    template <class Score>
    static constexpr std::int32_t MOST = sizeof(Score) == 1 ? 60 : 6'000;  // items of a row that count

    template <class Score>
    Target best(std::int32_t except, const std::vector<Score>& base, std::vector<Score>& sums, const Scores& work,
                std::int32_t& there) const {
        sums.resize(base.size());
        Score* scores = sums.data();
        lists_.score(work.listed.data(), work.listed.data() + work.count, base.data(), scores);
        if (except >= 0 && knows(except)) there = std::exchange(scores[places_[except]], NEVER<Score>);
        const Score most = largest_score(scores, lists_.padded());
        return most == NEVER<Score> ? Target() : Target{numbers_[first_with(most, scores, lists_.padded())], most, 0};
    }

    std::vector<std::int32_t> numbers_, places_;  // which groups are here, and where each of them is (-1: nowhere)
    GroupLists lists_;
    std::vector<Small> small_;
    std::vector<Large> large_;
};

}  // namespace anonset::crowd
