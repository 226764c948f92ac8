// A user's rows together must not say more about a sensitive item than 1/p. In a group in which some user exceeds that,
// a row of the user without sensitive items changes places with one of another group, if that lowers the sum of all
// excesses. Where none does, the group takes in another one, whose rows share its sensitive items from then on: the one
// after which least is in excess. Exchanges lower the excess, and merges the number of groups, so this ends.
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cahd/api.hpp"

namespace anonset::cahd {

namespace {

using Counts = std::vector<std::pair<std::int32_t, std::int32_t>>;  // of users or items, by ascending number

void add(Counts& counts, std::int32_t what, std::int32_t many) {
    const auto at = std::lower_bound(counts.begin(), counts.end(), std::pair(what, INT32_MIN));
    if (at != counts.end() && at->first == what)
        (at->second += many) == 0 ? static_cast<void>(counts.erase(at)) : void();
    else
        counts.insert(at, {what, many});
}

struct Part {
    std::vector<std::int32_t> rows;
    Counts users, items;
    std::int64_t known = 0;  // rows of known users
};

Part united(const Part& one, const Part& other) {
    Part both = one;
    both.rows.insert(both.rows.end(), other.rows.begin(), other.rows.end());
    for (const auto& [user, many] : other.users) add(both.users, user, many);
    for (const auto& [item, many] : other.items) add(both.items, item, many);
    both.known += other.known;
    return both;
}

class Spreading {
  public:
    Spreading(const Csr& secrets, const std::int32_t* person, const std::int32_t* group, std::int32_t p,
              Monitor& monitor)
        : secrets_(secrets), person_(person), limit_(1.0 / p + TOLERANCE), monitor_(monitor) {
        for (std::int32_t row = 0; row < secrets.rows; ++row) {
            if (group[row] >= static_cast<std::int32_t>(parts_.size())) parts_.resize(group[row] + 1);
            Part& part = parts_[group[row]];
            part.rows.push_back(row);
            for (const std::int32_t* s = secrets.begin(row); s != secrets.end(row); ++s) add(part.items, *s, 1);
            if (person[row] < 0) continue;
            add(part.users, person[row], 1);
            ++part.known;
        }
        for (const Part& part : parts_) change(part, 1.0);
    }

    std::vector<std::int32_t> solve(std::int64_t rows) {
        for (bool any = true; any;) {
            any = false;
            for (std::int32_t g = 0; g < static_cast<std::int32_t>(parts_.size()); ++g)
                while (exceeds(parts_[g])) {
                    monitor_.check();
                    if (!exchange(g) && !merge(g)) return {};
                    any = true;
                }
        }
        std::vector<std::int32_t> out(rows);
        std::int32_t next = 0;
        for (const Part& part : parts_) {
            for (const std::int32_t row : part.rows) out[row] = next;
            next += !part.rows.empty();
        }
        return out;
    }

  private:
    static constexpr double TOLERANCE = 1e-12;
    static constexpr std::size_t PARTNERS = 12, ROWS = 16;  // groups and rows looked at
    static constexpr double LEAST = 1e-9;                   // that an exchange must lower the excess by

    static std::uint64_t key(std::int32_t user, std::int32_t item) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(user)) << 32 | static_cast<std::uint32_t>(item);
    }
    static double share(const Part& part, std::int32_t many, std::int32_t holders) {
        return static_cast<double>(many) * holders / static_cast<double>(part.known);
    }
    template <class Body>
    static void pairs(const Part& part, Body&& body) {
        for (const auto& [item, holders] : part.items)
            for (const auto& [user, many] : part.users) body(key(user, item), share(part, many, holders));
    }
    void change(const Part& part, double sign) {
        pairs(part, [&](std::uint64_t pair, double much) { sums_[pair] += sign * much; });
    }
    bool exceeds(const Part& part) const {
        bool found = false;
        pairs(part, [&](std::uint64_t pair, double) { found = found || sums_.at(pair) > limit_; });
        return found;
    }
    // What the users of a part have in excess, after the part has become another one.
    double excess(const Part& part) const {
        double sum = 0;
        pairs(part, [&](std::uint64_t pair, double) {
            const auto at = sums_.find(pair);
            if (at != sums_.end()) sum += std::max(0.0, at->second - limit_);
        });
        return sum;
    }
    // The user and item of a part that are most in excess.
    std::pair<std::int32_t, std::int32_t> worst(const Part& part) const {
        std::pair<std::int32_t, std::int32_t> found{-1, -1};
        double most = limit_;
        for (const auto& [item, holders] : part.items)
            for (const auto& [user, many] : part.users)
                if (const double sum = sums_.at(key(user, item)); sum > most) most = sum, found = {user, item};
        return found;
    }
    bool free_row(std::int32_t row) const { return person_[row] >= 0 && secrets_.size(row) == 0; }
    // What a user has in excess after one row has gone from one part to another; with `make`, that happens.
    double moved(std::int32_t user, const Part& from, const Part& to, bool make) {
        double sum = 0;
        for (const Part* part : {&from, &to})
            for (const auto& [item, holders] : part->items) {
                double& now = sums_[key(user, item)];
                const double before = std::max(0.0, now - limit_), much = share(*part, 1, holders);
                now += part == &from ? -much : much;
                sum += std::max(0.0, now - limit_) - before;
            }
        if (!make)
            for (const Part* part : {&from, &to})
                for (const auto& [item, holders] : part->items)
                    sums_[key(user, item)] += (part == &from ? 1.0 : -1.0) * share(*part, 1, holders);
        return sum;
    }
    bool exchange(std::int32_t g) {
        const auto [user, item] = worst(parts_[g]);
        Part& mine = parts_[g];
        const auto row = std::find_if(mine.rows.begin(), mine.rows.end(), [user = user, this](std::int32_t r) {
            return person_[r] == user && free_row(r);
        });
        if (row == mine.rows.end()) return false;
        const auto count = static_cast<std::int32_t>(parts_.size());
        for (std::int32_t step = 1; step < count; ++step)
            for (const std::int32_t h : {g - step, g + step})
                if (h >= 0 && h < count && swap_into(mine, *row, parts_[h])) return true;
        return false;
    }
    // A row of another part comes for this one, if that lowers what both users have in excess.
    bool swap_into(Part& mine, std::int32_t& row, Part& other) {
        std::size_t looked = 0;
        const std::int32_t user = person_[row];
        const double own = other.known > 0 ? moved(user, mine, other, false) : 0;
        if (own >= -LEAST) return false;
        for (std::int32_t& back : other.rows) {
            if (!free_row(back) || person_[back] == user) continue;
            if (++looked > ROWS) break;
            if (own + moved(person_[back], other, mine, false) >= -LEAST) continue;
            moved(user, mine, other, true);
            moved(person_[back], other, mine, true);
            add(mine.users, user, -1), add(mine.users, person_[back], 1);
            add(other.users, user, 1), add(other.users, person_[back], -1);
            std::swap(row, back);
            return true;
        }
        return false;
    }
    bool merge(std::int32_t g) {
        std::int32_t chosen = -1;
        double least = 0;
        std::size_t looked = 0;
        const auto count = static_cast<std::int32_t>(parts_.size());
        const auto look = [&](std::int32_t h) {
            if (h < 0 || h >= count || parts_[h].rows.empty()) return;
            ++looked;
            const Part both = united(parts_[g], parts_[h]);
            const double before = excess(both);
            change(parts_[g], -1.0), change(parts_[h], -1.0), change(both, 1.0);
            const double left = excess(both) - before;
            change(both, -1.0), change(parts_[g], 1.0), change(parts_[h], 1.0);
            if (chosen < 0 || left < least) chosen = h, least = left;
        };
        for (std::int32_t step = 1; step < count && looked < PARTNERS; ++step) look(g - step), look(g + step);
        if (chosen < 0) return false;
        change(parts_[g], -1.0), change(parts_[chosen], -1.0);
        parts_[g] = united(parts_[g], parts_[chosen]);
        parts_[chosen] = Part();
        change(parts_[g], 1.0);
        return true;
    }

    const Csr secrets_;
    const std::int32_t* person_;
    double limit_;
    Monitor& monitor_;
    std::vector<Part> parts_;
    std::unordered_map<std::uint64_t, double> sums_;  // of each user and item
};

}  // namespace

std::vector<std::int32_t> spread_for_persons(const Csr& secrets, const std::int32_t* person, const std::int32_t* group,
                                             std::int32_t p, Monitor& monitor) {
    return Spreading(secrets, person, group, p, monitor).solve(secrets.rows);
}

}  // namespace anonset::cahd
