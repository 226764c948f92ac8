// Centers at which groups fail, and the rows that are worth most there (docs/explanation/bound.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "bound/center_search.hpp"

namespace anonset {

struct NotedCenters {
    std::vector<std::uint64_t> key;  // the same for the same center
    std::vector<std::int64_t> worth, anchor;
    std::vector<std::int64_t> start{0};  // of the rows of each, and the end
    std::vector<std::int32_t> row, distance;

    void begin(std::uint64_t center, std::int64_t worth_there, std::int64_t found_by) {
        key.push_back(center);
        worth.push_back(worth_there);
        anchor.push_back(found_by);
        start.push_back(start.back());
    }
    void add(std::int32_t member, std::int32_t away) {
        row.push_back(member);
        distance.push_back(away);
        ++start.back();
    }
    void add(const NotedCenters& other, std::size_t at) {
        begin(other.key[at], other.worth[at], other.anchor[at]);
        for (std::int64_t i = other.start[at]; i < other.start[at + 1]; ++i) add(other.row[i], other.distance[i]);
    }
};

// Each center once, with the largest worth that was seen there. The order does not depend on who noted what.
inline NotedCenters merged(const std::vector<NotedCenters>& parts) {
    struct Place {
        const NotedCenters* part;
        std::size_t at;
        auto rank() const { return std::tuple(part->key[at], -part->worth[at], part->anchor[at]); }
    };
    std::vector<Place> places;
    for (const NotedCenters& part : parts)
        for (std::size_t at = 0; at < part.key.size(); ++at) places.push_back({&part, at});
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.rank() < b.rank(); });
    NotedCenters out;
    for (const Place& place : places)
        if (out.key.empty() || out.key.back() != place.part->key[place.at]) out.add(*place.part, place.at);
    return out;
}

namespace centers {

// The key of a center is the exclusive or of these.
inline std::uint64_t mixed(std::int32_t item) {
    auto x = static_cast<std::uint64_t>(item) + 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// Twice as many as a group needs, and a few more: others may come in when values change.
inline std::size_t noted_rows(std::int64_t k) { return 2 * static_cast<std::size_t>(k) + 16; }

// Notes the centers around one row after the other: of each row the `most` at which a group is worth most.
class Notebook {
  public:
    NotedCenters noted;

    void clear() { failed_.clear(); }
    void fails(std::uint64_t changed, std::int64_t worth) { failed_.emplace_back(-worth, changed); }

    // `items` are what the bits of a center stand for; the neighbourhood's first row is the anchor, `size` items long.
    void write(const Neighbourhood& around, const std::vector<std::int32_t>& items, const std::int32_t* anchor,
               std::int64_t size, const double* price, std::size_t most) {
        std::sort(failed_.begin(), failed_.end());
        failed_.resize(std::min(failed_.size(), most));
        std::uint64_t own = 0;
        for (std::int64_t i = 0; i < size; ++i) own ^= mixed(anchor[i]);
        for (const auto& [worth, changed] : failed_) {
            std::uint64_t key = own;
            for (std::uint64_t left = changed; left; left &= left - 1) key ^= mixed(items[__builtin_ctzll(left)]);
            noted.begin(key, -worth, around.rows[0].id);
            list(around, changed, price);
        }
    }

  private:
    void list(const Neighbourhood& around, std::uint64_t changed, const double* price) {
        const int changes = __builtin_popcountll(changed);
        order_.clear();
        for (const Row& row : around.rows)
            order_.emplace_back((changes - 2 * __builtin_popcountll(row.differs & changed)) * UNIT - row.base, row.id);
        const auto end = order_.begin() + static_cast<std::ptrdiff_t>(std::min(order_.size(), noted_rows(around.k)));
        std::partial_sort(order_.begin(), end, order_.end());
        for (auto each = order_.begin(); each != end; ++each)
            noted.add(each->second, static_cast<std::int32_t>(
                                        std::lround(price[each->second] + static_cast<double>(each->first) / UNIT)));
    }
    std::vector<std::pair<std::int64_t, std::uint64_t>> failed_;
    std::vector<std::pair<std::int32_t, std::int32_t>> order_;
};

}  // namespace centers

}  // namespace anonset
