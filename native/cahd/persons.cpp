// A user's rows together must not say more about a sensitive item than 1/p. Where the given groups keep that, they
// stay. Else all groups that hold something sensitive are formed anew: around each sensitive row, those of users with
// many of them first. A row of a user with h rows of one item gets a group of h · p rows of known users, so that the h
// groups say 1/p together. The nearest rows without sensitive items join whose users can bear it; where there are too
// few, the row joins a group in which all users can. The rows that are left are a group that holds nothing sensitive.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cahd/api.hpp"

namespace anonset::cahd {

namespace {

constexpr double TOLERANCE = 1e-9;  // a sum of several fractions stays this far below 1/p, as it may be rounded

// For each user and item what the groups of the user's rows say, added up.
class Sums {
  public:
    double& of(std::int32_t user, std::int32_t item) { return sums_[key(user, item)]; }
    double get(std::int32_t user, std::int32_t item) const {
        const auto at = sums_.find(key(user, item));
        return at == sums_.end() ? 0.0 : at->second;
    }
    template <class Body>
    bool all(Body&& body) const {
        return std::all_of(sums_.begin(), sums_.end(), [&](const auto& one) { return body(one.second); });
    }

  private:
    static std::uint64_t key(std::int32_t user, std::int32_t item) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(user)) << 32 | static_cast<std::uint32_t>(item);
    }
    std::unordered_map<std::uint64_t, double> sums_;
};

struct Group {
    std::vector<std::int32_t> rows;
    std::vector<std::int32_t> items;  // each held by one row
    std::int64_t known = 0;           // rows of known users
};

class Spreading {
  public:
    Spreading(const Csr& secrets, const std::int32_t* person, std::int32_t p, Monitor& monitor)
        : secrets_(secrets), person_(person), p_(p), monitor_(monitor) {}

    // Whether these groups say no more than 1/p of any user.
    bool keeps(const std::int32_t* group) const {
        const std::int32_t groups = secrets_.rows ? *std::max_element(group, group + secrets_.rows) + 1 : 0;
        std::vector<std::int64_t> known(groups);
        std::vector<std::unordered_map<std::int32_t, std::int64_t>> held(groups);
        for (std::int32_t row = 0; row < secrets_.rows; ++row) {
            known[group[row]] += person_[row] >= 0;
            for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s) ++held[group[row]][*s];
        }
        Sums sums;
        for (std::int32_t row = 0; row < secrets_.rows; ++row)
            if (person_[row] >= 0)
                for (const auto& [item, many] : held[group[row]])
                    sums.of(person_[row], item) += static_cast<double>(many) / static_cast<double>(known[group[row]]);
        return sums.all([&](double sum) { return sum <= limit() + 1e-12; });
    }

    // The group of each row; empty where some sensitive row found no place.
    std::vector<std::int32_t> solve() {
        const std::vector<std::pair<std::int64_t, std::int32_t>> holders = in_order();
        link();
        for (const auto& [size, row] : holders) {
            monitor_.check();
            const bool large = -size > p_;  // room for the items of others, too
            if (large ? !share(row, -size) && !form(row, -size) : !form(row, -size) && !share(row, -size)) return {};
        }
        std::vector<std::int32_t> out(secrets_.rows, static_cast<std::int32_t>(groups_.size()));
        for (std::size_t g = 0; g < groups_.size(); ++g)
            for (const std::int32_t row : groups_[g].rows) out[row] = static_cast<std::int32_t>(g);
        return out;
    }

  private:
    double limit() const { return 1.0 / p_; }
    bool holds(std::int32_t row) const { return secrets_.size(row) > 0; }
    // Whether a user can bear so much more of an item. One part of at most 1/p always is borne by who bears nothing.
    bool bears(std::int32_t user, std::int32_t item, double more, bool first) const {
        const double now = sums_.get(user, item);
        return (now == 0 && first) || now + more <= limit() - TOLERANCE;
    }

    // The sensitive rows, those first that need the largest groups (as negative sizes). What the groups of a user's own
    // rows will say is kept free for them.
    std::vector<std::pair<std::int64_t, std::int32_t>> in_order() {
        std::unordered_map<std::uint64_t, std::int64_t> own;
        const auto key = [&](std::int32_t row, std::int32_t item) {
            return static_cast<std::uint64_t>(static_cast<std::uint32_t>(person_[row])) << 32 |
                   static_cast<std::uint32_t>(item);
        };
        std::vector<std::pair<std::int64_t, std::int32_t>> holders;
        for (std::int32_t row = 0; row < secrets_.rows; ++row)
            for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s)
                if (person_[row] >= 0) ++own[key(row, *s)];
        for (std::int32_t row = 0; row < secrets_.rows; ++row) {
            if (!holds(row)) continue;
            std::int64_t most = 1;
            for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s)
                if (person_[row] >= 0) most = std::max(most, own[key(row, *s)]);
            holders.emplace_back(-most * p_, row);
            if (person_[row] < 0) continue;
            for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s)
                sums_.of(person_[row], *s) += 1.0 / static_cast<double>(most * p_);
        }
        std::sort(holders.begin(), holders.end());
        return holders;
    }
    // Rows without sensitive items and of known users can join; the others are passed over once and for all.
    void link() {
        next_.resize(secrets_.rows + 2);
        previous_.resize(secrets_.rows + 2);
        std::iota(next_.begin(), next_.end(), 1);
        std::iota(previous_.begin(), previous_.end(), -1);
        for (std::int32_t row = 0; row < secrets_.rows; ++row)
            if (person_[row] < 0 && !holds(row)) unlink(row);
    }
    // Places of the list are rows counted from 1; both ends are no rows.
    void unlink(std::int32_t row) {
        next_[previous_[row + 1]] = next_[row + 1];
        previous_[next_[row + 1]] = previous_[row + 1];
    }

    // A group of `size` rows of known users around a sensitive row, which lies in the middle of them.
    bool form(std::int32_t row, std::int64_t size) {
        const double each = 1.0 / static_cast<double>(size);
        Group found{{row}, {secrets_.begin(row), secrets_.end(row)}, person_[row] >= 0};
        std::unordered_map<std::int32_t, std::int32_t> came;
        const auto end = static_cast<std::int32_t>(secrets_.rows) + 1;
        const auto take = [&](std::int32_t place) {
            const std::int32_t other = place - 1, user = person_[other];
            if (holds(other)) return;
            const auto at = came.find(user);
            const std::int32_t times = at == came.end() ? 0 : at->second;
            for (const std::int32_t item : found.items)
                if (!bears(user, item, each * (times + 1), times == 0)) return;
            found.rows.push_back(other);
            ++found.known;
            ++came[user];
        };
        for (std::int32_t left = previous_[row + 1], right = next_[row + 1];
             found.known < size && (left > 0 || right < end);) {
            if (left > 0) take(left), left = previous_[left];
            if (right < end && found.known < size) take(right), right = next_[right];
        }
        if (found.known < size) return false;
        for (std::size_t i = 1; i < found.rows.size(); ++i) {
            unlink(found.rows[i]);
            for (const std::int32_t item : found.items) sums_.of(person_[found.rows[i]], item) += each;
        }
        groups_.push_back(std::move(found));
        return true;
    }

    // The row joins the nearest group of at least this size whose users can bear its items, and whose items its user
    // can.
    bool share(std::int32_t row, std::int64_t size) {
        std::vector<std::pair<std::int32_t, std::int32_t>> near;
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].known >= size)
                near.emplace_back(std::abs(groups_[g].rows[0] - row), static_cast<std::int32_t>(g));
        std::sort(near.begin(), near.end());
        return std::any_of(near.begin(), near.end(), [&](const auto& one) { return join(row, groups_[one.second]); });
    }
    bool join(std::int32_t row, Group& group) {
        const std::int32_t own = person_[row];
        const double each = 1.0 / static_cast<double>(group.known + (own >= 0));
        for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s)
            if (std::find(group.items.begin(), group.items.end(), *s) != group.items.end()) return false;
        std::unordered_map<std::int32_t, std::int32_t> users;
        for (const std::int32_t other : group.rows)
            if (person_[other] >= 0) ++users[person_[other]];
        if (own >= 0)
            for (const std::int32_t item : group.items)
                if (!bears(own, item, each * (1 + users[own]), users[own] == 0)) return false;
        for (const auto& [user, times] : users)
            for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s)
                if (times > 0 && !bears(user, *s, each * times, times == 1)) return false;
        if (own >= 0)
            for (const std::int32_t item : group.items) sums_.of(own, item) += each;
        for (const auto& [user, times] : users)
            for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s)
                if (times > 0) sums_.of(user, *s) += each * times;
        group.rows.push_back(row);
        group.items.insert(group.items.end(), secrets_.begin(row), secrets_.end(row));
        group.known += own >= 0;
        return true;
    }

    const Csr secrets_;
    const std::int32_t* person_;
    std::int64_t p_;
    Monitor& monitor_;
    Sums sums_;
    std::vector<Group> groups_;
    std::vector<std::int32_t> next_, previous_;
};

}  // namespace

std::vector<std::int32_t> spread_for_persons(const Csr& secrets, const std::int32_t* person, const std::int32_t* group,
                                             std::int32_t p, Monitor& monitor) {
    Spreading spreading(secrets, person, p, monitor);
    return spreading.keeps(group) ? std::vector<std::int32_t>(group, group + secrets.rows) : spreading.solve();
}

}  // namespace anonset::cahd
