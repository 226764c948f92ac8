// Which classes of equal rows share most items with one of them, of all classes there are. Every class is a bit; the
// items that it shares are counted for many classes at once: a word holds the same bit of all their counts. An item of
// many classes is added as a bitmap, one of few classes bit by bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/bitmap.hpp"
#include "core/csr.hpp"

namespace anonset::crowd {

// One bit for each of 256 classes. (Only a struct is sure to lie in memory as a vector unit needs it.)
constexpr std::uint32_t LANE = 256;
using Lane = std::uint64_t __attribute__((vector_size(LANE / 8)));
struct alignas(LANE / 8) Bits {
    Lane lane = {};
};

// Where a class stands in its lane.
inline std::uint32_t word(std::uint32_t place) { return place / 64 % (LANE / 64); }
inline std::uint64_t bit(std::uint32_t place) { return std::uint64_t{1} << place % 64; }

// How many items each of 256 classes shares: four bits in four planes, and a fifth plane for those that share more
// than 15, whose other bits may be anything.
struct alignas(LANE / 8) Counts {
    static constexpr int PLANES = 4;
    static constexpr std::int32_t MOST = (1 << PLANES) - 1;
    Lane planes[PLANES + 1];

    // Most classes share so little that the first two planes are enough.
    void add(std::uint32_t place) {
        std::uint64_t carry = add(1, place, add(0, place, bit(place)));
        if (carry == 0) return;
        for (int p = 2; p < PLANES; ++p) carry = add(p, place, carry);
        planes[PLANES][word(place)] |= carry;
    }
    void clear(std::uint32_t place) {
        for (Lane& plane : planes) plane[word(place)] &= ~bit(place);
    }

  private:
    // Returns what is carried on to the next plane.
    std::uint64_t add(int p, std::uint32_t place, std::uint64_t carry) {
        const std::uint64_t before = planes[p][word(place)];
        planes[p][word(place)] = before ^ carry;
        return before & carry;
    }
};

// Counts begin as the sum of these bitmaps, which are added in pairs (after the last one follows an empty one).
template <int Planes>
ANONSET_INLINE void sum_bitmaps_in(Counts* counts, std::int64_t lanes, const Bits* const* maps, std::size_t count) {
    for (std::int64_t l = 0; l < lanes; ++l) {
        Lane p0 = {}, p1 = {}, p2 = {}, p3 = {}, above = {};
        for (std::size_t i = 0; i < count; i += 2) {
            const Lane one = maps[i][l].lane, other = maps[i + 1][l].lane, sum = one ^ other;
            const Lane two = (one & other) | (p0 & sum), four = p1 & two, eight = p2 & four;
            p0 ^= sum;
            p1 ^= two;
            if (Planes > 2) p2 ^= four;
            if (Planes > 3) above |= p3 & eight, p3 ^= eight;
        }
        counts[l].planes[0] = p0, counts[l].planes[1] = p1, counts[l].planes[2] = p2, counts[l].planes[3] = p3;
        counts[l].planes[4] = above;
    }
}
ANONSET_CLONES inline void sum_bitmaps(Counts* counts, std::int64_t lanes, const Bits* const* maps, std::size_t count) {
    if (count < 4) return sum_bitmaps_in<2>(counts, lanes, maps, count);
    if (count < 8) return sum_bitmaps_in<3>(counts, lanes, maps, count);
    return sum_bitmaps_in<Counts::PLANES>(counts, lanes, maps, count);
}

// Which classes share at least so many items, 1 to 15, and which of them share more; and how many these are.
struct Similar {
    std::vector<Bits> some, more;
    std::int64_t with_some = 0, with_more = 0;
};
ANONSET_INLINE std::int64_t count_bits(const Lane& lane) {
    return __builtin_popcountll(lane[0]) + __builtin_popcountll(lane[1]) + __builtin_popcountll(lane[2]) +
           __builtin_popcountll(lane[3]);
}
ANONSET_CLONES inline void find_similar(const std::vector<Counts>& counts, std::int32_t least,
                                        const std::vector<Bits>& live, Similar& out) {
    std::int64_t with_some = 0, with_more = 0;
    const Lane zero = {};
    Lane wants[Counts::PLANES];
    for (int p = 0; p < Counts::PLANES; ++p) wants[p] = least >> p & 1 ? ~zero : zero;
    for (std::size_t l = 0; l < counts.size(); ++l) {
        Lane equal = live[l].lane, more = counts[l].planes[Counts::PLANES] & equal;
        for (int p = Counts::PLANES - 1; p >= 0; --p) {
            const Lane plane = counts[l].planes[p];
            more |= equal & plane & ~wants[p];
            equal &= ~(plane ^ wants[p]);
        }
        out.more[l].lane = more;
        out.some[l].lane = equal |= more;
        with_more += count_bits(more);
        with_some += count_bits(equal);
    }
    out.with_some = with_some;
    out.with_more = with_more;
}

class Overlaps {
  public:
    struct Scratch {
        std::vector<Counts> counts;
        std::vector<const Bits*> maps;
        Similar similar;
        std::int32_t level = 2;  // how many items were enough the last time
    };

    // Class c are copies[c] rows from first[c] on, of which some may be left. An item of at most k/2 rows is never in a
    // center: it is left out.
    void build(const Csr& rows, const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& copies,
               const std::vector<std::int32_t>& left, std::int32_t n_items, std::int32_t k) {
        std::vector<std::int32_t> held(n_items, 0);
        for (std::size_t c = 0; c < first.size(); ++c)
            for (const std::int32_t* i = rows.begin(first[c]); i != rows.end(first[c]); ++i) held[*i] += copies[c];
        useful_.resize(n_items);
        for (std::int32_t item = 0; item < n_items; ++item) useful_[item] = 2 * held[item] > k;
        lengths_.resize(first.size());
        for (std::size_t c = 0; c < first.size(); ++c)
            for (const std::int32_t* i = rows.begin(first[c]); i != rows.end(first[c]); ++i) lengths_[c] += useful_[*i];
        arrange(rows, first, left);
    }
    // Once half of the classes are gone, the others are arranged anew, so that there is less to look at.
    void tidy(const Csr& rows, const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& left) {
        if (2 * gone_ > static_cast<std::int64_t>(class_.size())) arrange(rows, first, left);
    }
    void lose(std::int32_t c) {
        live_[place_[c] / LANE].lane[word(place_[c])] &= ~bit(place_[c]);
        ++gone_;
    }

    bool has(std::int32_t item) const { return useful_[item]; }
    std::int32_t size(std::int32_t item) const { return sizes_[item]; }
    std::int32_t length(std::int32_t c) const { return lengths_[c]; }  // without what is left out

    // The `wanted` classes, other than c, that share most of these items, and of those that share as many the shorter
    // ones. Returns how many there are.
    template <class Items>
    std::int32_t most_similar(std::int32_t c, const Items& items, std::int32_t wanted, Scratch& scratch,
                              std::int32_t* out) const {
        count(c, items, scratch);
        Similar& similar = scratch.similar;
        similar.some.resize(live_.size());
        similar.more.resize(live_.size());
        std::int32_t& level = scratch.level;
        find_similar(scratch.counts, level, live_, similar);
        while (similar.with_more >= wanted && level < Counts::MOST)
            find_similar(scratch.counts, ++level, live_, similar);
        while (similar.with_some < wanted && level > 1) find_similar(scratch.counts, --level, live_, similar);
        return list(similar, wanted, out);
    }

  private:
    static constexpr std::int32_t WIDE = 500;  // items of more than so small a share of all classes are bitmaps
    static constexpr std::int32_t LONG = 256;  // classes that are longer are lined up as if they were not

    void arrange(const Csr& rows, const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& left) {
        line_up(left);
        const auto lanes = (static_cast<std::int64_t>(class_.size()) + LANE - 1) / LANE;
        const auto each_item = [&](std::int32_t c, auto&& body) {
            for (const std::int32_t* i = rows.begin(first[c]); i != rows.end(first[c]); ++i)
                if (useful_[*i]) body(*i);
        };
        sizes_.assign(useful_.size(), 0);
        for (const std::int32_t c : class_) each_item(c, [&](std::int32_t item) { ++sizes_[item]; });
        std::int64_t total = 0, wide = 0;
        starts_.resize(useful_.size());
        for (std::size_t item = 0; item < useful_.size(); ++item) {
            const bool many = std::int64_t{WIDE} * sizes_[item] > LANE * lanes;
            starts_[item] = many ? -1 - wide++ : total;
            total += many ? 0 : sizes_[item];
        }
        entries_.resize(total);
        live_.assign(lanes, Bits());
        maps_.assign((wide + 1) * lanes, Bits());
        std::vector<std::int64_t> cursor(starts_);
        for (std::uint32_t place = 0; place < class_.size(); ++place) {
            live_[place / LANE].lane[word(place)] |= bit(place);
            each_item(class_[place], [&](std::int32_t item) {
                if (starts_[item] < 0)
                    maps_[(-1 - starts_[item]) * lanes + place / LANE].lane[word(place)] |= bit(place);
                else
                    entries_[cursor[item]++] = place;
            });
        }
        nothing_ = wide;
        gone_ = 0;
    }
    // The classes that are left, by length.
    void line_up(const std::vector<std::int32_t>& left) {
        std::vector<std::int32_t> next(LONG + 2, 0);
        const auto length = [&](std::size_t c) { return std::min(lengths_[c], LONG); };
        for (std::size_t c = 0; c < left.size(); ++c) next[length(c) + 1] += left[c] > 0;
        std::partial_sum(next.begin(), next.end(), next.begin());
        class_.resize(next.back());
        place_.resize(left.size());
        for (std::size_t c = 0; c < left.size(); ++c) {
            if (left[c] == 0) continue;
            place_[c] = next[length(c)]++;
            class_[place_[c]] = static_cast<std::int32_t>(c);
        }
    }

    const Bits* bitmap(std::int64_t number) const {
        return maps_.data() + number * static_cast<std::int64_t>(live_.size());
    }
    template <class Items>
    void count(std::int32_t c, const Items& items, Scratch& scratch) const {
        scratch.maps.clear();
        for (const auto& one : items)
            if (starts_[one.item] < 0) scratch.maps.push_back(bitmap(-1 - starts_[one.item]));
        const std::size_t maps = scratch.maps.size();
        scratch.maps.push_back(bitmap(nothing_));
        scratch.counts.resize(live_.size());
        sum_bitmaps(scratch.counts.data(), static_cast<std::int64_t>(scratch.counts.size()), scratch.maps.data(), maps);
        for (const auto& one : items) {
            if (starts_[one.item] < 0) continue;
            const std::uint32_t* at = entries_.data() + starts_[one.item];
            for (const std::uint32_t* end = at + sizes_[one.item]; at != end; ++at) scratch.counts[*at / LANE].add(*at);
        }
        scratch.counts[place_[c] / LANE].clear(place_[c]);
    }

    // All that share more, and as many as are still wanted of the others.
    std::int32_t list(const Similar& similar, std::int32_t wanted, std::int32_t* out) const {
        std::int32_t found = 0;
        const auto take = [&](std::size_t l, const Lane& lane) {
            if ((lane[0] | lane[1] | lane[2] | lane[3]) == 0) return;
            for (std::uint32_t w = 0; w < LANE / 64; ++w)
                for (std::uint64_t left = lane[w]; left && found < wanted; left &= left - 1)
                    out[found++] = class_[l * LANE + w * 64 + __builtin_ctzll(left)];
        };
        for (std::size_t l = 0; l < live_.size() && found < wanted; ++l) take(l, similar.more[l].lane);
        for (std::size_t l = 0; l < live_.size() && found < wanted; ++l)
            take(l, similar.some[l].lane & ~similar.more[l].lane);
        return found;
    }

    std::vector<char> useful_;            // of each item: whether a center may hold it
    std::vector<std::int32_t> lengths_;   // of each class
    std::vector<std::int32_t> sizes_;     // of each item: the classes that hold it
    std::vector<std::int64_t> starts_;    // where they are listed, or -1 less the number of the item's bitmap
    std::vector<std::uint32_t> entries_;  // places
    std::vector<std::uint32_t> place_;
    std::vector<std::int32_t> class_;  // of a class among the bits, and the other way around
    std::vector<Bits> maps_, live_;
    std::int64_t nothing_ = 0, gone_ = 0;  // the number of an empty bitmap; classes that are gone
};

}  // namespace anonset::crowd
