// The rows of a cluster by their distance from one of them, nearest first, ties by row; rows are taken away as groups
// are made.
//
// Where rows have much in common, each is a bitmap, and a query looks at all of them. Where they have little in common,
// a query follows the lists of the rows that hold a code: it meets only rows that share something with the one asked
// for. All others, the strangers, are as far away as both are long, and wait in the order of their lengths.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/csr.hpp"

namespace anonset {

namespace nearest_rows {

constexpr std::int32_t kFar = 1 << 28;  // the length of a row that is taken

// Writes the positions of all numbers above `beyond` and up to `limit`; returns how many there are.
ANONSET_CLONES inline std::int64_t positions_between(const std::int32_t* numbers, std::int64_t count,
                                                     std::int32_t beyond, std::int32_t limit, std::int32_t* out) {
    constexpr std::int64_t kBlock = 64;
    std::int64_t found = 0;
    for (std::int64_t from = 0; from < count; from += kBlock) {
        const std::int64_t to = std::min(count, from + kBlock);
        std::int32_t any = 0;
        for (std::int64_t i = from; i < to; ++i) any |= (numbers[i] > beyond) & (numbers[i] <= limit);
        for (std::int64_t i = any ? from : to; i < to; ++i) {
            out[found] = static_cast<std::int32_t>(i);
            found += (numbers[i] > beyond) & (numbers[i] <= limit);
        }
    }
    return found;
}

// Local numbers, from 1, for the codes that several rows of a cluster hold; 0 for all others.
class Numbering {
  public:
    explicit Numbering(std::int64_t codes) : number_(codes, 0) {}

    void load(const Csr& rows, const std::vector<std::int32_t>& members) {
        for (const std::int32_t code : touched_) number_[code] = 0;
        touched_.clear(), times_.clear();
        for (const std::int32_t row : members)
            for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code)
                if (number_[*code]++ == 0) touched_.push_back(*code);
        for (const std::int32_t code : touched_) {
            const std::int32_t times = number_[code];
            if (times > 1) times_.push_back(times);
            number_[code] = times > 1 ? static_cast<std::int32_t>(times_.size()) : 0;
        }
    }

    const std::vector<std::int32_t>& times() const { return times_; }
    std::int64_t words() const { return (static_cast<std::int64_t>(times_.size()) + 63) / 64; }
    template <class Body>
    void for_codes(const Csr& rows, std::int64_t row, Body&& body) const {
        for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code)
            if (number_[*code]) body(number_[*code] - 1);
    }

  private:
    std::vector<std::int32_t> number_, touched_, times_;
};

// What a query found: places, and how far away each is.
struct Found {
    std::vector<std::int32_t> places, distances;
};

class BitmapIndex {
  public:
    void load(const Csr& rows, const std::vector<std::int32_t>& members, const Numbering& numbering) {
        words_ = numbering.words();
        bits_.assign(members.size() * words_, 0);
        places_.resize(members.size());
        std::iota(places_.begin(), places_.end(), 0);
        entry_ = places_;
        length_.resize(members.size());
        for (std::size_t p = 0; p < members.size(); ++p) {
            length_[p] = static_cast<std::int32_t>(rows.size(members[p]));
            numbering.for_codes(rows, members[p], [&](std::int32_t code) {
                bits_[p * words_ + code / 64] |= std::uint64_t{1} << code % 64;
            });
        }
    }

    std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }
    void take(std::int32_t p) { length_[entry_[p]] = kFar; }

    void forget_taken() {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < places_.size(); ++i) {
            if (length_[i] == kFar) continue;
            std::copy_n(bits_.data() + i * words_, words_, bits_.data() + kept * words_);
            length_[kept] = length_[i];
            places_[kept] = places_[i];
            entry_[places_[i]] = static_cast<std::int32_t>(kept++);
        }
        places_.resize(kept);
    }

    void measure(std::int32_t p, std::int32_t own, Found& found) {
        shared_.resize(places_.size());
        found.distances.resize(places_.size());
        shared_bits(bits_.data() + entry_[p] * words_, bits_.data(), words_, size(), shared_.data());
        found.places = places_;
        for (std::size_t i = 0; i < places_.size(); ++i)
            found.distances[i] = own + length_[i] - 2 * static_cast<std::int32_t>(shared_[i]);
    }

  private:
    std::int64_t words_ = 0;
    std::vector<std::uint64_t> bits_;
    std::vector<std::int32_t> places_, entry_, length_;  // the place of each entry, and the entry of each place
    std::vector<std::uint32_t> shared_;
};

class ListIndex {
  public:
    void load(const Csr& rows, const std::vector<std::int32_t>& members, const Numbering& numbering) {
        begin_.assign(1, 0);
        for (const std::int32_t times : numbering.times()) begin_.push_back(begin_.back() + times);
        end_.assign(begin_.begin(), begin_.end() - 1);
        lists_.resize(begin_.back());
        codes_.items.clear(), codes_.offsets.assign(1, 0);
        length_.resize(members.size());
        for (std::size_t p = 0; p < members.size(); ++p) {
            length_[p] = static_cast<std::int32_t>(rows.size(members[p]));
            numbering.for_codes(rows, members[p], [&](std::int32_t code) {
                lists_[end_[code]++] = static_cast<std::int32_t>(p);
                codes_.items.push_back(code);
            });
            codes_.close_row();
        }
        waiting_.resize(members.size());
        std::iota(waiting_.begin(), waiting_.end(), 0);
        std::stable_sort(waiting_.begin(), waiting_.end(),
                         [&](std::int32_t a, std::int32_t b) { return length_[a] < length_[b]; });
        met_.clear();
        shared_.assign(members.size(), 0);
    }

    std::int64_t size() const { return static_cast<std::int64_t>(waiting_.size()); }
    void take(std::int32_t p) { length_[p] = kFar; }

    void forget_taken() {
        const auto gone = [&](std::int32_t p) { return length_[p] == kFar; };
        waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), gone), waiting_.end());
        for (std::size_t code = 0; code < end_.size(); ++code)
            end_[code] =
                std::remove_if(lists_.begin() + begin_[code], lists_.begin() + end_[code], gone) - lists_.begin();
    }

    void measure(std::int32_t p, std::int32_t own, Found& found) {
        for (const std::int32_t other : met_) shared_[other] = 0;
        const Csr codes = codes_.view();
        std::int64_t most = 1, count = 0;
        for (const std::int32_t* code = codes.begin(p); code != codes.end(p); ++code)
            most += end_[*code] - begin_[*code];
        met_.resize(most);
        for (const std::int32_t* code = codes.begin(p); code != codes.end(p); ++code)
            for (std::int64_t at = begin_[*code]; at < end_[*code]; ++at) {
                met_[count] = lists_[at];  // kept if it is new; a branch would be guessed wrong too often
                count += shared_[lists_[at]]++ == 0;
            }
        met_.resize(count);
        found.places = met_;
        found.distances.resize(count);
        for (std::int64_t i = 0; i < count; ++i) found.distances[i] = own + length_[met_[i]] - 2 * shared_[met_[i]];
        at_ = 0;
    }

    // The shortest row that was neither met nor named as a stranger yet; -1 if there is none.
    std::int32_t stranger() {
        while (at_ < waiting_.size() && (shared_[waiting_[at_]] || length_[waiting_[at_]] == kFar)) ++at_;
        return at_ < waiting_.size() ? waiting_[at_] : -1;
    }
    void pass_stranger() { ++at_; }
    std::int32_t length(std::int32_t p) const { return length_[p]; }

  private:
    std::vector<std::int64_t> begin_, end_;
    std::vector<std::int32_t> lists_, length_, shared_, met_;
    std::vector<std::int32_t> waiting_;  // by length
    std::size_t at_ = 0;
    OwnedCsr codes_;  // of each row
};

}  // namespace nearest_rows

// One object per thread, loaded with cluster after cluster. A row is its place among the members of the cluster.
class NearestRows {
  public:
    NearestRows(const Csr& rows, std::int64_t codes) : rows_(rows), numbering_(codes) {}

    // `members` ascending.
    void load(const std::vector<std::int32_t>& members) {
        members_ = members;
        numbering_.load(rows_, members);
        double meetings = 0;
        for (const std::int32_t times : numbering_.times()) meetings += double(times) * times;
        const auto size = static_cast<double>(members.size());
        by_lists_ = kMeeting * meetings < size * size * static_cast<double>(numbering_.words() + 1);
        by_lists_ ? lists_.load(rows_, members, numbering_) : bitmaps_.load(rows_, members, numbering_);
        gone_ = 0, reach_ = 0, longest_ = 0;
        for (const std::int32_t row : members) longest_ = std::max(longest_, rows_.size(row));
    }

    void take(std::int32_t p) {
        by_lists_ ? lists_.take(p) : bitmaps_.take(p);
        ++gone_;
    }

    // Takes a row, and gets ready to name the others by their distance from it.
    void start(std::int32_t p) {
        if (4 * gone_ > (by_lists_ ? lists_.size() : bitmaps_.size())) {
            by_lists_ ? lists_.forget_taken() : bitmaps_.forget_taken();
            gone_ = 0;
        }
        own_ = rows_.size(members_[p]);
        farthest_ = own_ + longest_;
        take(p);
        const auto own = static_cast<std::int32_t>(own_);
        by_lists_ ? lists_.measure(p, own, found_) : bitmaps_.measure(p, own, found_);
        near_.clear();
        seen_ = -1, step_ = 1;
    }

    // The nearest row that was not named yet; -1 if there is none. Rows for which `wanted` is false need not be named.
    template <class Wanted>
    std::int32_t next(Wanted&& wanted) {
        for (;;) {
            const std::int32_t other = by_lists_ ? lists_.stranger() : -1;
            const Key far = other < 0 ? kNone : key(own_ + lists_.length(other), other);
            if (near_.empty() && seen_ < farthest_ && distance(far) > seen_) {
                look_further(wanted);
            } else if (near_.empty() || far < near_.front()) {
                if (other >= 0) lists_.pass_stranger(), reach_ = distance(far);
                return other;
            } else {
                std::pop_heap(near_.begin(), near_.end(), std::greater<>());
                const Key nearest = near_.back();
                near_.pop_back();
                reach_ = distance(nearest);
                return static_cast<std::int32_t>(nearest);
            }
        }
    }

  private:
    using Key = std::uint64_t;  // the distance, and then the place
    static constexpr Key kNone = ~Key{0};
    static constexpr double kMeeting = 4;  // what a step along a list costs, in words of a bitmap

    static Key key(std::int64_t distance, std::int32_t p) { return static_cast<Key>(distance) << 32 | Key(p); }
    static std::int64_t distance(Key key) { return static_cast<std::int64_t>(key >> 32); }

    // Rows up to a larger distance: at first as far as the last query went, then in growing steps.
    template <class Wanted>
    void look_further(Wanted&& wanted) {
        const std::int64_t limit = std::min(farthest_, seen_ < 0 ? reach_ : seen_ + std::exchange(step_, 2 * step_));
        positions_.resize(found_.places.size() + 1);
        const std::int64_t count = nearest_rows::positions_between(
            found_.distances.data(), static_cast<std::int64_t>(found_.places.size()), static_cast<std::int32_t>(seen_),
            static_cast<std::int32_t>(limit), positions_.data());
        for (std::int64_t i = 0; i < count; ++i)
            if (wanted(found_.places[positions_[i]]))
                near_.push_back(key(found_.distances[positions_[i]], found_.places[positions_[i]]));
        std::make_heap(near_.begin(), near_.end(), std::greater<>());
        seen_ = limit;
    }

    const Csr rows_;
    nearest_rows::Numbering numbering_;
    nearest_rows::BitmapIndex bitmaps_;
    nearest_rows::ListIndex lists_;
    nearest_rows::Found found_;
    std::vector<std::int32_t> members_, positions_;
    bool by_lists_ = false;
    std::int64_t gone_ = 0, longest_ = 0;
    std::int64_t own_ = 0, farthest_ = 0;  // of the present query: the length of its row, and the largest distance
    std::int64_t seen_ = 0, step_ = 1;     // rows up to this distance were looked for
    std::int64_t reach_ = 0;               // the distance of the row named last
    std::vector<Key> near_;                // a heap
};

}  // namespace anonset
