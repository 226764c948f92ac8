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

#include "bitmap.hpp"
#include "lift_outer.hpp"

namespace anonset::lifting {

class Search {
  public:
    explicit Search(const Problem& problem) : p_(problem), k_(problem.k), half_(problem.half), outer_(problem) {}

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
        outer_.around(anchor);
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
    }

  private:
    struct Level {
        std::vector<Kind> with, without;  // the rarest item that is kept
    };
    struct Choice {
        Set kept;
        int size;
        Set open;  // may be kept as well
    };
    struct Bound {
        std::int64_t most;              // that the anchor saves beyond what it asks for
        std::int64_t low, low_without;  // a helper that saves it no more is in no group in which it has enough
        std::size_t line;
    };
    static bool before(const Near& a, const Near& b) { return a.worth != b.worth ? a.worth > b.worth : a.id < b.id; }

    Level& at_depth(std::size_t depth) {
        while (levels_.size() <= depth) levels_.emplace_back();
        return levels_[depth];
    }

    static ANONSET_INLINE std::int32_t saved(Set held, const Choice& choice, const Line& line) {
        return line.slope * count(held & choice.kept) + 2 * UNIT * count(held & choice.open);
    }
    ANONSET_CLONES void fill(Best& best, const std::vector<Kind>& kinds, const Choice& choice, const Line& line) {
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
        return {sure + chosen(half_ - 1, k_ - 1), -sure - chosen(half_ - 2, k_ - 2), -sure - chosen(half_ - 1, k_ - 2),
                number};
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
        narrow(levels_[depth].with, choice, here.line, here.low, next.with);
        narrow(levels_[depth].without, choice, here.line, here.low_without, next.without);
        const Choice closed{choice.kept, choice.size, 0};
        if (const Bound own = choice.open ? least(next, closed, here.line) : here; own.most > 0)
            judge(next, closed, own);
        for (Set left = choice.open; left;) {
            const Set bit = left & (~left + 1);
            left ^= bit;
            visit(depth + 1, {choice.kept | bit, choice.size + 1, left}, here.line);
        }
    }
    ANONSET_CLONES void narrow(const std::vector<Kind>& from, const Choice& choice, std::size_t line, std::int64_t low,
                               std::vector<Kind>& to) {
        to.clear();
        for (Kind kind : from) {
            const std::int64_t all = saved(kind.held, choice, p_.lines[line]);
            if (all - helpers_[kind.first].fee <= low) continue;
            kind.last = static_cast<std::int32_t>(
                std::partition_point(helpers_ + kind.first, helpers_ + kind.last,
                                     [&](const Helper& helper) { return all - helper.fee > low; }) -
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
        std::vector<Near>& near = layer_at(0).near;
        near.clear();
        for (const std::vector<Kind>* some : {&level.with, &level.without}) {
            const bool with = some == &level.with;
            const std::int64_t low = with ? bound.low : bound.low_without;
            for (const Kind& kind : *some) {
                const std::int64_t all = saved(kind.held, choice, line);
                const std::int32_t inside = (2 * count(kind.held & choice.kept) - choice.size) * UNIT;
                for (std::int32_t i = kind.first; i < kind.last && all - helpers_[i].fee > low; ++i)
                    near.push_back({inside - helpers_[i].asks, helpers_[i].id, helpers_[i].copies,
                                    rounded_up(all - helpers_[i].fee), 0, with});
            }
        }
        for (std::int32_t row = 0; row < p_.data.rows && -p_.fee[row] > bound.low_without; ++row)
            if (circle_->shared[row] == 0)
                near.push_back(
                    {-choice.size * UNIT - p_.asks[row], row, p_.copies(row), rounded_up(-p_.fee[row]), 0, false});
        looks_ += static_cast<std::int64_t>(near.size());
        room_ = rounded_up(sure_of(choice, line));
        center_ = {choice.kept, {}};
        own_ = choice.size * UNIT - p_.asks[anchor_];
        settle(near);
        widen(0, -1);
    }
    Layer& layer_at(std::size_t depth) {
        while (layers_.size() <= depth) layers_.emplace_back();
        return layers_[depth];
    }

    // Everybody gives back as many parts as make all its groups worthless if all members give back as many.
    void settle(const std::vector<Near>& near) {
        with_.begin(k_ - 1, NONE);
        for (const Near& one : near)
            if (one.worth > with_.floor()) with_.add(one.worth, one.copies);
        const std::int64_t others = own_ + with_.sum(k_ - 2), worth = others + with_[k_ - 2];
        if (worth <= 0) return;
        failed_.emplace_back(worth, center_);
        pending_.clear();
        for (const Near& one : near)
            if (one.worth + others > 0) pending_.push_back(one);
        choose_best(near);
        bool anchor = true;
        for (std::int32_t parts = 1; parts <= PARTS && (anchor || !pending_.empty()); ++parts) {
            after(parts);
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
    // Rows that are among the best for some number of parts, in their order.
    void choose_best(const std::vector<Near>& near) {
        with_.begin(k_ - 1, NONE);
        for (const Near& one : near)
            if (const std::int32_t least = one.worth - PARTS * p_.part[one.id]; least > with_.floor())
                with_.add(least, one.copies);
        const std::int32_t floor = with_.floor();
        best_.clear();
        for (const Near& one : near)
            if (one.worth >= floor) best_.push_back(one);
        std::sort(best_.begin(), best_.end(), before);
    }
    void after(std::int32_t parts) {
        with_.begin(k_ - 1, NONE);
        for (const Near& one : best_) {
            if (one.worth <= with_.floor()) break;
            with_.add(one.worth - parts * p_.part[one.id], one.copies);
        }
    }

    // So many more items are kept. A group that fails is worth more than nothing *and* saves the anchor enough, so any
    // sum of both is more than nothing: worth + times * saves.
    struct Hope {
        std::int32_t items, times;
        std::int64_t base;           // without helpers
        std::int64_t with, without;  // with all but one, who holds the rarest item or does not
        std::int64_t half;           // with as many as a majority leaves room for
    };
    static std::int32_t hope_of(const Near& one, const Hope& hope) {
        return one.worth + (2 * std::min(hope.items, one.outs) - hope.items) * UNIT + hope.times * one.saves;
    }
    std::int64_t hoped(const std::vector<Near>& near, std::int32_t items, Hope& best) {
        std::int64_t least = INT64_MAX;
        for (const std::int32_t times : {0, 1, 2, 4, 8, 16}) {
            Hope hope{items, times, own_ - items * UNIT + times * room_, 0, 0, 0};
            with_.begin(k_ - 1, NONE);
            without_.begin(k_ - half_, NONE);
            for (const Near& one : near) {
                Best& side = one.with ? with_ : without_;
                if (const std::int32_t value = hope_of(one, hope); value > side.floor()) side.add(value, one.copies);
            }
            looks_ += static_cast<std::int64_t>(near.size()) / 4;
            const std::int64_t sum = hope.base + chosen(half_ - 1, k_ - 1);
            if (sum >= least) break;
            least = sum;
            hope.with = hope.base + chosen(half_ - 2, k_ - 2);
            hope.without = hope.base + chosen(half_ - 1, k_ - 2);
            hope.half = hope.base + chosen(0, k_ - 1 - half_);
            best = hope;
            if (sum <= 0) break;
        }
        return least;
    }
    static bool possible(const Near& one, const Hope& hope) {
        return hope_of(one, hope) + (one.with ? hope.with : hope.without) > 0;
    }

    // Centers that keep items beyond `last` which the anchor does not hold.
    void widen(std::size_t depth, std::int32_t last) {
        if (half_ == k_) return;  // only what all hold is kept
        Layer& next = layer_at(depth + 1);
        Layer& here = layers_[depth];
        looks_ += outer_.find(here, room_, last);
        std::int64_t worth = NEVER;
        for (bool again = !here.items.empty(); again;) {
            const std::size_t rows = here.near.size(), items = here.items.size();
            worth = peel(here);
            again = !here.items.empty() && (here.near.size() < rows || here.items.size() < items);
        }
        if (here.items.empty()) return;
        if (looks_ >= budget_) return pay(worth);
        for (std::size_t i = 0; i < here.items.size(); ++i) {
            next.near = here.near;
            for (Near& one : next.near) one.worth -= UNIT;
            for (std::size_t h = here.start[i]; h < here.start[i + 1]; ++h)
                next.near[here.holders[h]].worth += 2 * UNIT;
            looks_ += static_cast<std::int64_t>(next.near.size()) / 2;
            center_.added.push_back(here.items[i]);
            own_ -= UNIT;
            settle(next.near);
            widen(depth + 1, here.items[i]);
            own_ += UNIT;
            center_.added.pop_back();
        }
    }

    // Drops rows and items that are in no failing group that keeps any of these items. Returns what such a group may be
    // worth.
    std::int64_t peel(Layer& layer) {
        for (Near& one : layer.near) one.outs = 0;
        for (const std::int32_t place : layer.holders) ++layer.near[place].outs;
        std::int32_t most = 0;
        for (const Near& one : layer.near) most = std::max(most, one.outs);
        good_.assign(layer.items.size(), 0);
        hopes_.clear();
        std::int64_t worth = NEVER;
        for (std::int32_t items = 1; items <= most; ++items) {
            Hope hope{};
            const std::int64_t sum = hoped(layer.near, items, hope);
            if (sum <= 0 || !mark_good(layer, hope)) continue;
            worth = std::max(worth, sum);
            hopes_.push_back(hope);
        }
        renamed_.assign(layer.near.size(), -1);
        std::int32_t kept = 0;
        for (std::size_t i = 0; i < layer.near.size(); ++i) {
            if (std::none_of(hopes_.begin(), hopes_.end(),
                             [&](const Hope& hope) { return possible(layer.near[i], hope); }))
                continue;
            layer.near[kept] = layer.near[i];
            renamed_[i] = kept++;
        }
        layer.near.resize(kept);
        std::size_t items = 0, end = 0;
        for (std::size_t i = 0; i < layer.items.size(); ++i) {
            const std::size_t first = layer.start[i], last = layer.start[i + 1];
            if (!good_[i]) continue;
            layer.items[items] = layer.items[i];
            layer.start[items++] = end;
            for (std::size_t h = first; h < last; ++h)
                if (const std::int32_t place = renamed_[layer.holders[h]]; place >= 0) layer.holders[end++] = place;
        }
        layer.items.resize(items);
        layer.start.resize(items + 1);
        layer.start[items] = end;
        layer.holders.resize(end);
        return worth;
    }
    // Marks the items that half of a group with this hope can hold; false if there is none.
    bool mark_good(const Layer& layer, const Hope& hope) {
        bool any = false;
        for (std::size_t i = 0; i < layer.items.size(); ++i) {
            with_.begin(half_, NONE);
            for (std::size_t h = layer.start[i]; h < layer.start[i + 1]; ++h) {
                const Near& one = layer.near[layer.holders[h]];
                if (!possible(one, hope)) continue;
                if (const std::int32_t value = hope_of(one, hope); value > with_.floor()) with_.add(value, one.copies);
            }
            looks_ += static_cast<std::int64_t>(layer.start[i + 1] - layer.start[i]) / 2;
            if (with_[half_ - 1] != NONE && hope.half + with_.sum(half_) > 0) good_[i] = 1, any = true;
        }
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
    std::deque<Layer> layers_;
    Center center_;
    std::vector<std::pair<std::int64_t, Center>> failed_;
    Best with_, without_;
    std::vector<Near> pending_, best_;
    std::vector<Hope> hopes_;
    std::vector<char> good_;
    std::vector<std::int32_t> renamed_;
    OuterItems outer_;
};

}  // namespace anonset::lifting
