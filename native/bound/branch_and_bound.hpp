// Branch and bound at an anchor: what its items save at most if k - 1 helpers join it (docs/explanation/bound.md).
//
// An item that c of the k rows hold saves 2 - k / c if that is above 0, else nothing. Every helper has a fee. Searched
// is the largest sum of savings less fees: best first, by deciding item after item whether it is *kept* (a majority
// holds it) or *lost* (it saves nothing). An open item saves at most (c - 1) / (k - 1), a kept one at most what any
// line above the curve says, and for given lines every helper counts for itself. All numbers are whole, and rounded so
// that the answer is never too small.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include "bound/largest.hpp"

namespace anonset::bound::anchors {

constexpr std::int64_t PART = 4096;   // an item is (k - 1) * PART units, and what an open one saves per holder is PART
constexpr std::int64_t STEEPEST = 3;  // lines rise at most so many times as fast as the savings of open items

// 2 - k / c <= above + slope * (c - 1) for every c that is a majority; it is nearly equal from `low` to `high`.
struct Line {
    std::int64_t slope, above, low, high;
};

class Scale {
  public:
    const std::int64_t k, item, majority;

    explicit Scale(std::int64_t k) : k(k), item((k - 1) * PART), majority(k / 2 + 1) {
        for (std::int64_t count = k - 1; count >= std::min(majority, k - 1); --count) {
            const std::int64_t run = count * (count + 1), slope = (k * item + run - 1) / run;
            if (slope > STEEPEST * PART || lines_.size() > std::numeric_limits<std::uint8_t>::max()) break;
            if (k <= FINE && !lines_.empty()) add((lines_.back().slope + slope) / 2, count + 1, count + 1);
            add(slope, count, count + 1);
        }
    }
    // Rounded down.
    std::int64_t saved(std::int64_t count) const { return count < majority ? 0 : (2 * count - k) * item / count; }
    const std::vector<Line>& lines() const { return lines_; }
    std::int64_t steepest() const { return lines_.back().slope; }

  private:
    static constexpr std::int64_t FINE = 100;  // up to here there are lines that touch the curve at a single point, too

    void add(std::int64_t slope, std::int64_t low, std::int64_t high) {
        lines_.push_back({slope, above(slope), low, high});
    }
    std::int64_t above(std::int64_t slope) const {
        std::int64_t most = std::numeric_limits<std::int64_t>::min();
        for (std::int64_t count = majority; count <= k; ++count)
            most = std::max(most, ((2 * count - k) * item + count - 1) / count - slope * (count - 1));
        return most;
    }
    std::vector<Line> lines_;
};

struct Helper {
    std::uint64_t shared;  // with the anchor, of the items that are decided on
    std::int64_t fee;      // less what it saves by items that stay open
    std::int64_t copies;

    int size() const { return __builtin_popcountll(shared); }
    // Those that share most come first, and of these those with the lowest fees.
    bool operator<(const Helper& other) const {
        return std::tuple(-size(), fee, shared, copies) <
               std::tuple(-other.size(), other.fee, other.shared, other.copies);
    }
};

class Search {
  public:
    explicit Search(const Scale& scale) : scale_(scale) {}

    // With `budget` steps or more the search may have ended too early.
    std::int64_t steps() const { return steps_; }
    // No k - 1 of these helpers, which come in their order, save more. Ends after about `budget` steps at a helper.
    std::int64_t most(const std::vector<Helper>& helpers, int items, std::int64_t budget) {
        helpers_ = &helpers;
        items_ = items;
        steps_ = found_ = 0;
        part();
        nodes_.clear();
        open({std::numeric_limits<std::int64_t>::max(), 0, 0, -1, {}});
        while (!nodes_.empty()) {
            const Node node = nodes_.front();
            if (node.split < 0 || steps_ >= budget || node.most <= found_ + scale_.item / CLOSE)
                return std::max(node.most, found_);  // what was found has closed other nodes
            std::pop_heap(nodes_.begin(), nodes_.end());
            nodes_.pop_back();
            const std::uint64_t item = std::uint64_t{1} << node.split;
            open({node.most, node.kept | item, node.lost, -1, node.line});
            open({node.most, node.kept, node.lost | item, -1, node.line});
        }
        return found_;
    }

  private:
    static constexpr int TURNS = 6;            // choices of lines for a node
    static constexpr std::int64_t CLOSE = 64;  // the search ends where less than such a part of an item is at stake
    struct Node {
        std::int64_t most;
        std::uint64_t kept, lost;
        int split;  // the item to decide on next
        std::array<std::uint8_t, 64> line;
        bool operator<(const Node& other) const { return most < other.most; }
    };

    // Keeps a node unless its bound is no better than what was found already.
    void open(Node node) {
        Node best = node;
        for (int turn = 0; turn < TURNS; ++turn) {
            const std::int64_t found = relaxed(node);
            found_ = std::max(found_, achieved());
            if (turn == 0 || found < best.most) {
                best = {std::min(found, best.most), node.kept, node.lost, doubtful(node), node.line};
            }
            if (best.most <= found_ || !adjust(node)) break;
        }
        if (best.most <= found_) return;
        nodes_.push_back(best);
        std::push_heap(nodes_.begin(), nodes_.end());
    }

    // Helpers that share equally many items.
    struct Run {
        std::size_t begin, end;
        int size;
    };
    void part() {
        runs_.clear();
        for (std::size_t begin = 0, end; begin < helpers_->size(); begin = end) {
            const int size = (*helpers_)[begin].size();
            for (end = begin; end < helpers_->size() && (*helpers_)[end].size() == size;) ++end;
            runs_.push_back({begin, end, size});
        }
    }

    // What the best helpers save at most, by the lines of this node; counts how many of them hold each item.
    std::int64_t relaxed(const Node& node) {
        const std::int64_t above = choose(node);
        largest_.begin(scale_.k - 1, 0);
        for (const Run& run : runs_) scan(run, run.size * PART + steeper_[run.size]);
        count();
        return above + largest_.sum(scale_.k - 1);
    }
    // No helper of this run is credited with more than `most`, less its fee.
    void scan(const Run& run, std::int64_t most) {
        std::size_t h = run.begin;
        for (; h < run.end && most - (*helpers_)[h].fee > largest_.floor(); ++h)
            largest_.add(credit((*helpers_)[h]), (*helpers_)[h].copies, static_cast<std::int32_t>(h));
        steps_ += static_cast<std::int64_t>(h - run.begin) + 1;
    }
    // Sets the slopes of all items, and what steep ones add at most for a helper that shares so many items.
    std::int64_t choose(const Node& node) {
        std::int64_t above = 0;
        std::fill_n(steeper_.begin(), items_ + 1, 0);
        for (int i = 0; i < items_; ++i) {
            slope_[i] = node.lost >> i & 1 ? 0 : PART;
            if (!(node.kept >> i & 1)) continue;
            const Line& line = scale_.lines()[node.line[i]];
            slope_[i] = line.slope;
            steeper_[i + 1] = line.slope - PART;
            above += line.above;
        }
        std::sort(steeper_.begin() + 1, steeper_.begin() + items_ + 1, std::greater<>());
        for (int i = 1; i <= items_; ++i) steeper_[i] += steeper_[i - 1];
        return above;
    }
    std::int64_t credit(const Helper& helper) const {
        std::int64_t sum = -helper.fee;
        for (std::uint64_t left = helper.shared; left; left &= left - 1) sum += slope_[__builtin_ctzll(left)];
        return sum;
    }
    void count() {
        std::fill_n(holders_.begin(), items_, 1);
        fees_ = 0;
        largest_.take(scale_.k - 1, [&](const Largest<std::int64_t>::Entry& entry, std::int64_t taken) {
            const Helper& helper = (*helpers_)[entry.name];
            fees_ += taken * helper.fee;
            for (std::uint64_t left = helper.shared; left; left &= left - 1) holders_[__builtin_ctzll(left)] += taken;
        });
    }

    // What the helpers just counted do save.
    std::int64_t achieved() const {
        std::int64_t total = -fees_;
        for (int i = 0; i < items_; ++i) total += scale_.saved(holders_[i]);
        return total;
    }
    // The open item that was credited most beyond what it saves.
    int doubtful(const Node& node) const {
        std::int64_t most = 0;
        int found = -1;
        for (int i = 0; i < items_; ++i) {
            if ((node.kept | node.lost) >> i & 1) continue;
            const std::int64_t excess = (holders_[i] - 1) * PART - scale_.saved(holders_[i]);
            if (excess <= most) continue;
            most = excess;
            found = i;
        }
        return found;
    }
    // Lines that touch the curve nearer to how many hold the item now.
    bool adjust(Node& node) const {
        bool changed = false;
        for (int i = 0; i < items_; ++i) {
            if (!(node.kept >> i & 1)) continue;
            const Line& touches = scale_.lines()[node.line[i]];
            const int move = holders_[i] < touches.low ? 1 : holders_[i] > touches.high ? -1 : 0;
            const int line = std::clamp(node.line[i] + move, 0, static_cast<int>(scale_.lines().size()) - 1);
            changed = changed || line != node.line[i];
            node.line[i] = static_cast<std::uint8_t>(line);
        }
        return changed;
    }

    const Scale& scale_;
    const std::vector<Helper>* helpers_ = nullptr;
    int items_ = 0;
    std::int64_t steps_ = 0, found_ = 0, fees_ = 0;
    std::array<std::int64_t, 64> slope_{}, holders_{};
    std::array<std::int64_t, 65> steeper_{};
    std::vector<Run> runs_;
    Largest<std::int64_t> largest_;
    std::vector<Node> nodes_;
};

}  // namespace anonset::bound::anchors
