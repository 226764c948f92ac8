// Locality-sensitive hashing (section 4.2): several tables file each set under its bits at a few sampled items. Only
// sets that share a bucket with t in some table are compared; where they do not fill the group, the search is exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "nearest.hpp"

namespace anonset {

// One projection: bit j of a signature says whether the set holds item dims[j]. At most 64 items.
class Projection {
  public:
    Projection(const std::int32_t* dims, std::int32_t width, std::int32_t items) : bit_(items, 0) {
        for (std::int32_t j = 0; j < width; ++j) bit_[dims[j]] |= std::uint64_t{1} << j;
    }
    std::uint64_t operator()(const Csr& data, std::int64_t row) const {
        std::uint64_t signature = 0;
        for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i) signature |= bit_[*i];
        return signature;
    }

  private:
    std::vector<std::uint64_t> bit_;
};

// The distinct sets sorted by signature, and where each signature's bucket begins.
class BucketTable {
  public:
    void build(const Csr& data, const Distinct& sets, Projection&& projection) {
        projection_ = {std::move(projection)};
        std::vector<std::pair<std::uint64_t, std::int32_t>> entries(sets.size());
        for (std::int32_t u = 0; u < sets.size(); ++u) entries[u] = {projection_[0](data, sets.first[u]), u};
        std::sort(entries.begin(), entries.end());
        order_.resize(entries.size());
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (i == 0 || entries[i].first != entries[i - 1].first) {
                signatures_.push_back(entries[i].first);
                begins_.push_back(static_cast<std::int32_t>(i));
            }
            order_[i] = entries[i].second;
        }
        begins_.push_back(static_cast<std::int32_t>(entries.size()));
    }

    std::pair<const std::int32_t*, const std::int32_t*> bucket(const Csr& data, std::int64_t row) const {
        const std::uint64_t signature = projection_[0](data, row);
        const auto at = std::lower_bound(signatures_.begin(), signatures_.end(), signature) - signatures_.begin();
        return {order_.data() + begins_[at], order_.data() + begins_[at + 1]};
    }

  private:
    std::vector<Projection> projection_;
    std::vector<std::int32_t> order_, begins_;
    std::vector<std::uint64_t> signatures_;
};

class LshFinder : public NearestFinder {
  public:
    // dims: `width` items for each table, one table after the other.
    LshFinder(const DegreeProblem& problem, const std::int32_t* dims, std::int32_t width, std::int32_t tables,
              int threads, Monitor& monitor)
        : NearestFinder(problem), tables_(tables), met_at_(sets_.size(), -1) {
        parallel_for(tables, threads, monitor, [&](std::int64_t table, int) {
            tables_[table].build(problem.quasi, sets_, Projection(dims + table * width, width, problem.items));
        });
    }

    void find(std::int64_t t, std::vector<std::int32_t>& members) {
        candidates_.clear();
        for (const BucketTable& table : tables_) {
            const auto [begin, end] = table.bucket(problem_.quasi, t);
            for (const std::int32_t* u = begin; u != end; ++u) {
                if (met_at_[*u] == t) continue;
                met_at_[*u] = static_cast<std::int32_t>(t);
                candidates_.push_back(*u);
            }
        }
        scan_.scan_only(t, candidates_);
        choose(t, members, candidates_, false);
        if (complete(members)) return;
        members.resize(1);
        ++exact_;
        NearestFinder::find(t, members);
    }

    std::int64_t exact_searches() const { return exact_; }

  private:
    std::vector<BucketTable> tables_;
    std::vector<std::int32_t> met_at_, candidates_;
    std::int64_t exact_ = 0;
};

}  // namespace anonset
