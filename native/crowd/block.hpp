// A block of dense rows in groups of k to 2k - 1, kept so that every change of the gain is a handful of popcounts.
//
// For a group of s rows in which item i occurs c times let v = 2c - s. The gain of the group is the sum of max(0, v):
// what its rows keep, counted against publishing nothing. Four bitmaps per group hold the items with v >= -1, 0, 1, 2:
//   row t leaves g:        |V0 \ t| - |t & V1|
//   row t joins h:         |t & V0| - |V1 \ t|
//   t in g against u in h: for D = t \ u:  |D & Vh-1| + |D & Vh0| - |D & Vg1| - |D & Vg2|, and mirrored for u \ t;
//                          for one t and many u: three more bitmaps of weights (gain_planes.hpp)
// The counts c lie across further bitmaps, bit 0 of all of them in the first, and so on: adding a row to all counts
// is a few words of logic, and so is comparing all of them with a threshold.
//
// A group of 2k or more is never needed: any two halves of at least k gain at least as much.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bitmap.hpp"
#include "core/gain_planes.hpp"

namespace anonset::crowd {

class Block {
  public:
    Block(std::int64_t words, std::int32_t k) : words_(words), k_(k), capacity_(2 * k - 1) {
        while (capacity_ >> slices_) ++slices_;
        stride_ = (4 + slices_) * words_;
    }

    // Begins anew, without groups.
    void load(const std::uint64_t* bits, const std::vector<std::int32_t>& rows) {
        bits_.resize(rows.size() * words_);
        for (std::size_t i = 0; i < rows.size(); ++i)
            std::copy_n(bits + rows[i] * words_, words_, bits_.data() + i * words_);
        group_.assign(rows.size(), -1);
        place_.resize(rows.size());
        members_.resize(rows.size() / k_ * capacity_);
        size_.clear();
        planes_.clear();
    }

    std::int32_t rows() const { return static_cast<std::int32_t>(group_.size()); }
    std::int32_t groups() const { return static_cast<std::int32_t>(size_.size()); }  // those that were dissolved too
    std::int32_t k() const { return k_; }
    std::int32_t capacity() const { return capacity_; }
    std::int64_t words() const { return words_; }
    std::int32_t group(std::int32_t row) const { return group_[row]; }
    std::int32_t size(std::int32_t g) const { return size_[g]; }
    const std::int32_t* members(std::int32_t g) const { return members_.data() + std::int64_t{g} * capacity_; }
    template <int W>
    ANONSET_INLINE const std::uint64_t* row(std::int64_t r) const {
        return bits_.data() + r * width<W>();
    }
    const std::uint64_t* center(std::int32_t g) const { return planes(g) + 2 * words_; }

    std::int32_t found() {
        size_.push_back(0);
        planes_.resize(planes_.size() + stride_, 0);
        return groups() - 1;
    }

    // Members join before `settle`; until then the gains of the group are not known.
    template <int W>
    ANONSET_INLINE void enroll(std::int32_t row, std::int32_t g) {
        group_[row] = g;
        place_[row] = size_[g];
        members_[std::int64_t{g} * capacity_ + size_[g]++] = row;
        count<W>(g, this->template row<W>(row), 1);
    }
    template <int W>
    ANONSET_INLINE void settle(std::int32_t g) {
        const std::int64_t words = width<W>();
        std::uint64_t* v = planes(g);
        const std::int32_t half = (size_[g] + 1) / 2;  // the least c with v >= 0
        const bool odd = size_[g] & 1;
        at_least<W>(g, half, v + words);
        at_least<W>(g, half + 1, v + (odd ? 3 : 2) * words);
        if (odd && half > 1) {
            at_least<W>(g, half - 1, v);
        } else if (odd) {
            std::fill_n(v, words, ~std::uint64_t{0});
        } else {
            std::copy_n(v + words, words, v);
        }
        std::copy_n(v + (odd ? 1 : 2) * words, words, v + (odd ? 2 : 3) * words);
    }

    template <int W>
    ANONSET_INLINE std::int32_t leaving(const std::uint64_t* t, std::int32_t g) const {
        return gain::leaving<W>(t, planes(g), words_);
    }
    template <int W>
    ANONSET_INLINE std::int32_t joining(const std::uint64_t* t, std::int32_t h) const {
        return gain::joining<W>(t, planes(h), words_);
    }
    // For swaps of row t of g with rows of h; see gain::weigh.
    template <int W>
    ANONSET_INLINE void weigh(const std::uint64_t* t, std::int32_t g, std::int32_t h, std::uint64_t* weights) const {
        gain::weigh<W>(t, planes(g), planes(h), words_, weights);
    }
    template <int W>
    ANONSET_INLINE std::int32_t gain(std::int32_t g) const {
        const std::int64_t words = width<W>();
        const std::uint64_t* v = planes(g);
        std::int32_t gain = 0;
        for (std::int64_t w = 0; w < words; ++w) {
            const std::uint64_t kept = v[2 * words + w];
            for (std::int32_t i = 0; i < slices_; ++i)
                gain += __builtin_popcountll(v[(4 + i) * words + w] & kept) << (i + 1);
            gain -= size_[g] * __builtin_popcountll(kept);
        }
        return gain;
    }

    template <int W>
    ANONSET_INLINE void swap(std::int32_t t, std::int32_t u) {
        const std::int32_t g = group_[t], h = group_[u];
        count<W>(g, row<W>(t), -1);
        count<W>(g, row<W>(u), 1);
        count<W>(h, row<W>(u), -1);
        count<W>(h, row<W>(t), 1);
        settle<W>(g);
        settle<W>(h);
        std::swap(members_[std::int64_t{g} * capacity_ + place_[t]], members_[std::int64_t{h} * capacity_ + place_[u]]);
        std::swap(place_[t], place_[u]);
        std::swap(group_[t], group_[u]);
    }
    template <int W>
    ANONSET_INLINE void move(std::int32_t t, std::int32_t h) {
        const std::int32_t g = group_[t];
        std::int32_t* list = members_.data() + std::int64_t{g} * capacity_;
        const std::int32_t last = list[--size_[g]];
        list[place_[t]] = last;
        place_[last] = place_[t];
        count<W>(g, row<W>(t), -1);
        enroll<W>(t, h);
        settle<W>(g);
        settle<W>(h);
    }
    // Every member of g joins the group named for it, one after the other, if that gains anything in the end.
    template <int W>
    ANONSET_INLINE bool dissolve(std::int32_t g, const std::int32_t* targets) {
        const std::int32_t* list = members(g);
        std::int32_t change = -gain<W>(g);
        for (std::int32_t i = 0; i < size_[g]; ++i) {
            change += joining<W>(row<W>(list[i]), targets[i]);
            enroll<W>(list[i], targets[i]);
            settle<W>(targets[i]);
        }
        if (change < 0) {
            recall<W>(g, targets);
            return false;
        }
        size_[g] = 0;
        std::fill_n(planes(g), stride_, 0);
        return true;
    }

    // The gain of a group from its members alone, for debug builds.
    std::int64_t recounted(std::int32_t g) const {
        std::int64_t sum = 0;
        for (std::int64_t item = 0; item < 64 * words_; ++item) {
            std::int64_t c = 0;
            for (std::int32_t i = 0; i < size_[g]; ++i) c += row<0>(members(g)[i])[item >> 6] >> (item & 63) & 1;
            sum += std::max<std::int64_t>(0, 2 * c - size_[g]);
        }
        return sum;
    }

  private:
    template <int W>
    ANONSET_INLINE std::int64_t width() const {
        return W ? W : words_;
    }
    std::uint64_t* planes(std::int64_t g) { return planes_.data() + g * stride_; }
    const std::uint64_t* planes(std::int64_t g) const { return planes_.data() + g * stride_; }

    // Undoes what `dissolve` did: the members that joined last are the last of their new groups.
    template <int W>
    ANONSET_INLINE void recall(std::int32_t g, const std::int32_t* targets) {
        const std::int32_t* list = members(g);
        for (std::int32_t i = size_[g] - 1; i >= 0; --i) {
            --size_[targets[i]];
            count<W>(targets[i], row<W>(list[i]), -1);
            settle<W>(targets[i]);
            group_[list[i]] = g;
            place_[list[i]] = i;
        }
    }

    // Adds a row to the counts of a group, or takes it away.
    template <int W>
    ANONSET_INLINE void count(std::int32_t g, const std::uint64_t* t, int sign) {
        const std::int64_t words = width<W>();
        std::uint64_t* slice = planes(g) + 4 * words;
        for (std::int64_t w = 0; w < words; ++w) {
            std::uint64_t carry = t[w];
            for (std::int32_t i = 0; i < slices_; ++i) {
                const std::uint64_t old = slice[i * words + w];
                slice[i * words + w] = old ^ carry;
                carry &= sign > 0 ? old : ~old;
            }
        }
    }

    // out = the items whose count is at least `least`, which must be positive.
    template <int W>
    ANONSET_INLINE void at_least(std::int32_t g, std::int32_t least, std::uint64_t* out) const {
        const std::int64_t words = width<W>();
        const std::uint64_t* slice = planes(g) + 4 * words;
        for (std::int64_t w = 0; w < words; ++w) {
            std::uint64_t equal = ~std::uint64_t{0}, more = 0;
            for (std::int32_t i = slices_ - 1; i >= 0; --i) {
                const std::uint64_t bit = slice[i * words + w];
                if (least >> i & 1) {
                    equal &= bit;
                } else {
                    more |= equal & bit;
                }
            }
            out[w] = more | equal;
        }
    }

    std::int64_t words_;
    std::int32_t k_, capacity_, slices_ = 0;
    std::int64_t stride_;
    std::vector<std::uint64_t> bits_, planes_;  // planes: V-1, V0, V1, V2 and the counts of each group
    std::vector<std::int32_t> group_, place_, members_, size_;
};

}  // namespace anonset::crowd
