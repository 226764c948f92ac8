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

#include "bound/leaf_check.hpp"

namespace anonset::lifting {

class Search {
  public:
    explicit Search(const Problem& problem)
        : p_(problem),
          k_(problem.k),
          half_(problem.half),
          outer_(problem, account_),
          hopes_(problem, account_),
          judge_(problem, hopes_, account_) {}
    Search(const Search&) = delete;  // its parts share the account

    const Account& account() const { return account_; }
    std::vector<std::pair<std::int64_t, Center>>& failed() { return judge_.failed(); }

    void around(std::int64_t anchor, Circle& circle) {
        circle_ = &circle;
        helpers_ = circle.helpers.data();
        outer_.around(anchor, circle);
        hopes_.around(circle);
    }
    // Once or several times around an anchor, which may ask for something else each time.
    void run(std::int64_t budget) {
        const Circle& circle = *circle_;
        need_ = circle.need;
        account_ = {budget};
        visits_ = 0;
        hopes_.begin(circle);
        judge_.around(circle);
        if (need_ < 0) account_.pay(worth_of(-need_));  // it may have enough without keeping anything
        const auto items = static_cast<int>(circle.items.size());
        for (int b = 0; b < items; ++b) {
            const Set bit = Set{1} << b, all = ~Set{0} >> (64 - items), open = b == 63 ? 0 : all & (~Set{0} << (b + 1));
            Level& level = at_depth(0);
            level.with.clear();
            level.without.clear();
            for (const Kind& kind : circle.kinds) (kind.held & bit ? level.with : level.without).push_back(kind);
            account_.looks += static_cast<std::int64_t>(circle.kinds.size()) / 4;
            visit(0, {bit, 1, open}, p_.lines.size() - 1, true, half_ < k_, nullptr);
        }
    }

  private:
    static constexpr std::int64_t SELDOM = 64;  // visits after which items beside the anchor's are looked for again

    Level& at_depth(std::size_t depth) {
        while (levels_.size() <= depth) levels_.emplace_back();
        return levels_[depth];
    }

    ANONSET_CLONES void fill(Best& best, const std::vector<Kind>& kinds, const Choice& choice, const Line& line) {
        const std::int32_t extra = std::max(0, line.slope - 2 * UNIT) * choice.size;
        for (const Kind& kind : kinds) {
            if (kind.most + extra <= best.floor()) return;
            const std::int32_t all = saved(kind.held, choice, line);
            std::int32_t i = kind.first;
            for (; i < kind.last && all - helpers_[i].fee > best.floor(); ++i)
                best.add(all - helpers_[i].fee, helpers_[i].copies);
            account_.looks += 1 + i - kind.first;
        }
    }
    Bound bound(const Level& level, const Choice& choice, std::size_t number) {
        const Line& line = p_.lines[number];
        with_.begin(k_ - 1, NONE);
        fill(with_, level.with, choice, line);
        without_.begin(k_ - half_, std::max(with_[k_ - 2], -p_.fee[0]));
        fill(without_, level.without, choice, line);
        const std::int64_t sure = p_.sure(need_, choice, number);
        return {sure + chosen(with_, without_, half_ - 1, k_ - 1), -sure - chosen(with_, without_, half_ - 2, k_ - 2),
                -sure - chosen(with_, without_, half_ - 1, k_ - 2), number};
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

    // Looks for groups that keep none but the anchor's items (`within`), and for those that keep others (`beyond`; if
    // only what all hold is kept, there are none), perhaps only some (`known`).
    void visit(std::size_t depth, const Choice& choice, std::size_t line, bool within, bool beyond,
               const Outer* known) {
        const Level& level = at_depth(depth);
        const Bound here = least(level, choice, line);
        if (here.most <= 0) return;
        if (account_.spent()) return account_.pay(worth_of(here.most));
        within = within && hopes_.within(level, choice, here.line);
        if (beyond && ++visits_ % SELDOM == 0) {
            while (outers_.size() <= depth) outers_.emplace_back();
            beyond = find_outer(level, choice, here, known, outers_[depth]);
            known = &outers_[depth];
        }
        if (!within && !beyond) return;
        Level& next = at_depth(depth + 1);
        narrow(level.with, choice, here.line, here.low, next.with);
        narrow(level.without, choice, here.line, here.low_without, next.without);
        const Choice closed{choice.kept, choice.size, 0};
        if (const Bound own = choice.open ? least(next, closed, here.line) : here; own.most > 0)
            decide(next, closed, own, within, beyond, known);
        for (Set left = choice.open; left;) {
            const Set bit = left & (~left + 1);
            left ^= bit;
            visit(depth + 1, {choice.kept | bit, choice.size + 1, left}, here.line, within, beyond, known);
        }
    }
    // Nothing is open any more.
    void decide(const Level& level, const Choice& choice, const Bound& bound, bool within, bool beyond,
                const Outer* known) {
        hopes_.forget();
        within = within && hopes_.within(level, choice, bound.line);
        beyond = beyond && find_outer(level, choice, bound, known, kept_);
        if (beyond && kept_.many) {  // too many to try
            account_.give_up();
            return account_.pay(worth_of(bound.most));
        }
        beyond = beyond && outer_.confirm(kept_) && hopes_.beyond(level, choice, bound.line, kept_);
        if (within || beyond) judge_.look(level, choice, bound, within, beyond ? kept_ : none_);
    }
    bool find_outer(const Level& level, const Choice& choice, const Bound& bound, const Outer* known, Outer& outer) {
        outer_.find(level, choice, bound, known, outer);
        return !outer.none() && hopes_.beyond(level, choice, bound.line, outer);
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
        account_.looks += static_cast<std::int64_t>(from.size());
    }

    // A group in which nobody has more than so much beyond what it asks for is worth at most that much.
    std::int64_t worth_of(std::int64_t saved) const { return (saved * k_ + 2 * (k_ - 1) - 1) / (2 * (k_ - 1)); }

    const Problem& p_;
    const std::int64_t k_, half_;
    std::int64_t need_ = 0, visits_ = 0;
    const Circle* circle_ = nullptr;
    const Helper* helpers_ = nullptr;
    Account account_;
    std::deque<Level> levels_;
    std::deque<Outer> outers_;  // at each depth
    Outer kept_{};              // where nothing is open any more
    const Outer none_{};
    Best with_, without_;
    OuterItems outer_;
    Hopes hopes_;
    Judge judge_;
};

}  // namespace anonset::lifting
