// Values that are traded between rows so that their sum may grow (docs/explanation/bound.md).
//
// All values rise a little, and then, center by center, the k rows that are worth most give back what they are worth
// together: whoever is wanted at few centers gains, whoever is wanted at many loses. Nothing is promised about the
// result: it is a target, and `center_pass` says how much of it is affordable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/monitor.hpp"

namespace anonset {

namespace trading {

struct Centers {
    const std::int64_t* start;  // of each center's rows, and the end
    const std::int32_t *row, *distance;
    std::int64_t count;
};

class Trader {
  public:
    Trader(const Centers& centers, const std::int64_t* weight, std::int64_t k)
        : centers_(centers), weight_(weight), k_(k) {}

    // The k that are worth most at this center are worth nothing together when they have paid.
    void settle(std::int64_t center, std::vector<double>& value) {
        group_.clear();
        for (std::int64_t i = centers_.start[center]; i < centers_.start[center + 1]; ++i)
            group_.push_back({value[centers_.row[i]] - centers_.distance[i], centers_.row[i], 0});
        const Sum sum = choose();
        if (sum.worth <= 0) return;
        for (const Member& member : group_) value[member.row] -= sum.worth / sum.parts * member.part;
    }

  private:
    struct Member {
        double worth;
        std::int32_t row;
        double part;  // of its copies that are in the group
        bool operator<(const Member& other) const {
            return worth != other.worth ? worth > other.worth : row < other.row;
        }
    };
    struct Sum {
        double worth, parts;
    };
    Sum choose() {
        const std::size_t most = std::min(group_.size(), static_cast<std::size_t>(k_));
        const auto middle = group_.begin() + static_cast<std::ptrdiff_t>(most);
        if (middle != group_.end()) std::nth_element(group_.begin(), middle, group_.end());
        group_.resize(most);
        std::sort(group_.begin(), group_.end());
        Sum sum{0, 0};
        std::int64_t need = k_;
        for (Member& member : group_) {
            const std::int64_t copies = weight_[member.row], taken = std::min(need, copies);
            need -= taken;
            member.part = static_cast<double>(taken) / static_cast<double>(copies);
            sum.worth += static_cast<double>(taken) * member.worth;
            sum.parts += static_cast<double>(taken) * member.part;
        }
        return need > 0 ? Sum{0, 0} : sum;
    }

    const Centers centers_;
    const std::int64_t* const weight_;
    const std::int64_t k_;
    std::vector<Member> group_;
};

}  // namespace trading

// Before each sweep over the centers all values rise by its `rise`, but to `most` at most.
inline std::vector<double> trade(const trading::Centers& centers, const std::int64_t* weight, std::int64_t k,
                                 std::vector<double> value, const double* most, const double* rise, std::int64_t sweeps,
                                 Monitor& monitor) {
    trading::Trader trader(centers, weight, k);
    for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
        monitor.check();
        for (std::size_t u = 0; u < value.size(); ++u) value[u] = std::min(value[u] + rise[sweep], most[u]);
        for (std::int64_t center = 0; center < centers.count; ++center) trader.settle(center, value);
    }
    return value;
}

}  // namespace anonset
