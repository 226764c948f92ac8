// What `crowd` finds.
#pragma once

#include <cstdint>
#include <vector>

namespace anonset {

// The group of each row, and what each group publishes: the items that more than half of its rows hold.
struct CrowdResult {
    std::vector<std::int32_t> group;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> items;
};

}  // namespace anonset
