// Where all of an anchor's items are decided: the violated cuts whose centers hold these items, and perhaps some that
// the anchor lacks (docs/explanation/bound.md, "Dual increments").
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "bound/outer_items.hpp"

namespace anonset::bound {

class LeafCheck {
  public:
    std::vector<Center> violated;

    LeafCheck(const IncrementProblem& problem, Effort& effort);

    void around(const Neighbours& near);
    // Looks at the center that holds just the kept items, and at those that hold some of the anchor's lacking ones.
    void look(const Left& left, const Choice& choice, const Saving& saving);

  private:
    static constexpr std::size_t MOST_OUTER = 64;  // with more of them a search takes too long
    struct Near {
        std::int32_t contribution, id, copies;
        std::int32_t saves;  // the anchor, rounded up, in the units of values
        std::int32_t outer;  // how many of the items in question it holds
        bool with;           // the rarest item that is kept
    };
    // Rows that may be in a violated group, and the outer items that its center may hold.
    struct Layer {
        std::vector<Near> near;
        std::vector<std::int32_t> items;
        std::vector<std::size_t> start;     // of the holders of each item
        std::vector<std::int32_t> holders;  // places in `near`
    };
    // So many more items are held by the center. A violated group has a violation above 0 *and* saves the anchor more
    // than its demand, so any sum of both is above 0: violation + times * saving.
    struct UpperBound {
        std::int32_t items, times;
        std::int64_t base;           // without helpers
        std::int64_t with, without;  // with all but one, who holds the rarest item or does not
        std::int64_t half;           // with as many as a majority leaves room for
    };

    Layer& layer_at(std::size_t depth);
    Near near_of(Set held, std::int32_t row, std::int32_t copies) const;
    bool helps(Set held, std::int32_t row) const;
    void gather(const Left& left, Layer& layer);
    void add_holders(const std::vector<std::int32_t>& items, Layer& layer);
    template <class Good>
    void keep_rows(Layer& layer, Good&& good);
    bool fails(const std::vector<Near>& near);
    void widen(std::size_t depth);
    void branch(std::size_t depth, std::size_t item);
    std::int64_t peel(Layer& layer);
    void drop_items(Layer& layer);
    static std::int32_t bound_of(const Near& one, const UpperBound& upper);
    static bool possible(const Near& one, const UpperBound& upper);
    std::int64_t least(const std::vector<Near>& near, std::int32_t items, UpperBound& best);
    bool mark_good(const Layer& layer, const UpperBound& upper);

    const IncrementProblem& p_;
    Effort& effort_;
    const std::int64_t k_, half_;
    OuterItems outer_;
    const Neighbours* around_ = nullptr;
    Choice choice_{};
    Saving saving_{};
    std::int64_t sure_ = 0;  // what the kept items save the anchor without helpers, less its demand
    std::int32_t own_ = 0;   // the anchor's contribution
    Center center_;
    std::deque<Layer> layers_;
    LargestRanked with_, without_;
    std::vector<UpperBound> bounds_;
    std::vector<char> good_;
    std::vector<std::int32_t> renamed_;
    std::vector<std::int32_t> place_;  // of each row in what is gathered
};

}  // namespace anonset::bound
