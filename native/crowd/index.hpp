// Which group a row would best join: every group gets a score, two for each item of the row in its center, one for each
// that just half of its members hold, less the size of its center. That is what the row would gain there.
#pragma once

#include <cstdint>
#include <vector>

#include "core/transpose.hpp"
#include "crowd/groups.hpp"

namespace anonset::crowd {

struct Target {
    std::int32_t group = -1;
    std::int32_t gain = INT32_MIN;
    std::int32_t more = 0;  // than where the row is
};

// Scores of short rows fit into a byte, so that a vector unit adds and compares many at once.
using Byte = std::int8_t;
using Short = std::int16_t;

Byte largest_score(const Byte* scores, std::int32_t count);
Short largest_score(const Short* scores, std::int32_t count);

struct Scores {
    std::vector<Byte> bytes;
    std::vector<Short> shorts;
    std::vector<std::int32_t> listed;  // items of the row that are in a list,
    std::int32_t count = 0;            // of which so many count
    bool brief = false;                // whether the scores of the row fit into a byte
};

// For each item the groups whose centers hold it, and perhaps those in which just half of the rows do. Items of many
// groups are kept as arrays, so that adding them is vector work.
class GroupLists {
  public:
    void build(const Groups& groups, const std::vector<std::int32_t>& numbers, bool with_half);

    // Copies the items that some group has; most are in none. Returns the end. All are written down, and the others are
    // written over.
    std::int32_t* filter(const std::int32_t* item, const std::int32_t* end, std::int32_t* out) const;
    // The number of scores: of all groups, and of some that do not exist.
    std::int32_t padded() const { return padded_; }

    // The scores of a row without items (`base`), plus two for each item in the center of a group, one for each that
    // half of its rows hold.
    template <class Score>
    void score(const std::int32_t* item, const std::int32_t* end, const Score* base, Score* scores) const;

  private:
    void spread(std::int32_t n_items);

    std::int32_t padded_ = 0;
    Transposed<std::uint32_t, std::int32_t> lists_;  // twice the place of a group, plus one if its center has the item
    std::vector<std::int32_t> array_;                // of each item: its array, or -1
    std::vector<std::uint64_t> listed_;              // whether an item has any group, one bit each
    std::vector<Byte> weights_;
};

// Groups as they stood when the index was built.
class Index {
  public:
    explicit Index(const Groups& groups);

    // Lists the items of a row that some group has, which may be none, and says how many. (Of a very long row only the
    // first items count, so that scores fit; what a change really gains is counted when it is made.)
    std::int32_t list(const Csr& rows, std::int32_t row, Scores& work) const;

    // The group that suits the row whose items are listed best, other than `except` (-1: none); `there` becomes the
    // score of that one.
    Target best(std::int32_t except, Scores& work, std::int32_t& there) const;

  private:
    template <class Score>
    Target best(std::int32_t except, const std::vector<Score>& base, std::vector<Score>& sums, const Scores& work,
                std::int32_t& there) const;

    std::vector<std::int32_t> numbers_, places_;  // which groups are here, and where each of them is
    GroupLists lists_;
    std::vector<Byte> bytes_;  // the scores of a row without items
    std::vector<Short> shorts_;
};

}  // namespace anonset::crowd
