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

#include "core/transpose.hpp"

namespace anonset::kp {

namespace nearest_rows {

constexpr std::int32_t FAR = 1 << 28;  // the length of a row that is taken

// Writes the positions of all numbers above `beyond` and up to `limit`; returns how many there are.
std::int64_t positions_between(const std::int32_t* numbers, std::int64_t count, std::int32_t beyond, std::int32_t limit,
                               std::int32_t* out);

// Local numbers, from 1, for the codes that several rows of a cluster hold; 0 for all others.
class Numbering {
  public:
    explicit Numbering(std::int64_t codes) : number_(codes, 0) {}

    void load(const Csr& rows, const std::vector<std::int32_t>& members);

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
    void load(const Csr& rows, const std::vector<std::int32_t>& members, const Numbering& numbering);

    std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }
    void take(std::int32_t p) { length_[entry_[p]] = FAR; }

    void forget_taken();

    void measure(std::int32_t p, std::int32_t own, Found& found);

  private:
    std::int64_t words_ = 0;
    std::vector<std::uint64_t> bits_;
    std::vector<std::int32_t> places_, entry_, length_;  // the place of each entry, and the entry of each place
    std::vector<std::uint32_t> shared_;
};

class ListIndex {
  public:
    void load(const Csr& rows, const std::vector<std::int32_t>& members, const Numbering& numbering);

    std::int64_t size() const { return static_cast<std::int64_t>(waiting_.size()); }
    void take(std::int32_t p) { length_[p] = FAR; }

    void forget_taken();

    void measure(std::int32_t p, std::int32_t own, Found& found);

    // The shortest row that was neither met nor named as a stranger yet; -1 if there is none.
    std::int32_t stranger() {
        while (at_ < waiting_.size() && (shared_[waiting_[at_]] || length_[waiting_[at_]] == FAR)) ++at_;
        return at_ < waiting_.size() ? waiting_[at_] : -1;
    }
    void pass_stranger() { ++at_; }
    std::int32_t length(std::int32_t p) const { return length_[p]; }

  private:
    Transposed<> lists_;             // of each code: the rows that hold it
    std::vector<std::int64_t> end_;  // of each code: where those begin that are taken
    std::vector<std::int32_t> length_, shared_, met_;
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
    void load(const std::vector<std::int32_t>& members);

    void take(std::int32_t p) {
        by_lists_ ? lists_.take(p) : bitmaps_.take(p);
        ++gone_;
    }

    // Takes a row, and gets ready to name the others by their distance from it.
    void start(std::int32_t p);

    // The nearest row that was not named yet; -1 if there is none. Rows for which `wanted` is false need not be named.
    template <class Wanted>
    std::int32_t next(Wanted&& wanted) {
        for (;;) {
            const std::int32_t other = by_lists_ ? lists_.stranger() : -1;
            const Key far = other < 0 ? NONE : key(own_ + lists_.length(other), other);
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
    static constexpr Key NONE = ~Key{0};
    static constexpr double MEETING = 4;  // what a step along a list costs, in words of a bitmap

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

}  // namespace anonset::kp
