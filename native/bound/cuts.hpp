// Violated cuts are collected here (docs/explanation/bound.md, "Violated cuts").
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bound/api.hpp"
#include "bound/center_search.hpp"

namespace anonset::bound::centers {

// Of each row the `most` cuts with the largest violations.
class CutCollector {
  public:
    Cuts cuts;

    void clear() { violated_.clear(); }
    void add(std::uint64_t changed, std::int64_t violation) { violated_.emplace_back(-violation, changed); }

    // `items` are what the bits of a center stand for; the neighbourhood's first row is the anchor, `size` items long.
    void keep(const Neighbourhood& around, const std::vector<std::int32_t>& items, const std::int32_t* anchor,
              std::int64_t size, const double* value, std::size_t most);

  private:
    void list_rows(const Neighbourhood& around, std::uint64_t changed, const double* value);

    std::vector<std::pair<std::int64_t, std::uint64_t>> violated_;
    std::vector<std::pair<std::int32_t, std::int32_t>> order_;
};

// Each center once, with the largest violation that was seen there. The order does not depend on who found what.
Cuts merged(const std::vector<Cuts>& parts);

}  // namespace anonset::bound::centers
