// PrimTSP (Lin et al., "PTA", Algorithm 1): a short closed tour through the rows of each segment, grown at both ends.
//
// From every start: Star and Dest begin at the start; the unvisited node nearest to Star (or, if strictly nearer, the
// one nearest to Dest) joins on its side. The shortest of these tours wins. Where the paper leaves something open:
// the distance is added before Star or Dest moves; both ends never look at the same node, so the last one joins the
// Star side; ties go to the lowest index; the length includes the closing edge; the first best start wins.
//
// Tours from different starts soon run together: as soon as two of them have visited the same nodes and stand at the
// same Star and Dest, all that follows is the same. So a start ends where an earlier one has been in its state, and
// its length is the other's plus the difference so far. (On market baskets that saves half of all steps and more; to
// give a start up because it cannot beat the best any more saves hardly any: their lengths are too close together.)
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "core/sort_keys.hpp"
#include "pta/api.hpp"

namespace anonset::pta {

namespace {

// Grows tours from many starts. A step waits for the one before it, so several starts advance in turn: the processor
// works on all of them at once.
template <class Key>
class TourGrower {
  public:
    // lengths[start] of the tours from `first` to `last`.
    template <class Shape>
    ANONSET_INLINE void measure(const KeyMatrix<Key>& keys, Shape shape, std::int64_t first, std::int64_t last,
                                Monitor& monitor, std::int64_t* lengths) {
        prepare(keys, first, last);
        std::int64_t next = first;
        int running = 0;
        for (; running < TOGETHER && next < last; ++running) begin(lanes_[running], next++, shape);
        while (running > 0) {
            monitor.check();
            // Twice the same, so that the compiler knows the usual number of lanes.
            running == TOGETHER ? advance(TOGETHER, shape) : advance(running, shape);
            for (int i = running - 1; i >= 0; --i) {
                Lane& lane = lanes_[i];
                if (lane.left > 0 && !joins_earlier(lane)) continue;
                if (lane.left == 0) lengths[lane.start] = lane.length + keys.between(lane.end[0], lane.end[1]);
                if (next < last) {
                    begin(lane, next++, shape);
                } else {
                    lane = lanes_[--running];
                }
            }
        }
        for (std::int64_t start = first; start < last; ++start) lengths[start] = resolve(start, lengths);
    }

    // The tour from `start`: along the Dest side, and back along the Star side.
    template <class Shape>
    ANONSET_INLINE void trace(const KeyMatrix<Key>& keys, Shape shape, std::int64_t start, const std::int64_t* rows,
                              std::int64_t* loop) {
        prepare(keys, start, start + 1);
        const View view = view_of(shape);
        Lane& lane = lanes_[0];
        enter(lane, start, view, shape);
        std::int64_t front = 0, back = keys.nodes();
        loop[front++] = rows[start];
        for (std::int64_t left = keys.nodes() - 1; left > 0; --left) {
            const int side = step(lane, view, shape);
            loop[side ? front++ : --back] = rows[lane.end[side]];
        }
    }

  private:
    static constexpr int TOGETHER = 4;
    using Keys = KeyMatrix<Key>;

    struct Lane {                 // one tour being grown; side 0 is Star, side 1 is Dest
        BitPair signs[2];         // of the nodes visited (see `sign`); of these and the one that Star wants
        std::uint64_t* taken[2];  // where signs are no bits: bits of the nodes that a side may not choose
        std::int64_t start, left, length;
        std::uint32_t end[2];
        Key near[2];
    };
    struct View {  // what every step reads, at hand
        const Key* keys;
        std::int64_t width;
        const BitPair* signs;
    };
    struct State {
        BitPair visited;
        std::uint32_t end[2];
        std::uint32_t round;
        std::int64_t start, length;
    };
    struct Follow {  // a tour that ends as the tour from start `other` does, and is so much longer; −1: none
        std::int64_t other, longer;
    };

    void prepare(const KeyMatrix<Key>& keys, std::int64_t first, std::int64_t last) {
        keys_ = &keys;
        first_ = first;
        follows_.assign(last - first, {-1, 0});
        const std::int64_t nodes = keys.nodes();
        words_ = (std::int64_t{1} << keys.shape().shift()) / 64;  // bits for any node a key can name, even NONE
        taken_.resize(2 * TOGETHER * words_);
        for (int i = 0; i < TOGETHER; ++i)
            for (int side = 0; side < 2; ++side) lanes_[i].taken[side] = taken_.data() + (2 * i + side) * words_;
        pause_ = 7;
        while (32 * (pause_ + 1) < nodes) pause_ = 2 * pause_ + 1;
        std::size_t size = 64;
        while (size < static_cast<std::size_t>(2 * (last - first) * (nodes / (pause_ + 1) + 1))) size *= 2;
        if (states_.size() < size) states_.assign(size, State{});
        ++round_;
        if (nodes != signed_) sign(nodes);
    }

    // A set of visited nodes is kept as two words, the XOR of its nodes' signs: one bit each for the first 128 nodes,
    // which makes the words the set itself, and fixed random words for the nodes of larger segments.
    void sign(std::int64_t nodes) {
        std::uint64_t seed = 0;
        signed_ = nodes;
        const std::int64_t all = std::max<std::int64_t>(nodes, 128);
        signs_.assign(all, BitPair{});
        for (std::int64_t i = 0; i < all; ++i) {
            for (int word = 0; word < 2; ++word) {
                std::uint64_t mixed = seed += 0x9e3779b97f4a7c15;
                mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
                mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
                signs_[i][word] = nodes > 128 ? mixed ^ mixed >> 31 : 0;
            }
            if (nodes <= 128) signs_[i] = Keys::bit(i);
        }
    }

    template <class Shape>
    ANONSET_INLINE View view_of(Shape shape) const {
        return {keys_->row(0), shape.width(), signs_.data()};
    }

    // A tour of its first node, and of so many more that all lanes pause at the same time.
    template <class Shape>
    ANONSET_INLINE void begin(Lane& lane, std::int64_t start, Shape shape) {
        const View view = view_of(shape);
        enter(lane, start, view, shape);
        for (; (lane.left & pause_) != 0; --lane.left) step(lane, view, shape);
    }

    template <class Shape>
    ANONSET_INLINE void enter(Lane& lane, std::int64_t start, View view, Shape shape) {
        for (std::uint64_t* taken : lane.taken) std::fill(taken, taken + words_, 0);
        lane.signs[0] = lane.signs[1] = BitPair{};
        lane.start = start;
        lane.left = keys_->nodes() - 1;
        lane.length = 0;
        lane.end[0] = lane.end[1] = static_cast<std::uint32_t>(start);
        lane.near[0] = lane.near[1] = least(lane, lane.end[0], 0, view, shape);
        visit(lane, lane.end[0], lane.near[0], view, shape);
    }

    // All lanes, in turn, until the next pause: pause_ + 1 steps, or none where `begin` has made them all.
    template <class Shape>
    ANONSET_INLINE void advance(int running, Shape shape) {
        const View view = view_of(shape);
        const std::int64_t steps = std::min(pause_ + 1, lanes_[0].left);
        for (std::int64_t i = 0; i < steps; ++i)
            for (int lane = 0; lane < running; ++lane) step(lanes_[lane], view, shape);
        for (int lane = 0; lane < running; ++lane) lanes_[lane].left -= steps;
    }

    // The nearest node that a side may choose.
    ANONSET_INLINE static Key least(const Lane& lane, std::uint32_t node, int side, View view, AnyShape shape) {
        return Keys::least(view.keys + node * view.width, lane.taken[side], shape);
    }
    template <int Width>
    ANONSET_INLINE static Key least(const Lane& lane, std::uint32_t node, int side, View view,
                                    UsualShape<Width> shape) {
        return Keys::least(view.keys + node * Width, lane.signs[side], shape);
    }

    // Star chooses first: what it wants now, Dest must do without.
    ANONSET_INLINE static void visit(Lane& lane, std::uint32_t node, Key wanted, View view, AnyShape shape) {
        const std::uint32_t other = Keys::node(wanted, shape);
        lane.signs[0] ^= view.signs[node];
        for (std::uint64_t* taken : lane.taken) taken[node / 64] |= std::uint64_t{1} << node % 64;
        lane.taken[1][other / 64] |= std::uint64_t{1} << other % 64;
    }
    // The same for two words of bits, which are the nodes' signs. To write both words wherever the node is lets other
    // lanes read theirs at once: the processor need not wait to learn which word it is.
    template <int Width>
    ANONSET_INLINE static void visit(Lane& lane, std::uint32_t node, Key wanted, View view, UsualShape<Width> shape) {
        lane.signs[0] |= view.signs[node];
        lane.signs[1] = lane.signs[0] | view.signs[Keys::node(wanted, shape)];
    }

    // One node joins; returns its side. Bits are written last: to read them back at once would stall the processor.
    // (The joining node is not marked while its own row is searched; a row holds no key for itself.)
    template <class Shape>
    ANONSET_INLINE static int step(Lane& lane, View view, Shape shape) {
        const Key star = lane.near[0];
        if (Keys::node(star, shape) == Keys::node(lane.near[1], shape))
            lane.near[1] = least(lane, lane.end[1], 1, view, shape);
        const Key dest = lane.near[1];
        const int side = Keys::distance(star, shape) > Keys::distance(dest, shape) ? 1 : 0;
        const Key joins = side ? dest : star;
        const std::uint32_t node = Keys::node(joins, shape);
        lane.length += Keys::distance(joins, shape);
        lane.end[side] = node;
        const Key near = least(lane, node, side, view, shape);
        lane.near[side] = near;
        visit(lane, node, side ? star : near, view, shape);
        return side;
    }

    // The length of a tour that followed another one, which may have followed a third.
    std::int64_t resolve(std::int64_t start, const std::int64_t* lengths) const {
        std::int64_t longer = 0;
        for (; follows_[start - first_].other >= 0; start = follows_[start - first_].other)
            longer += follows_[start - first_].longer;
        return lengths[start] + longer;
    }

    // Whether an earlier start has been in this state; if so, this one follows it from here on.
    ANONSET_INLINE bool joins_earlier(const Lane& lane) {
        const std::size_t mask = states_.size() - 1;
        std::uint64_t hash = lane.signs[0][0] * 0x9e3779b97f4a7c15 ^ lane.signs[0][1] * 0xc2b2ae3d27d4eb4f;
        hash = (hash ^ hash >> 32 ^ lane.end[0] ^ std::uint64_t{lane.end[1]} << 16) * 0xd6e8feb86659fd93;
        for (std::size_t at = (hash >> 20) & mask;; at = (at + 1) & mask) {
            State& state = states_[at];
            if (state.round != round_) {
                state = {lane.signs[0], {lane.end[0], lane.end[1]}, round_, lane.start, lane.length};
                return false;
            }
            if (state.visited[0] == lane.signs[0][0] && state.visited[1] == lane.signs[0][1] &&
                state.end[0] == lane.end[0] && state.end[1] == lane.end[1]) {
                follows_[lane.start - first_] = {state.start, lane.length - state.length};
                return true;
            }
        }
    }

    const KeyMatrix<Key>* keys_ = nullptr;
    std::int64_t first_ = 0, signed_ = 0, words_ = 0;
    std::int64_t pause_ = 7;  // states are kept and compared only when `left` is a multiple of pause_ + 1
    std::uint32_t round_ = 0;
    Lane lanes_[TOGETHER];
    std::vector<std::uint64_t> taken_;
    std::vector<BitPair> signs_;
    std::vector<State> states_;
    std::vector<Follow> follows_;
};

// The loops over keys, compiled for what the processor can do; templates cannot be, so there is one for each key.
#define ANONSET_GROW_TOURS(Key)                                                                                      \
    ANONSET_CLONES void measure_tours(TourGrower<Key>& grower, const KeyMatrix<Key>& keys, std::int64_t first,       \
                                      std::int64_t last, Monitor& monitor, std::int64_t* lengths) {                  \
        with_shape(keys, [&](auto shape)                                                                             \
                             ANONSET_INLINE_LAMBDA { grower.measure(keys, shape, first, last, monitor, lengths); }); \
    }                                                                                                                \
    ANONSET_CLONES void trace_tour(TourGrower<Key>& grower, const KeyMatrix<Key>& keys, std::int64_t start,          \
                                   const std::int64_t* rows, std::int64_t* loop) {                                   \
        grower.trace(keys, keys.shape(), start, rows, loop);                                                         \
    }
ANONSET_GROW_TOURS(std::uint16_t)
ANONSET_GROW_TOURS(std::uint32_t)
ANONSET_GROW_TOURS(std::uint64_t)
#undef ANONSET_GROW_TOURS

// PrimTSP over all segments order[bounds[s] … bounds[s + 1]). Threads take whole segments; of a large one they share
// the starts, so that one distance matrix is enough. A segment advances the monitor by its number of rows.
class SegmentTours {
  public:
    SegmentTours(const Csr& data, const std::int64_t* order, const std::int64_t* bounds, std::int64_t segments,
                 std::int64_t vocabulary, int threads, Monitor& monitor)
        : data_(data), order_(order), bounds_(bounds), threads_(thread_count(threads)), monitor_(monitor) {
        tours_.loops.resize(data.rows);
        tours_.lengths.resize(segments);
        for (int i = 0; i < threads_; ++i) workers_.emplace_back(vocabulary);
    }

    Tours solve() {
        std::vector<std::int64_t> small, large;
        for (std::size_t s = 0; s < tours_.lengths.size(); ++s)
            (nodes(s) < LARGE_SEGMENT ? small : large).push_back(static_cast<std::int64_t>(s));
        parallel_for(static_cast<std::int64_t>(small.size()), threads_, monitor_, [&](std::int64_t i, int worker) {
            with_keys(small[i], workers_[worker], [&](auto& bench) { alone(small[i], workers_[worker], bench); });
            monitor_.advance(nodes(small[i]) - 1);
        });
        for (const std::int64_t s : large) with_keys(s, workers_[0], [&](auto& bench) { together(s, bench); });
        return std::move(tours_);
    }

  private:
    static constexpr std::int64_t LARGE_SEGMENT = 512;

    template <class Key>
    struct Bench {
        KeyMatrix<Key> keys;
        TourGrower<Key> grower;
    };
    struct alignas(APART) Worker {
        explicit Worker(std::int64_t vocabulary) : shared(vocabulary) {}
        SharedItems shared;
        std::tuple<Bench<std::uint16_t>, Bench<std::uint32_t>, Bench<std::uint64_t>> benches;
        std::vector<std::uint32_t> overlap;
        std::vector<std::int64_t> lengths;
    };

    std::int64_t nodes(std::int64_t segment) const { return bounds_[segment + 1] - bounds_[segment]; }
    const std::int64_t* rows(std::int64_t segment) const { return order_ + bounds_[segment]; }

    // Calls body with the narrowest keys that hold every distance of the segment.
    template <class Body>
    void with_keys(std::int64_t segment, Worker& worker, Body&& body) {
        const std::int64_t count = nodes(segment);
        std::int64_t longest = 0;
        for (std::int64_t i = 0; i < count; ++i) longest = std::max(longest, data_.size(rows(segment)[i]));
        if (KeyMatrix<std::uint16_t>::fits(count, 2 * longest)) {
            body(std::get<0>(worker.benches));
        } else if (KeyMatrix<std::uint32_t>::fits(count, 2 * longest)) {
            body(std::get<1>(worker.benches));
        } else {
            body(std::get<2>(worker.benches));
        }
    }

    template <class Key>
    void alone(std::int64_t segment, Worker& worker, Bench<Key>& bench) {
        const std::int64_t count = nodes(segment);
        bench.keys.load(data_, rows(segment), count, worker.shared);
        for (std::int64_t i = 0; i < count; ++i) bench.keys.fill(i, worker.shared, worker.overlap);
        for (std::int64_t block = 0; block < bench.keys.blocks(); ++block) bench.keys.mirror(block);
        worker.lengths.resize(count);
        measure_tours(bench.grower, bench.keys, 0, count, monitor_, worker.lengths.data());
        keep_best(segment, bench, worker.lengths);
    }

    template <class Key>
    void together(std::int64_t segment, Bench<Key>& bench) {
        const std::int64_t count = nodes(segment), blocks = 8 * threads_;
        bench.keys.load(data_, rows(segment), count, workers_[0].shared);
        parallel_for(blocks, threads_, monitor_, [&](std::int64_t block, int worker) {
            // Row i has count − i entries to fill, so every block takes its rows from all over.
            for (std::int64_t i = block; i < count; i += blocks)
                bench.keys.fill(i, workers_[0].shared, workers_[worker].overlap);
        });
        parallel_for(bench.keys.blocks(), threads_, monitor_,
                     [&](std::int64_t block, int) { bench.keys.mirror(block); });
        std::vector<std::int64_t> lengths(count);
        parallel_for(blocks, threads_, monitor_, [&](std::int64_t block, int worker) {
            const std::int64_t first = count * block / blocks, last = count * (block + 1) / blocks;
            auto& grower = std::get<Bench<Key>>(workers_[worker].benches).grower;
            measure_tours(grower, bench.keys, first, last, monitor_, lengths.data());
            monitor_.advance(last - first);
        });
        keep_best(segment, bench, lengths);
    }

    // The first of the shortest.
    template <class Key>
    void keep_best(std::int64_t segment, Bench<Key>& bench, const std::vector<std::int64_t>& lengths) {
        const auto best = std::min_element(lengths.begin(), lengths.begin() + nodes(segment));
        tours_.lengths[segment] = *best;
        trace_tour(bench.grower, bench.keys, best - lengths.begin(), rows(segment),
                   tours_.loops.data() + bounds_[segment]);
    }

    Csr data_;
    const std::int64_t *order_, *bounds_;
    int threads_;
    Monitor& monitor_;
    Tours tours_;
    std::vector<Worker> workers_;
};

}  // namespace

Tours prim_tours(const Csr& data, const std::int64_t* order, const std::int64_t* bounds, std::int64_t segments,
                 std::int64_t vocabulary, int threads, Monitor& monitor) {
    return SegmentTours(data, order, bounds, segments, vocabulary, threads, monitor).solve();
}

}  // namespace anonset::pta
