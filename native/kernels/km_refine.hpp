// Specialise a cut that is safe already: replace a published node by its children wherever that stays safe, the
// largest saving first.
//
// A node needs to be tried only once: if a cut is not safe, no finer one is, so what fails now fails for ever. What
// is left is a minimal cut: no published node can be replaced by its children.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "km_database.hpp"

namespace anonset::km {

class Specialiser {
  public:
    Specialiser(const Database& db, std::int64_t k, int m, Monitor& monitor)
        : db_(db), k_(k), m_(m), monitor_(monitor), in_cut_(db.tree.count(), 0), levels_(m + 1) {
        for (Level& level : levels_) level.count.assign(db.tree.count(), 0);
    }

    // From the published nodes in `cut` down; returns the published nodes.
    Nodes run(const Nodes& cut) {
        std::priority_queue<std::pair<std::int64_t, std::int32_t>> open;
        auto offer = [&](std::int32_t node) {
            in_cut_[node] = 1;
            if (db_.tree.children[node] > 0) open.push({saving(node), -node});
        };
        for (std::int32_t node : cut) offer(node);
        while (!open.empty()) {
            const std::int32_t node = -open.top().second;
            open.pop();
            monitor_.check();
            monitor_.advance();
            const Nodes below = children(node);
            if (!safe(node, below)) continue;
            in_cut_[node] = 0;
            for (std::int32_t child : below) offer(child);
        }
        Nodes out;
        for (std::int32_t node = 0; node < db_.tree.count(); ++node)
            if (in_cut_[node]) out.push_back(node);
        return out;
    }

  private:
    struct Level {
        std::vector<std::int64_t> count;
        Nodes touched;
        std::vector<std::int64_t> start;
        std::vector<Place> places;
    };

    Nodes children(std::int32_t node) const {
        Nodes out;
        for (std::int32_t place = db_.tree.begin[node] + 1; place < db_.tree.end[node];) {
            out.push_back(db_.tree.at[place]);
            place = db_.tree.end[out.back()];
        }
        return out;
    }

    std::int64_t saving(std::int32_t node) const {
        std::int64_t saved = db_.tree.loss(node);
        for (std::int32_t child : children(node)) saved -= db_.tree.loss(child);
        return saved;
    }

    // Whether all itemsets with at least one of the children stay frequent when they replace `node`.
    bool safe(std::int32_t node, const Nodes& below) {
        for (std::int32_t child : below)
            if (db_.tree.support[child] < k_) return false;
        if (m_ == 1) return true;
        project(node, below);
        for (int size = 2; size <= m_; ++size)
            for (std::int32_t child : below)
                if (!frequent(child, size)) return false;
        return true;
    }

    // The rows that hold `node`, in terms of the new cut: its children first, then the other published nodes.
    void project(std::int32_t node, const Nodes& below) {
        offsets_.assign(1, 0);
        nodes_.clear();
        weights_.clear();
        const bool everywhere = node == 0;
        const std::int64_t count = everywhere ? db_.rows() : db_.place_count(node);
        firsts_.clear();
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int32_t r = everywhere ? static_cast<std::int32_t>(i) : db_.places_of(node)[i].row;
            const auto here = static_cast<std::int32_t>(weights_.size());
            for (std::int32_t child : below) {
                if (!db_.holds(r, child)) continue;
                firsts_.push_back({child, {here, static_cast<std::int32_t>(nodes_.size() - offsets_.back())}});
                nodes_.push_back(child);
            }
            for (std::int32_t p = 0; p < db_.length(r); ++p) {
                const std::int32_t other = db_.row(r)[p];
                if (in_cut_[other] && other != node) nodes_.push_back(other);
            }
            offsets_.push_back(static_cast<std::int64_t>(nodes_.size()));
            weights_.push_back(db_.weights[r]);
        }
        std::stable_sort(firsts_.begin(), firsts_.end(),
                         [](const First& a, const First& b) { return a.node < b.node; });
    }

    bool frequent(std::int32_t child, int size) {
        const auto range = std::equal_range(firsts_.begin(), firsts_.end(), First{child, {}},
                                            [](const First& a, const First& b) { return a.node < b.node; });
        std::vector<Place>& places = levels_[0].places;
        places.clear();
        for (auto first = range.first; first != range.second; ++first) places.push_back(first->place);
        return frequent(places.data(), static_cast<std::int64_t>(places.size()), 1, size);
    }

    // Whether every itemset of exactly `size` items that goes on from here is frequent; `depth` items are fixed.
    bool frequent(const Place* places, std::int64_t count, int depth, int size) {
        Level& level = levels_[depth];
        level.touched.clear();
        const bool is_last = depth + 1 == size;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t weight = is_last ? weights_[places[i].row] : 1;
            const std::int32_t* node = nodes_.data() + offsets_[places[i].row] + places[i].position + 1;
            for (const std::int32_t* end = nodes_.data() + offsets_[places[i].row + 1]; node != end; ++node) {
                if (level.count[*node] == 0) level.touched.push_back(*node);
                level.count[*node] += weight;
            }
        }
        if (is_last) {
            bool all = true;
            for (std::int32_t node : level.touched) {
                all &= level.count[node] >= k_;
                level.count[node] = 0;
            }
            return all;
        }
        level.start.assign(1, 0);
        for (std::int32_t node : level.touched) {
            const std::int64_t begin = level.start.back();
            level.start.push_back(begin + level.count[node]);
            level.count[node] = begin;
        }
        level.places.resize(level.start.back());
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int32_t r = places[i].row;
            const std::int64_t length = offsets_[r + 1] - offsets_[r];
            for (std::int32_t p = places[i].position + 1; p < length; ++p)
                level.places[level.count[nodes_[offsets_[r] + p]]++] = {r, p};
        }
        for (std::int32_t node : level.touched) level.count[node] = 0;
        for (std::size_t i = 0; i < level.touched.size(); ++i) {
            const std::int64_t inside = level.start[i + 1] - level.start[i];
            if (!frequent(level.places.data() + level.start[i], inside, depth + 1, size)) return false;
        }
        return true;
    }

    struct First {
        std::int32_t node;
        Place place;
    };

    const Database& db_;
    const std::int64_t k_;
    const int m_;
    Monitor& monitor_;
    std::vector<std::uint8_t> in_cut_;
    std::vector<std::int64_t> offsets_;
    Nodes nodes_;
    std::vector<std::int32_t> weights_;
    std::vector<First> firsts_;
    std::vector<Level> levels_;
};

}  // namespace anonset::km
