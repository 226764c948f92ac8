#include "kp/shares.hpp"

namespace anonset::kp {

void ShareGroups::merge(std::int32_t from, std::int32_t to) {
    count_rows(groups_[from]);
    count_rows(groups_[to]);
    for (const std::int32_t row : std::exchange(groups_[from].members, {})) groups_[to].members.push_back(row);
    for (const auto& [attribute, number] : std::exchange(groups_[from].secret, {}))
        holders(groups_[to], attribute) += number;
}

}  // namespace anonset::kp
