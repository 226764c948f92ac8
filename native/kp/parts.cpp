#include "kp/parts.hpp"

namespace anonset::kp {

std::vector<Part> parts_of_groups(const std::int32_t* group, std::int64_t rows, std::int64_t shard) {
    std::vector<std::int32_t> number, sizes, part_of, inside;
    for (std::int64_t row = 0; row < rows; ++row) {
        if (group[row] >= static_cast<std::int32_t>(number.size())) number.resize(group[row] + 1, -1);
        if (number[group[row]] < 0) number[group[row]] = static_cast<std::int32_t>(sizes.size()), sizes.push_back(0);
        ++sizes[number[group[row]]];
    }
    std::vector<Part> parts;
    std::int64_t filled = shard;
    for (const std::int32_t size : sizes) {
        if (filled >= shard) parts.emplace_back(), filled = 0;
        part_of.push_back(static_cast<std::int32_t>(parts.size()) - 1);
        inside.push_back(parts.back().groups++);
        filled += size;
    }
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int32_t g = number[group[row]];
        parts[part_of[g]].rows.push_back(static_cast<std::int32_t>(row));
        parts[part_of[g]].group.push_back(inside[g]);
    }
    return parts;
}

std::vector<Part> parts_of_clusters(const std::int32_t* cluster, std::int64_t rows, std::int64_t shard) {
    std::vector<Part> parts;
    std::vector<std::int32_t> open;
    for (std::int64_t row = 0; row < rows; ++row) {
        if (cluster[row] >= static_cast<std::int32_t>(open.size())) open.resize(cluster[row] + 1, -1);
        std::int32_t& part = open[cluster[row]];
        if (part < 0 || static_cast<std::int64_t>(parts[part].rows.size()) >= shard)
            part = static_cast<std::int32_t>(parts.size()), parts.emplace_back();
        parts[part].rows.push_back(static_cast<std::int32_t>(row));
    }
    return parts;
}

}  // namespace anonset::kp
