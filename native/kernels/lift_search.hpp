// The groups in which one row, the *anchor*, saves more than it asks for (docs/explanation/bound.md).
//
// A row that is worth w asks to keep |u| - w of its items. In a group of k whose majority keeps item i, which c of its
// members hold, each of these saves 2 - k / c; so what the members save together is what the group keeps. Each also
// gets a fee and pays the mean fee of the others, which cancels. A group fails if its members ask for less than it
// keeps; then one of them saves more than it asks for. Searched are all failing groups of which the anchor is such a
// member.
//
// The items that a center keeps are decided one after the other, those that the anchor holds first. What is saved is in
// units of 1 / (2 UNIT (k - 1)) of an item, and rounded up; what rows are worth is in units of 1 / UNIT.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "lift_problem.hpp"

namespace anonset::lifting {

class Search {
  public:
    explicit Search(const Problem& problem)
        : p_(problem), k_(problem.k), half_(problem.half), place_(problem.holders.size(), -1) {}

    std::int64_t looks() const { return looks_; }
    // What the anchor has to pay alone, for centers that were not looked at.
    std::int64_t charge() const { return charge_; }
    // The centers at which groups fail, and what the best group there is worth.
    std::vector<std::pair<std::int64_t, Center>>& failed() { return failed_; }

    void run(std::int64_t anchor, const Circle& circle, std::int64_t budget, Debts& debts) {
        debts_ = &debts;
        anchor_ = anchor;
        need_ = p_.need(anchor);
        budget_ = budget;
        circle_ = &circle;
        helpers_ = circle.helpers.data();
        looks_ = charge_ = 0;
        failed_.clear();
        for (const std::int32_t* i = p_.data.begin(anchor_); i != p_.data.end(anchor_); ++i) place_[*i] = OWN;
        if (need_ < 0) pay(worth_of(-need_));  // it may have enough without keeping anything
        const auto items = static_cast<int>(circle.items.size());
        for (int b = 0; b < items; ++b) {
            const Set bit = Set{1} << b, all = ~Set{0} >> (64 - items), open = b == 63 ? 0 : all & (~Set{0} << (b + 1));
            Level& level = at_depth(0);
            level.with.clear();
            level.without.clear();
            for (const Kind& kind : circle.kinds) (kind.held & bit ? level.with : level.without).push_back(kind);
            looks_ += static_cast<std::int64_t>(circle.kinds.size()) / 4;
            visit(0, {bit, 1, open}, p_.lines.size() - 1);
        }
        for (const std::int32_t* i = p_.data.begin(anchor_); i != p_.data.end(anchor_); ++i) place_[*i] = -1;
    }

  private:
    static constexpr std::int32_t OWN = -2;

    struct Level {
        std::vector<Kind> with, without;  // the rarest item that is kept
    };
    struct Choice {
        Set kept;
        int size;
        Set open;  // may be kept as well
    };
    struct Bound {
        std::int64_t most;  // that the anchor saves beyond what it asks for
        std::int64_t low;   // a helper that saves it no more is in no group in which it has enough
        std::size_t line;
    };
    struct Near {
        std::int32_t worth, id, copies;
        std::int32_t saves;  // the anchor, rounded up, in the units of worths
        std::int32_t outs;   // items beside the anchor's that may be kept
    };
    static bool before(const Near& a, const Near& b) { return a.worth != b.worth ? a.worth > b.worth : a.id < b.id; }

    Level& at_depth(std::size_t depth) {
        while (levels_.size() <= depth) levels_.emplace_back();
        return levels_[depth];
    }

    static std::int32_t saved(Set held, const Choice& choice, const Line& line) {
        return line.slope * count(held & choice.kept) + 2 * UNIT * count(held & choice.open);
    }
    void fill(Best& best, const std::vector<Kind>& kinds, const Choice& choice, const Line& line) {
        const std::int32_t extra = std::max(0, line.slope - 2 * UNIT) * choice.size;
        for (const Kind& kind : kinds) {
            if (kind.most + extra <= best.floor()) return;
            const std::int32_t all = saved(kind.held, choice, line);
            std::int32_t i = kind.first;
            for (; i < kind.last && all - helpers_[i].fee > best.floor(); ++i)
                best.add(all - helpers_[i].fee, helpers_[i].copies);
            looks_ += 1 + i - kind.first;
        }
    }
    // The best of all of whom so many hold the rarest item.
    std::int64_t chosen(std::int64_t must, std::int64_t all) const {
        std::int64_t i = must, j = 0, sum = with_.sum(must);
        for (std::int64_t c = must; c < all; ++c)
            sum += i < k_ - 1 && with_[i] >= without_[j] ? with_[i++] : without_[j++];
        return sum;
    }
    Bound bound(const Level& level, const Choice& choice, std::size_t number) {
        const Line& line = p_.lines[number];
        with_.begin(k_ - 1, NONE);
        fill(with_, level.with, choice, line);
        without_.begin(k_ - half_, std::max(with_[k_ - 2], -p_.fee[0]));
        fill(without_, level.without, choice, line);
        const std::int64_t sure = sure_of(choice, line);
        return {sure + chosen(half_ - 1, k_ - 1), -sure - chosen(half_ - 2, k_ - 2), number};
    }
    std::int64_t sure_of(const Choice& choice, const Line& line) const {
        return choice.size * (line.offset + line.slope) - need_;
    }
    // By the line that says least, near the one that did so before.
    Bound least(const Level& level, const Choice& choice, std::size_t line) {
        Bound least = bound(level, choice, line);
        const auto lower = [&](std::size_t other) {
            const Bound one = bound(level, choice, other);
            if (one.most >= least.most) return false;
            least = one;
            return true;
        };
        for (std::size_t l = line + 1; least.most > 0 && l < p_.lines.size() && lower(l); ++l) continue;
        if (least.line != line) return least;
        for (std::size_t l = line; least.most > 0 && l-- > 0 && lower(l);) continue;
        return least;
    }

    void visit(std::size_t depth, const Choice& choice, std::size_t line) {
        const Bound here = least(at_depth(depth), choice, line);
        if (here.most <= 0) return;
        if (looks_ >= budget_) return pay(worth_of(here.most));
        Level& next = at_depth(depth + 1);
        narrow(levels_[depth].with, choice, here, next.with);
        narrow(levels_[depth].without, choice, here, next.without);
        const Choice closed{choice.kept, choice.size, 0};
        if (const Bound own = choice.open ? least(next, closed, here.line) : here; own.most > 0)
            judge(next, closed, own);
        for (Set left = choice.open; left;) {
            const Set bit = left & (~left + 1);
            left ^= bit;
            visit(depth + 1, {choice.kept | bit, choice.size + 1, left}, here.line);
        }
    }
    void narrow(const std::vector<Kind>& from, const Choice& choice, const Bound& bound, std::vector<Kind>& to) {
        to.clear();
        for (Kind kind : from) {
            const std::int64_t all = saved(kind.held, choice, p_.lines[bound.line]);
            if (all - helpers_[kind.first].fee <= bound.low) continue;
            kind.last = static_cast<std::int32_t>(
                std::partition_point(helpers_ + kind.first, helpers_ + kind.last,
                                     [&](const Helper& helper) { return all - helper.fee > bound.low; }) -
                helpers_);
            to.push_back(kind);
        }
        looks_ += static_cast<std::int64_t>(from.size());
    }

    void pay(std::int64_t worth) { charge_ = std::max(charge_, worth); }
    // A group in which nobody has more than so much beyond what it asks for is worth at most that much.
    std::int64_t worth_of(std::int64_t saved) const { return (saved * k_ + 2 * (k_ - 1) - 1) / (2 * (k_ - 1)); }
    std::int32_t rounded_up(std::int64_t saved) const {
        const std::int64_t by = 2 * (k_ - 1);
        return static_cast<std::int32_t>(saved >= 0 ? (saved + by - 1) / by : -(-saved / by));
    }

    // All groups that keep just these items of the anchor, and perhaps others.
    void judge(const Level& level, const Choice& choice, const Bound& bound) {
        const Line& line = p_.lines[bound.line];
        std::vector<Near>& near = near_at(0);
        near.clear();
        for (const std::vector<Kind>* some : {&level.with, &level.without})
            for (const Kind& kind : *some) {
                const std::int64_t all = saved(kind.held, choice, line);
                const std::int32_t inside = (2 * count(kind.held & choice.kept) - choice.size) * UNIT;
                for (std::int32_t i = kind.first; i < kind.last && all - helpers_[i].fee > bound.low; ++i)
                    near.push_back({inside - helpers_[i].asks, helpers_[i].id, helpers_[i].copies,
                                    rounded_up(all - helpers_[i].fee), 0});
            }
        for (std::int32_t row = 0; row < p_.data.rows && -p_.fee[row] > bound.low; ++row, ++looks_)
            if (circle_->shared[row] == 0)
                near.push_back({-choice.size * UNIT - p_.asks[row], row, p_.copies(row), rounded_up(-p_.fee[row]), 0});
        looks_ += static_cast<std::int64_t>(near.size());
        room_ = rounded_up(sure_of(choice, line));
        std::sort(near.begin(), near.end(), before);
        center_ = {choice.kept, {}};
        own_ = choice.size * UNIT - p_.asks[anchor_];
        settle(near);
        widen(0, -1);
    }
    std::vector<Near>& near_at(std::size_t depth) {
        while (near_.size() <= depth) near_.emplace_back();
        return near_[depth];
    }

    // Everybody gives back as many parts as make all its groups worthless if all members give back as many.
    void settle(const std::vector<Near>& near) {
        after(near, 0);
        const std::int64_t others = own_ + with_.sum(k_ - 2), worth = others + with_[k_ - 2];
        if (worth <= 0) return;
        failed_.emplace_back(worth, center_);
        pending_.clear();
        for (const Near& one : near)
            if (one.worth + others > 0) pending_.push_back(one);
        bool anchor = true;
        for (std::int32_t parts = 1; parts <= PARTS && (anchor || !pending_.empty()); ++parts) {
            after(near, parts);
            const std::int64_t rest = own_ - parts * p_.part[anchor_] + with_.sum(k_ - 2), most = rest + with_[k_ - 2];
            const bool last = parts == PARTS;
            if (anchor && (most <= 0 || last)) {
                debts_->owes(anchor_, parts);
                anchor = false;
            }
            if (last) pay(most);
            std::size_t left = 0;
            for (const Near& one : pending_) {
                const bool worthless = std::min(most, rest + one.worth - std::int64_t{parts} * p_.part[one.id]) <= 0;
                if (worthless || last) debts_->owes(one.id, parts);
                if (!worthless) pending_[left++] = one;
            }
            pending_.resize(left);
        }
    }
    void after(const std::vector<Near>& near, std::int32_t parts) {
        with_.begin(k_ - 1, NONE);
        for (const Near& one : near) {
            if (one.worth <= with_.floor()) break;
            with_.add(one.worth - parts * p_.part[one.id], one.copies);
        }
    }

    // So many more items are kept. A group that fails is worth more than nothing *and* saves the anchor enough, so any
    // sum of both is more than nothing: worth + times * saves.
    struct Hope {
        std::int32_t items, times;
        std::int64_t base, others;  // without helpers, and with all but one
    };
    static std::int32_t hope_of(const Near& one, const Hope& hope) {
        return one.worth + (2 * std::min(hope.items, one.outs) - hope.items) * UNIT + hope.times * one.saves;
    }
    std::int64_t hoped(const std::vector<Near>& near, std::int32_t items, Hope& best) {
        std::int64_t least = INT64_MAX;
        for (const std::int32_t times : {0, 1, 2, 4, 8}) {
            Hope hope{items, times, own_ - items * UNIT + times * room_, 0};
            with_.begin(k_ - 1, NONE);
            for (const Near& one : near) with_.add(hope_of(one, hope), one.copies);
            looks_ += static_cast<std::int64_t>(near.size()) / 4;
            const std::int64_t sum = hope.base + with_.sum(k_ - 1);
            if (sum >= least) break;
            least = sum;
            hope.others = hope.base + with_.sum(k_ - 2);
            best = hope;
            if (sum <= 0) break;
        }
        return least;
    }

    // Centers that keep items beyond `last` which the anchor does not hold.
    void widen(std::size_t depth, std::int32_t last) {
        if (half_ == k_) return;  // only what all hold is kept
        near_at(depth + 1);
        std::vector<Near>& near = near_[depth];
        std::vector<std::int32_t> outer = outer_items(near, last);
        std::int64_t worth = NEVER;
        for (bool again = !outer.empty(); again;) {
            const std::size_t rows = near.size(), items = outer.size();
            worth = peel(near, outer);
            again = !outer.empty() && (near.size() < rows || outer.size() < items);
        }
        if (outer.empty()) return;
        if (looks_ >= budget_) return pay(worth);
        for (const std::int32_t item : outer) {
            std::vector<Near>& next = near_[depth + 1];
            next.clear();
            for (Near one : near_[depth]) {
                one.worth += p_.holds(one.id, item) ? UNIT : -UNIT;
                next.push_back(one);
            }
            looks_ += 2 * static_cast<std::int64_t>(next.size());
            std::sort(next.begin(), next.end(), before);
            center_.added.push_back(item);
            own_ -= UNIT;
            settle(next);
            widen(depth + 1, item);
            own_ += UNIT;
            center_.added.pop_back();
        }
    }

    // Items that at least half of a group can hold in which the anchor has enough.
    std::vector<std::int32_t> outer_items(const std::vector<Near>& near, std::int32_t last) {
        by_saves_ = near;
        std::sort(by_saves_.begin(), by_saves_.end(),
                  [](const Near& a, const Near& b) { return a.saves != b.saves ? a.saves > b.saves : a.id < b.id; });
        std::int64_t others = room_, left = k_ - 1 - half_;
        items_.clear();
        counted_.clear();
        summed_.clear();
        for (const Near& one : by_saves_) {
            const std::int64_t taken = std::min<std::int64_t>(left, one.copies);
            others += taken * one.saves;
            left -= taken;
            if (one.id == anchor_) continue;
            for (const std::int32_t* i = p_.data.begin(one.id); i != p_.data.end(one.id); ++i) {
                std::int32_t& place = place_[*i];
                if (place == OWN || *i <= last || p_.holders[*i] < half_) continue;
                if (place < 0) {
                    place = static_cast<std::int32_t>(items_.size());
                    items_.push_back(*i);
                    counted_.push_back(0);
                    summed_.push_back(0);
                }
                const std::int64_t some = std::min<std::int64_t>(half_ - counted_[place], one.copies);
                counted_[place] += some;
                summed_[place] += some * one.saves;
            }
        }
        looks_ += 2 * static_cast<std::int64_t>(near.size());
        std::vector<std::int32_t> outer;
        for (std::size_t i = 0; i < items_.size(); ++i) {
            place_[items_[i]] = -1;
            if (counted_[i] == half_ && others + summed_[i] > 0) outer.push_back(items_[i]);
        }
        std::sort(outer.begin(), outer.end());
        return outer;
    }

    // Drops rows and items that are in no failing group that keeps any of these items. Returns what such a group may be
    // worth.
    std::int64_t peel(std::vector<Near>& near, std::vector<std::int32_t>& outer) {
        for (std::size_t i = 0; i < outer.size(); ++i) place_[outer[i]] = static_cast<std::int32_t>(i);
        std::int32_t most = 0;
        for (Near& one : near) {
            one.outs = 0;
            for_outer(one, [&](std::int32_t) { ++one.outs; });
            most = std::max(most, one.outs);
        }
        looks_ += static_cast<std::int64_t>(near.size());
        good_.assign(outer.size(), 0);
        hopes_.clear();
        std::int64_t worth = NEVER;
        for (std::int32_t items = 1; items <= most; ++items) {
            Hope hope{};
            const std::int64_t sum = hoped(near, items, hope);
            if (sum <= 0 || !mark_good(near, hope)) continue;
            worth = std::max(worth, sum);
            hopes_.push_back(hope);
        }
        near.erase(std::remove_if(near.begin(), near.end(),
                                  [&](const Near& one) {
                                      return std::none_of(hopes_.begin(), hopes_.end(), [&](const Hope& hope) {
                                          return hope_of(one, hope) + hope.others > 0;
                                      });
                                  }),
                   near.end());
        std::size_t kept = 0;
        for (std::size_t i = 0; i < outer.size(); ++i) {
            place_[outer[i]] = -1;
            if (good_[i]) outer[kept++] = outer[i];
        }
        outer.resize(kept);
        return worth;
    }
    template <class Body>
    void for_outer(const Near& one, Body&& body) const {
        if (one.id == anchor_) return;
        for (const std::int32_t* i = p_.data.begin(one.id); i != p_.data.end(one.id); ++i)
            if (place_[*i] >= 0) body(place_[*i]);
    }
    // Marks the items that half of a group with this hope can hold; false if there is none.
    bool mark_good(const std::vector<Near>& near, const Hope& hope) {
        order_.clear();
        for (std::size_t i = 0; i < near.size(); ++i)
            if (const std::int32_t value = hope_of(near[i], hope); value + hope.others > 0)
                order_.emplace_back(-value, static_cast<std::int32_t>(i));
        std::sort(order_.begin(), order_.end());
        counted_.assign(good_.size(), 0);
        summed_.assign(good_.size(), 0);
        std::int64_t others = hope.base, left = k_ - 1 - half_;
        for (const auto& [value, i] : order_) {
            const std::int64_t copies = near[i].copies, taken = std::min(left, copies);
            others -= taken * value;
            left -= taken;
            for_outer(near[i], [&, value = value](std::int32_t place) {
                const std::int64_t some = std::min(half_ - counted_[place], copies);
                counted_[place] += some;
                summed_[place] -= some * value;
            });
        }
        looks_ += 2 * static_cast<std::int64_t>(order_.size());
        bool any = false;
        for (std::size_t i = 0; i < good_.size(); ++i)
            if (counted_[i] == half_ && others + summed_[i] > 0) good_[i] = 1, any = true;
        return any;
    }

    const Problem& p_;
    Debts* debts_ = nullptr;
    const std::int64_t k_, half_;
    std::int64_t anchor_ = 0, need_ = 0, budget_ = 0, looks_ = 0, charge_ = 0;
    std::int64_t room_ = 0;  // what the items kept save the anchor without helpers, less what it asks for
    std::int32_t own_ = 0;   // the anchor's worth
    const Circle* circle_ = nullptr;
    const Helper* helpers_ = nullptr;
    std::deque<Level> levels_;
    std::deque<std::vector<Near>> near_;
    Center center_;
    std::vector<std::pair<std::int64_t, Center>> failed_;
    Best with_, without_;
    std::vector<Near> pending_, by_saves_;
    std::vector<Hope> hopes_;
    std::vector<char> good_;
    std::vector<std::pair<std::int32_t, std::int32_t>> order_;
    std::vector<std::int64_t> counted_, summed_;
    std::vector<std::int32_t> items_, place_;
};

}  // namespace anonset::lifting
