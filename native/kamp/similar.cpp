// Groups of similar rows by the Jaccard coefficient: the first row that is left and its nearest, again and again.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/transpose.hpp"
#include "kamp/api.hpp"

namespace anonset::kamp {

namespace {

class SimilarGroups {
  public:
    SimilarGroups(const Csr& data, std::int64_t n_items)
        : data_(data), holders_(transpose(data, n_items)), shared_(data.rows, 0), group_(data.rows, -1) {
        end_.assign(holders_.start.begin() + 1, holders_.start.end());
    }

    // Sizes differ by at most one; the first groups are the larger ones.
    std::vector<std::int32_t> run(std::int64_t groups, Monitor& monitor) {
        std::int64_t seed = 0;
        for (std::int64_t g = 0; g < groups; ++g) {
            monitor.check();
            monitor.advance();
            const std::int64_t size = data_.rows / groups + (g < data_.rows % groups);
            while (seed < data_.rows && group_[seed] >= 0) ++seed;
            fill(seed, size, static_cast<std::int32_t>(g));
        }
        return std::move(group_);
    }

  private:
    void fill(std::int64_t seed, std::int64_t size, std::int32_t g) {
        if (size == 0) return;
        group_[seed] = g;
        std::int64_t left = size - 1;
        for (const std::int32_t row : nearest(seed, left)) {
            group_[row] = g;
            --left;
        }
        // Nobody else shares an item: the next one.
        for (std::int64_t row = seed + 1; left > 0; ++row) {
            if (group_[row] >= 0) continue;
            group_[row] = g;
            --left;
        }
    }

    // The most similar rows that are in no group yet; equal ones in the order of the rows.
    std::vector<std::int32_t> nearest(std::int64_t seed, std::int64_t most) {
        std::vector<std::int32_t> near;
        for (const std::int32_t* item = data_.begin(seed); item != data_.end(seed); ++item) {
            std::int64_t kept = holders_.start[*item];
            for (std::int64_t at = holders_.start[*item]; at < end_[*item]; ++at) {
                const std::int32_t row = holders_.values[at];
                if (group_[row] >= 0) continue;  // and never again
                holders_.values[kept++] = row;
                if (shared_[row]++ == 0) near.push_back(row);
            }
            end_[*item] = kept;
        }
        const auto nearer = [&](std::int32_t a, std::int32_t b) {
            const std::int64_t one = shared_[a] * (data_.size(seed) + data_.size(b) - shared_[b]);
            const std::int64_t two = shared_[b] * (data_.size(seed) + data_.size(a) - shared_[a]);
            return one != two ? one > two : a < b;
        };
        const auto count = std::min<std::int64_t>(most, static_cast<std::int64_t>(near.size()));
        std::partial_sort(near.begin(), near.begin() + count, near.end(), nearer);
        for (const std::int32_t row : near) shared_[row] = 0;
        near.resize(count);
        return near;
    }

    const Csr& data_;
    Transposed<> holders_;           // of each item: rows that are in no group yet, and behind its end others
    std::vector<std::int64_t> end_;  // of each item
    std::vector<std::int64_t> shared_;
    std::vector<std::int32_t> group_;
};

}  // namespace

std::vector<std::int32_t> similar_groups(const Csr& data, std::int64_t n_items, std::int64_t groups, Monitor& monitor) {
    return SimilarGroups(data, n_items).run(groups, monitor);
}

}  // namespace anonset::kamp
