// What rows are worth at one center, and which of them make the best group there (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bound/problem.hpp"
#include "bound/violated_cuts.hpp"

namespace anonset::lifting {

using Items = std::vector<std::int32_t>;  // of a center, in their order

struct Member {
    std::int64_t worth;
    std::int32_t id, copies;
    bool operator<(const Member& other) const { return worth != other.worth ? worth > other.worth : id < other.id; }
};

class Members {
  public:
    std::vector<Member> rows;

    explicit Members(const Problem& problem) : p_(problem), held_(problem.data.rows, 0) {}

    // All rows that hold something that is kept. `worth(row, held)` is what a row is worth that holds so many of it.
    template <class Worth>
    void gather(const Items& center, Worth&& worth) {
        for (const Member& row : known_) held_[row.id] = 0;
        rows.clear();
        for (const std::int32_t item : center)
            for (std::int64_t at = p_.index.start[item]; at < p_.index.start[item + 1]; ++at)
                if (held_[p_.index.rows[at]]++ == 0)
                    rows.push_back({0, p_.index.rows[at], p_.copies(p_.index.rows[at])});
        for (Member& row : rows) row.worth = worth(row.id, held_[row.id]);
        known_ = rows;
    }
    std::int32_t held(std::int32_t row) const { return held_[row]; }

    // Puts those first that are worth most, until they are k. Returns what these are worth; nothing if there are not as
    // many.
    std::int64_t choose() {
        chosen_ = std::min<std::size_t>(rows.size(), p_.k);
        sort_first(chosen_);
        std::int64_t left = p_.k, sum = 0;
        for (std::size_t i = 0; i < chosen_ && left > 0; ++i) {
            const std::int64_t copies = std::min<std::int64_t>(left, rows[i].copies);
            sum += copies * rows[i].worth;
            left -= copies;
            if (left == 0) chosen_ = i + 1;
        }
        return left == 0 ? sum : 0;
    }
    std::size_t chosen() const { return chosen_; }

    void note(const Items& center, NotedCenters& noted) {
        std::uint64_t key = 0;
        for (const std::int32_t item : center) key ^= centers::mixed(item);
        noted.begin(key, 0, 0);
        const std::size_t count = std::min(rows.size(), centers::noted_rows(p_.k));
        sort_first(count);
        for (std::size_t i = 0; i < count; ++i)
            noted.add(rows[i].id, static_cast<std::int32_t>(p_.data.size(rows[i].id) + std::int64_t(center.size())) -
                                      2 * held_[rows[i].id]);
    }

  private:
    void sort_first(std::size_t count) {
        const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(count);
        if (4 * count < rows.size()) std::nth_element(rows.begin(), middle, rows.end());
        std::partial_sort(rows.begin(), middle, 4 * count < rows.size() ? middle : rows.end());
    }

    const Problem& p_;
    std::vector<std::int32_t> held_;  // by each row that is known, else 0
    std::vector<Member> known_;
    std::size_t chosen_ = 0;
};

}  // namespace anonset::lifting
