// Values are lowered until no group fails at any of the centers at which some did (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "bound/members.hpp"
#include "core/monitor.hpp"

namespace anonset::lifting {

// Centers at which groups fail, by their items; and whether they are to be noted.
using FailedCenters = std::map<Items, bool>;

class Repair {
  public:
    // `lowered` is what the value of each row was lowered by already.
    Repair(const Problem& problem, std::vector<std::int64_t>& lowered)
        : p_(problem), lowered_(lowered), members_(problem), modest_(problem.data.rows) {
        std::iota(modest_.begin(), modest_.end(), 0);
        std::stable_sort(modest_.begin(), modest_.end(),
                         [&](std::int32_t a, std::int32_t b) { return p_.asks[a] < p_.asks[b]; });
    }

    // The centers at which groups are worth most come first: at others they may not fail any more after that.
    void run(const FailedCenters& centers, NotedCenters& noted, Monitor& monitor) {
        std::vector<std::pair<std::int64_t, const Items*>> order;
        for (const auto& [center, wanted] : centers) {
            monitor.check();
            gather(center);
            if (wanted) members_.note(center, noted);
            keep_possible(center);
            order.emplace_back(-members_.choose(), &center);
        }
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [minus, center] : order) {
            monitor.check();
            gather(*center);
            keep_possible(*center);
            lower();
        }
    }

  private:
    std::int64_t worth_of(std::int32_t row, std::int32_t held, const Items& center) const {
        return UNIT * (2 * std::int64_t{held} - static_cast<std::int64_t>(center.size())) - p_.asks[row] -
               lowered_[row];
    }
    void gather(const Items& center) {
        members_.gather(center, [&](std::int32_t row, std::int32_t held) { return worth_of(row, held, center); });
    }
    // Leaves out all that can be in no failing group, and finds those that can and hold nothing.
    void keep_possible(const Items& center) {
        const std::int64_t size = UNIT * static_cast<std::int64_t>(center.size());
        std::vector<Member>& rows = members_.rows;
        best_.begin(p_.k - 1, static_cast<std::int32_t>(-size - p_.asks[modest_[0]]));
        for (const Member& row : rows)
            if (row.worth > best_.floor()) best_.add(static_cast<std::int32_t>(row.worth), row.copies);
        const std::int64_t others = best_.sum(p_.k - 1);
        for (std::size_t i = 0; i < modest_.size() && others - size > p_.asks[modest_[i]]; ++i)
            if (const std::int32_t row = modest_[i]; members_.held(row) == 0)
                rows.push_back({worth_of(row, 0, center), row, p_.copies(row)});
        rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const Member& row) { return row.worth + others <= 0; }),
                   rows.end());
    }
    // The best group gives back what it is worth, in equal parts; then the one that is best after that, and so on.
    void lower() {
        for (std::int64_t worth = members_.choose(); worth > 0; worth = members_.choose())
            for (std::size_t i = 0; i < members_.chosen(); ++i) {
                const std::int64_t part = (worth + p_.k - 1) / p_.k;
                members_.rows[i].worth -= part;
                lowered_[members_.rows[i].id] += part;
            }
    }

    const Problem& p_;
    std::vector<std::int64_t>& lowered_;
    Members members_;
    std::vector<std::int32_t> modest_;  // rows by what they ask for
    Best best_;
};

}  // namespace anonset::lifting
