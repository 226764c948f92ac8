// The second half of (k, p)-anonymity: in a group of s rows at most p * s may hold something sensitive of one
// attribute. p is a fraction, and everything is compared in whole numbers.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kp/api.hpp"

namespace anonset::kp {

// Groups of rows that keep the limit, and how many of each hold which sensitive attribute; that is counted for a group
// once somebody asks.
class ShareGroups {
  public:
    ShareGroups(const Csr& secret, ShareLimit limit) : secret_(secret), limit_(limit) {}

    std::int32_t count() const { return static_cast<std::int32_t>(groups_.size()); }
    const std::vector<std::int32_t>& members(std::int32_t g) const { return groups_[g].members; }
    bool alive(std::int32_t g) const { return !groups_[g].members.empty(); }

    std::int32_t found(std::vector<std::int32_t> members) {
        groups_.push_back({std::move(members), {}, false});
        return count() - 1;
    }

    void join(std::int32_t row, std::int32_t g) {
        groups_[g].members.push_back(row);
        if (groups_[g].counted) count_row(groups_[g], row);
    }

    // Whether the group keeps the limit with this row. Those that the row does not hold can only become rarer.
    bool admits(std::int32_t row, std::int32_t g) {
        const auto size = static_cast<std::int64_t>(groups_[g].members.size()) + 1;
        for (const std::int32_t* a = secret_.begin(row); a != secret_.end(row); ++a)
            if (!limit_.allows(holders_of(g, *a) + 1, size)) return false;
        return true;
    }

    // All members of `from` go to `to`.
    void merge(std::int32_t from, std::int32_t to);

    std::int64_t holders_of(std::int32_t g, std::int32_t attribute) {
        count_rows(groups_[g]);
        for (const auto& [a, number] : groups_[g].secret)
            if (a == attribute) return number;
        return 0;
    }

    const Csr& secret() const { return secret_; }
    const ShareLimit& limit() const { return limit_; }

  private:
    struct Group {
        std::vector<std::int32_t> members;
        std::vector<std::pair<std::int32_t, std::int32_t>> secret;  // attribute, rows that hold it
        bool counted;
    };

    void count_rows(Group& group) {
        if (std::exchange(group.counted, true)) return;
        for (const std::int32_t row : group.members) count_row(group, row);
    }
    void count_row(Group& group, std::int32_t row) {
        for (const std::int32_t* a = secret_.begin(row); a != secret_.end(row); ++a) ++holders(group, *a);
    }

    static std::int32_t& holders(Group& group, std::int32_t attribute) {
        for (auto& [a, number] : group.secret)
            if (a == attribute) return number;
        return group.secret.emplace_back(attribute, 0).second;
    }

    Csr secret_;
    ShareLimit limit_;
    std::vector<Group> groups_;
};

}  // namespace anonset::kp
