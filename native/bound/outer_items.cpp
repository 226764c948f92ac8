#include "bound/outer_items.hpp"

#include <algorithm>

namespace anonset::bound {

OuterItems::OuterItems(const IncrementProblem& problem, Effort& effort)
    : p_(problem), effort_(effort), k_(problem.k), half_(problem.half), place_(problem.holders.size()) {
    for (std::size_t i = 0; i < place_.size(); ++i) place_[i] = unless_rare(static_cast<std::int32_t>(i), NOWHERE);
}

std::int32_t OuterItems::unless_rare(std::int32_t item, std::int32_t place) const {
    return p_.holders[item] < half_ ? OUT : place;
}

void OuterItems::mark(std::int32_t place) {
    for (const std::int32_t* i = p_.data.begin(anchor_); i != p_.data.end(anchor_); ++i)
        place_[*i] = unless_rare(*i, place);
}

void OuterItems::around(const Neighbours& near) {
    if (anchor_ >= 0) mark(NOWHERE);
    near_ = &near;
    anchor_ = near.anchor;
    mark(OUT);
}

const std::vector<std::int32_t>& OuterItems::find(const Left& left, const Choice& choice, const Saving& saving) {
    choice_ = choice;
    saving_ = saving;
    tangent_ = p_.tangents[saving.tangent];
    begin(left);
    find_common(left);
    keep_items([&](std::size_t i) { return enough_hold(items_[i]); });
    return items_;
}

// What the best of all save that are not needed to hold an item is known before anything is looked at.
ANONSET_CLONES void OuterItems::begin(const Left& left) {
    best_.begin(k_ - 1 - half_, -p_.fee[0]);
    for (const std::vector<HelperClass>* classes : {&left.with, &left.without})
        for (const HelperClass& one : *classes) {
            const std::int32_t all = saved(one.held, choice_, tangent_);
            std::int32_t i = one.first;
            for (; i < one.last && all - near_->helpers[i].fee > best_.floor(); ++i)
                best_.add(all - near_->helpers[i].fee, near_->helpers[i].copies);
            effort_.steps += 1 + i - one.first;
        }
    others_ = p_.sure(near_->need, choice_, saving_.tangent) + best_.sum(k_ - 1 - half_);
}

// A majority holds the rarest item that is kept, and another one any other item: some hold both.
void OuterItems::find_common(const Left& left) {
    items_.clear();
    counted_.clear();
    for (const HelperClass& one : left.with) {
        const std::int32_t all = saved(one.held, choice_, tangent_);
        for (std::int32_t i = one.first; i < one.last && all - near_->helpers[i].fee > saving_.low; ++i)
            count_items(near_->helpers[i].id);
    }
    keep_items([&](std::size_t i) { return counted_[i] >= 2 * half_ - k_; });
}

void OuterItems::count_items(std::int32_t row) {
    effort_.steps += 1 + p_.data.size(row) / 4;
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

template <class Good>
void OuterItems::keep_items(Good&& good) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        place_[items_[i]] = NOWHERE;
        if (good(i)) items_[kept++] = items_[i];
    }
    items_.resize(kept);
}

// Whether the rows that hold it save the anchor enough.
ANONSET_CLONES bool OuterItems::enough_hold(std::int32_t item) {
    best_.begin(half_, -p_.fee[0]);
    for (const std::int32_t* row = p_.index.begin(item); row != p_.index.end(item); ++row) {
        const Set held = near_->shared[*row];
        if (held == 0) continue;
        const std::int32_t saves = saved(held, choice_, tangent_) - p_.fee[*row];
        if (saves > best_.floor()) best_.add(saves, p_.copies(*row));
    }
    effort_.steps += p_.index.size(item) / 4;
    return others_ + best_.sum(half_) > 0;
}

}  // namespace anonset::bound
