// Locality-sensitive hashing (section 4.2): several tables file each set under its bits at a few sampled items. Only
// sets that share a bucket with t in some table are compared; where they do not fill the group, the search is exact.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cahd/api.hpp"
#include "cahd/nearest.hpp"

namespace anonset::cahd {

namespace {

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
    using Entries = std::vector<std::pair<std::uint64_t, std::int32_t>>;

  public:
    // Everybody, also those that hold none of the items.
    void file_all(const Csr& data, const Distinct& sets, Projection&& projection) {
        projection_ = {std::move(projection)};
        Entries entries(sets.size());
        for (std::int32_t u = 0; u < sets.size(); ++u) entries[u] = {projection_[0](data, sets.first[u]), u};
        file(std::move(entries));
    }

    // Those that hold one of the items, found through the items' lists.
    void file_holders(const SetScan& scan, std::int32_t sets, Projection&& projection, const std::int32_t* dims,
                      std::int32_t width) {
        projection_ = {std::move(projection)};
        std::vector<std::uint64_t> signature(sets, 0);
        std::vector<std::int32_t> holders, met;
        for (std::int32_t j = 0; j < width; ++j) {
            holders.clear();
            scan.append_holders(dims[j], holders);
            for (const std::int32_t u : holders) {
                if (signature[u] == 0) met.push_back(u);
                signature[u] |= std::uint64_t{1} << j;
            }
        }
        Entries entries;
        entries.reserve(met.size());
        for (const std::int32_t u : met) entries.emplace_back(signature[u], u);
        file(std::move(entries));
    }

    std::pair<const std::int32_t*, const std::int32_t*> bucket(const Csr& data, std::int64_t row) const {
        const std::uint64_t signature = projection_[0](data, row);
        const auto found = std::lower_bound(signatures_.begin(), signatures_.end(), signature);
        if (found == signatures_.end() || *found != signature) return {nullptr, nullptr};
        const auto at = found - signatures_.begin();
        return {order_.data() + begins_[at], order_.data() + begins_[at + 1]};
    }

  private:
    void file(Entries&& entries) {
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

    std::vector<Projection> projection_;
    std::vector<std::int32_t> order_, begins_;
    std::vector<std::uint64_t> signatures_;
};

class LshFinder : public NearestFinder {
  public:
    LshFinder(const Problem& problem, const HashTables& hashed, int threads, Monitor& monitor)
        : NearestFinder(problem), tables_(hashed.tables), met_at_(sets_.size(), -1), most_(hashed.most) {
        parallel_for(hashed.tables, threads, monitor, [&](std::int64_t table, int) {
            const std::int32_t* sampled = hashed.dims + table * hashed.width;
            Projection projection(sampled, hashed.width, problem.items);
            most_ == 0 ? tables_[table].file_all(problem.quasi, sets_, std::move(projection))
                       : tables_[table].file_holders(scan_, sets_.size(), std::move(projection), sampled, hashed.width);
        });
    }

    void find(std::int64_t t, std::vector<std::int32_t>& members) {
        candidates_.clear();
        for (const BucketTable& table : tables_) {
            if (enough()) break;
            const auto [begin, end] = table.bucket(problem_.quasi, t);
            for (const std::int32_t* u = begin; u != end && !enough(); ++u) {
                if (met_at_[*u] == t || !alive(*u)) continue;
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
    bool enough() const { return most_ > 0 && static_cast<std::int64_t>(candidates_.size()) >= most_; }

    std::vector<BucketTable> tables_;
    std::vector<std::int32_t> met_at_, candidates_;
    std::int64_t most_, exact_ = 0;
};

}  // namespace

LshGroups lsh_groups(const Problem& problem, const HashTables& tables, int threads, Monitor& monitor) {
    LshFinder finder(problem, tables, threads, monitor);
    LshGroups out;
    out.group = form_groups(problem, finder, monitor);
    out.exact = finder.exact_searches();
    return out;
}

std::vector<std::uint64_t> lsh_signatures(const Csr& data, std::int32_t items, const std::int32_t* dims,
                                          std::int32_t width) {
    const Projection projection(dims, width, items);
    std::vector<std::uint64_t> signatures(data.rows);
    for (std::int64_t row = 0; row < data.rows; ++row) signatures[row] = projection(data, row);
    return signatures;
}

}  // namespace anonset::cahd
