// Groups of k inside one cluster: the row nearest to the center founds a group, and the rows nearest to the founder
// join as long as no sensitive attribute becomes too frequent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kp/api.hpp"
#include "kp/nearest_rows.hpp"
#include "kp/shares.hpp"

namespace anonset::kp {

struct Filled {
    std::vector<std::vector<std::int32_t>> groups;
    std::vector<std::int32_t> left;
};

// Fills the groups of one cluster after the other; one object per thread.
class ClusterFiller {
  public:
    ClusterFiller(const Csr& rows, const Csr& secret, std::int64_t codes, std::int32_t attributes, std::int64_t k,
                  ShareLimit limit)
        : rows_(rows),
          secret_(secret),
          k_(k),
          most_(limit.most(k)),
          nearest_(rows, codes),
          central_(codes, 0),
          held_(attributes, 0) {}

    // `members` ascending, `center` in unary code.
    void fill(const std::vector<std::int32_t>& members, const std::int32_t* center, const std::int32_t* center_end,
              Filled& out, Monitor& monitor);

  private:
    // Places among the members, nearest to the center first.
    void order_by_distance(const std::vector<std::int32_t>& members, const std::int32_t* center,
                           const std::int32_t* center_end);

    bool may_join(std::int64_t row) const {
        for (const std::int32_t* a = secret_.begin(row); a != secret_.end(row); ++a)
            if (held_[*a] >= most_) return false;
        return true;
    }

    void hold(std::int64_t row, std::int32_t sign) {
        for (const std::int32_t* a = secret_.begin(row); a != secret_.end(row); ++a) held_[*a] += sign;
    }

    // Whether no k of those that wait can be a group: so many hold one attribute that too few are left to go with them.
    // Clusters of rows that look alike because the same item is sensitive for each of them end like that.
    bool hopeless(const std::vector<std::int32_t>& members, std::int64_t waiting);

    // The founder and the k - 1 nearest rows that may join; false where there are not so many.
    bool gather(const std::vector<std::int32_t>& members, std::int32_t founder);

    const Csr rows_, secret_;
    std::int64_t k_;
    std::int64_t most_;  // rows of a group that may hold one sensitive attribute
    NearestRows nearest_;
    std::vector<char> central_;       // codes of the present center
    std::vector<std::int32_t> held_;  // how many rows of the present group hold each sensitive attribute
    std::vector<std::pair<std::int64_t, std::int32_t>> keys_;
    std::vector<std::int32_t> order_, chosen_;  // places among the members
    std::vector<char> taken_;
};

}  // namespace anonset::kp
