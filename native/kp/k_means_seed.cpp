#include "kp/k_means_seed.hpp"

#include <algorithm>
#include <numeric>

#include "core/bitmap.hpp"

namespace anonset::kp::kmeans {

namespace {

// The smaller of the distances known and those to a new center of this length; what is shared is forgotten. Returns the
// sum of all distances times weights.
ANONSET_CLONES std::int64_t come_nearer(std::int32_t length, const std::int32_t* lengths, const std::int32_t* weights,
                                        std::int64_t count, std::int32_t* shared, std::int32_t* nearest) {
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        nearest[i] = std::min(nearest[i], length + lengths[i] - 2 * shared[i]);
        shared[i] = 0;
        total += std::int64_t{nearest[i]} * weights[i];
    }
    return total;
}

}  // namespace

SeedSample::SeedSample(const Csr& rows, const std::vector<std::int64_t>& weight,
                       const std::vector<std::int32_t>& sample, const Levels& levels, const std::int32_t* first)
    : rows_(rows),
      sample_(sample),
      levels_(levels),
      first_(first),
      nearest_(sample.size(), 1),  // so that the first draw goes by weight alone
      shared_(sample.size(), 0) {
    for (const std::int32_t point : sample) {
        weight_.push_back(static_cast<std::int32_t>(weight[point]));
        lengths_.push_back(0);
        for (const std::int32_t* code = rows.begin(point); code != rows.end(point); ++code)
            lengths_.back() += levels.value[*code];
    }
    total_ = std::accumulate(weight_.begin(), weight_.end(), std::int64_t{0});
    holders_ = transpose_pairs<std::int32_t, std::int32_t>(levels.size(), [&](auto&& visit) {
        for (std::size_t i = 0; i < sample.size(); ++i)
            for (const std::int32_t* code = rows.begin(sample[i]); code != rows.end(sample[i]); ++code)
                visit(*code, static_cast<std::int32_t>(i));
    });
}

std::int32_t SeedSample::draw(Random& random) {
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

void SeedSample::meet(std::int32_t center) {
    for (const std::int32_t* code = rows_.begin(center); code != rows_.end(center); ++code) {
        const std::int32_t a = levels_.attribute[*code], v = levels_.value[*code];
        for (std::int32_t other = first_[a]; other < first_[a + 1]; ++other)
            for (const std::int32_t* i = holders_.begin(other); i != holders_.end(other); ++i)
                shared_[*i] += std::min(levels_.value[other], v);
    }
}

}  // namespace anonset::kp::kmeans
