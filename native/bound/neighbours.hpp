// The rows that share items with an anchor (docs/explanation/bound.md, "Dual increments").
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bound/increment_problem.hpp"
#include "bound/per_set.hpp"

namespace anonset::bound {

class NeighbourSearch {
  public:
    Neighbours found;

    explicit NeighbourSearch(const IncrementProblem& problem);

    // False if the anchor has more than 64 items that a majority can hold.
    bool around(std::int64_t anchor);
    // The anchor's demand if only so much of its increment is kept.
    void keep(std::int32_t increment);

  private:
    void choose_items();
    void gather();
    void add(std::int32_t row);
    void order();

    const IncrementProblem& p_;
    PerSet class_;
    Undominated best_;
    std::vector<std::uint64_t> touched_;                         // rows that share something, one bit each
    std::vector<std::pair<std::int32_t, std::int32_t>> member_;  // classes and rows
};

}  // namespace anonset::bound
