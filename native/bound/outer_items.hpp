// The items that an anchor lacks and the center of a violated group around it may hold (docs/explanation/bound.md).
#pragma once

#include <cstdint>
#include <vector>

#include "bound/increment_problem.hpp"

namespace anonset::bound {

class OuterItems {
  public:
    OuterItems(const IncrementProblem& problem, Effort& effort);

    void around(const Neighbours& near);
    // The items that at least half of a group can hold in which the anchor saves more than its demand.
    const std::vector<std::int32_t>& find(const Left& left, const Choice& choice, const Saving& saving);

  private:
    static constexpr std::int32_t NOWHERE = -1, OUT = -2;  // out: held by the anchor, or by too few

    void mark(std::int32_t place);
    std::int32_t unless_rare(std::int32_t item, std::int32_t place) const;
    void begin(const Left& left);
    void find_common(const Left& left);
    void count_items(std::int32_t row);
    template <class Good>
    void keep_items(Good&& good);
    bool enough_hold(std::int32_t item);

    const IncrementProblem& p_;
    Effort& effort_;
    const std::int64_t k_, half_;
    std::int64_t anchor_ = -1;
    const Neighbours* near_ = nullptr;
    Tangent tangent_{};
    Choice choice_{};
    Saving saving_{};
    std::int64_t others_ = 0;  // what the anchor saves with all but half of the group
    LargestRanked best_;
    std::vector<std::int64_t> counted_;  // rows with the rarest kept item that hold each of `items_`
    std::vector<std::int32_t> items_;
    std::vector<std::int32_t> place_;  // of each item in `items_`
};

}  // namespace anonset::bound
