// What a search for groups in which a row saves more than it asks for is given (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bound/dual.hpp"
#include "bound/pending_decrease.hpp"
#include "core/bitmap.hpp"

namespace anonset::lifting {

using centers::UNIT;

constexpr std::int32_t NONE = INT32_MIN / 8;
constexpr std::int64_t NEVER = INT64_MIN / 4;

using Set = std::uint64_t;  // of items of the anchor
ANONSET_INLINE std::int32_t count(Set set) { return __builtin_popcountll(set); }

// An item that c rows hold, a majority, saves each of them at most offset + slope * c.
struct Line {
    std::int32_t slope;
    std::int64_t offset;
};

// Some of the anchor's items are kept, some may be kept as well, all others are lost.
struct Choice {
    Set kept;
    int size;
    Set open;
};

// Rows are distinct, and come by rising fees.
struct Problem {
    const Csr data;
    const std::int64_t* weight;
    const std::int64_t k, half;  // half: the least majority
    const dual::Postings index;
    std::vector<std::int32_t> asks, lift, fee;  // of each row
    std::vector<std::int64_t> holders;          // of each item
    std::vector<std::int32_t> elite;            // rows than which no k - 1 others ask less for lower fees
    std::vector<Line> lines;

    Problem(const Csr& rows, const std::int64_t* weights, std::int32_t n_items, std::int64_t k)
        : data(rows),
          weight(weights),
          k(k),
          half(k / 2 + 1),
          index(rows, n_items),
          asks(rows.rows),
          lift(rows.rows),
          fee(rows.rows),
          holders(n_items, 0) {
        for (std::int64_t v = 0; v < rows.rows; ++v)
            for (const std::int32_t* i = rows.begin(v); i != rows.end(v); ++i) holders[*i] += weights[v];
        // 2 - k / c is concave: a line that touches it at one number of holders is above it at all others.
        const std::int64_t unit = 2 * UNIT * (k - 1);
        for (std::int64_t at = half; at <= k; ++at) {
            Line line{static_cast<std::int32_t>(k * unit / (at * at)), INT64_MIN};
            for (std::int64_t c = half; c <= k; ++c)
                line.offset = std::max(line.offset, 2 * unit - k * unit / c - line.slope * c);
            lines.push_back(line);
        }
    }
    // What rows ask for has to be known.
    void choose_elite();
    bool holds(std::int64_t row, std::int32_t item) const {
        return std::binary_search(data.begin(row), data.end(row), item);
    }
    // More copies than a group has room for make no difference.
    std::int32_t copies(std::int64_t row) const { return static_cast<std::int32_t>(std::min(weight[row], k)); }
    // What the items that are kept save an anchor without helpers, less what it needs.
    std::int64_t sure(std::int64_t need, const Choice& choice, std::size_t line) const {
        return choice.size * (lines[line].offset + lines[line].slope) - need;
    }
    // What is saved, in the units of worths.
    std::int32_t rounded_up(std::int64_t saved) const {
        const std::int64_t by = 2 * (k - 1);
        return static_cast<std::int32_t>(saved >= 0 ? (saved + by - 1) / by : -(-saved / by));
    }
};

struct Helper {
    Set held;  // of the anchor's items
    std::int32_t fee, asks, copies, id;
};
// Helpers that hold the same items: from first to last, by rising fee.
struct Kind {
    Set held;
    std::int32_t most;  // that one of them can save the anchor while nothing is decided
    std::int32_t first, last;
    std::int32_t elite, elite_end;  // places of its best helpers, before any were left out
    std::int32_t costs, costs_end;  // of the best
};
struct Circle {
    std::int32_t asks;                // what the anchor asks for
    std::int64_t need;                // what the fees of others and the items have to save before it has more than that
    std::vector<std::int32_t> items;  // of the anchor, those that a majority can hold, the rarest first
    std::vector<Set> shared;          // by each row
    std::vector<Helper> helpers;      // rows that share something
    std::vector<Kind> kinds;          // by falling `most`
    std::vector<std::int32_t> elite;  // helpers than whom no k - 1 others of their kind ask less for lower fees
};

// The helpers that are left, by whether they hold the rarest item that is kept.
struct Level {
    std::vector<Kind> with, without;
};
// What helpers save the anchor, by one line for all items that are kept.
struct Bound {
    std::int64_t most;              // that the anchor saves beyond what it asks for
    std::int64_t low, low_without;  // a helper that saves it no more is in no group in which it has enough
    std::size_t line;
};
ANONSET_INLINE std::int32_t saved(Set held, const Choice& choice, const Line& line) {
    return line.slope * count(held & choice.kept) + 2 * UNIT * count(held & choice.open);
}

struct Center {
    Set kept;                         // of the anchor's items
    std::vector<std::int32_t> added;  // others
};

// The largest values by their rank; what `Largest` knows only as a sum.
class Best {
  public:
    void begin(std::int64_t keep, std::int32_t filler) {
        keep_ = keep;
        size_ = 0;
        filler_ = filler;
        values_.resize(keep);
    }
    // Values up to here change nothing.
    std::int32_t floor() const {
        if (size_ < keep_) return filler_;
        return keep_ == 0 ? INT32_MAX : values_[size_ - 1];
    }
    void add(std::int32_t value, std::int32_t copies) {
        for (; copies > 0 && value > floor(); --copies) {
            std::int64_t at = size_ < keep_ ? size_++ : size_ - 1;
            for (; at > 0 && values_[at - 1] < value; --at) values_[at] = values_[at - 1];
            values_[at] = value;
        }
    }
    std::int32_t operator[](std::int64_t i) const { return i < size_ ? values_[i] : filler_; }
    std::int64_t sum(std::int64_t count) const {
        std::int64_t total = 0;
        for (std::int64_t i = 0; i < count; ++i) total += (*this)[i];
        return total;
    }

  private:
    std::int64_t keep_ = 0, size_ = 0;
    std::int32_t filler_ = 0;
    std::vector<std::int32_t> values_;
};

// The best of all of whom so many are among the first.
inline std::int64_t chosen(const Best& first, const Best& second, std::int64_t must, std::int64_t all) {
    std::int64_t i = must, j = 0, sum = first.sum(must);
    for (std::int64_t c = must; c < all; ++c) sum += first[i] >= second[j] ? first[i++] : second[j++];
    return sum;
}

// What a search may take, and what it took.
struct Account {
    std::int64_t budget = 0, looks = 0;
    std::int64_t charge = 0;  // what the anchor has to pay alone, for centers that were not looked at

    bool hopeless = false;  // more looks would be of no use

    bool spent() const { return looks >= budget; }
    void give_up() {
        looks = std::max(looks, budget);
        hopeless = true;
    }
    void pay(std::int64_t worth) { charge = std::max(charge, worth); }
};

// Leaves out those who ask no less than k - 1 others before them, for no lower fee.
class Elite {
  public:
    void begin(std::int64_t k) { best_.begin(k - 1, NONE); }
    bool take(std::int32_t asks, std::int32_t copies) {
        if (-asks <= best_.floor()) return false;
        best_.add(-asks, copies);
        return true;
    }

  private:
    Best best_;
};

inline void Problem::choose_elite() {
    Elite best;
    best.begin(k);
    for (std::int32_t row = 0; row < data.rows; ++row)
        if (best.take(asks[row], copies(row))) elite.push_back(row);
}

}  // namespace anonset::lifting
