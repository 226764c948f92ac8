#include "crowd/index.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/bitmap.hpp"

namespace anonset::crowd {

namespace {

constexpr std::int32_t VECTOR = 64;       // scores are padded to a multiple of so many
constexpr std::int32_t ARRAY_SHARE = 64;  // an item that more than one of so many groups have is kept as an array
template <class Score>
constexpr Score NEVER = sizeof(Score) == 1 ? INT8_MIN : INT16_MIN;
template <class Score>
constexpr std::int32_t MOST = sizeof(Score) == 1 ? 60 : 6'000;  // items of a row that count

// Two arrays are added at once, so that sums are read and written half as often.
ANONSET_CLONES void add_scores(Byte* sums, const Byte* scores, const Byte* one, const Byte* other, std::int32_t count) {
    for (std::int32_t g = 0; g < count; ++g) sums[g] = static_cast<Byte>(scores[g] + one[g] + other[g]);
}
ANONSET_CLONES void add_scores(Short* sums, const Short* scores, const Byte* one, const Byte* other,
                               std::int32_t count) {
    for (std::int32_t g = 0; g < count; ++g) sums[g] = static_cast<Short>(scores[g] + one[g] + other[g]);
}

std::int32_t first_with(Byte score, const Byte* scores, std::int32_t count) {
    return static_cast<std::int32_t>(static_cast<const Byte*>(std::memchr(scores, score, count)) - scores);
}
std::int32_t first_with(Short score, const Short* scores, std::int32_t count) {
    return static_cast<std::int32_t>(std::find(scores, scores + count, score) - scores);
}

}  // namespace

ANONSET_CLONES Byte largest_score(const Byte* scores, std::int32_t count) {
    Byte best = INT8_MIN;
    for (std::int32_t g = 0; g < count; ++g) best = scores[g] > best ? scores[g] : best;
    return best;
}
ANONSET_CLONES Short largest_score(const Short* scores, std::int32_t count) {
    Short best = INT16_MIN;
    for (std::int32_t g = 0; g < count; ++g) best = scores[g] > best ? scores[g] : best;
    return best;
}

void GroupLists::build(const Groups& groups, const std::vector<std::int32_t>& numbers, bool with_half) {
    padded_ = (static_cast<std::int32_t>(numbers.size()) + VECTOR - 1) / VECTOR * VECTOR;
    lists_ = transpose_pairs<std::uint32_t, std::int32_t>(groups.n_items(), [&](auto&& visit) {
        for (std::uint32_t i = 0; i < numbers.size(); ++i)
            for (const HalfItem& half : groups[numbers[i]].half)
                if (half.central || with_half) visit(half.item, 2 * i + half.central);
    });
    listed_.assign(groups.n_items() / 64 + 1, 0);
    for (std::int32_t item = 0; item < groups.n_items(); ++item)
        listed_[item / 64] |= std::uint64_t{lists_.size(item) > 0} << item % 64;
    spread(groups.n_items());
}

void GroupLists::spread(std::int32_t n_items) {
    array_.assign(n_items, -1);
    weights_.assign(padded_, 0);  // the first array is empty: it makes an odd number of arrays even
    for (std::int32_t item = 0; item < n_items; ++item) {
        if (ARRAY_SHARE * lists_.size(item) <= padded_) continue;
        array_[item] = static_cast<std::int32_t>(weights_.size() / padded_);
        weights_.resize(weights_.size() + padded_, 0);
        Byte* mine = weights_.data() + std::int64_t{array_[item]} * padded_;
        for (const std::uint32_t* e = lists_.begin(item); e != lists_.end(item); ++e)
            mine[*e / 2] = static_cast<Byte>(1 + *e % 2);
    }
}

std::int32_t* GroupLists::filter(const std::int32_t* item, const std::int32_t* end, std::int32_t* out) const {
    for (; item != end; ++item) {
        *out = *item;
        out += listed_[*item / 64] >> *item % 64 & 1;
    }
    return out;
}

template <class Score>
void GroupLists::score(const std::int32_t* item, const std::int32_t* end, const Score* base, Score* scores) const {
    const Byte* one = nullptr;  // that waits for another
    for (const std::int32_t* i = item; i != end; ++i) {
        if (array_[*i] < 0) continue;
        const Byte* const array = weights_.data() + std::int64_t{array_[*i]} * padded_;
        if (one == nullptr) {
            one = array;
            continue;
        }
        add_scores(scores, std::exchange(base, scores), std::exchange(one, nullptr), array, padded_);
    }
    if (one != nullptr) add_scores(scores, std::exchange(base, scores), one, weights_.data(), padded_);
    if (base != scores) std::copy_n(base, padded_, scores);
    for (; item != end; ++item) {
        if (array_[*item] >= 0) continue;
        for (const std::uint32_t *at = lists_.begin(*item), *last = lists_.end(*item); at != last; ++at)
            scores[*at / 2] = static_cast<Score>(scores[*at / 2] + 1 + *at % 2);
    }
}
template void GroupLists::score(const std::int32_t*, const std::int32_t*, const Short*, Short*) const;

Index::Index(const Groups& groups) {
    places_.assign(groups.count(), -1);
    for (std::int32_t g = 0; g < groups.count(); ++g)
        if (groups[g].size() > 0) {
            places_[g] = static_cast<std::int32_t>(numbers_.size());
            numbers_.push_back(g);
        }
    lists_.build(groups, numbers_, true);
    bytes_.assign(lists_.padded(), NEVER<Byte>);
    shorts_.assign(lists_.padded(), NEVER<Short>);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
        const std::int32_t center = groups[numbers_[i]].center;
        bytes_[i] = static_cast<Byte>(-std::min(center, 2 * MOST<Byte>));
        shorts_[i] = static_cast<Short>(-std::min(center, 2 * MOST<Short>));
    }
}

std::int32_t Index::list(const Csr& rows, std::int32_t row, Scores& work) const {
    const auto size = std::min<std::int64_t>(rows.size(row), MOST<Short>);
    if (static_cast<std::int64_t>(work.listed.size()) <= size) work.listed.resize(2 * size + 1);
    work.brief = size <= MOST<Byte>;
    const std::int32_t* const end = lists_.filter(rows.begin(row), rows.begin(row) + size, work.listed.data());
    return work.count = static_cast<std::int32_t>(end - work.listed.data());
}

Target Index::best(std::int32_t except, Scores& work, std::int32_t& there) const {
    if (numbers_.empty()) return Target();
    return work.brief ? best(except, bytes_, work.bytes, work, there) : best(except, shorts_, work.shorts, work, there);
}
template <class Score>
Target Index::best(std::int32_t except, const std::vector<Score>& base, std::vector<Score>& sums, const Scores& work,
                   std::int32_t& there) const {
    sums.resize(base.size());
    Score* scores = sums.data();
    lists_.score(work.listed.data(), work.listed.data() + work.count, base.data(), scores);
    if (except >= 0) there = std::exchange(scores[places_[except]], NEVER<Score>);
    const Score most = largest_score(scores, lists_.padded());
    return most == NEVER<Score> ? Target() : Target{numbers_[first_with(most, scores, lists_.padded())], most, 0};
}

}  // namespace anonset::crowd
