// Values are lowered until no group fails at any of the centers at which some did (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "lift_problem.hpp"
#include "monitor.hpp"
#include "noted_centers.hpp"

namespace anonset::lifting {

// Centers at which groups fail, by their items; and whether they are to be noted.
using FailedCenters = std::map<std::vector<std::int32_t>, bool>;

class Repair {
  public:
    // `lowered` is what the value of each row was lowered by already.
    Repair(const Problem& problem, std::vector<std::int64_t>& lowered)
        : p_(problem), lowered_(lowered), held_(problem.data.rows, 0), modest_(problem.data.rows) {
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
            if (wanted) note(center, noted);
            keep_possible(center);
            order.emplace_back(-choose(), &center);
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
    using Items = std::vector<std::int32_t>;
    struct Row {
        std::int64_t worth;
        std::int32_t id, copies;
        bool operator<(const Row& other) const { return worth != other.worth ? worth > other.worth : id < other.id; }
    };

    // All rows that hold something that is kept.
    void gather(const Items& center) {
        rows_.clear();
        for (const std::int32_t item : center)
            for (std::int64_t at = p_.index.start[item]; at < p_.index.start[item + 1]; ++at)
                if (held_[p_.index.rows[at]]++ == 0) rows_.push_back({0, p_.index.rows[at], 0});
        for (Row& row : rows_) row = row_of(row.id, 2 * UNIT * std::int64_t{held_[row.id]} - size_of(center));
    }
    // Leaves out all that can be in no failing group, and finds those that can and hold nothing.
    void keep_possible(const Items& center) {
        const std::int64_t size = size_of(center);
        best_.begin(p_.k - 1, static_cast<std::int32_t>(-size - p_.asks[modest_[0]]));
        for (const Row& row : rows_)
            if (row.worth > best_.floor()) best_.add(static_cast<std::int32_t>(row.worth), row.copies);
        const std::int64_t others = best_.sum(p_.k - 1);
        const std::size_t holding = rows_.size();
        for (std::size_t i = 0; i < modest_.size() && others - size > p_.asks[modest_[i]]; ++i)
            if (held_[modest_[i]] == 0) rows_.push_back(row_of(modest_[i], -size));
        for (std::size_t i = 0; i < holding; ++i) held_[rows_[i].id] = 0;
        rows_.erase(std::remove_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.worth + others <= 0; }),
                    rows_.end());
    }
    void note(const Items& center, NotedCenters& noted) {
        std::uint64_t key = 0;
        for (const std::int32_t item : center) key ^= centers::mixed(item);
        noted.begin(key, 0, 0);
        const std::size_t count = std::min(rows_.size(), centers::noted_rows(p_.k));
        std::partial_sort(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(count), rows_.end());
        for (std::size_t i = 0; i < count; ++i)
            noted.add(rows_[i].id, static_cast<std::int32_t>(p_.data.size(rows_[i].id) + std::int64_t(center.size())) -
                                       2 * held_[rows_[i].id]);
    }
    static std::int64_t size_of(const Items& center) { return UNIT * static_cast<std::int64_t>(center.size()); }
    Row row_of(std::int32_t row, std::int64_t saved) const {
        return {saved - p_.asks[row] - lowered_[row], row, p_.copies(row)};
    }
    // Puts those first that are worth most, until they are k. Returns what these are worth; nothing if there are not as
    // many.
    std::int64_t choose() {
        chosen_ = std::min<std::size_t>(rows_.size(), p_.k);
        std::partial_sort(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(chosen_), rows_.end());
        std::int64_t left = p_.k, sum = 0;
        for (std::size_t i = 0; i < chosen_ && left > 0; ++i) {
            const std::int64_t copies = std::min<std::int64_t>(left, rows_[i].copies);
            sum += copies * rows_[i].worth;
            left -= copies;
            if (left == 0) chosen_ = i + 1;
        }
        return left == 0 ? sum : 0;
    }
    // The best group gives back what it is worth, in equal parts; then the one that is best after that, and so on.
    void lower() {
        for (std::int64_t worth = choose(); worth > 0; worth = choose())
            for (std::size_t i = 0; i < chosen_; ++i) {
                const std::int64_t part = (worth + p_.k - 1) / p_.k;
                rows_[i].worth -= part;
                lowered_[rows_[i].id] += part;
            }
    }

    const Problem& p_;
    std::vector<std::int64_t>& lowered_;
    std::vector<std::int32_t> held_;    // by each row of a center, 0 in between
    std::vector<std::int32_t> modest_;  // rows by what they ask for
    std::vector<Row> rows_;
    std::size_t chosen_ = 0;
    Best best_;
};

}  // namespace anonset::lifting
