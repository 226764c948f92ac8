// The items that an anchor lacks and the center of a violated group around it may hold (docs/explanation/bound.md).
#pragma once

#include <cstdint>
#include <utility>
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
    static constexpr std::size_t SOME = 128;               // rows without the rarest item that are looked at first

    void mark(std::int32_t place);
    std::int32_t unless_rare(std::int32_t item, std::int32_t place) const;
    void begin(const Left& left);
    void order_rows(const Left& left);
    void keep_some();
    void find_common();
    void find_likely();
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
    std::int32_t rest_ = 0;    // no row that is not looked at saves more
    LargestRanked best_;
    std::vector<std::pair<std::int32_t, std::int32_t>> order_, without_;  // what rows save, negative, and who
    std::vector<std::int64_t> counted_, summed_;
    std::vector<std::int32_t> items_;
    std::vector<std::int32_t> place_;  // of each item in `items_`
};

}  // namespace anonset::bound
