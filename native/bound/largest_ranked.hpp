// The largest of some values by their rank; the filler stands for any number of others.
#pragma once

#include <cstdint>
#include <vector>

namespace anonset::bound {

class LargestRanked {
  public:
    void begin(std::int64_t keep, std::int32_t filler) {
        keep_ = keep;
        size_ = 0;
        filler_ = filler;
        values_.resize(keep);
    }
    // Values up to here change nothing.
    std::int32_t floor() const {
        if (size_ < keep_) return filler_;
        return keep_ == 0 ? INT32_MAX : values_[size_ - 1];
    }
    void add(std::int32_t value, std::int32_t copies) {
        for (; copies > 0 && value > floor(); --copies) {
            std::int64_t at = size_ < keep_ ? size_++ : size_ - 1;
            for (; at > 0 && values_[at - 1] < value; --at) values_[at] = values_[at - 1];
            values_[at] = value;
        }
    }
    std::int32_t operator[](std::int64_t i) const { return i < size_ ? values_[i] : filler_; }
    std::int64_t sum(std::int64_t count) const {
        std::int64_t total = 0;
        for (std::int64_t i = 0; i < count; ++i) total += (*this)[i];
        return total;
    }

  private:
    std::int64_t keep_ = 0, size_ = 0;
    std::int32_t filler_ = 0;
    std::vector<std::int32_t> values_;
};

// The sum of the `all` largest of both, at least `must` of them from the first.
inline std::int64_t sum_of_largest(const LargestRanked& first, const LargestRanked& second, std::int64_t must,
                                   std::int64_t all) {
    std::int64_t i = must, j = 0, sum = first.sum(must);
    for (std::int64_t c = must; c < all; ++c) sum += first[i] >= second[j] ? first[i++] : second[j++];
    return sum;
}

}  // namespace anonset::bound
