// What every grouping for privacy degree p shares: which transactions conflict, when a group may be closed
// (Theorem 1 of Ghinita, Kalnis and Tao), and the loop over the sensitive transactions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cahd/api.hpp"

namespace anonset::cahd {

// The number of items that exactly one of two rows holds.
inline std::int32_t hamming(const Csr& data, std::int64_t one, std::int64_t two) {
    const std::int32_t *a = data.begin(one), *a_end = data.end(one), *b = data.begin(two), *b_end = data.end(two);
    std::int32_t shared = 0;
    while (a != a_end && b != b_end) {
        const std::int32_t x = *a, y = *b;
        shared += x == y;
        a += x <= y;
        b += y <= x;
    }
    return static_cast<std::int32_t>(data.size(one) + data.size(two)) - 2 * shared;
}

// The sensitive items of the group in the making: a row that holds one of them conflicts with it.
class Conflicts {
  public:
    explicit Conflicts(const Problem& problem) : secrets_(problem.secrets), seen_(problem.sensitive, 0) {}

    void start(std::int64_t row) {
        ++epoch_;
        add(row);
    }
    void add(std::int64_t row) {
        for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s) seen_[*s] = epoch_;
    }
    bool taken(std::int32_t item) const { return seen_[item] == epoch_; }
    bool clash(std::int64_t row) const {
        for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s)
            if (taken(*s)) return true;
        return false;
    }

  private:
    Csr secrets_;
    std::vector<std::int64_t> seen_;
    std::int64_t epoch_ = 0;
};

// How many transactions remain and how often each sensitive item occurs in them.
class Ledger {
  public:
    explicit Ledger(const Problem& problem)
        : secrets_(problem.secrets), left_(problem.sensitive, 0), remaining_(problem.rows()), p_(problem.p) {
        for (std::int64_t i = 0; i < secrets_.offsets[secrets_.rows]; ++i) ++left_[secrets_.items[i]];
    }

    // Takes the group out if what remains still has degree p; otherwise nothing changes.
    bool take(const std::vector<std::int32_t>& group) {
        count(group, -1);
        const std::int64_t rest = remaining_ - static_cast<std::int64_t>(group.size());
        for (const std::int64_t occurrences : left_) {
            if (occurrences * p_ > rest) {
                count(group, +1);
                return false;
            }
        }
        remaining_ = rest;
        return true;
    }

  private:
    void count(const std::vector<std::int32_t>& group, int sign) {
        for (const std::int32_t row : group)
            for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s) left_[*s] += sign;
    }

    Csr secrets_;
    std::vector<std::int64_t> left_;
    std::int64_t remaining_;
    std::int64_t p_;
};

// For each sensitive transaction, front to back: finder.find(t, members) adds p - 1 others that conflict neither with t
// nor with each other; the group is closed where the ledger allows it, and finder.remove(members) forgets them. Whoever
// is left at the end forms the last group. Returns the group of each row.
template <class Finder>
std::vector<std::int32_t> form_groups(const Problem& problem, Finder& finder, Monitor& monitor) {
    Ledger ledger(problem);
    std::vector<std::int32_t> group(problem.rows(), -1), members;
    std::int32_t next = 0;
    for (std::int64_t t = 0; t < problem.rows(); ++t) {
        if (t % 256 == 0) {
            monitor.check();
            monitor.advance(std::min<std::int64_t>(256, problem.rows() - t));
        }
        if (group[t] >= 0 || !problem.is_sensitive(t)) continue;
        members.assign(1, static_cast<std::int32_t>(t));
        finder.find(t, members);
        if (static_cast<std::int64_t>(members.size()) < problem.p || !ledger.take(members)) continue;
        for (const std::int32_t row : members) group[row] = next;
        finder.remove(members);
        ++next;
    }
    for (std::int32_t& number : group)
        if (number < 0) number = next;
    return group;
}

}  // namespace anonset::cahd
