// The items beside an anchor's that a failing group around it may keep (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lift_problem.hpp"

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

class OuterItems {
  public:
    explicit OuterItems(const Problem& problem)
        : p_(problem),
          k_(problem.k),
          half_(problem.half),
          place_(problem.holders.size(), NOWHERE),
          where_(problem.data.rows, NOWHERE) {}

    void around(std::int64_t anchor) {
        if (anchor_ >= 0) mark(NOWHERE);
        anchor_ = anchor;
        mark(OWN);
    }
    // Finds items beyond `last` that at least half of a group can hold in which the anchor has enough; `room` is what
    // it saves without helpers, less what it asks for. Returns the number of looks.
    std::int64_t find(Layer& layer, std::int64_t room, std::int32_t last) {
        looks_ = 0;
        layer.items.clear();
        layer.holders.clear();
        layer.start.assign(1, 0);
        const std::int64_t others = room + line_up(layer.near);
        find_common(layer.near, last);
        if (!items_.empty()) find_likely(layer.near, others);
        if (!items_.empty()) find_held(layer, others);
        return looks_;
    }

  private:
    static constexpr std::int32_t NOWHERE = -1, OWN = -2;
    static constexpr std::size_t SOME = 128;  // rows without the rarest item that are looked at first

    void mark(std::int32_t place) {
        for (const std::int32_t* i = p_.data.begin(anchor_); i != p_.data.end(anchor_); ++i) place_[*i] = place;
    }
    // The rows that save most, in their order: all that hold the rarest item, and some that do not. Returns what the
    // best of all save that are not needed to hold an item.
    std::int64_t line_up(const std::vector<Near>& near) {
        order_.clear();
        without_.clear();
        best_.begin(k_ - 1 - half_, NONE);
        for (std::size_t i = 0; i < near.size(); ++i) {
            const Near& one = near[i];
            if (one.saves > best_.floor()) best_.add(one.saves, one.copies);
            if (one.id != anchor_)
                (one.with ? order_ : without_).emplace_back(-one.saves, static_cast<std::int32_t>(i));
        }
        looks_ += static_cast<std::int64_t>(near.size()) / 4;
        return best_.sum(k_ - 1 - half_);
    }
    // A majority holds the rarest item that is kept, and another one any other item: some hold both.
    void find_common(const std::vector<Near>& near, std::int32_t last) {
        items_.clear();
        counted_.clear();
        for (const auto& [saves, i] : order_)
            for (const std::int32_t* item = p_.data.begin(near[i].id); item != p_.data.end(near[i].id); ++item) {
                std::int32_t& place = place_[*item];
                if (place == OWN || *item <= last || p_.holders[*item] < half_) continue;
                if (place < 0) {
                    place = static_cast<std::int32_t>(items_.size());
                    items_.push_back(*item);
                    counted_.push_back(0);
                }
                counted_[place] += near[i].copies;
            }
        looks_ += static_cast<std::int64_t>(order_.size());
        keep_items([&](std::size_t i) { return counted_[i] >= 2 * half_ - k_; });
    }
    // Whoever is not looked at holds everything, and saves as much as the last one that was.
    void find_likely(const std::vector<Near>& near, std::int64_t others) {
        std::int32_t rest = NONE;
        if (without_.size() > SOME) {
            std::nth_element(without_.begin(), without_.begin() + SOME, without_.end());
            rest = -without_[SOME].first;
            without_.resize(SOME);
        }
        order_.insert(order_.end(), without_.begin(), without_.end());
        std::sort(order_.begin(), order_.end());
        for (std::size_t i = 0; i < items_.size(); ++i) place_[items_[i]] = static_cast<std::int32_t>(i);
        counted_.assign(items_.size(), 0);
        summed_.assign(items_.size(), 0);
        for (const auto& [minus, i] : order_) {
            if (-minus <= rest) break;
            for (const std::int32_t* item = p_.data.begin(near[i].id); item != p_.data.end(near[i].id); ++item) {
                const std::int32_t place = place_[*item];
                if (place < 0) continue;
                const std::int64_t some = std::min<std::int64_t>(half_ - counted_[place], near[i].copies);
                counted_[place] += some;
                summed_[place] -= some * minus;
            }
        }
        looks_ += static_cast<std::int64_t>(order_.size());
        keep_items([&](std::size_t i) { return others + summed_[i] + (half_ - counted_[i]) * rest > 0; });
        std::sort(items_.begin(), items_.end());
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
    void find_held(Layer& layer, std::int64_t others) {
        const std::vector<Near>& near = layer.near;
        for (std::size_t i = 0; i < near.size(); ++i) where_[near[i].id] = static_cast<std::int32_t>(i);
        for (const std::int32_t item : items_) {
            best_.begin(half_, NONE);
            for (std::int64_t at = p_.index.start[item]; at < p_.index.start[item + 1]; ++at) {
                const std::int32_t place = where_[p_.index.rows[at]];
                if (place < 0) continue;
                layer.holders.push_back(place);
                if (near[place].saves > best_.floor()) best_.add(near[place].saves, near[place].copies);
            }
            looks_ += (p_.index.start[item + 1] - p_.index.start[item]) / 8;
            if (best_[half_ - 1] != NONE && others + best_.sum(half_) > 0) {
                layer.items.push_back(item);
                layer.start.push_back(layer.holders.size());
            } else {
                layer.holders.resize(layer.start.back());
            }
        }
        for (const Near& one : near) where_[one.id] = NOWHERE;
        looks_ += static_cast<std::int64_t>(near.size()) / 4;
    }

    const Problem& p_;
    const std::int64_t k_, half_;
    std::int64_t anchor_ = -1, looks_ = 0;
    Best best_;
    std::vector<std::pair<std::int32_t, std::int32_t>> order_, without_;  // what rows save, negative, and their places
    std::vector<std::int64_t> counted_, summed_;
    std::vector<std::int32_t> items_;
    std::vector<std::int32_t> place_;  // of each item in `items_`
    std::vector<std::int32_t> where_;  // of each row in `near`
};

}  // namespace anonset::lifting
