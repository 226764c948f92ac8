// The first centers of k-means: k-means++ on samples.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "core/transpose.hpp"
#include "kp/attributes.hpp"

namespace anonset::kp::kmeans {

// Some points from which centers are drawn, each with a chance proportional to its weight and to its distance to the
// nearest center before it. Points that hold an attribute are listed, so that a new center meets only those that share
// something with it.
class SeedSample {
  public:
    // `rows` of codes of the largest count only.
    SeedSample(const Csr& rows, const std::vector<std::int64_t>& weight, const std::vector<std::int32_t>& sample,
               const Levels& levels, const std::int32_t* first);

    // The next center; -1 where every point of the sample is one.
    std::int32_t draw(Random& random);

  private:
    std::int64_t chance(std::size_t i) const { return std::int64_t{nearest_[i]} * weight_[i]; }

    // What each point of the sample shares with a new center.
    void meet(std::int32_t center);

    const Csr rows_;
    const std::vector<std::int32_t>& sample_;
    const Levels& levels_;
    const std::int32_t* first_;
    Transposed<std::int32_t, std::int32_t> holders_;  // of each code: places in the sample
    std::vector<std::int32_t> weight_, lengths_, nearest_, shared_;
    std::int64_t total_ = 0;
    bool drawn_ = false;
};

}  // namespace anonset::kp::kmeans
