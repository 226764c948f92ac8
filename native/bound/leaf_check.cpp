#include "bound/leaf_check.hpp"

#include <algorithm>
#include <utility>

namespace anonset::bound {

LeafCheck::LeafCheck(const IncrementProblem& problem, Effort& effort)
    : p_(problem),
      effort_(effort),
      k_(problem.k),
      half_(problem.half),
      outer_(problem, effort),
      place_(problem.data.rows, -1) {}

void LeafCheck::around(const Neighbours& near) {
    around_ = &near;
    outer_.around(near);
}

void LeafCheck::look(const Left& left, const Choice& choice, const Saving& saving) {
    choice_ = choice;
    saving_ = saving;
    sure_ = p_.rounded_up(p_.sure(around_->need, choice, saving.tangent));
    center_ = {choice.kept, {}};
    own_ = choice.size * UNIT - around_->demand;
    Layer& first = layer_at(0);
    first.near.clear();
    gather(left, first);
    if (fails(first.near)) violated.push_back(center_);
    if (half_ == k_) return;  // an item that all hold is the anchor's, too
    const std::vector<std::int32_t>& items = outer_.find(left, choice, saving);
    if (items.empty()) return;
    if (items.size() > MOST_OUTER) {
        effort_.stop();
        return effort_.leave_out((saving.most * k_ + 2 * (k_ - 1) - 1) / (2 * (k_ - 1)));
    }
    add_holders(items, first);
    widen(0);
}

LeafCheck::Layer& LeafCheck::layer_at(std::size_t depth) {
    while (layers_.size() <= depth) layers_.emplace_back();
    return layers_[depth];
}

LeafCheck::Near LeafCheck::near_of(Set held, std::int32_t row, std::int32_t copies) const {
    return {(2 * count(held & choice_.kept) - choice_.size) * UNIT - p_.demand[row],
            row,
            copies,
            p_.rounded_up(saved(held, choice_, p_.tangents[saving_.tangent]) - p_.fee[row]),
            0,
            (held & choice_.kept & (~choice_.kept + 1)) != 0};
}

// Whether the anchor can save enough in a group with this row.
bool LeafCheck::helps(Set held, std::int32_t row) const {
    const bool with = (held & choice_.kept & (~choice_.kept + 1)) != 0;
    return saved(held, choice_, p_.tangents[saving_.tangent]) - p_.fee[row] >
           (with ? saving_.low : saving_.low_without);
}

// Of rows that hold the same of the anchor's items the undominated ones, and of those that hold none of them.
void LeafCheck::gather(const Left& left, Layer& layer) {
    for (const std::vector<HelperClass>* classes : {&left.with, &left.without})
        for (const HelperClass& one : *classes) {
            for (std::int32_t i = one.undominated; i < one.undominated_end; ++i) {
                const Helper& helper = around_->helpers[around_->undominated[i]];
                if (helps(one.held, helper.id)) layer.near.push_back(near_of(one.held, helper.id, helper.copies));
            }
            effort_.steps += one.undominated_end - one.undominated;
        }
    for (const std::int32_t row : p_.undominated)
        if (around_->shared[row] == 0 && helps(0, row)) layer.near.push_back(near_of(0, row, p_.copies(row)));
    effort_.steps += static_cast<std::int64_t>(p_.undominated.size());
}

// All rows that hold one of these items, beside those that were gathered before.
void LeafCheck::add_holders(const std::vector<std::int32_t>& items, Layer& layer) {
    layer.items = items;
    layer.holders.clear();
    layer.start.assign(1, 0);
    for (std::size_t i = 0; i < layer.near.size(); ++i) place_[layer.near[i].id] = static_cast<std::int32_t>(i);
    for (const std::int32_t item : items) {
        for (const std::int32_t* row = p_.index.begin(item); row != p_.index.end(item); ++row) {
            const Set held = around_->shared[*row];
            if (!helps(held, *row)) continue;
            if (place_[*row] < 0) {
                place_[*row] = static_cast<std::int32_t>(layer.near.size());
                layer.near.push_back(near_of(held, *row, p_.copies(*row)));
            }
            layer.holders.push_back(place_[*row]);
        }
        effort_.steps += p_.index.size(item) / 2;
        layer.start.push_back(layer.holders.size());
    }
    for (const Near& one : layer.near) place_[one.id] = -1;
}

template <class Good>
void LeafCheck::keep_rows(Layer& layer, Good&& good) {
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

bool LeafCheck::fails(const std::vector<Near>& near) {
    with_.begin(k_ - 1, NONE);
    for (const Near& one : near)
        if (one.contribution > with_.floor()) with_.add(one.contribution, one.copies);
    return own_ + with_.sum(k_ - 1) > 0;
}

// Centers that hold some of the layer's items.
void LeafCheck::widen(std::size_t depth) {
    Layer& here = layer_at(depth);
    std::int64_t violation = NEVER;
    for (bool again = !here.items.empty(); again;) {
        const std::size_t rows = here.near.size(), items = here.items.size();
        violation = peel(here);
        again = !here.items.empty() && (here.near.size() < rows || here.items.size() < items);
    }
    if (here.items.empty()) return;
    if (effort_.spent()) return effort_.leave_out(violation);
    layer_at(depth + 1);
    for (std::size_t item = 0; item < layers_[depth].items.size(); ++item) branch(depth, item);
}

// Those that hold this one, and perhaps others after it.
void LeafCheck::branch(std::size_t depth, std::size_t item) {
    const Layer& here = layers_[depth];
    Layer& next = layers_[depth + 1];
    next.near = here.near;
    for (Near& one : next.near) one.contribution -= UNIT;
    for (std::size_t h = here.start[item]; h < here.start[item + 1]; ++h)
        next.near[here.holders[h]].contribution += 2 * UNIT;
    effort_.steps += static_cast<std::int64_t>(next.near.size()) / 2;
    center_.added.push_back(here.items[item]);
    own_ -= UNIT;
    if (fails(next.near)) violated.push_back(center_);
    const std::size_t after = here.start[item + 1];
    next.items.assign(here.items.begin() + static_cast<std::ptrdiff_t>(item) + 1, here.items.end());
    next.start.clear();
    for (std::size_t j = item + 1; j < here.start.size(); ++j) next.start.push_back(here.start[j] - after);
    next.holders.assign(here.holders.begin() + static_cast<std::ptrdiff_t>(after), here.holders.end());
    widen(depth + 1);
    own_ += UNIT;
    center_.added.pop_back();
}

// Drops rows and items that are in no violated group whose center holds any of these items. Returns an upper bound of
// the violation of such a group.
std::int64_t LeafCheck::peel(Layer& layer) {
    for (Near& one : layer.near) one.outer = 0;
    for (const std::int32_t place : layer.holders) ++layer.near[place].outer;
    std::int32_t most = 0;
    for (const Near& one : layer.near) most = std::max(most, one.outer);
    good_.assign(layer.items.size(), 0);
    bounds_.clear();
    std::int64_t violation = NEVER;
    for (std::int32_t items = 1; items <= most; ++items) {
        UpperBound upper{};
        const std::int64_t sum = least(layer.near, items, upper);
        if (sum <= 0 || !mark_good(layer, upper)) continue;
        violation = std::max(violation, sum);
        bounds_.push_back(upper);
    }
    keep_rows(layer, [&](const Near& one) {
        return std::any_of(bounds_.begin(), bounds_.end(),
                           [&](const UpperBound& upper) { return possible(one, upper); });
    });
    drop_items(layer);
    return violation;
}

void LeafCheck::drop_items(Layer& layer) {
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
}

std::int32_t LeafCheck::bound_of(const Near& one, const UpperBound& upper) {
    return one.contribution + (2 * std::min(upper.items, one.outer) - upper.items) * UNIT + upper.times * one.saves;
}

bool LeafCheck::possible(const Near& one, const UpperBound& upper) {
    return bound_of(one, upper) + (one.with ? upper.with : upper.without) > 0;
}

std::int64_t LeafCheck::least(const std::vector<Near>& near, std::int32_t items, UpperBound& best) {
    std::int64_t least = INT64_MAX;
    for (const std::int32_t times : {0, 1, 2, 4, 8, 16}) {
        UpperBound upper{items, times, own_ - items * UNIT + times * sure_, 0, 0, 0};
        with_.begin(k_ - 1, NONE);
        without_.begin(k_ - half_, NONE);
        for (const Near& one : near) {
            LargestRanked& side = one.with ? with_ : without_;
            if (const std::int32_t value = bound_of(one, upper); value > side.floor()) side.add(value, one.copies);
        }
        effort_.steps += static_cast<std::int64_t>(near.size()) / 4;
        const std::int64_t sum = upper.base + sum_of_largest(with_, without_, half_ - 1, k_ - 1);
        if (sum >= least) break;
        least = sum;
        upper.with = upper.base + sum_of_largest(with_, without_, half_ - 2, k_ - 2);
        upper.without = upper.base + sum_of_largest(with_, without_, half_ - 1, k_ - 2);
        upper.half = upper.base + sum_of_largest(with_, without_, 0, k_ - 1 - half_);
        best = upper;
        if (sum <= 0) break;
    }
    return least;
}

// Marks the items that half of a group with this bound can hold; false if there is none.
bool LeafCheck::mark_good(const Layer& layer, const UpperBound& upper) {
    bool any = false;
    for (std::size_t i = 0; i < layer.items.size(); ++i) {
        with_.begin(half_, NONE);
        for (std::size_t h = layer.start[i]; h < layer.start[i + 1]; ++h) {
            const Near& one = layer.near[layer.holders[h]];
            if (!possible(one, upper)) continue;
            if (const std::int32_t value = bound_of(one, upper); value > with_.floor()) with_.add(value, one.copies);
        }
        effort_.steps += static_cast<std::int64_t>(layer.start[i + 1] - layer.start[i]) / 2;
        if (with_[half_ - 1] != NONE && upper.half + with_.sum(half_) > 0) good_[i] = 1, any = true;
    }
    return any;
}

}  // namespace anonset::bound
