// Which groups are worth a try for each row: dense rows, those of its near neighbours; sparse rows, those where it
// would gain most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "bitmap.hpp"
#include "kp_groups.hpp"
#include "monitor.hpp"
#include "random.hpp"

namespace anonset::kp {

constexpr std::int32_t kNear = 8;
constexpr std::int32_t kHavens = 3;

// The nearest rows of each row.
class Neighbours {
  public:
    Neighbours(const Groups& groups, Random& random, Monitor& monitor)
        : groups_(groups), random_(random), monitor_(monitor) {}

    template <int Fixed>
    ANONSET_INLINE void find() {
        near_.assign(std::int64_t{groups_.size()} * kNear, -1);
        distance_.assign(std::int64_t{groups_.size()} * kNear, INT32_MAX);
        groups_.size() <= kExact ? compare_all<Fixed>() : sort_often<Fixed>();
    }

    std::int32_t near(std::int32_t t, std::int32_t i) const { return near_[std::int64_t{t} * kNear + i]; }

    // The group of the i-th neighbour; -1 where there is none.
    std::int32_t candidate(std::int32_t t, std::int32_t i) const {
        return near(t, i) < 0 ? -1 : groups_.group(near(t, i));
    }

  private:
    static constexpr std::int32_t kExact = 1500;  // rows up to which everybody meets everybody

    template <int Fixed>
    ANONSET_INLINE void compare_all() {
        for (std::int32_t a = 0; a < groups_.size(); ++a) {
            if ((a & 63) == 0) monitor_.check();
            for (std::int32_t b = 0; b < a; ++b) {
                const std::int32_t d = groups_.distance<Fixed>(a, b);
                if (d < farthest(a)) insert(a, b, d);
                if (d < farthest(b)) insert(b, a, d);
            }
        }
    }

    // Rows next to each other in the given order and under sorts by random bits.
    template <int Fixed>
    ANONSET_INLINE void sort_often() {
        std::vector<std::int32_t> order(groups_.size());
        std::iota(order.begin(), order.end(), 0);
        meet_beside<Fixed>(order, 4);
        std::vector<std::pair<std::uint64_t, std::int32_t>> keys(order.size());
        for (int round = 0; round < 4 && groups_.codes() > 0; ++round) {
            monitor_.check();
            std::int32_t chosen[64];
            for (auto& code : chosen)
                code = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(groups_.codes())));
            for (std::int32_t r = 0; r < groups_.size(); ++r) {
                std::uint64_t key = 0;
                for (const std::int32_t code : chosen) key = key << 1 | (groups_.bits(r)[code >> 6] >> (code & 63) & 1);
                keys[r] = {key, r};
            }
            std::sort(keys.begin(), keys.end());
            for (std::size_t i = 0; i < keys.size(); ++i) order[i] = keys[i].second;
            meet_beside<Fixed>(order, 2);
        }
    }

    template <int Fixed>
    ANONSET_INLINE void meet_beside(const std::vector<std::int32_t>& order, std::int32_t reach) {
        const auto size = static_cast<std::int32_t>(order.size());
        for (std::int32_t at = 0; at < size; ++at)
            for (std::int32_t other = std::max(0, at - reach); other <= std::min(size - 1, at + reach); ++other)
                if (other != at) meet(order[at], order[other], groups_.distance<Fixed>(order[at], order[other]));
    }

    // Two rows that may have met before.
    ANONSET_INLINE void meet(std::int32_t a, std::int32_t b, std::int32_t d) {
        const std::int32_t* list = &near_[std::int64_t{a} * kNear];
        if (d < farthest(a) && std::find(list, list + kNear, b) == list + kNear) insert(a, b, d);
    }

    std::int32_t farthest(std::int32_t a) const { return distance_[std::int64_t{a} * kNear + kNear - 1]; }

    ANONSET_INLINE void insert(std::int32_t a, std::int32_t b, std::int32_t d) {
        std::int32_t* list = &near_[std::int64_t{a} * kNear];
        std::int32_t* far = &distance_[std::int64_t{a} * kNear];
        std::int32_t slot = kNear - 1;
        for (; slot > 0 && far[slot - 1] > d; --slot) list[slot] = list[slot - 1], far[slot] = far[slot - 1];
        list[slot] = b, far[slot] = d;
    }

    const Groups& groups_;
    Random& random_;
    Monitor& monitor_;
    std::vector<std::int32_t> near_, distance_;
};

// The groups where each row would gain most, found by the codes that at least half of a group holds. Only these can
// gain. They are looked up as things stand; whoever uses them looks again.
class Havens {
  public:
    Havens(const Groups& groups, Monitor& monitor) : groups_(groups), monitor_(monitor) {}

    ANONSET_INLINE void find() {
        list_centers();
        best_.assign(std::int64_t{groups_.size()} * kHavens, -1);
        score_.assign(groups_.count(), 0);
        touched_.resize(groups_.count() + 1);
        for (std::int32_t r = 0; r < groups_.size(); ++r) {
            if ((r & 1023) == 0) monitor_.check();
            look_up(r);
        }
    }

    // The i-th best group; -1 where there is none.
    std::int32_t candidate(std::int32_t t, std::int32_t i) const {
        return i < kHavens ? best_[std::int64_t{t} * kHavens + i] : -1;
    }

  private:
    // For each code the groups of which half hold it, and whether more than half do.
    void list_centers() {
        lists_.resize(groups_.codes());
        for (auto& list : lists_) list.clear();
        center_.assign(groups_.count(), 0);
        for (std::int32_t g = 0; g < groups_.count(); ++g) {
            if (groups_.members(g).empty()) continue;
            const std::uint64_t *half = groups_.planes(g) + groups_.words(), *central = half + groups_.words();
            for (std::int64_t w = 0; w < groups_.words(); ++w) {
                center_[g] += __builtin_popcountll(central[w]);
                for (std::uint64_t left = half[w]; left; left &= left - 1) {
                    const int bit = __builtin_ctzll(left);
                    lists_[w * 64 + bit].push_back(2 * g + static_cast<std::int32_t>(central[w] >> bit & 1));
                }
            }
        }
    }

    ANONSET_INLINE void look_up(std::int32_t r) {
        std::int32_t count = 0;
        for (std::int64_t w = 0; w < groups_.words(); ++w)
            for (std::uint64_t left = groups_.bits(r)[w]; left; left &= left - 1)
                for (const std::int32_t entry : lists_[w * 64 + __builtin_ctzll(left)]) {
                    touched_[count] = entry >> 1;  // kept if it is new; a branch would be guessed wrong too often
                    count += score_[entry >> 1] == 0;
                    score_[entry >> 1] += 1 + (entry & 1);
                }
        std::int32_t gains[kHavens];
        std::fill(gains, gains + kHavens, INT32_MIN);
        std::int32_t* best = &best_[std::int64_t{r} * kHavens];
        for (std::int32_t i = 0; i < count; ++i) {
            const std::int32_t g = touched_[i];
            const std::int32_t gain = std::exchange(score_[g], 0) - center_[g];
            if (g == groups_.group(r) || gain <= gains[kHavens - 1]) continue;
            int slot = kHavens - 1;
            for (; slot > 0 && gains[slot - 1] < gain; --slot)
                gains[slot] = gains[slot - 1], best[slot] = best[slot - 1];
            gains[slot] = gain, best[slot] = g;
        }
    }

    const Groups& groups_;
    Monitor& monitor_;
    std::vector<std::vector<std::int32_t>> lists_;
    std::vector<std::int32_t> center_, score_, touched_, best_;
};

}  // namespace anonset::kp
