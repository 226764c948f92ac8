// What stands beside one node, row by row: finds the rare sets of three and more that it is part of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "km/database.hpp"

namespace anonset::km {

class Beside {
  public:
    Beside(std::int32_t nodes, std::int64_t k, int m, Monitor& monitor)
        : count_(nodes), k_(k), monitor_(monitor), levels_(m + 1) {}

    void clear() {
        nodes_.clear();
        weights_.clear();
        first_.assign(1, 0);
    }
    // Rows must put their nodes in one order.
    void open_row(std::int32_t weight) {
        weights_.push_back(weight);
        first_.push_back(static_cast<std::int64_t>(nodes_.size()));
    }
    void add(std::int32_t node) {
        nodes_.push_back(node);
        first_.back() = static_cast<std::int64_t>(nodes_.size());
    }

    // Whether all sets of `size` with the node are frequent. If not, it finds all rows that hold a rare one, unless
    // they stand for more than `most` transactions: then it is too much.
    bool frequent(int size, std::int64_t most) {
        rare_.assign(weights_.size(), 0);
        found_ = 0;
        most_ = most;
        std::vector<Place>& places = levels_[1].places;
        places.clear();
        for (std::size_t r = 0; r < weights_.size(); ++r) places.push_back({static_cast<std::int32_t>(r), -1});
        return follow(places.data(), static_cast<std::int64_t>(places.size()), 1, size);
    }
    bool too_much() const { return found_ > most_; }
    bool rare(std::size_t row) const { return rare_[row] != 0; }

  private:
    struct Level {
        Nodes count, touched;
        std::vector<std::int64_t> start;
        std::vector<Place> places;
    };

    // `depth` nodes are fixed; counts what follows them.
    bool follow(const Place* places, std::int64_t count, int depth, int size) {
        monitor_.check();
        const bool last = depth + 1 == size;
        Level& level = levels_[last ? 0 : depth + 1];
        if (level.count.empty()) level.count.assign(count_, 0);
        level.touched.clear();
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int32_t step = last ? weights_[places[i].row] : 1;
            const std::int64_t end = first_[places[i].row + 1];
            for (std::int64_t p = first_[places[i].row] + places[i].position + 1; p < end; ++p) {
                if (level.count[nodes_[p]] == 0) level.touched.push_back(nodes_[p]);
                level.count[nodes_[p]] += step;
            }
        }
        return last ? judge(places, count, level) : branch(places, count, depth, size, level);
    }

    bool judge(const Place* places, std::int64_t count, Level& level) {
        const bool all = std::all_of(level.touched.begin(), level.touched.end(),
                                     [&](std::int32_t node) { return level.count[node] >= k_; });
        for (std::int64_t i = 0; !all && !too_much() && i < count; ++i) {
            const std::int64_t end = first_[places[i].row + 1];
            for (std::int64_t p = first_[places[i].row] + places[i].position + 1; p < end; ++p)
                if (level.count[nodes_[p]] < k_) mark(places[i].row);
        }
        for (std::int32_t node : level.touched) level.count[node] = 0;
        return all;
    }

    void mark(std::int32_t row) {
        if (!rare_[row]) found_ += weights_[row];
        rare_[row] = 1;
    }

    // The places of each following node side by side, and on from each.
    bool branch(const Place* places, std::int64_t count, int depth, int size, Level& level) {
        level.start.assign(1, 0);
        for (std::int32_t node : level.touched) {
            const std::int64_t begin = level.start.back();
            level.start.push_back(begin + level.count[node]);
            level.count[node] = static_cast<std::int32_t>(begin);
        }
        level.places.resize(level.start.back());
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t begin = first_[places[i].row], end = first_[places[i].row + 1];
            for (std::int64_t p = begin + places[i].position + 1; p < end; ++p)
                level.places[level.count[nodes_[p]]++] = {places[i].row, static_cast<std::int32_t>(p - begin)};
        }
        for (std::int32_t node : level.touched) level.count[node] = 0;
        bool all = true;
        for (std::size_t i = 0; i + 1 < level.start.size() && !too_much(); ++i) {
            const Place* inside = level.places.data() + level.start[i];
            all &= follow(inside, level.start[i + 1] - level.start[i], depth + 1, size);
        }
        return all;
    }

    const std::int32_t count_;
    const std::int64_t k_;
    Monitor& monitor_;
    Nodes nodes_, weights_;
    std::vector<std::int64_t> first_;
    std::vector<std::uint8_t> rare_;
    std::int64_t found_ = 0, most_ = 0;
    std::vector<Level> levels_;
};

}  // namespace anonset::km
