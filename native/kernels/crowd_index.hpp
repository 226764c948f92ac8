// Which group a row would best join: every group gets a score, two for each item of the row in its center, one for each
// that just half of its members hold, less the size of its center. That is what the row would gain there.
#pragma once

#include <cstring>

#include "bitmap.hpp"
#include "crowd_groups.hpp"

namespace anonset::crowd {

struct Target {
    std::int32_t group = -1;
    std::int32_t gain = INT32_MIN;
    std::int32_t more = 0;  // than where the row is
};

ANONSET_CLONES inline void add_scores(std::int16_t* scores, const std::int16_t* more, std::int32_t count) {
    for (std::int32_t g = 0; g < count; ++g) scores[g] = static_cast<std::int16_t>(scores[g] + more[g]);
}

// The largest score, and the first group that has it; `count` is a multiple of 128.
ANONSET_CLONES inline Target largest_score(const std::int16_t* scores, std::int32_t count) {
    std::int16_t best = INT16_MIN;
    std::int32_t part = 0;
    for (std::int32_t from = 0; from < count; from += 128) {
        std::int16_t here = INT16_MIN;
        for (std::int32_t g = from; g < from + 128; ++g) here = scores[g] > here ? scores[g] : here;
        if (here > best) best = here, part = from;
    }
    while (scores[part] != best) ++part;
    return {part, best, 0};
}

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
        groups_ = (static_cast<std::int32_t>(numbers_.size()) + 127) / 128 * 128;
        base_.assign(groups_, NEVER);
        starts_.assign(2 * groups.n_items() + 1, 0);
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            const Group& group = groups[numbers_[i]];
            base_[i] = static_cast<std::int16_t>(-std::min(group.center, MOST));
            for (const HalfItem& half : group.half) ++starts_[2 * half.item + !half.central + 1];
        }
        for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
        entries_.resize(starts_.back());
        std::vector<std::int32_t> cursor(starts_.begin(), starts_.end() - 1);
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            for (const HalfItem& half : groups[numbers_[i]].half)
                entries_[cursor[2 * half.item + !half.central]++] = static_cast<std::int32_t>(i);
        spread(groups.n_items());
    }

    // What the row gains in the group that suits it best, other than `except`. (Of a very long row only the first
    // items count, so that scores fit; what a change really gains is counted when it is made.)
    Target best(const Csr& rows, std::int32_t row, std::int32_t except, std::vector<std::int16_t>& work) const {
        if (groups_ == 0) return Target();
        work.resize(groups_);
        std::int16_t* scores = work.data();
        std::memcpy(scores, base_.data(), groups_ * sizeof(std::int16_t));
        const std::int32_t* end = rows.begin(row) + std::min<std::int64_t>(rows.size(row), MOST / 2);
        for (const std::int32_t* i = rows.begin(row); i != end; ++i) {
            if (wide_[*i] >= 0) {
                add_scores(scores, weights_.data() + std::int64_t{wide_[*i]} * groups_, groups_);
                continue;
            }
            const std::int32_t *at = entries_.data() + starts_[2 * *i], *half = entries_.data() + starts_[2 * *i + 1];
            for (; at != half; ++at) scores[*at] = static_cast<std::int16_t>(scores[*at] + 2);
            for (half = entries_.data() + starts_[2 * *i + 2]; at != half; ++at) ++scores[*at];
        }
        if (except >= 0 && places_[except] >= 0) scores[places_[except]] = NEVER;
        const Target target = largest_score(scores, groups_);
        return target.gain <= NEVER / 2 ? Target() : Target{numbers_[target.group], target.gain, 0};
    }

  private:
    static constexpr std::int16_t NEVER = INT16_MIN;
    static constexpr std::int32_t MOST = 12'000;
    static constexpr std::int32_t WIDE = 10;  // lists of more than a tenth of all groups are kept as arrays

    void spread(std::int32_t n_items) {
        wide_.assign(n_items, -1);
        weights_.clear();
        for (std::int32_t item = 0; item < n_items; ++item) {
            if (WIDE * (starts_[2 * item + 2] - starts_[2 * item]) <= groups_) continue;
            wide_[item] = static_cast<std::int32_t>(weights_.size() / groups_);
            weights_.resize(weights_.size() + groups_, 0);
            std::int16_t* mine = weights_.data() + std::int64_t{wide_[item]} * groups_;
            for (std::int32_t e = starts_[2 * item]; e < starts_[2 * item + 2]; ++e)
                mine[entries_[e]] = e < starts_[2 * item + 1] ? 2 : 1;
        }
    }

    std::int32_t groups_ = 0;
    std::vector<std::int32_t> numbers_, places_;  // which groups are here, and where each of them is (-1: nowhere)
    std::vector<std::int16_t> base_, weights_;
    std::vector<std::int32_t> starts_, entries_, wide_;  // starts_: center lists at even places, half lists at odd ones
};

}  // namespace anonset::crowd
