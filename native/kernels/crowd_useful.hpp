// Rows without the items that at most k/2 of them hold. No center can hold such an item, nor does it change what any
// move or swap gains. Where there are many of them, groups are found faster without.
#pragma once

#include <cstdint>
#include <vector>

#include "csr.hpp"

namespace anonset::crowd {

class UsefulItems {
  public:
    UsefulItems(const Csr& rows, std::int32_t n_items, std::int32_t k) : rows_(rows), n_items_(n_items) {
        const std::int64_t all = rows.offsets[rows.rows] - rows.offsets[0];
        if (MUCH * (k / 2) * n_items <= all) return;  // however few rows hold each of them, it is not worth it
        std::vector<std::int32_t> number(n_items, 0);
        for (const std::int32_t* i = rows.begin(0); i != rows.end(rows.rows - 1); ++i) ++number[*i];
        std::int64_t rest = 0;
        for (std::int32_t item = 0; item < n_items; ++item)
            if (2 * number[item] > k) own_.push_back(item), rest += number[item];
        if (MUCH * (all - rest) < all) {
            own_.clear();
            return;
        }
        for (std::int32_t& one : number) one = -1;
        for (std::size_t i = 0; i < own_.size(); ++i) number[own_[i]] = static_cast<std::int32_t>(i);
        drop(number, rest);
    }

    // These rows, in which items are numbered anew, in the same order.
    const Csr& rows() const { return rows_; }
    std::int32_t n_items() const { return n_items_; }

    // Gives items their own numbers again.
    void restore(std::vector<std::int32_t>& items) const {
        if (own_.empty()) return;
        for (std::int32_t& item : items) item = own_[item];
    }

  private:
    static constexpr std::int64_t MUCH = 16;  // one of so many occurrences

    // All are written down, and those without a number are written over.
    void drop(const std::vector<std::int32_t>& number, std::int64_t rest) {
        items_.resize(rest + 1);
        offsets_.resize(rows_.rows + 1);
        std::int64_t at = 0;
        for (std::int64_t row = 0; row < rows_.rows; ++row) {
            for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
                items_[at] = number[*i];
                at += number[*i] >= 0;
            }
            offsets_[row + 1] = at;
        }
        n_items_ = static_cast<std::int32_t>(own_.size());
        rows_ = {offsets_.data(), items_.data(), rows_.rows};
    }

    Csr rows_;
    std::int32_t n_items_;
    std::vector<std::int32_t> own_, items_;
    std::vector<std::int64_t> offsets_;
};

}  // namespace anonset::crowd
