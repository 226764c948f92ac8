// The items beside an anchor's that a failing group around it may keep (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bound/problem.hpp"

namespace anonset::lifting {

// A row that holds some of them.
struct Holder {
    Set held, outs;  // of the anchor's items, and of the others
    std::int32_t asks, fee, copies;
};
struct Outer {
    std::vector<std::int32_t> items;
    Set left;                  // of these, by their places, unless they are many
    bool many;                 // more than can be told apart: then the rows are not known
    std::vector<Holder> rows;  // all that hold the rarest item that is kept, and those of the others that save most
    std::int64_t rest;         // any other row saves at most that much, and may hold everything

    bool none() const { return many ? items.empty() : left == 0; }
    bool holds(std::size_t place) const { return many || (left >> place & 1); }
};

class OuterItems {
  public:
    OuterItems(const Problem& problem, Account& account)
        : p_(problem), account_(account), k_(problem.k), half_(problem.half), place_(problem.holders.size()) {
        for (std::size_t i = 0; i < place_.size(); ++i) place_[i] = unless_rare(static_cast<std::int32_t>(i), NOWHERE);
    }

    void around(std::int64_t anchor, const Circle& circle) {
        if (anchor_ >= 0) mark(NOWHERE);
        anchor_ = anchor;
        circle_ = &circle;
        mark(OUT);
    }
    // Finds the items that at least half of a group can hold in which the anchor has enough. `before`: what was found
    // where more was open.
    void find(const Level& level, const Choice& choice, const Bound& bound, const Outer* before, Outer& outer) {
        begin(level, choice, bound);
        line_up(level);
        if (before == nullptr) {
            find_common();
        } else {
            items_.clear();
            for (std::size_t i = 0; i < before->items.size(); ++i)
                if (before->holds(i)) items_.push_back(before->items[i]);
        }
        order_.insert(order_.end(), without_.begin(), without_.end());
        if (!items_.empty()) find_likely();
        if (choice.open == 0 && items_.size() > 64) find_held();
        outer.items = items_;
        outer.many = items_.size() > 64;
        outer.left = items_.empty() || outer.many ? 0 : ~Set{0} >> (64 - items_.size());
        outer.rest = rest_;
        outer.rows.clear();
        if (!items_.empty() && !outer.many) gather(outer);
    }
    // Leaves out those of the items found last that too few rows hold, by looking at all of these. False if none is
    // left.
    bool confirm(Outer& outer) {
        for (Set left = outer.left; left; left &= left - 1)
            if (!enough_hold(outer.items[__builtin_ctzll(left)])) outer.left &= ~(left & (~left + 1));
        return outer.left != 0;
    }

  private:
    static constexpr std::int32_t NOWHERE = -1, OUT = -2;  // held by the anchor, or by too few
    static constexpr std::size_t SOME = 128;               // rows without the rarest item that are looked at first

    void mark(std::int32_t place) {
        for (const std::int32_t* i = p_.data.begin(anchor_); i != p_.data.end(anchor_); ++i)
            place_[*i] = unless_rare(*i, place);
    }
    std::int32_t unless_rare(std::int32_t item, std::int32_t place) const {
        return p_.holders[item] < half_ ? OUT : place;
    }
    std::int32_t saved(Set held) const { return lifting::saved(held, choice_, *line_); }

    // What the best of all save that are not needed to hold an item is known before anything is looked at.
    ANONSET_CLONES void begin(const Level& level, const Choice& choice, const Bound& bound) {
        choice_ = choice;
        bound_ = bound;
        line_ = &p_.lines[bound.line];
        best_.begin(k_ - 1 - half_, -p_.fee[0]);
        for (const std::vector<Kind>* kinds : {&level.with, &level.without})
            for (const Kind& kind : *kinds) {
                const std::int32_t all = lifting::saved(kind.held, choice, *line_);
                std::int32_t i = kind.first;
                for (; i < kind.last && all - circle_->helpers[i].fee > best_.floor(); ++i)
                    best_.add(all - circle_->helpers[i].fee, circle_->helpers[i].copies);
                account_.looks += 1 + i - kind.first;
            }
        others_ = p_.sure(circle_->need, choice, bound.line) + best_.sum(k_ - 1 - half_);
    }
    // Who holds the rarest item, and some of those that save most of the others.
    void line_up(const Level& level) {
        order_.clear();
        without_.clear();
        rest_ = -p_.fee[0];  // of those that share nothing
        for (const Kind& kind : level.with) {
            const std::int32_t all = saved(kind.held);
            for (std::int32_t i = kind.first; i < kind.last && all - circle_->helpers[i].fee > bound_.low; ++i)
                order_.emplace_back(circle_->helpers[i].fee - all, circle_->helpers[i].id);
        }
        for (const Kind& kind : level.without) {
            const std::int32_t all = saved(kind.held);
            for (std::int32_t i = kind.first; i < kind.last; ++i) {
                const std::int32_t saves = all - circle_->helpers[i].fee;
                if (saves <= bound_.low_without || saves <= rest_) break;
                without_.emplace_back(-saves, circle_->helpers[i].id);
            }
            if (without_.size() > 4 * SOME) keep_some();
        }
        if (without_.size() > SOME) keep_some();
        account_.looks += static_cast<std::int64_t>(order_.size() + level.without.size());
    }
    void keep_some() {
        std::nth_element(without_.begin(), without_.begin() + SOME, without_.end());
        rest_ = std::max(rest_, -without_[SOME].first);
        without_.resize(SOME);
    }
    // A majority holds the rarest item that is kept, and another one any other item: some hold both.
    void find_common() {
        items_.clear();
        counted_.clear();
        for (const auto& [minus, row] : order_) {
            account_.looks += p_.data.size(row) / 4;
            for (const std::int32_t* item = p_.data.begin(row); item != p_.data.end(row); ++item) {
                std::int32_t& place = place_[*item];
                if (place == OUT) continue;
                if (place < 0) {
                    place = static_cast<std::int32_t>(items_.size());
                    items_.push_back(*item);
                    counted_.push_back(0);
                }
                counted_[place] += p_.copies(row);
            }
        }
        keep_items([&](std::size_t i) { return counted_[i] >= 2 * half_ - k_; });
    }
    // Whoever is not looked at holds everything, and saves as much as the last one that was.
    void find_likely() {
        std::sort(order_.begin(), order_.end());
        for (std::size_t i = 0; i < items_.size(); ++i) place_[items_[i]] = static_cast<std::int32_t>(i);
        counted_.assign(items_.size(), 0);
        summed_.assign(items_.size(), 0);
        for (const auto& [minus, row] : order_) {
            if (-minus <= rest_) break;
            account_.looks += p_.data.size(row) / 4;
            for (const std::int32_t* item = p_.data.begin(row); item != p_.data.end(row); ++item)
                if (const std::int32_t place = place_[*item]; place >= 0) count_in(place, p_.copies(row), minus);
        }
        keep_items([&](std::size_t i) { return others_ + summed_[i] + (half_ - counted_[i]) * rest_ > 0; });
    }
    void count_in(std::int32_t place, std::int64_t copies, std::int32_t minus) {
        const std::int64_t some = std::min(half_ - counted_[place], copies);
        counted_[place] += some;
        summed_[place] -= some * minus;
    }
    template <class Good>
    void keep_items(Good&& good) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < items_.size(); ++i) {
            place_[items_[i]] = NOWHERE;
            if (good(i)) items_[kept++] = items_[i];
        }
        items_.resize(kept);
    }
    void find_held() {
        std::size_t kept = 0;
        for (const std::int32_t item : items_)
            if (enough_hold(item)) items_[kept++] = item;
        items_.resize(kept);
    }
    ANONSET_CLONES bool enough_hold(std::int32_t item) {
        best_.begin(half_, -p_.fee[0]);
        for (std::int64_t at = p_.index.start[item]; at < p_.index.start[item + 1]; ++at) {
            const std::int32_t row = p_.index.rows[at];
            const Set held = circle_->shared[row];
            if (held == 0) continue;
            const std::int32_t saves = lifting::saved(held, choice_, *line_) - p_.fee[row];
            if (saves > best_.floor()) best_.add(saves, p_.copies(row));
        }
        account_.looks += (p_.index.start[item + 1] - p_.index.start[item]) / 4;
        return others_ + best_.sum(half_) > 0;
    }
    void gather(Outer& outer) {
        for (std::size_t i = 0; i < items_.size(); ++i) place_[items_[i]] = static_cast<std::int32_t>(i);
        for (const auto& [minus, row] : order_) {
            Set outs = 0;
            account_.looks += p_.data.size(row) / 4;
            for (const std::int32_t* item = p_.data.begin(row); item != p_.data.end(row); ++item)
                if (place_[*item] >= 0) outs |= Set{1} << place_[*item];
            if (outs) outer.rows.push_back({circle_->shared[row], outs, p_.asks[row], p_.fee[row], p_.copies(row)});
        }
        for (const std::int32_t item : items_) place_[item] = NOWHERE;
    }

    const Problem& p_;
    Account& account_;
    const std::int64_t k_, half_;
    std::int64_t anchor_ = -1, others_ = 0;
    const Circle* circle_ = nullptr;
    const Line* line_ = nullptr;
    Choice choice_{};
    Bound bound_{};
    std::int32_t rest_ = 0;
    Best best_;
    std::vector<std::pair<std::int32_t, std::int32_t>> order_, without_;  // what rows save, negative, and who
    std::vector<std::int64_t> counted_, summed_;
    std::vector<std::int32_t> items_;
    std::vector<std::int32_t> place_;  // of each item in `items_`
};

}  // namespace anonset::lifting
