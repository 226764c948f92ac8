// Which groups are worth a try for each row: those where it would gain most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/monitor.hpp"
#include "kp/groups.hpp"

namespace anonset::kp {

constexpr std::int32_t CANDIDATES = 3;

// The groups where each row would gain most. Sparse rows find them by the codes that at least half of a group holds:
// only these can gain. They are looked up as things stand; before use, look again.
class CandidateGroups {
  public:
    CandidateGroups(const Groups& groups, Monitor& monitor) : groups_(groups), monitor_(monitor) {}

    template <int Fixed>
    ANONSET_INLINE void find(bool dense) {
        best_.assign(std::int64_t{groups_.size()} * CANDIDATES, -1);
        if (!dense) list_centers();
        for (std::int32_t r = 0; r < groups_.size(); ++r) {
            if ((r & 1023) == 0) monitor_.check();
            dense ? compare<Fixed>(r) : look_up(r);
        }
    }

    // The i-th best group; -1 where there is none.
    std::int32_t candidate(std::int32_t t, std::int32_t i) const { return best_[std::int64_t{t} * CANDIDATES + i]; }

  private:
    // For each code the groups of which half hold it, and whether more than half do.
    void list_centers() {
        lists_.resize(groups_.codes());
        for (auto& list : lists_) list.clear();
        center_.assign(groups_.count(), 0);
        score_.assign(groups_.count(), 0);
        touched_.resize(groups_.count() + 1);
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
        std::int32_t gains[CANDIDATES];
        std::fill(gains, gains + CANDIDATES, INT32_MIN);
        std::int32_t* best = &best_[std::int64_t{r} * CANDIDATES];
        for (std::int32_t i = 0; i < count; ++i) {
            const std::int32_t g = touched_[i];
            const std::int32_t gain = std::exchange(score_[g], 0) - center_[g];
            if (g != groups_.group(r)) insert(g, gain, gains, best);
        }
    }

    // Dense rows share something with every group.
    template <int Fixed>
    ANONSET_INLINE void compare(std::int32_t r) {
        std::int32_t gains[CANDIDATES];
        std::fill(gains, gains + CANDIDATES, INT32_MIN);
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (g != groups_.group(r) && !groups_.members(g).empty())
                insert(g, groups_.join_gain<Fixed>(r, g), gains, &best_[std::int64_t{r} * CANDIDATES]);
    }

    static ANONSET_INLINE void insert(std::int32_t g, std::int32_t gain, std::int32_t* gains, std::int32_t* best) {
        if (gain <= gains[CANDIDATES - 1]) return;
        int slot = CANDIDATES - 1;
        for (; slot > 0 && gains[slot - 1] < gain; --slot) gains[slot] = gains[slot - 1], best[slot] = best[slot - 1];
        gains[slot] = gain, best[slot] = g;
    }

    const Groups& groups_;
    Monitor& monitor_;
    std::vector<std::vector<std::int32_t>> lists_;
    std::vector<std::int32_t> center_, score_, touched_, best_;
};

}  // namespace anonset::kp
