#include "bound/cuts.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace anonset::bound::centers {

namespace {

// The key of a center is the exclusive or of these.
std::uint64_t mixed(std::int32_t item) {
    auto x = static_cast<std::uint64_t>(item) + 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

void begin(Cuts& cuts, std::uint64_t key, std::int64_t violation, std::int64_t anchor) {
    cuts.key.push_back(key);
    cuts.violation.push_back(violation);
    cuts.anchor.push_back(anchor);
    cuts.start.push_back(cuts.start.back());
}

void add_row(Cuts& cuts, std::int32_t row, std::int32_t distance) {
    cuts.row.push_back(row);
    cuts.distance.push_back(distance);
    ++cuts.start.back();
}

}  // namespace

void CutCollector::keep(const Neighbourhood& around, const std::vector<std::int32_t>& items, const std::int32_t* anchor,
                        std::int64_t size, const double* value, std::size_t most) {
    std::sort(violated_.begin(), violated_.end());
    violated_.resize(std::min(violated_.size(), most));
    std::uint64_t own = 0;
    for (std::int64_t i = 0; i < size; ++i) own ^= mixed(anchor[i]);
    for (const auto& [minus, changed] : violated_) {
        std::uint64_t key = own;
        for (std::uint64_t left = changed; left; left &= left - 1) key ^= mixed(items[__builtin_ctzll(left)]);
        begin(cuts, key, -minus, around.rows[0].id);
        list_rows(around, changed, value);
    }
}

// Twice as many as a group needs, and a few more: others may come in when values change.
void CutCollector::list_rows(const Neighbourhood& around, std::uint64_t changed, const double* value) {
    const int changes = __builtin_popcountll(changed);
    order_.clear();
    for (const Row& row : around.rows)
        order_.emplace_back((changes - 2 * __builtin_popcountll(row.differs & changed)) * UNIT - row.base, row.id);
    const std::size_t most = std::min(order_.size(), 2 * static_cast<std::size_t>(around.k) + 16);
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(most);
    std::partial_sort(order_.begin(), end, order_.end());
    for (auto each = order_.begin(); each != end; ++each)
        add_row(cuts, each->second,
                static_cast<std::int32_t>(std::lround(value[each->second] + static_cast<double>(each->first) / UNIT)));
}

Cuts merged(const std::vector<Cuts>& parts) {
    struct Place {
        const Cuts* part;
        std::size_t at;
        auto rank() const { return std::tuple(part->key[at], -part->violation[at], part->anchor[at]); }
    };
    std::vector<Place> places;
    for (const Cuts& part : parts)
        for (std::size_t at = 0; at < part.key.size(); ++at) places.push_back({&part, at});
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.rank() < b.rank(); });
    Cuts out;
    for (const auto& [part, at] : places) {
        if (!out.key.empty() && out.key.back() == part->key[at]) continue;
        begin(out, part->key[at], part->violation[at], part->anchor[at]);
        for (std::int64_t i = part->start[at]; i < part->start[at + 1]; ++i)
            add_row(out, part->row[i], part->distance[i]);
    }
    return out;
}

}  // namespace anonset::bound::centers
