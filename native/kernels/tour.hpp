// PrimTSP (Lin et al., "PTA", Algorithm 1): a short closed tour through the rows of each segment, grown at
// both ends.
//
// From every start: Star and Dest begin at the start; the unvisited node nearest to Star (or, if strictly
// nearer, the one nearest to Dest) joins on its side. The shortest of these tours wins. Where the paper
// leaves something open: the distance is added before Star or Dest moves; both ends never look at the same
// node, so the last one joins the Star side; ties go to the lowest index; the length includes the closing
// edge; the first best start wins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "bitmap.hpp"
#include "csr.hpp"
#include "monitor.hpp"

namespace anonset {

struct Tours {
    std::vector<std::int64_t> loops;    // the rows, segment by segment, in the order of the tour
    std::vector<std::int64_t> lengths;  // per segment
};

// The distances of a segment as keys `distance << shift | node`: the least key of a row is its nearest node,
// ties to the lowest index, and a least key is what vector units find fastest. Key is as narrow as the
// distances allow.
template <class Key>
class PrimTsp {
  public:
    static constexpr Key NONE = std::numeric_limits<Key>::max();

    static int shift_for(std::int64_t nodes) {
        int shift = 0;
        while ((std::int64_t{1} << shift) < nodes) ++shift;
        return shift;
    }

    static bool fits(std::int64_t nodes, std::int64_t longest) {
        const int shift = shift_for(nodes);
        return static_cast<std::uint64_t>(longest) + 1 <= static_cast<std::uint64_t>(NONE) >> shift;
    }

    // The best tour through `rows`, written to loop[0 … count); returns its length.
    std::int64_t solve(const Csr& data, const std::int64_t* rows, std::int64_t count, SharedItems& shared,
                       Monitor& monitor, std::int64_t* loop) {
        measure(data, rows, count, shared);
        best_ = std::numeric_limits<std::int64_t>::max();
        for (std::int64_t start = 0; start < count_; ++start) {
            if (start % 16 == 0) monitor.check();
            grow(start);
        }
        for (std::int64_t i = 0; i < count_; ++i) loop[i] = rows[best_loop_[i]];
        return best_;
    }

  private:
    void measure(const Csr& data, const std::int64_t* rows, std::int64_t count, SharedItems& shared) {
        count_ = count;
        shift_ = shift_for(count);
        stride_ = (count + LANES - 1) / LANES * LANES;
        keys_.assign(stride_ * count, NONE);
        overlap_.resize(count);
        shared.load(data, rows, count);
        for (std::int64_t i = 0; i < count; ++i) {
            shared.row(i, overlap_.data());
            for (std::int64_t j = i + 1; j < count; ++j) {
                const auto distance =
                    static_cast<std::uint64_t>(data.size(rows[i]) + data.size(rows[j]) - 2 * std::int64_t{overlap_[j]});
                keys_[i * stride_ + j] = static_cast<Key>(distance << shift_ | static_cast<std::uint64_t>(j));
                keys_[j * stride_ + i] = static_cast<Key>(distance << shift_ | static_cast<std::uint64_t>(i));
            }
        }
        find_bounds();
    }

    // A tour still being grown has to pass every unvisited node by two edges to two different nodes, and to
    // leave Star and Dest by one edge each. Counting every edge at both of its ends, twice what is missing is
    // therefore at least Σ (nearest + second nearest) over the unvisited nodes + nearest(Star) +
    // nearest(Dest). A start whose length so far and this bound reach the best length cannot become strictly
    // shorter, so leaving it changes nothing.
    void find_bounds() {
        nearest_.assign(count_, 0);
        both_.assign(count_, 0);
        everything_ = 0;
        for (std::int64_t i = 0; i < count_; ++i) {
            Key first = NONE, second = NONE;
            for (std::int64_t j = 0; j < count_; ++j) {
                const Key key = keys_[i * stride_ + j];
                second = std::min(second, std::max(first, key));
                first = std::min(first, key);
            }
            if (count_ > 1) nearest_[i] = distance(first);
            both_[i] = nearest_[i] + (count_ > 2 ? distance(second) : nearest_[i]);
            everything_ += both_[i];
        }
    }

    void grow(std::int64_t start) {
        taken_.assign(stride_, 0);
        stars_.clear();
        dests_.clear();
        std::int64_t star = start, dest = start, length = 0, missing = everything_ - both_[start];
        taken_[start] = NONE;
        Key near_star = least(star), near_dest = least_but(dest, near_star);
        for (std::int64_t left = count_ - 1; left > 0; --left) {
            if (best_ < std::numeric_limits<std::int64_t>::max() &&
                2 * length + missing + nearest_[star] + nearest_[dest] >= 2 * best_)
                return;
            if (distance(near_star) > distance(near_dest)) {
                dest = node(near_dest);
                dests_.push_back(dest);
                length += distance(near_dest);
                missing -= both_[dest];
                taken_[dest] = NONE;
                near_dest = least_but(dest, near_star);
            } else {
                star = node(near_star);
                stars_.push_back(star);
                length += distance(near_star);
                missing -= both_[star];
                taken_[star] = NONE;
                near_star = least(star);
                // Dest's nearest is still free: it changes only if Star now wants the same node.
                if (near_star != NONE && node(near_star) == node(near_dest)) near_dest = least_but(dest, near_star);
            }
        }
        if (count_ > 1) length += distance(keys_[star * stride_ + dest]);
        if (length < best_) keep(start, length);
    }

    // The tour from the start along the Dest side and back along the Star side.
    void keep(std::int64_t start, std::int64_t length) {
        best_ = length;
        best_loop_.assign(1, start);
        best_loop_.insert(best_loop_.end(), dests_.begin(), dests_.end());
        best_loop_.insert(best_loop_.end(), stars_.rbegin(), stars_.rend());
    }

    Key least(std::int64_t from) const {
        const Key* row = &keys_[from * stride_];
        const Key* taken = taken_.data();
        Key best = NONE;
        for (std::int64_t j = 0; j < stride_; ++j) best = std::min<Key>(best, row[j] | taken[j]);
        return best;
    }

    Key least_but(std::int64_t from, Key other) {
        if (other == NONE) return NONE;
        taken_[node(other)] = NONE;
        const Key best = least(from);
        taken_[node(other)] = 0;
        return best;
    }

    std::int64_t distance(Key key) const {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(key) >> shift_);
    }
    std::int64_t node(Key key) const {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(key) & ((std::uint64_t{1} << shift_) - 1));
    }

    static constexpr std::int64_t LANES = 64 / sizeof(Key);
    std::int64_t count_ = 0, stride_ = 0, best_ = 0, everything_ = 0;
    int shift_ = 0;
    std::vector<Key> keys_, taken_;
    std::vector<std::uint32_t> overlap_;
    std::vector<std::int64_t> nearest_, both_, stars_, dests_, best_loop_;
};

// Tours through the segments order[bounds[s] … bounds[s + 1]).
inline Tours prim_tours(const Csr& data, const std::int64_t* order, const std::int64_t* bounds, std::int64_t segments,
                        std::int64_t vocabulary, int threads, Monitor& monitor) {
    struct Worker {
        SharedItems shared;
        PrimTsp<std::uint16_t> narrow;
        PrimTsp<std::uint32_t> wide;
        PrimTsp<std::uint64_t> widest;
    };
    Tours tours{std::vector<std::int64_t>(data.rows), std::vector<std::int64_t>(segments)};
    std::vector<Worker> workers;
    for (int i = 0; i < thread_count(threads); ++i) workers.push_back({SharedItems(vocabulary), {}, {}, {}});
    parallel_for(segments, threads, monitor, [&](std::int64_t segment, int worker) {
        Worker& mine = workers[worker];
        const std::int64_t first = bounds[segment], count = bounds[segment + 1] - first;
        std::int64_t longest = 0;
        for (std::int64_t i = 0; i < count; ++i) longest = std::max(longest, data.size(order[first + i]));
        const auto solve = [&](auto& tsp) {
            tours.lengths[segment] =
                tsp.solve(data, order + first, count, mine.shared, monitor, tours.loops.data() + first);
        };
        if (PrimTsp<std::uint16_t>::fits(count, 2 * longest))
            solve(mine.narrow);
        else if (PrimTsp<std::uint32_t>::fits(count, 2 * longest))
            solve(mine.wide);
        else
            solve(mine.widest);
    });
    return tours;
}

}  // namespace anonset
