// A downward closed family of itemsets (all frequent ones): which of them a transaction holds, and which differ from
// one another by a single item. Sets stand by length, then by items, so those that go on from a prefix stand side by
// side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"

namespace anonset {

class PatternTree {
  public:
    explicit PatternTree(const Csr& sets) : sets_(sets), child_(sets.rows + 1, 0), smaller_(), larger_() {
        std::int64_t next = 0;
        while (next < sets.rows && sets.size(next) == 1) ++next;
        roots_ = next;
        for (std::int64_t p = 0; p < sets.rows; ++p) {
            child_[p] = next;
            while (next < sets.rows && sets.size(next) == sets.size(p) + 1 &&
                   std::equal(sets.begin(p), sets.end(p), sets.begin(next)))
                ++next;
        }
        child_[sets.rows] = sets.rows;
        link();
    }

    std::int64_t size() const { return sets_.rows; }
    const Csr& sets() const { return sets_; }
    Csr smaller() const { return smaller_.view(); }  // each set without one of its items
    Csr larger() const { return larger_.view(); }    // the sets with one item more

    bool includes(std::int64_t whole, std::int64_t part) const {
        return std::includes(sets_.begin(whole), sets_.end(whole), sets_.begin(part), sets_.end(part));
    }

    // Calls visit(set) for every set whose items are all in [begin, end), which is ascending.
    template <class Visit>
    void each_in(const std::int32_t* begin, const std::int32_t* end, Visit&& visit) const {
        descend(0, roots_, begin, end, visit);
    }

  private:
    template <class Visit>
    void descend(std::int64_t from, std::int64_t to, const std::int32_t* item, const std::int32_t* end,
                 Visit&& visit) const {
        while (from < to && item < end) {
            const std::int32_t last = sets_.end(from)[-1];
            if (*item < last) {
                ++item;
            } else if (last < *item) {
                ++from;
            } else {
                visit(from);
                if (child_[from] < child_[from + 1]) descend(child_[from], child_[from + 1], item + 1, end, visit);
                ++from;
                ++item;
            }
        }
    }

    std::int64_t find(const std::vector<std::int32_t>& items) const {
        std::int64_t low = 0, high = sets_.rows;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            const auto length = static_cast<std::int64_t>(items.size());
            const bool before =
                sets_.size(middle) != length
                    ? sets_.size(middle) < length
                    : std::lexicographical_compare(sets_.begin(middle), sets_.end(middle), items.begin(), items.end());
            before ? low = middle + 1 : high = middle;
        }
        return low;
    }

    void link() {
        std::vector<std::int64_t> count(sets_.rows + 1, 0);
        std::vector<std::int32_t> part;
        for (std::int64_t p = 0; p < sets_.rows; ++p) {
            for (std::int64_t skip = 0; skip < sets_.size(p) && sets_.size(p) > 1; ++skip) {
                part.assign(sets_.begin(p), sets_.end(p));
                part.erase(part.begin() + skip);
                smaller_.items.push_back(static_cast<std::int32_t>(find(part)));
                ++count[smaller_.items.back() + 1];
            }
            smaller_.close_row();
        }
        for (std::int64_t p = 0; p < sets_.rows; ++p) count[p + 1] += count[p];
        larger_.offsets.assign(count.begin(), count.end());
        larger_.items.resize(smaller_.items.size());
        const Csr down = smaller_.view();
        for (std::int64_t p = 0; p < sets_.rows; ++p)
            for (const std::int32_t* q = down.begin(p); q != down.end(p); ++q)
                larger_.items[count[*q]++] = static_cast<std::int32_t>(p);
    }

    Csr sets_;
    std::int64_t roots_ = 0;
    std::vector<std::int64_t> child_;  // the sets that go on from p are child_[p] … child_[p + 1]
    OwnedCsr smaller_, larger_;
};

// The rows of each user, one user after the other.
struct UserRows {
    std::vector<std::int64_t> first, rows;

    UserRows(const std::int32_t* users, std::int64_t count, std::int64_t n_users) : first(n_users + 1, 0), rows(count) {
        for (std::int64_t row = 0; row < count; ++row) ++first[users[row] + 1];
        for (std::int64_t u = 0; u < n_users; ++u) first[u + 1] += first[u];
        std::vector<std::int64_t> cursor(first.begin(), first.end() - 1);
        for (std::int64_t row = 0; row < count; ++row) rows[cursor[users[row]]++] = row;
    }
};

// For each user the patterns that one of the user's rows holds (ascending), and how many of the rows do.
struct UserPatterns {
    OwnedCsr held;
    std::vector<std::int64_t> counts;
};

inline UserPatterns user_patterns(const Csr& data, const UserRows& users, const PatternTree& tree) {
    UserPatterns out;
    std::vector<std::int64_t> times(tree.size(), 0);
    std::vector<std::int32_t> touched;
    for (std::size_t u = 0; u + 1 < users.first.size(); ++u) {
        touched.clear();
        for (std::int64_t i = users.first[u]; i < users.first[u + 1]; ++i)
            tree.each_in(data.begin(users.rows[i]), data.end(users.rows[i]), [&](std::int64_t p) {
                if (times[p]++ == 0) touched.push_back(static_cast<std::int32_t>(p));
            });
        std::sort(touched.begin(), touched.end());
        for (const std::int32_t p : touched) {
            out.held.items.push_back(p);
            out.counts.push_back(times[p]);
            times[p] = 0;
        }
        out.held.close_row();
    }
    return out;
}

// Those of a user's patterns (`held`, ascending, downward closed) that are part of no larger one of them. `covered` is
// a table over all patterns, all false before and after.
inline void maximal_of(const PatternTree& tree, const std::vector<std::int32_t>& held, std::vector<char>& covered,
                       std::vector<std::int32_t>& out) {
    const Csr smaller = tree.smaller();
    for (const std::int32_t p : held)
        for (const std::int32_t* q = smaller.begin(p); q != smaller.end(p); ++q) covered[*q] = 1;
    out.clear();
    for (const std::int32_t p : held) {
        if (!covered[p]) out.push_back(p);
        covered[p] = 0;
    }
}

}  // namespace anonset
