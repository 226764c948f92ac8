// The parts of the rows that are solved by themselves.
#pragma once

#include <cstdint>
#include <vector>

namespace anonset::kp {

// A part of the rows, and what became of it.
struct Part {
    std::vector<std::int32_t> rows, group;
    std::int32_t groups = 0;
};

// Groups that are there already, cut into shards between groups by the first row of each.
std::vector<Part> parts_of_groups(const std::int32_t* group, std::int64_t rows, std::int64_t shard);

// Rows of one cluster each, cut where they are many; their groups are built anew.
std::vector<Part> parts_of_clusters(const std::int32_t* cluster, std::int64_t rows, std::int64_t shard);

}  // namespace anonset::kp
