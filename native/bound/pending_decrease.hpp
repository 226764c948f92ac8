// What rows have to give back of the lifts that their values contain (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace anonset::centers {

constexpr std::int32_t UNIT = 1024;  // values are whole multiples of 1 / UNIT items
constexpr std::int32_t PARTS = 32;   // a lift is given back in so many parts

// Of all that is asked of a row only the most counts.
class Debts {
  public:
    explicit Debts(std::int64_t rows) : parts_(rows, 0) {}

    void owes(std::int64_t row, std::int32_t parts) { parts_[row] = std::max(parts_[row], parts); }
    void and_also(const Debts& other) {
        for (std::size_t row = 0; row < parts_.size(); ++row) owes(static_cast<std::int64_t>(row), other.parts_[row]);
    }
    // `part` is what one part of the lift of each row is worth.
    void pay(const std::vector<std::int32_t>& part, std::vector<double>& values) const {
        for (std::size_t row = 0; row < parts_.size(); ++row)
            values[row] -= static_cast<double>(parts_[row] * part[row]) / UNIT;
    }

  private:
    std::vector<std::int32_t> parts_;
};

}  // namespace anonset::centers
