// Groups from nothing: the oldest waiting row founds a group and takes the k - 1 rows of the pool with the least summed
// distance to it that keep the limit. A founder that does not find so many is left without a group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bitmap.hpp"
#include "core/monitor.hpp"
#include "kp/groups.hpp"

namespace anonset::kp {

class Seeder {
  public:
    Seeder(const Groups& groups, Monitor& monitor)
        : groups_(groups),
          monitor_(monitor),
          found_(groups.size(), -1),
          held_(groups.attributes()),
          shut_(groups.secret_words()) {}

    // Finds the group of each row; returns how many groups there are.
    template <int Fixed>
    ANONSET_INLINE std::int32_t run() {
        std::int32_t count = 0;
        for (std::int32_t next = 0;;) {
            monitor_.check();
            while (pool_.size() < POOL && next < groups_.size()) pool_.push_back(next++);
            if (static_cast<std::int64_t>(pool_.size()) < groups_.k()) return count;
            gather<Fixed>();
            if (static_cast<std::int64_t>(chosen_.size()) == groups_.k()) {
                for (const std::int32_t r : chosen_) found_[r] = count;
                ++count;
            } else {
                chosen_.resize(1);
            }
            const auto gone = [&](std::int32_t r) { return found_[r] >= 0 || r == chosen_[0]; };
            pool_.erase(std::remove_if(pool_.begin(), pool_.end(), gone), pool_.end());
        }
    }

    std::vector<std::int32_t>&& take() { return std::move(found_); }

  private:
    static constexpr std::size_t POOL = 768;
    static constexpr std::int32_t CHOSEN = INT32_MAX / 2;

    template <int Fixed>
    ANONSET_INLINE void gather() {
        sums_.assign(pool_.size(), 0);
        std::fill(held_.begin(), held_.end(), 0);
        const bool nobody = !groups_.limit().allows(1, groups_.k());
        std::fill(shut_.begin(), shut_.end(), nobody ? ~std::uint64_t{0} : 0);
        chosen_.assign(1, pool_[0]);
        if (!may_enter(pool_[0])) return;
        for (std::size_t best = 0; best < pool_.size();) {
            hold(chosen_.back());
            if (static_cast<std::int64_t>(chosen_.size()) == groups_.k()) return;
            sums_[best] = CHOSEN;
            best = nearest<Fixed>(chosen_.back());
            if (best < pool_.size()) chosen_.push_back(pool_[best]);
        }
    }

    ANONSET_INLINE bool may_enter(std::int32_t r) const {
        for (std::int64_t w = 0; w < groups_.secret_words(); ++w)
            if (groups_.secret(r)[w] & shut_[w]) return false;
        return true;
    }

    // Counts a new member's sensitive attributes; those that no further member may hold are shut.
    void hold(std::int32_t r) {
        for (std::int64_t w = 0; w < groups_.secret_words(); ++w)
            for (std::uint64_t left = groups_.secret(r)[w]; left; left &= left - 1) {
                const auto a = w * 64 + __builtin_ctzll(left);
                if (!groups_.limit().allows(++held_[a] + 1, groups_.k())) shut_[w] |= std::uint64_t{1} << (a & 63);
            }
    }

    // Adds the distances to the newest member; the place of the nearest row that may join, or the end.
    template <int Fixed>
    ANONSET_INLINE std::size_t nearest(std::int32_t newest) {
        std::size_t best = pool_.size();
        for (std::size_t i = 0; i < pool_.size(); ++i) {
            if (sums_[i] >= CHOSEN) continue;
            sums_[i] += groups_.distance<Fixed>(newest, pool_[i]);
            if ((best == pool_.size() || sums_[i] < sums_[best]) && may_enter(pool_[i])) best = i;
        }
        return best;
    }

    const Groups& groups_;
    Monitor& monitor_;
    std::vector<std::int32_t> found_, pool_, sums_, chosen_, held_;
    std::vector<std::uint64_t> shut_;
};

}  // namespace anonset::kp
