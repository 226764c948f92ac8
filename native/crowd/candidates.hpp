// The candidates of an anchor, ranked by what they bring to a center.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "crowd/majority.hpp"

namespace anonset::crowd {

// What candidates bring to a center is 64 times the items that they share with it, less what they expect. Candidates
// stand in the order of that expectation's remainder by 64. So after taking away the whole 64s, one that shares more
// brings more, and of those that share the same the first does.
struct Candidates {
    const std::int32_t* classes;
    const std::uint64_t* masks;  // which items of the anchor each of them holds
    const std::uint8_t* least;   // and its rank if the center is empty
    std::int32_t count;
};
class Ranks {
  public:
    static constexpr std::uint32_t WHOLE = 64;

    static std::uint8_t least(std::int32_t expected) {
        return static_cast<std::uint8_t>(MOST - std::min(expected / static_cast<std::int32_t>(WHOLE), MOST));
    }

    // Ranks the candidates by what they bring; rows of a class that is gone do not count.
    ANONSET_CLONES void rank(const Candidates& all, std::uint64_t center, const std::int32_t* left) {
        if (static_cast<std::int32_t>(rank_.size()) < all.count) rank_.resize(all.count), left_.resize(all.count);
        above_ = MOST + __builtin_popcountll(center) + 1;
        std::fill(rows_, rows_ + above_, 0);
        const auto [classes, masks, least, count] = all;
        std::int32_t* ranks = rank_.data();
        for (std::int32_t i = 0; i < count; ++i) {
            ranks[i] = __builtin_popcountll(masks[i] & center) + least[i];
            rows_[ranks[i]] += left_[i] = left[classes[i]];
        }
    }

    // The `missing` rows that bring most; false if there are not as many.
    bool first(std::int32_t known, std::int32_t missing, Members& out) const {
        std::int32_t last = above_;
        while (missing > 0 && last > 0) missing -= rows_[--last];
        if (missing > 0) return false;
        missing += rows_[last];
        if (static_cast<std::int32_t>(out.all.size()) <= known) out.all.resize(known + 1);
        Member* next = out.all.data();
        for (std::int32_t i = 0; i < known; ++i) {
            const std::int32_t some = rank_[i] == last ? std::min(left_[i], missing) : 0;
            const std::int32_t copies = rank_[i] > last ? left_[i] : some;
            missing -= some;
            *next = {i, copies};
            next += copies > 0;
        }
        out.count = static_cast<std::int32_t>(next - out.all.data());
        return true;
    }

    // The same for classes of one row each, of which no two may belong to one person, nor to the one of `anchor`.
    bool first_different(const Candidates& all, const std::int32_t* person, std::int32_t anchor, std::int32_t missing,
                         std::vector<std::int32_t>& met, Members& out) {
        std::int32_t there = 0, from[RANKS];  // where the candidates of each rank stand; the highest comes first
        for (std::int32_t rank = above_; rank-- > 0;) from[rank] = std::exchange(there, there + rows_[rank]);
        in_order_.resize(there);
        for (std::int32_t i = 0; i < all.count; ++i)
            if (left_[i] > 0) in_order_[from[rank_[i]]++] = i;
        if (static_cast<std::int32_t>(out.all.size()) < missing) out.all.resize(missing);
        out.count = 0;
        met[person[anchor]] = 1;
        for (const std::int32_t i : in_order_) {
            if (out.count == missing) break;
            const std::int32_t whose = person[all.classes[i]];
            if (whose < 0 || met[whose]) continue;
            met[whose] = 1;
            out.all[out.count++] = {i, 1};
        }
        met[person[anchor]] = 0;
        for (const Member& member : out) met[person[all.classes[member.candidate]]] = 0;
        return out.count == missing;
    }

  private:
    static constexpr std::int32_t MOST = 64, RANKS = 2 * MOST + 1;
    std::int32_t rows_[RANKS];               // of each rank
    std::int32_t above_ = 0;                 // all ranks
    std::vector<std::int32_t> rank_, left_;  // of each candidate
    std::vector<std::int32_t> in_order_;     // those that are left, the highest rank first
};

}  // namespace anonset::crowd
