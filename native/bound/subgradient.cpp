#include <algorithm>
#include <cstdint>
#include <vector>

#include "bound/api.hpp"

namespace anonset::bound {

namespace {

class Settlement {
  public:
    Settlement(const CutList& cuts, const std::int64_t* weight, std::int64_t k) : cuts_(cuts), weight_(weight), k_(k) {}

    // The k rows that contribute most give back the violation in equal parts.
    void settle(std::int64_t cut, std::vector<double>& value) {
        group_.clear();
        for (std::int64_t i = cuts_.start[cut]; i < cuts_.start[cut + 1]; ++i)
            group_.push_back({value[cuts_.row[i]] - cuts_.distance[i], cuts_.row[i], 0});
        const Sum sum = choose();
        if (sum.violation <= 0) return;
        for (const Member& member : group_) value[member.row] -= sum.violation / sum.parts * member.part;
    }

  private:
    struct Member {
        double contribution;
        std::int32_t row;
        double part;  // of its copies that are in the group
        bool operator<(const Member& other) const {
            return contribution != other.contribution ? contribution > other.contribution : row < other.row;
        }
    };
    struct Sum {
        double violation, parts;
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
            sum.violation += static_cast<double>(taken) * member.contribution;
            sum.parts += static_cast<double>(taken) * member.part;
        }
        return need > 0 ? Sum{0, 0} : sum;
    }

    const CutList cuts_;
    const std::int64_t* const weight_;
    const std::int64_t k_;
    std::vector<Member> group_;
};

}  // namespace

std::vector<double> subgradient_steps(const CutList& cuts, const std::int64_t* weight, std::int64_t k,
                                      std::vector<double> value, const double* most, const double* rise,
                                      std::int64_t sweeps, Monitor& monitor) {
    Settlement settlement(cuts, weight, k);
    for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
        monitor.check();
        for (std::size_t u = 0; u < value.size(); ++u) value[u] = std::min(value[u] + rise[sweep], most[u]);
        for (std::int64_t cut = 0; cut < cuts.count; ++cut) settlement.settle(cut, value);
    }
    return value;
}

}  // namespace anonset::bound
