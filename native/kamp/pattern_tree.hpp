// A downward closed family of itemsets (all frequent ones): which of them a transaction holds, and which differ from
// one another by a single item. Sets stand by length, then by items, so those that go on from a prefix stand side by
// side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/transpose.hpp"
#include "kamp/api.hpp"

namespace anonset::kamp {

class PatternTree {
  public:
    explicit PatternTree(const Csr& sets);

    std::int64_t size() const { return sets_.rows; }
    const Csr& sets() const { return sets_; }
    Csr smaller() const { return smaller_.view(); }  // each set without one of its items

    bool includes(std::int64_t whole, std::int64_t part) const {
        return std::includes(sets_.begin(whole), sets_.end(whole), sets_.begin(part), sets_.end(part));
    }

    bool has(const std::vector<std::int32_t>& items) const;

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

    std::int64_t find(const std::vector<std::int32_t>& items) const;

    void link();

    Csr sets_;
    std::int64_t roots_ = 0;
    std::vector<std::int64_t> child_;  // the sets that go on from p are child_[p] … child_[p + 1]
    OwnedCsr smaller_;
};

// The rows of each user, ascending.
inline Transposed<> rows_of_users(const Csr& data, const Users& users) {
    return rows_by_key(users.of_row, data.rows, users.count);
}

// The user's patterns and their counts; which are maximal is left open.
UserPatterns user_patterns(const Csr& data, const Transposed<>& rows, const PatternTree& tree);

// Those of a user's patterns (`held`, ascending, downward closed) that are part of no larger one of them. `covered` is
// a table over all patterns, all false before and after.
void maximal_of(const PatternTree& tree, const std::vector<std::int32_t>& held, std::vector<char>& covered,
                std::vector<std::int32_t>& out);

}  // namespace anonset::kamp
