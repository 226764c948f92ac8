// What the search around an anchor for violated groups is given (docs/explanation/bound.md, "Dual increments").
//
// Savings are in units of 1 / (2 UNIT (k - 1)) of an item, and rounded up; values, demands and contributions to a
// group's violation in units of 1 / UNIT.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bound/largest_ranked.hpp"
#include "bound/units.hpp"
#include "core/bitmap.hpp"
#include "core/csr.hpp"
#include "core/transpose.hpp"

namespace anonset::bound {

constexpr std::int32_t NONE = INT32_MIN / 8;
constexpr std::int64_t NEVER = INT64_MIN / 4;

using Set = std::uint64_t;  // of items of the anchor
ANONSET_INLINE std::int32_t count(Set set) { return __builtin_popcountll(set); }

// An item that c rows hold, a majority, saves each of them at most offset + slope * c.
struct Tangent {
    std::int32_t slope;
    std::int64_t offset;
};

// A node of the search: the center holds some of the anchor's items (`kept`) and perhaps some more (`open`).
struct Choice {
    Set kept;
    int size;
    Set open;
};

// Leaves out rows whose demand is no smaller than that of k - 1 others before them, which have no higher fees.
class Undominated {
  public:
    void begin(std::int64_t k) { best_.begin(k - 1, NONE); }
    bool take(std::int32_t demand, std::int32_t copies) {
        if (-demand <= best_.floor()) return false;
        best_.add(-demand, copies);
        return true;
    }

  private:
    LargestRanked best_;
};

// Rows are distinct, and come by rising fees.
struct IncrementProblem {
    const Csr data;
    const std::int64_t* weight;
    const std::int64_t k, half;  // half: the least majority
    const Transposed<> index;
    std::vector<std::int32_t> demand, increment, fee;  // of each row
    std::vector<std::int64_t> holders;                 // of each item
    std::vector<std::int32_t> undominated;             // rows
    std::vector<Tangent> tangents;

    IncrementProblem(const Csr& data, const std::int64_t* weight, const double* price, const double* value,
                     const double* increment, std::int32_t n_items, std::int64_t k);

    // More copies than a group has room for make no difference.
    std::int32_t copies(std::int64_t row) const { return static_cast<std::int32_t>(std::min(weight[row], k)); }
    // What the kept items save an anchor without helpers, less what it needs.
    std::int64_t sure(std::int64_t need, const Choice& choice, std::size_t tangent) const {
        return choice.size * (tangents[tangent].offset + tangents[tangent].slope) - need;
    }
    // A saving in the units of values.
    std::int32_t rounded_up(std::int64_t saved) const {
        const std::int64_t by = 2 * (k - 1);
        return static_cast<std::int32_t>(saved >= 0 ? (saved + by - 1) / by : -(-saved / by));
    }
};

// What the items that a helper holds save the anchor.
ANONSET_INLINE std::int32_t saved(Set held, const Choice& choice, const Tangent& tangent) {
    return tangent.slope * count(held & choice.kept) + 2 * UNIT * count(held & choice.open);
}

struct Helper {
    std::int32_t fee, demand, copies, id;
};
// Helpers that hold the same of the anchor's items: from first to last, by rising fee.
struct HelperClass {
    Set held;
    std::int32_t most;  // that one of them can save the anchor while nothing is decided
    std::int32_t first, last;
    std::int32_t undominated, undominated_end;  // places, before any helpers were left out
};
struct Neighbours {
    std::int64_t anchor = 0;
    std::int32_t demand = 0;                // of the anchor
    std::int64_t need = 0;                  // what items and others' fees have to save it to exceed that
    std::vector<std::int32_t> items;        // of the anchor, those that a majority can hold, the rarest first
    std::vector<Set> shared;                // by each row
    std::vector<Helper> helpers;            // rows that share something
    std::vector<HelperClass> classes;       // by falling `most`
    std::vector<std::int32_t> undominated;  // helpers, class by class
};

// The helpers that are left, by whether they hold the rarest item that is kept.
struct Left {
    std::vector<HelperClass> with, without;
};
// An upper bound of what the anchor saves beyond its demand, by one tangent for all kept items.
struct Saving {
    std::int64_t most;
    std::int64_t low, low_without;  // no helper that saves it less is in a group in which it saves enough
    std::size_t tangent;
};

struct Center {
    Set kept;                         // of the anchor's items
    std::vector<std::int32_t> added;  // others
};

// What a search may take, and what it took.
struct Effort {
    std::int64_t budget = 0, steps = 0;
    std::int64_t unsearched = 0;  // no violated group that the search left out has a larger violation

    bool spent() const { return steps >= budget; }
    void stop() { steps = std::max(steps, budget); }
    void leave_out(std::int64_t violation) { unsearched = std::max(unsearched, violation); }
};

}  // namespace anonset::bound
