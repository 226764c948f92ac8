// The first centers of k-means: k-means++ on samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/bitmap.hpp"
#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "core/random.hpp"
#include "kp/attributes.hpp"

namespace anonset::kmeans {

// The smaller of the distances known and those to a new center of this length; what is shared is forgotten. Returns the
// sum of all distances times weights.
ANONSET_CLONES inline std::int64_t come_nearer(std::int32_t length, const std::int32_t* lengths,
                                               const std::int32_t* weights, std::int64_t count, std::int32_t* shared,
                                               std::int32_t* nearest) {
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        nearest[i] = std::min(nearest[i], length + lengths[i] - 2 * shared[i]);
        shared[i] = 0;
        total += std::int64_t{nearest[i]} * weights[i];
    }
    return total;
}

// Some points from which centers are drawn, each with a chance proportional to its weight and to its distance to the
// nearest center before it. Points that hold an attribute are listed, so that a new center meets only those that share
// something with it.
class SeedSample {
  public:
    // `rows` of codes of the largest count only.
    SeedSample(const Csr& rows, const std::vector<std::int64_t>& weight, const std::vector<std::int32_t>& sample,
               const Levels& levels, const std::int32_t* first)
        : rows_(rows),
          sample_(sample),
          levels_(levels),
          first_(first),
          begin_(levels.size() + 1, 0),
          nearest_(sample.size(), 1),  // so that the first draw goes by weight alone
          shared_(sample.size(), 0) {
        for (const std::int32_t point : sample) {
            weight_.push_back(static_cast<std::int32_t>(weight[point]));
            lengths_.push_back(0);
            for (const std::int32_t* code = rows.begin(point); code != rows.end(point); ++code) {
                lengths_.back() += levels.value[*code];
                ++begin_[*code + 1];
            }
        }
        total_ = std::accumulate(weight_.begin(), weight_.end(), std::int64_t{0});
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        holders_.resize(begin_.back());
        std::vector<std::int32_t> end(begin_.begin(), begin_.end() - 1);
        for (std::size_t i = 0; i < sample.size(); ++i)
            for (const std::int32_t* code = rows.begin(sample[i]); code != rows.end(sample[i]); ++code)
                holders_[end[*code]++] = static_cast<std::int32_t>(i);
    }

    // The next center; -1 where every point of the sample is one.
    std::int32_t draw(Random& random) {
        if (total_ == 0) return -1;
        auto left = static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(total_));
        std::size_t pick = 0;
        while (left >= chance(pick)) left -= chance(pick++);
        if (!drawn_) std::fill(nearest_.begin(), nearest_.end(), INT32_MAX);
        drawn_ = true;
        meet(sample_[pick]);
        total_ = come_nearer(lengths_[pick], lengths_.data(), weight_.data(), static_cast<std::int64_t>(sample_.size()),
                             shared_.data(), nearest_.data());
        return sample_[pick];
    }

  private:
    std::int64_t chance(std::size_t i) const { return std::int64_t{nearest_[i]} * weight_[i]; }

    // What each point of the sample shares with a new center.
    void meet(std::int32_t center) {
        for (const std::int32_t* code = rows_.begin(center); code != rows_.end(center); ++code) {
            const std::int32_t a = levels_.attribute[*code], v = levels_.value[*code];
            for (std::int32_t other = first_[a]; other < first_[a + 1]; ++other)
                for (std::int32_t at = begin_[other]; at < begin_[other + 1]; ++at)
                    shared_[holders_[at]] += std::min(levels_.value[other], v);
        }
    }

    const Csr rows_;
    const std::vector<std::int32_t>& sample_;
    const Levels& levels_;
    const std::int32_t* first_;
    std::vector<std::int32_t> begin_, holders_;  // places in the sample by code
    std::vector<std::int32_t> weight_, lengths_, nearest_, shared_;
    std::int64_t total_ = 0;
    bool drawn_ = false;
};

}  // namespace anonset::kmeans
