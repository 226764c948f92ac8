// The rows around an anchor, and the items that a center may change (docs/explanation/bound.md, "From centers").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "bound/center_search.hpp"
#include "bound/offers.hpp"

namespace anonset::bound::centers {

// Makes the neighbourhood of a row from the offers it gets, where prices are values.
class Gatherer {
  public:
    Neighbourhood around;
    std::int64_t outsiders = 0;  // bounds the violation where the center changes items in which no row here differs

    bool full(std::int64_t keep) const { return static_cast<std::int64_t>(around.rows.size()) > keep; }

    void load(const Offers& offers, const std::vector<std::int32_t>& part, std::int64_t u, Cheapest& cheapest) {
        around.k = offers.k;
        around.rest = units(-cheapest.limit());
        around.rows.clear();
        add(offers, part, u, offers.price[u]);
        for (const Offer& offer : cheapest.sorted()) add(offers, part, offer.row, -offer.price);
        compare(offers.data, u);
        prepare();
    }
    // What the bits of a center stand for, where there are not too many.
    bool names(std::vector<std::int32_t>& items) const {
        items.clear();
        for (auto each = candidates_.rbegin(); each != candidates_.rend(); ++each)
            items.push_back(differs_[each->begin].item);
        return items.size() <= 64;
    }
    // Decides which items a center may change; to be called before a search.
    void choose() {
        candidates_.clear();
        const std::int64_t half = around.k / 2 + 1;
        for (std::size_t begin = 0, end; begin < differs_.size(); begin = end) {
            for (end = begin; end < differs_.size() && differs_[end].item == differs_[begin].item;) ++end;
            std::int64_t violation = 0;
            for (int q = 1; q < static_cast<int>(rest_.size()); ++q)
                violation = std::max(violation, rest_[q] + top(begin, end, half, q));
            if (violation > 0) candidates_.push_back({violation, begin, end});
        }
        assign();
    }

  private:
    struct Differs {
        std::int32_t item, row;
        bool operator<(const Differs& other) const { return std::pair(item, row) < std::pair(other.item, other.row); }
    };
    struct Candidate {
        std::int64_t violation;
        std::size_t begin, end;
    };
    static std::int32_t units(double price) { return static_cast<std::int32_t>(std::lround(price * UNIT)); }
    void add(const Offers& offers, const std::vector<std::int32_t>& part, std::int64_t row, double base) {
        around.rows.push_back({units(base), part[row], static_cast<std::int32_t>(row), 0, offers.weight[row], 0});
    }

    void compare(const Csr& data, std::int64_t u) {
        differs_.clear();
        counts_.assign(around.rows.size(), 0);
        for (std::size_t row = 1; row < around.rows.size(); ++row) {
            const std::int64_t v = around.rows[row].id;
            const std::int32_t *one = data.begin(u), *other = data.begin(v);
            while (one != data.end(u) || other != data.end(v)) {
                const bool left = other == data.end(v) || (one != data.end(u) && *one < *other);
                const bool right = one == data.end(u) || (other != data.end(v) && *other < *one);
                if (left || right) {
                    differs_.push_back({left ? *one : *other, static_cast<std::int32_t>(row)});
                    ++counts_[row];
                }
                one += !right;
                other += !left;
            }
        }
        std::sort(differs_.begin(), differs_.end());
    }

    // A center changes an item only if more than half of its group differ from the anchor there. What can the anchor
    // and all the others in the group contribute if it changes q items?
    void prepare() {
        outsiders = 0;
        const std::int64_t half = around.k / 2 + 1;
        const int most = half < around.k ? (around.rows[0].base - 1) / UNIT : 0;
        rest_.assign(most + 1, 0);
        for (int q = 1; q <= most; ++q) {
            begin(around.k - 1 - half, q);
            largest_.add(around.rows[0].base - q * UNIT, around.rows[0].copies - 1);
            for (std::size_t row = 1; row < around.rows.size() && matters(row, q); ++row) add_bound(row, q);
            rest_[q] = around.rows[0].base - q * UNIT + largest_.sum(around.k - 1 - half);
            begin(half, q);
            outsiders = std::max(outsiders, rest_[q] + largest_.sum(half));
        }
    }
    void begin(std::int64_t keep, int q) {
        largest_.begin(keep, std::min(around.rows[0].base - q * UNIT, around.rest + q * UNIT));
    }
    bool matters(std::size_t row, int q) const { return around.rows[row].base + q * UNIT > largest_.floor(); }
    void add_bound(std::size_t row, int q) {
        const Row& one = around.rows[row];
        largest_.add(std::min(around.rows[0].base - q * UNIT, one.base + (2 * std::min(q, counts_[row]) - q) * UNIT),
                     one.copies);
    }
    std::int64_t top(std::size_t from, std::size_t to, std::int64_t half, int q) {
        begin(half, q);
        for (std::size_t at = from; at < to && matters(differs_[at].row, q); ++at) add_bound(differs_[at].row, q);
        return largest_.sum(half);
    }

    // The most promising items come last: what is tried after them is little. Items beyond 64 are ignored: they cost
    // no row anything, so that groups look cheaper than they are.
    void assign() {
        std::stable_sort(candidates_.begin(), candidates_.end(),
                         [](const Candidate& one, const Candidate& other) { return one.violation > other.violation; });
        around.items = static_cast<int>(std::min<std::size_t>(64, candidates_.size()));
        for (std::size_t c = 0; c < candidates_.size(); ++c)
            for (std::size_t at = candidates_[c].begin; at < candidates_[c].end; ++at) {
                Row& row = around.rows[differs_[at].row];
                if (c < 64) {
                    row.differs |= std::uint64_t{1} << (around.items - 1 - static_cast<int>(c));
                } else {
                    row.base += UNIT;
                    row.doubt += UNIT;
                }
            }
        if (candidates_.size() > 64)
            std::stable_sort(around.rows.begin() + 1, around.rows.end(),
                             [](const Row& one, const Row& other) { return one.base > other.base; });
    }

    std::vector<Differs> differs_;
    std::vector<std::int32_t> counts_;
    std::vector<std::int64_t> rest_;
    std::vector<Candidate> candidates_;
    Largest<std::int32_t> largest_;
};

}  // namespace anonset::bound::centers
