// From the root down: replace a published node by its children wherever that stays safe, the largest saving first.
//
// A node needs to be tried only once: if a cut is not safe, no finer one is, so what fails now fails for ever. What
// is left is a minimal cut: no published node can be replaced by its children.
//
// With a budget of items that may be left out, nodes that failed are tried again: where a child would be rare
// together with something else, it is left out of those transactions, as long as all that loses less than it saves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "km_optimal.hpp"

namespace anonset::km {

// The transactions that hold one published node, as they would be with its children in its place: the children come
// first in each row, so every itemset that the replacement touches begins with a child.
struct Projection {
    Nodes rows;                         // of the database
    std::vector<std::int64_t> offsets;  // of each row's nodes
    Nodes nodes;
    std::vector<std::uint8_t> left_out;  // a child that is left out of this row
    Nodes children;
    std::vector<std::vector<Place>> places;  // of each child; positions inside a row
};

class Refiner {
  public:
    struct LeftOut {
        std::int32_t row, node;
    };

    Refiner(const Database& db, std::int64_t k, int m, Monitor& monitor)
        : db_(db),
          k_(k),
          m_(m),
          monitor_(monitor),
          capacity_(db.rows() + 1, 0),
          length_(db.rows(), 1),
          local_(db.rows(), -1),
          outs_(db.tree.count()),
          in_cut_(db.tree.count(), 0),
          levels_(m + 1) {
        for (Level& level : levels_) level.count.assign(db.tree.count(), 0);
        for (std::int64_t r = 0; r < db.rows(); ++r) {
            std::int64_t items = 0;
            for (std::int32_t i = 0; i < db.length(r); ++i) items += db.tree.children[db.row(r)[i]] == 0;
            capacity_[r + 1] = capacity_[r] + items;
        }
        published_.assign(capacity_.back(), 0);  // the root everywhere
    }

    // `budget`: how many item occurrences may be left out.
    void run(std::int64_t budget) {
        in_cut_[0] = 1;
        specialise(Nodes{0});
        search();
        if (budget > 0) trade(budget);
    }

    Nodes cut() const {
        Nodes out;
        for (std::int32_t node = 0; node < db_.tree.count(); ++node)
            if (in_cut_[node]) out.push_back(node);
        return out;
    }
    std::vector<LeftOut> left_out() const {
        std::vector<LeftOut> out;
        for (std::int32_t node = 0; node < db_.tree.count(); ++node)
            for (std::int32_t row : outs_[node]) out.push_back({row, node});
        return out;
    }

  private:
    struct Level {
        Nodes count;
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

    // On a small domain a short exact search may find a better cut than any that is merely minimal.
    void search() {
        constexpr double most_itemsets = 2e7;
        constexpr std::int64_t most_cuts = 2000, most_rare = 20000;
        double itemsets = 0;
        for (std::int64_t r = 0; r < db_.rows(); ++r) {
            double ways = 1;
            for (int i = 0; i < m_; ++i) ways *= static_cast<double>(std::max(db_.length(r) - i, 0)) / (i + 1);
            itemsets += ways;
        }
        if (itemsets > most_itemsets) return;
        std::int64_t bound = 0;
        for (std::int32_t node : cut()) bound += db_.tree.loss(node);
        const OptimalResult found = OptimalSearch(db_, bound, most_cuts, most_rare).run(k_, m_, monitor_);
        if (found.finished && !found.cut.empty()) adopt(found.cut);
    }

    // Starts again from the root, down to a cut that is known to be safe.
    void adopt(const Nodes& target) {
        std::fill(in_cut_.begin(), in_cut_.end(), 0);
        std::fill(length_.begin(), length_.end(), 1);
        for (std::int64_t r = 0; r < db_.rows(); ++r) published_[capacity_[r]] = 0;
        std::vector<std::uint8_t> wanted(db_.tree.count(), 0);
        for (std::int32_t node : target) wanted[node] = 1;
        in_cut_[0] = 1;
        for (std::int32_t node = 0; node < db_.tree.count(); ++node) {  // parents come before children
            if (!in_cut_[node] || wanted[node]) continue;
            project(node);
            replace(node);
        }
    }

    // Replaces nodes by their children as long as that is safe as it is.
    void specialise(const Nodes& start) {
        std::priority_queue<std::pair<std::int64_t, std::int32_t>> open;
        auto offer = [&](std::int32_t node) {
            if (db_.tree.children[node] > 0) open.push({saving(node), -node});
        };
        for (std::int32_t node : start) offer(node);
        while (!open.empty()) {
            const std::int32_t node = -open.top().second;
            open.pop();
            monitor_.check();
            monitor_.advance();
            if (!rich_enough(node)) continue;
            project(node);
            if (!safe()) continue;
            replace(node);
            for (std::int32_t child : now_.children) offer(child);
        }
    }

    bool rich_enough(std::int32_t node) const {
        for (std::int32_t child : children(node))
            if (db_.tree.support[child] < k_) return false;
        return true;
    }

    bool absent(std::int32_t row, std::int32_t node) const {
        for (std::int32_t up = node; up >= 0; up = db_.tree.parent[up])
            if (!outs_[up].empty() && std::binary_search(outs_[up].begin(), outs_[up].end(), row)) return true;
        return false;
    }

    void project(std::int32_t node) {
        now_.rows.clear();
        now_.children = children(node);
        std::vector<std::pair<std::int32_t, std::int32_t>> held;  // row, number of the child
        for (std::size_t c = 0; c < now_.children.size(); ++c) {
            const Place* place = db_.places_of(now_.children[c]);
            for (std::int64_t i = 0; i < db_.place_count(now_.children[c]); ++i)
                if (!any_out_ || !absent(place[i].row, node)) held.push_back({place[i].row, static_cast<int>(c)});
        }
        now_.places.assign(now_.children.size(), {});
        for (const auto& [row, child] : held) {
            if (local_[row] < 0) {
                local_[row] = static_cast<std::int32_t>(now_.rows.size());
                now_.rows.push_back(row);
            }
        }
        now_.offsets.assign(now_.rows.size() + 1, 0);
        for (const auto& [row, child] : held) ++now_.offsets[local_[row] + 1];
        for (std::size_t r = 0; r < now_.rows.size(); ++r)
            now_.offsets[r + 1] += now_.offsets[r] + length_[now_.rows[r]] - 1;
        now_.nodes.resize(now_.offsets.back());
        now_.left_out.assign(now_.offsets.back(), 0);
        std::vector<std::int32_t> filled(now_.rows.size(), 0);
        for (const auto& [row, child] : held) {
            const std::int32_t r = local_[row];
            now_.places[child].push_back({r, filled[r]});
            now_.nodes[now_.offsets[r] + filled[r]++] = now_.children[child];
        }
        for (std::size_t r = 0; r < now_.rows.size(); ++r) {
            const std::int32_t* other = published_.data() + capacity_[now_.rows[r]];
            for (const std::int32_t* end = other + length_[now_.rows[r]]; other != end; ++other)
                if (*other != node) now_.nodes[now_.offsets[r] + filled[r]++] = *other;
            local_[now_.rows[r]] = -1;
        }
    }

    // Puts the children in the place of `node`, without those that are left out.
    void replace(std::int32_t node) {
        in_cut_[node] = 0;
        for (std::int32_t child : now_.children) in_cut_[child] = 1;
        for (std::size_t r = 0; r < now_.rows.size(); ++r) {
            std::int32_t* row = published_.data() + capacity_[now_.rows[r]];
            std::int32_t& length = length_[now_.rows[r]];
            length = 0;
            for (std::int64_t i = now_.offsets[r]; i < now_.offsets[r + 1]; ++i) {
                if (!now_.left_out[i]) {
                    row[length++] = now_.nodes[i];
                } else {
                    outs_[now_.nodes[i]].push_back(now_.rows[r]);
                    any_out_ = true;
                }
            }
        }
        for (std::int32_t child : now_.children) std::sort(outs_[child].begin(), outs_[child].end());
    }

    std::int32_t weight(std::int32_t local_row) const { return db_.weights[now_.rows[local_row]]; }

    bool safe() {
        for (int size = 2; size <= m_; ++size)
            for (const std::vector<Place>& places : now_.places)
                if (!frequent(places.data(), static_cast<std::int64_t>(places.size()), 1, size, nullptr)) return false;
        return true;
    }

    // Counts what follows the places; `depth` items are fixed.
    void tally(const Place* places, std::int64_t count, Level& level) {
        level.touched.clear();
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int32_t w = weight(places[i].row);
            const std::int64_t end = now_.offsets[places[i].row + 1];
            for (std::int64_t p = now_.offsets[places[i].row] + places[i].position + 1; p < end; ++p) {
                if (now_.left_out[p]) continue;
                std::int32_t& cell = level.count[now_.nodes[p]];
                if (cell == 0) level.touched.push_back(now_.nodes[p]);
                cell += w;
            }
        }
    }

    // Whether every itemset of exactly `size` items that goes on from here is frequent. With `rare_rows` given, goes
    // on to the end and marks the rows that hold a rare one.
    bool frequent(const Place* places, std::int64_t count, int depth, int size, std::vector<std::uint8_t>* rare_rows) {
        Level& level = levels_[depth];
        tally(places, count, level);
        bool all = true;
        if (depth + 1 == size) {
            for (std::int32_t node : level.touched) all &= level.count[node] >= k_;
            if (!all && rare_rows != nullptr) mark(places, count, level, *rare_rows);
            for (std::int32_t node : level.touched) level.count[node] = 0;
            return all;
        }
        bucket(places, count, level);
        for (std::size_t i = 0; i + 1 < level.start.size(); ++i) {
            const std::int64_t inside = level.start[i + 1] - level.start[i];
            all &= frequent(level.places.data() + level.start[i], inside, depth + 1, size, rare_rows);
            if (!all && rare_rows == nullptr) return false;
        }
        return all;
    }

    void mark(const Place* places, std::int64_t count, const Level& level, std::vector<std::uint8_t>& rare_rows) const {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t end = now_.offsets[places[i].row + 1];
            for (std::int64_t p = now_.offsets[places[i].row] + places[i].position + 1; p < end; ++p)
                if (!now_.left_out[p] && level.count[now_.nodes[p]] < k_) rare_rows[places[i].row] = 1;
        }
    }

    // The places of each following node side by side; clears the counts.
    void bucket(const Place* places, std::int64_t count, Level& level) {
        for (std::int32_t node : level.touched) level.count[node] = 0;
        auto each = [&](auto&& visit) {
            for (std::int64_t i = 0; i < count; ++i) {
                const std::int64_t begin = now_.offsets[places[i].row], end = now_.offsets[places[i].row + 1];
                for (std::int64_t p = begin + places[i].position + 1; p < end; ++p)
                    if (!now_.left_out[p])
                        visit(now_.nodes[p], Place{places[i].row, static_cast<std::int32_t>(p - begin)});
            }
        };
        each([&](std::int32_t node, Place) { ++level.count[node]; });
        level.start.assign(1, 0);
        for (std::int32_t node : level.touched) {
            const std::int64_t begin = level.start.back();
            level.start.push_back(begin + level.count[node]);
            level.count[node] = static_cast<std::int32_t>(begin);
        }
        level.places.resize(level.start.back());
        each([&](std::int32_t node, Place place) { level.places[level.count[node]++] = place; });
        for (std::int32_t node : level.touched) level.count[node] = 0;
    }

    // --- leaving items out ---------------------------------------------------------------------------------------

    struct Trade {
        std::int64_t saved = 0;  // loss, after what the items left out cost
        std::int64_t items = 0;  // occurrences left out
        double merit() const {
            return static_cast<double>(saved) / static_cast<double>(std::max<std::int64_t>(items, 1));
        }
    };

    // Items of a row below a node, over all transactions that the row stands for.
    std::int64_t items_below(std::int32_t row, std::int32_t node) const {
        std::int64_t found = 0;
        const std::int32_t* nodes = db_.row(row);
        for (std::int32_t i = 0; i < db_.length(row); ++i)
            found += db_.tree.children[nodes[i]] == 0 && (nodes[i] == node || db_.tree.below(node, nodes[i]));
        return found * db_.weights[row];
    }

    std::int64_t occurrences(std::int32_t node) const {
        std::int64_t total = db_.tree.occurrences[node];
        for (std::int32_t up = node; up >= 0; up = db_.tree.parent[up])
            for (std::int32_t row : outs_[up]) total -= items_below(row, node);
        return total;
    }

    std::int64_t loss(std::int32_t node, std::int64_t items) const {
        return db_.tree.size[node] > 1 ? items * db_.tree.size[node] : 0;
    }

    // Finds what must be left out so that `node` can be replaced; `saved` stays 0 where that is not worth it.
    Trade consider(std::int32_t node, std::int64_t budget) {
        project(node);
        Trade trade;
        std::vector<std::int64_t> gone(now_.children.size(), 0);
        const std::int64_t before = loss(node, occurrences(node));
        const std::int64_t each = db_.tree.size[0];
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t c = 0; c < now_.children.size(); ++c) {
                const std::int64_t lost = thin(c);
                gone[c] += lost;
                trade.items += lost;
                changed |= lost > 0;
                if (trade.items > budget || trade.items * each > before) return {};
            }
        }
        std::int64_t after = trade.items * each;
        for (std::size_t c = 0; c < now_.children.size(); ++c)
            after += loss(now_.children[c], occurrences(now_.children[c]) - gone[c]);
        trade.saved = std::max<std::int64_t>(0, before - after);
        return trade;
    }

    // Leaves one child out of the rows in which it is part of a rare itemset; returns how many items that are.
    std::int64_t thin(std::size_t child) {
        std::vector<Place>& places = now_.places[child];
        std::vector<std::uint8_t> rare(now_.rows.size(), 0);
        std::int64_t support = 0;
        for (const Place& place : places) support += weight(place.row);
        if (support < k_) {
            for (const Place& place : places) rare[place.row] = 1;
        } else {
            // larger sizes only when the smaller ones are in order: they cost more and depend on them
            for (int size = 2; size <= m_; ++size)
                if (!frequent(places.data(), static_cast<std::int64_t>(places.size()), 1, size, &rare)) break;
        }
        std::int64_t lost = 0;
        auto drop = [&](const Place& place) {
            if (!rare[place.row]) return false;
            now_.left_out[now_.offsets[place.row] + place.position] = 1;
            lost += items_below(now_.rows[place.row], now_.children[child]);
            return true;
        };
        places.erase(std::remove_if(places.begin(), places.end(), drop), places.end());
        return lost;
    }

    // The best trades first, by what an item left out saves. A trade is looked at again when its turn comes, since
    // others may have changed it.
    void trade(std::int64_t budget) {
        struct Offer {
            double merit;
            std::int32_t node;
            std::int64_t version;
            bool operator<(const Offer& o) const { return merit != o.merit ? merit < o.merit : node > o.node; }
        };
        std::priority_queue<Offer> open;
        std::int64_t version = 0;
        auto offer = [&](std::int32_t node) {
            if (!in_cut_[node] || db_.tree.children[node] == 0) return;
            monitor_.check();
            const Trade found = consider(node, budget);
            if (found.saved > 0) open.push({found.merit(), node, version});
        };
        for (std::int32_t node = 0; node < db_.tree.count(); ++node) offer(node);
        while (!open.empty()) {
            const Offer best = open.top();
            open.pop();
            monitor_.check();
            const Trade found = consider(best.node, budget);
            if (found.saved == 0) continue;
            if (best.version != version && !open.empty() && found.merit() < open.top().merit) {
                open.push({found.merit(), best.node, version});
                continue;
            }
            replace(best.node);
            budget -= found.items;
            ++version;
            const Nodes fresh = now_.children;
            for (std::int32_t child : fresh) offer(child);
        }
    }

    const Database& db_;
    const std::int64_t k_;
    const int m_;
    Monitor& monitor_;
    std::vector<std::int64_t> capacity_;  // where each row's published nodes begin; never more than its items
    Nodes length_, published_;
    Nodes local_;              // of each row: its number in the projection at hand
    std::vector<Nodes> outs_;  // of each node: the rows that it is left out of
    bool any_out_ = false;
    std::vector<std::uint8_t> in_cut_;
    std::vector<Level> levels_;
    Projection now_;
};

}  // namespace anonset::km
