// What is left where all of an anchor's items are decided: the centers at which groups fail
// (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "bound/upper_bound.hpp"

namespace anonset::lifting {

struct Near {
    std::int32_t worth, id, copies;
    std::int32_t saves;  // the anchor, rounded up, in the units of worths
    std::int32_t outs;   // items beside the anchor's that may be kept
    bool with;           // the rarest item that is kept
};
// Rows that may be in a failing group, and the items beside the anchor's that it may keep.
struct Layer {
    std::vector<Near> near;
    std::vector<std::int32_t> items;
    std::vector<std::size_t> start;     // of the holders of each item
    std::vector<std::int32_t> holders;  // places in `near`
};

class Judge {
  public:
    Judge(const Problem& problem, const Hopes& hopes, Account& account)
        : p_(problem),
          hopes_(hopes),
          account_(account),
          k_(problem.k),
          half_(problem.half),
          where_(problem.data.rows, -1) {}

    // The centers at which groups fail, and what the best group there is worth.
    std::vector<std::pair<std::int64_t, Center>>& failed() { return failed_; }

    void around(const Circle& circle) {
        circle_ = &circle;
        failed_.clear();
    }
    // Looks at the center that keeps just these items (`within`), and at those that keep some of the others as well
    // (`outer`, not too many). Who may be in a group is known from the hopes.
    void look(const Level& level, const Choice& choice, const Bound& bound, bool within, const Outer& outer) {
        level_ = &level;
        choice_ = choice;
        bound_ = bound;
        room_ = p_.rounded_up(p_.sure(circle_->need, choice, bound.line));
        center_ = {choice.kept, {}};
        own_ = choice.size * UNIT - circle_->asks;
        if (within) settle();
        if (outer.none()) return;
        gather(outer, layer_at(0));
        widen(0);
    }

  private:
    static constexpr std::int32_t ALL = 64;  // items beside the anchor's that a row may hold: more than there are
    static bool before(const Near& a, const Near& b) { return a.worth != b.worth ? a.worth > b.worth : a.id < b.id; }

    Layer& layer_at(std::size_t depth) {
        while (layers_.size() <= depth) layers_.emplace_back();
        return layers_[depth];
    }
    Near near_of(Set held, std::int32_t row, std::int32_t copies) const {
        return {(2 * count(held & choice_.kept) - choice_.size) * UNIT - p_.asks[row],
                row,
                copies,
                p_.rounded_up(saved(held, choice_, p_.lines[bound_.line]) - p_.fee[row]),
                0,
                (held & choice_.kept & (~choice_.kept + 1)) != 0};
    }
    // Whether the anchor can have enough in a group with this row.
    bool helps(Set held, std::int32_t row) const {
        const bool with = (held & choice_.kept & (~choice_.kept + 1)) != 0;
        return saved(held, choice_, p_.lines[bound_.line]) - p_.fee[row] > (with ? bound_.low : bound_.low_without);
    }
    bool hoped_for(Set held, std::int32_t row, std::int32_t outs) const {
        return hopes_.possible(held, outs, p_.asks[row], p_.fee[row]);
    }
    // All rows that hold an item that the anchor does not hold and that may be kept, and the best of all others.
    void gather(const Outer& outer, Layer& layer) {
        layer.near.clear();
        layer.items.clear();
        for (std::size_t i = 0; i < outer.items.size(); ++i)
            if (outer.holds(i)) layer.items.push_back(outer.items[i]);
        layer.holders.clear();
        layer.start.assign(1, 0);
        for (const std::int32_t item : layer.items) {
            for (std::int64_t at = p_.index.start[item]; at < p_.index.start[item + 1]; ++at) {
                const std::int32_t row = p_.index.rows[at];
                const Set held = circle_->shared[row];
                if (!helps(held, row) || !hoped_for(held, row, ALL)) continue;
                if (where_[row] < 0) {
                    where_[row] = static_cast<std::int32_t>(layer.near.size());
                    layer.near.push_back(near_of(held, row, p_.copies(row)));
                }
                layer.holders.push_back(where_[row]);
            }
            account_.looks += (p_.index.start[item + 1] - p_.index.start[item]) / 2;
            layer.start.push_back(layer.holders.size());
        }
        const std::size_t holders = layer.near.size();
        for (const std::vector<Kind>* kinds : {&level_->with, &level_->without})
            for (const Kind& kind : *kinds) {
                for (std::int32_t e = kind.elite; e < kind.elite_end; ++e) {
                    const Helper& one = circle_->helpers[circle_->elite[e]];
                    if (where_[one.id] < 0 && helps(kind.held, one.id) && hoped_for(kind.held, one.id, 0))
                        layer.near.push_back(near_of(kind.held, one.id, one.copies));
                }
                account_.looks += kind.elite_end - kind.elite;
            }
        for (const std::int32_t row : p_.elite)  // as if they shared nothing
            if (helps(0, row) && hoped_for(0, row, 0)) layer.near.push_back(near_of(0, row, p_.copies(row)));
        account_.looks += static_cast<std::int64_t>(p_.elite.size());
        for (std::size_t i = 0; i < holders; ++i) where_[layer.near[i].id] = -1;
        count_items(layer);
        keep_rows(layer, [&](const Near& one) {
            return one.outs == 0 || hoped_for(circle_->shared[one.id], one.id, one.outs);
        });
        keep_elite(layer);
    }
    // Of rows that hold the same, only the best.
    void keep_elite(Layer& layer) {
        held_.assign(layer.near.size(), {});
        for (std::size_t i = 0; i < layer.items.size(); ++i)
            for (std::size_t h = layer.start[i]; h < layer.start[i + 1]; ++h)
                held_[layer.holders[h]].first |= Set{1} << i;
        order_.clear();
        for (std::size_t i = 0; i < layer.near.size(); ++i) {
            if (held_[i].first == 0) continue;
            held_[i].second = circle_->shared[layer.near[i].id] & choice_.kept;
            order_.push_back(static_cast<std::int32_t>(i));
        }
        std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {  // the same by rising fees
            return held_[a] != held_[b] ? held_[a] < held_[b] : layer.near[a].id < layer.near[b].id;
        });
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const Near& one = layer.near[order_[i]];
            if (i == 0 || held_[order_[i]] != held_[order_[i - 1]]) elite_.begin(k_);
            if (!elite_.take(p_.asks[one.id], one.copies)) layer.near[order_[i]].copies = 0;
        }
        account_.looks += static_cast<std::int64_t>(order_.size());
        keep_rows(layer, [](const Near& one) { return one.copies > 0; });
    }
    static void count_items(Layer& layer) {
        for (Near& one : layer.near) one.outs = 0;
        for (const std::int32_t place : layer.holders) ++layer.near[place].outs;
    }
    template <class Good>
    void keep_rows(Layer& layer, Good&& good) {
        renamed_.assign(layer.near.size(), -1);
        std::int32_t kept = 0;
        for (std::size_t i = 0; i < layer.near.size(); ++i) {
            if (!good(layer.near[i])) continue;
            layer.near[kept] = layer.near[i];
            renamed_[i] = kept++;
        }
        layer.near.resize(kept);
        std::size_t end = 0;
        for (std::size_t i = 0; i < layer.items.size(); ++i) {
            const std::size_t first = std::exchange(layer.start[i], end), last = layer.start[i + 1];
            for (std::size_t h = first; h < last; ++h)
                if (const std::int32_t place = renamed_[layer.holders[h]]; place >= 0) layer.holders[end++] = place;
        }
        layer.start.back() = end;
        layer.holders.resize(end);
    }

    bool fails(const std::vector<Near>& near) {
        with_.begin(k_ - 1, NONE);
        for (const Near& one : near)
            if (one.worth > with_.floor()) with_.add(one.worth, one.copies);
        return own_ + with_.sum(k_ - 1) > 0;
    }
    // All rows that may be in a failing group at this center.
    void gather_all() {
        near_.clear();
        const auto add = [&](Set held, std::int32_t row, std::int32_t copies) {
            if (!hoped_for(held, row, ALL)) return;
            near_.push_back(near_of(held, row, copies));
            for (const std::int32_t item : center_.added) near_.back().worth += p_.holds(row, item) ? UNIT : -UNIT;
        };
        for (const std::vector<Kind>* kinds : {&level_->with, &level_->without})
            for (const Kind& kind : *kinds)
                for (std::int32_t i = kind.first; i < kind.last && helps(kind.held, circle_->helpers[i].id);
                     ++i, ++account_.looks)
                    add(kind.held, circle_->helpers[i].id, circle_->helpers[i].copies);
        if (!hopes_.stranger_possible()) return;
        for (std::int32_t row = 0; row < p_.data.rows && helps(0, row); ++row, ++account_.looks)
            if (circle_->shared[row] == 0) add(0, row, p_.copies(row));
    }
    // Keeps the center if a group fails there.
    void settle() {
        gather_all();
        if (fails(near_)) failed_.emplace_back(own_ + with_.sum(k_ - 1), center_);
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
            account_.looks += static_cast<std::int64_t>(near.size()) / 4;
            const std::int64_t sum = hope.base + chosen(with_, without_, half_ - 1, k_ - 1);
            if (sum >= least) break;
            least = sum;
            hope.with = hope.base + chosen(with_, without_, half_ - 2, k_ - 2);
            hope.without = hope.base + chosen(with_, without_, half_ - 1, k_ - 2);
            hope.half = hope.base + chosen(with_, without_, 0, k_ - 1 - half_);
            best = hope;
            if (sum <= 0) break;
        }
        return least;
    }
    static bool possible(const Near& one, const Hope& hope) {
        return hope_of(one, hope) + (one.with ? hope.with : hope.without) > 0;
    }

    // Centers that keep some of the items that the anchor does not hold.
    void widen(std::size_t depth) {
        Layer& next = layer_at(depth + 1);
        Layer& here = layers_[depth];
        std::int64_t worth = NEVER;
        for (bool again = !here.items.empty(); again;) {
            const std::size_t rows = here.near.size(), items = here.items.size();
            worth = peel(here);
            again = !here.items.empty() && (here.near.size() < rows || here.items.size() < items);
        }
        if (here.items.empty()) return;
        if (account_.spent()) return account_.pay(worth);
        for (std::size_t i = 0; i < here.items.size(); ++i) {
            next.near = here.near;
            for (Near& one : next.near) one.worth -= UNIT;
            for (std::size_t h = here.start[i]; h < here.start[i + 1]; ++h)
                next.near[here.holders[h]].worth += 2 * UNIT;
            account_.looks += static_cast<std::int64_t>(next.near.size()) / 2;
            center_.added.push_back(here.items[i]);
            own_ -= UNIT;
            if (fails(next.near)) settle();
            next.items.assign(here.items.begin() + static_cast<std::ptrdiff_t>(i) + 1, here.items.end());
            next.start.clear();
            for (std::size_t j = i + 1; j < here.start.size(); ++j)
                next.start.push_back(here.start[j] - here.start[i + 1]);
            next.holders.assign(here.holders.begin() + static_cast<std::ptrdiff_t>(here.start[i + 1]),
                                here.holders.end());
            widen(depth + 1);
            own_ += UNIT;
            center_.added.pop_back();
        }
    }

    // Drops rows and items that are in no failing group that keeps any of these items. Returns what such a group may be
    // worth.
    std::int64_t peel(Layer& layer) {
        count_items(layer);
        std::int32_t most = 0;
        for (const Near& one : layer.near) most = std::max(most, one.outs);
        good_.assign(layer.items.size(), 0);
        outlooks_.clear();
        std::int64_t worth = NEVER;
        for (std::int32_t items = 1; items <= most; ++items) {
            Hope hope{};
            const std::int64_t sum = hoped(layer.near, items, hope);
            if (sum <= 0 || !mark_good(layer, hope)) continue;
            worth = std::max(worth, sum);
            outlooks_.push_back(hope);
        }
        keep_rows(layer, [&](const Near& one) {
            return std::any_of(outlooks_.begin(), outlooks_.end(),
                               [&](const Hope& hope) { return possible(one, hope); });
        });
        std::size_t items = 0, end = 0;
        for (std::size_t i = 0; i < layer.items.size(); ++i) {
            const std::size_t first = layer.start[i], last = layer.start[i + 1];
            if (!good_[i]) continue;
            layer.items[items] = layer.items[i];
            layer.start[items++] = end;
            for (std::size_t h = first; h < last; ++h) layer.holders[end++] = layer.holders[h];
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
            account_.looks += static_cast<std::int64_t>(layer.start[i + 1] - layer.start[i]) / 2;
            if (with_[half_ - 1] != NONE && hope.half + with_.sum(half_) > 0) good_[i] = 1, any = true;
        }
        return any;
    }

    const Problem& p_;
    const Hopes& hopes_;
    Account& account_;
    const std::int64_t k_, half_;
    const Circle* circle_ = nullptr;
    std::vector<std::pair<std::int64_t, Center>> failed_;
    const Level* level_ = nullptr;
    Choice choice_{};
    Bound bound_{};
    std::int64_t room_ = 0;  // what the items kept save the anchor without helpers, less what it asks for
    std::int32_t own_ = 0;   // the anchor's worth
    Center center_;
    std::deque<Layer> layers_;
    Best with_, without_;
    std::vector<Near> near_;
    std::vector<Hope> outlooks_;
    std::vector<char> good_;
    std::vector<std::int32_t> renamed_, order_;
    std::vector<std::pair<Set, Set>>
        held_;  // by each row: of the items beside the anchor's, and of the anchor's kept ones
    Elite elite_;
    std::vector<std::int32_t> where_;  // of each row in what is gathered
};

}  // namespace anonset::lifting
