// What a group around an anchor can be worth while not all items are decided (docs/explanation/bound.md).
//
// A group that fails is worth more than nothing *and* saves the anchor more than it asks for, so any sum of both is
// more than nothing: worth + times * saves. If for one number of times the best rows do not get that far together, no
// group fails. Everything is in the units of worths, and what is saved is rounded up.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bound/outer_items.hpp"

namespace anonset::lifting {

class Hopes {
  public:
    Hopes(const Problem& problem, Account& account)
        : p_(problem), account_(account), k_(problem.k), half_(problem.half), by_(2 * (k_ - 1)) {
        for (std::size_t t = 0; t < TIMES.size(); ++t) {
            stranger_[t] = NONE;
            for (const std::int32_t row : p_.elite)
                stranger_[t] = std::max(stranger_[t], -cost(t, p_.asks[row], p_.fee[row]));
        }
    }

    // Finds out what the best of every kind cost, by how often what they save is counted.
    void around(Circle& circle) {
        for (std::size_t t = 0; t < TIMES.size(); ++t) {
            costs_[t].clear();
            for (Kind& kind : circle.kinds) {
                kind.costs = static_cast<std::int32_t>(costs_[t].size());
                best_.begin(k_ - 1, NONE);
                for (std::int32_t i = kind.elite; i < kind.elite_end; ++i) {
                    const Helper& one = circle.helpers[circle.elite[i]];
                    if (const std::int32_t value = -cost(t, one.asks, one.fee); value > best_.floor())
                        best_.add(value, one.copies);
                }
                for (std::int64_t i = 0; best_[i] != NONE && i < k_ - 1; ++i) costs_[t].push_back(-best_[i]);
                kind.costs_end = static_cast<std::int32_t>(costs_[t].size());
            }
        }
    }
    // What the anchor asks for may change.
    void begin(const Circle& circle) {
        asks_ = circle.asks;
        need_ = circle.need;
        last_ = 0;
    }
    // Forgets who may be in a group that fails.
    void forget() {
        found_.clear();
        inner_found_ = 0;
    }
    // Whether a group may fail that keeps no items but the anchor's.
    bool within(const Level& level, const Choice& choice, std::size_t line) {
        begin(level, choice, line);
        bool any = false;
        for (int q = 0; q <= open_ && !any; ++q) any = hoped(level, q, 0);
        inner_found_ = found_.size();
        return any;
    }
    // Or one that keeps at least one of these as well. Leaves out those that none can keep.
    bool beyond(const Level& level, const Choice& choice, std::size_t line, Outer& outer) {
        if (outer.many) return true;
        begin(level, choice, line);
        outer_ = &outer;
        rest_ = p_.rounded_up(outer.rest);
        for (const Holder& row : outer.rows) open_ = std::max(open_, count(row.held & choice.open));
        for (Set before = 0; outer.left != before;) {
            std::size_t rows = 0;
            for (Holder& row : outer.rows)
                if (row.outs &= outer.left) outer.rows[rows++] = row;
            outer.rows.resize(rows);
            found_.resize(inner_found_);
            before = outer.left;
            outer.left = kept(level, before);
        }
        return outer.left != 0;
    }
    // Whether a row may be in one of the groups that were found possible, where nothing is open any more, if it holds
    // so many items beside the anchor's.
    bool possible(Set held, std::int32_t outs, std::int32_t asks, std::int32_t fee) const {
        for (const Found& one : found_)
            if (one.rest + (2 * UNIT + TIMES[one.t] * slope_) * count(held & choice_.kept) +
                    2 * UNIT * std::min(one.p, outs) - cost(one.t, asks, fee) >
                0)
                return true;
        return false;
    }
    // Whether one may be that shares nothing.
    bool stranger_possible() const {
        for (const Found& one : found_)
            if (one.rest + 2 * UNIT * one.p + stranger_[one.t] > 0) return true;
        return false;
    }

  private:
    static constexpr std::array<std::int32_t, 5> TIMES{0, 1, 2, 4, 8};
    struct Sums {
        std::int64_t all, but_one;
    };
    // What a group has without one of its rows, by how often what it saves is counted.
    struct Found {
        std::int64_t rest;
        std::size_t t;
        std::int32_t p;
        bool operator<(const Found& other) const { return rest < other.rest; }
    };

    std::int32_t cost(std::size_t t, std::int32_t asks, std::int32_t fee) const {
        return asks + TIMES[t] * static_cast<std::int32_t>(fee / by_);  // fees are not negative
    }

    void begin(const Level& level, const Choice& choice, std::size_t number) {
        choice_ = choice;
        slope_ = p_.rounded_up(p_.lines[number].slope);
        each_ = p_.rounded_up(2 * UNIT);
        sure_ = p_.rounded_up(p_.sure(need_, choice, number));
        open_ = 0;  // if more are kept than anybody holds, all lose by it
        if (choice.open)
            for (const std::vector<Kind>* kinds : {&level.with, &level.without})
                for (const Kind& kind : *kinds) open_ = std::max(open_, count(kind.held & choice.open));
    }
    // With so many open items kept, and so many others.
    bool hoped(const Level& level, int q, int p) {
        Found least{INT64_MAX, 0, p};
        std::int64_t sum = INT64_MAX;
        for (std::size_t i = 0; i < TIMES.size(); ++i) {
            const std::size_t t = (last_ + i) % TIMES.size();
            const Sums sums = p == 0 ? inner(level, q, t) : wider(level, q, p, t);
            if (sums.all <= 0) {
                last_ = t;
                return false;
            }
            least = std::min(least, Found{sums.but_one, t, p});
            if (sums.all < sum) sum = sums.all, least_ = t;
        }
        if (choice_.open == 0) found_.push_back(least);
        return true;
    }
    Sums inner(const Level& level, int q, std::size_t t) {
        must_.begin(k_ - 1, NONE);
        fill(must_, level.with, q, t);
        may_.begin(k_ - half_, std::max(must_[k_ - 2], stranger_[t]));
        fill(may_, level.without, q, t);
        const std::int64_t sum = own(q, 0, t);
        return {sum + chosen(must_, may_, half_ - 1, k_ - 1), sum + chosen(must_, may_, half_ - 2, k_ - 2)};
    }
    Sums wider(const Level& level, int q, int p, std::size_t t) {
        // Rows that hold both the rarest item and others, only others, only the rarest, or neither.
        Best& both = must_;
        both.begin(k_ - 1, NONE);
        outs_.begin(k_ - 1, stranger_[t] + 2 * UNIT * p);
        fill_holders(both, outs_, q, p, t);
        fill_rest(outs_, level.without, q, p, t);
        with_.begin(k_ - 1, NONE);
        fill(with_, level.with, q, t);
        may_.begin(k_ - 1, stranger_[t]);
        fill(may_, level.without, q, t);
        const auto least = [&](std::int64_t one) {  // with one less
            return std::min(chosen_of(half_ - one, k_ - 1 - one, both, outs_, with_, may_),
                            chosen_of(half_ - 1 - one, k_ - 1 - one, both, with_, outs_, may_));
        };
        const std::int64_t sum = own(q, p, t);
        return {sum + least(0), sum + least(1)};
    }
    // The best of four, so many of them from the first two.
    static std::int64_t chosen_of(std::int64_t must, std::int64_t all, const Best& a, const Best& b, const Best& c,
                                  const Best& d) {
        std::int64_t i = 0, j = 0, m = 0, n = 0, sum = 0;
        for (; i + j < must;) sum += a[i] >= b[j] ? a[i++] : b[j++];
        for (std::int64_t left = all - must; left > 0; --left) {
            const std::int32_t first = std::max(a[i], b[j]), second = std::max(c[m], d[n]);
            if (first >= second) {
                sum += first;
                ++(a[i] >= b[j] ? i : j);
            } else {
                sum += second;
                ++(c[m] >= d[n] ? m : n);
            }
        }
        return sum;
    }
    // Which of these items a failing group can keep, with any number of them and of the open ones.
    Set kept(const Level& level, Set items) {
        int most = 0;
        for (const Holder& row : outer_->rows) most = std::max(most, count(row.outs));
        Set good = 0;
        for (int p = 1; p <= most; ++p)
            for (int q = 0; q <= open_; ++q) {
                // Where nothing is open, who may be in a group has to be known for every number.
                if (good == items && choice_.open) return good;
                if (hoped(level, q, p)) good |= kept_with(level, items & ~good, q, p, least_);
            }
        return good;
    }
    // The same for one number of each.
    Set kept_with(const Level& level, Set items, int q, int p, std::size_t t) {
        rest_outs_.begin(k_ - 1, stranger_[t] + 2 * UNIT * p);
        fill_rest(rest_outs_, level.without, q, p, t);
        with_.begin(k_ - 1, NONE);
        fill(with_, level.with, q, t);
        may_.begin(k_ - 1, stranger_[t]);
        fill(may_, level.without, q, t);
        const std::int64_t sum = own(q, p, t);
        Set good = 0;
        for (; items; items &= items - 1) {
            const Set item = items & (~items + 1);
            both_.begin(k_ - 1, NONE);
            outs_ = rest_outs_;
            only_with_ = with_;
            neither_ = may_;
            fill_by(item, q, p, t);
            if (sum + best_of_four() > 0) good |= item;
        }
        return good;
    }
    // Rows by whether they hold the rarest item, and this one.
    ANONSET_CLONES void fill_by(Set item, int q, int p, std::size_t t) {
        const Set rarest = choice_.kept & (~choice_.kept + 1);
        const std::int32_t kept = 2 * UNIT + TIMES[t] * slope_, open = 2 * UNIT + TIMES[t] * each_;
        for (const Holder& row : outer_->rows) {
            const bool holds = (row.outs & item) != 0, with = (row.held & rarest) != 0;
            const std::int32_t worth = gained(row.held, choice_, q, kept, open) +
                                       2 * UNIT * std::min(holds ? p : p - 1, count(row.outs)) -
                                       cost(t, row.asks, row.fee);
            Best& best = holds ? (with ? both_ : outs_) : (with ? only_with_ : neither_);
            if (worth > best.floor()) best.add(worth, row.copies);
        }
        account_.looks += static_cast<std::int64_t>(outer_->rows.size());
    }
    // All but one hold the rarest item in half of the group, and half hold the other.
    std::int64_t best_of_four() const {
        std::int64_t most = NEVER;
        for (std::int64_t both = 2 * half_ - k_; both <= k_ - 1 && both_[both - 1] != NONE; ++both) {
            std::int64_t i = std::max<std::int64_t>(0, half_ - 1 - both), j = std::max<std::int64_t>(0, half_ - both),
                         n = 0;
            std::int64_t sum = both_.sum(both) + only_with_.sum(i) + outs_.sum(j);
            for (std::int64_t left = k_ - 1 - both - i - j; left > 0; --left) {
                const std::int32_t a = only_with_[i], b = outs_[j], c = neither_[n];
                sum += std::max({a, b, c});
                ++(a >= b && a >= c ? i : b >= c ? j : n);
            }
            most = std::max(most, sum);
        }
        return most;
    }
    // Of the anchor; and what all others lose by every item that is kept.
    std::int64_t own(int q, int p, std::size_t t) const {
        return (choice_.size + q - p) * UNIT - asks_ + TIMES[t] * sure_ - (k_ - 1) * (choice_.size + q + p) * UNIT;
    }
    static ANONSET_INLINE std::int32_t gained(Set held, const Choice& choice, int q, std::int32_t kept,
                                              std::int32_t open) {
        return kept * count(held & choice.kept) + open * std::min(q, count(held & choice.open));
    }
    ANONSET_CLONES void fill(Best& best, const std::vector<Kind>& kinds, int q, std::size_t t) {
        const std::int32_t kept = 2 * UNIT + TIMES[t] * slope_, open = 2 * UNIT + TIMES[t] * each_;
        const std::int32_t* costs = costs_[t].data();
        for (const Kind& kind : kinds) {
            const std::int32_t all = gained(kind.held, choice_, q, kept, open);
            for (std::int32_t i = kind.costs; i < kind.costs_end && all - costs[i] > best.floor(); ++i)
                best.add(all - costs[i], 1);
        }
        account_.looks += static_cast<std::int64_t>(kinds.size());
    }
    // Rows that were not looked at, and may hold everything.
    ANONSET_CLONES void fill_rest(Best& best, const std::vector<Kind>& kinds, int q, int p, std::size_t t) {
        const std::int32_t kept = 2 * UNIT + TIMES[t] * slope_, open = 2 * UNIT + TIMES[t] * each_;
        const std::int32_t outs = 2 * UNIT * p, most = TIMES[t] * rest_;
        const std::int32_t *costs = costs_[t].data(), *asks = costs_[0].data();
        for (const Kind& kind : kinds) {
            const std::int32_t all = gained(kind.held, choice_, q, kept, open) + outs;
            const std::int32_t limit = gained(kind.held, choice_, q, 2 * UNIT, 2 * UNIT) + most + outs;
            for (std::int32_t i = kind.costs; i < kind.costs_end; ++i) {
                const std::int32_t worth = std::min(all - costs[i], limit - asks[i]);
                if (worth <= best.floor()) break;
                best.add(worth, 1);
            }
        }
        account_.looks += static_cast<std::int64_t>(kinds.size());
    }
    ANONSET_CLONES void fill_holders(Best& with, Best& without, int q, int p, std::size_t t) {
        const Set rarest = choice_.kept & (~choice_.kept + 1);
        const std::int32_t kept = 2 * UNIT + TIMES[t] * slope_, open = 2 * UNIT + TIMES[t] * each_;
        for (const Holder& row : outer_->rows) {
            const std::int32_t worth = gained(row.held, choice_, q, kept, open) +
                                       2 * UNIT * std::min(p, count(row.outs)) - cost(t, row.asks, row.fee);
            Best& best = row.held & rarest ? with : without;
            if (worth > best.floor()) best.add(worth, row.copies);
        }
        account_.looks += static_cast<std::int64_t>(outer_->rows.size());
    }

    const Problem& p_;
    Account& account_;
    const std::int64_t k_, half_, by_;
    std::int64_t asks_ = 0, need_ = 0, sure_ = 0;        // of the anchor
    std::array<std::int32_t, TIMES.size()> stranger_{};  // what the best row that shares nothing is worth at most
    std::array<std::vector<std::int32_t>, TIMES.size()> costs_;  // of the best of every kind
    std::size_t last_ = 0;
    Choice choice_{};
    std::int32_t slope_ = 0, each_ = 0, rest_ = 0;
    int open_ = 0;
    std::vector<Found> found_;
    std::size_t inner_found_ = 0;  // of these: without items that the anchor does not hold
    Outer* outer_ = nullptr;
    std::size_t least_ = 0;
    Best best_, must_, may_, with_, outs_, rest_outs_, both_, only_with_, neither_;
};

}  // namespace anonset::lifting
