// Exact separation around one row (docs/explanation/bound.md, "From centers").
//
// Row 0 of a neighbourhood is the *anchor*. A center is named by the items in which it differs from the anchor.
// Searched are all centers at which k rows that contribute no more than the anchor make a violated cut. All numbers are
// whole multiples of 1 / UNIT items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bound/largest.hpp"
#include "bound/units.hpp"

namespace anonset::bound::centers {

struct Row {
    std::int32_t base;  // its contribution if the anchor is the center
    std::int32_t part;  // a PARTS-th of the increment that its value contains
    std::int32_t id;
    std::int32_t doubt;  // it may contribute that much less
    std::int64_t copies;
    std::uint64_t differs;  // from the anchor, in which of the items that a center may change
};

struct Neighbourhood {
    std::vector<Row> rows;  // the anchor, then the others by falling base
    std::int32_t rest = 0;  // no row that is left out has a larger base
    int items = 0;          // that a center may change, at most 64
    std::int64_t k = 0;
};

constexpr std::int32_t PARTS = 32;  // an increment is given back in so many parts

// Calls decrease(row id, parts) for every row that has to give back so many parts of its increment, and
// violated(changed items, violation) for every center with a violated cut.
template <class Decrease, class Violated>
class Search {
  public:
    Search(const Neighbourhood& around, std::int64_t budget, Decrease decrease, Violated violated)
        : rows_(around.rows),
          rest_(around.rest),
          k_(around.k),
          budget_(budget),
          decrease_(decrease),
          violated_(violated) {
        const int items = around.items;
        visit(0, items == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << items) - 1);
    }
    // By how much the anchor alone is lowered: for rows that were left out, and for centers that were not searched.
    std::int64_t charge() const { return charge_; }
    // With `budget` steps or more there may have been centers that were not searched.
    std::int64_t steps() const { return steps_; }
    // Whether rows that were left out may have a part in it.
    bool outside() const { return outside_; }

  private:
    struct Center {
        std::uint64_t changed;
        std::int32_t changes;  // their number
        std::int32_t own;      // the contribution of the anchor, which no member of its groups exceeds
    };
    struct Pending {
        std::size_t row;
        std::int32_t contribution;
    };

    void visit(std::uint64_t changed, std::uint64_t open) {
        const int changes = __builtin_popcountll(changed);
        const Center center{changed, changes, rows_[0].base - changes * UNIT};
        if (center.own <= 0) return;
        if (const std::int64_t violation = best(center, 0); violation > 0) {
            violated_(changed, violation);
            settle(center);
        }
        const int most = std::min((center.own - 1) / UNIT, __builtin_popcountll(open));
        for (int more = 1; more <= most; ++more) {
            const std::int64_t violation = reach(center, open, more);
            if (violation <= 0) continue;
            if (steps_ < budget_) return branch(changed, open);
            charge_ = std::max(charge_, violation);
        }
    }
    void branch(std::uint64_t changed, std::uint64_t open) {
        while (open) {
            const std::uint64_t item = open & (~open + 1);
            open ^= item;
            visit(changed | item, open);
        }
    }

    // An upper bound of the violation where the center changes `more` of the open items as well.
    std::int64_t reach(const Center& center, std::uint64_t open, int more) {
        const std::int32_t own = center.own - more * UNIT, gain = (center.changes + more) * UNIT;
        largest_.begin(k_ - 1, std::min(own, rest_ + gain));
        largest_.add(own, rows_[0].copies - 1);
        std::size_t i = 1;
        for (; i < rows_.size() && rows_[i].base + gain > largest_.floor(); ++i)
            largest_.add(std::min(own, upper_bound(rows_[i], center, open, more)), rows_[i].copies);
        steps_ += static_cast<std::int64_t>(i);
        return own + largest_.sum(k_ - 1);
    }
    static std::int32_t upper_bound(const Row& row, const Center& center, std::uint64_t open, int more) {
        const int shared = std::min(more, __builtin_popcountll(row.differs & open));
        return contribution(row, center) + (2 * shared - more) * UNIT;
    }
    static std::int32_t contribution(const Row& row, const Center& center) {
        return row.base + (2 * __builtin_popcountll(row.differs & center.changed) - center.changes) * UNIT;
    }

    // The violation of the best group of this center after all gave back so many parts.
    std::int64_t best(const Center& center, std::int32_t parts) {
        const std::int32_t gain = center.changes * UNIT, own = center.own - parts * rows_[0].part;
        largest_.begin(k_ - 1, std::min(center.own, rest_ + gain));
        largest_.add(own, rows_[0].copies - 1);
        for (std::size_t i = 1; i < rows_.size() && rows_[i].base + gain > largest_.floor(); ++i) {
            const std::int32_t value = contribution(rows_[i], center);
            if (value - rows_[i].doubt <= center.own)
                largest_.add(std::min(value, center.own) - parts * rows_[i].part, rows_[i].copies);
        }
        return own + largest_.sum(k_ - 1);
    }

    // Every row gives back as many parts as satisfy the cuts of all its groups if all members give back as many.
    void settle(const Center& center) {
        list(center);
        bool anchor = true;
        for (std::int32_t parts = 1; parts <= PARTS && (anchor || !pending_.empty()); ++parts) {
            const std::int64_t most = best(center, parts);
            const std::int64_t others = center.own - parts * rows_[0].part + largest_.sum(k_ - 2);
            const bool last = parts == PARTS;
            if (anchor && (most <= 0 || last)) {
                decrease_(rows_[0].id, parts);
                anchor = false;
            }
            if (last) charge_ = std::max(charge_, most);
            std::size_t left = 0;
            for (const Pending& each : pending_) {
                const Row& row = rows_[each.row];
                const bool satisfied = std::min(most, others + each.contribution - parts * row.part) <= 0;
                if (satisfied || last) decrease_(row.id, parts);
                if (!satisfied) pending_[left++] = each;
            }
            pending_.resize(left);
        }
    }
    // The rows of violated cuts at this center.
    void list(const Center& center) {
        const std::int32_t gain = center.changes * UNIT;
        const std::int64_t others = center.own + largest_.sum(k_ - 2);
        pending_.clear();
        for (std::size_t i = 1; i < rows_.size() && rows_[i].base + gain + others > 0; ++i) {
            const std::int32_t value = contribution(rows_[i], center), most = std::min(value, center.own);
            if (value - rows_[i].doubt <= center.own && most + others > 0) pending_.push_back({i, most});
        }
        outside_ = outside_ || std::min(center.own, rest_ + gain) + others > 0;
    }

    const std::vector<Row>& rows_;
    const std::int32_t rest_;
    const std::int64_t k_, budget_;
    Decrease decrease_;
    Violated violated_;
    std::int64_t steps_ = 0, charge_ = 0;
    bool outside_ = false;
    Largest<std::int32_t> largest_;
    std::vector<Pending> pending_;
};

}  // namespace anonset::bound::centers
