// One block of dense rows, solved: groups of k from a pool of waiting rows, then random moves and swaps between the
// groups of near neighbours, accepted as in simulated annealing, and now and then a group dissolved
// (docs/methods/crowd.md).
#pragma once

#include <cmath>
#include <numeric>
#include <utility>

#include "core/gray_bits.hpp"
#include "core/monitor.hpp"
#include "core/random.hpp"
#include "crowd/block.hpp"
#include "crowd/near.hpp"

namespace anonset {

struct CrowdDenseOptions {
    std::int64_t k;
    std::int64_t block;  // rows per block
    std::int64_t pool;   // how many waiting rows a new group may choose from
    crowd::NearOptions near;
    std::int64_t rounds;
    double visits;          // per row, in all rounds together
    std::int64_t partners;  // swap partners looked at per proposal
    double hot, cold;       // temperatures of the first and the last visit
    std::uint64_t seed;
};

namespace crowd {

// ln of 4,096 equally likely numbers in (0, 1): the acceptance test needs no better.
struct LogTable {
    float values[4096];
    LogTable() {
        for (int i = 0; i < 4096; ++i) values[i] = static_cast<float>(std::log((i + 0.5) / 4096.0));
    }
};
inline const LogTable LOGS;

class DenseBlock;
void improve(DenseBlock& block, std::int64_t visits, double hot, double cold);

// Solves one block after the other; one object per thread.
class DenseBlock {
  public:
    DenseBlock(std::int64_t words, const CrowdDenseOptions& options, Monitor& monitor)
        : options_(options),
          monitor_(monitor),
          block_(words, static_cast<std::int32_t>(options.k)),
          random_(0, 0),
          weights_(3 * words) {}

    // Groups for `rows` of `bits`: built anew, or improved from `groups` (numbered from 0 to `count` - 1). `near` are
    // the neighbours of each row inside the block; they are searched for if there are none.
    void solve(const RankedBits& bits, const std::vector<std::int32_t>& rows, std::vector<std::uint32_t> near,
               std::vector<std::int32_t> groups, std::int32_t count, int round, std::uint64_t stream) {
        random_ = Random(options_.seed, stream);
        block_.load(bits, rows);
        near_ = std::move(near);
        if (near_.empty())
            near_ =
                NearSearch(block_.row<0>(0), block_.rows(), block_.words(), options_.near).find(random_, 1, monitor_);
        given_ = std::move(groups);
        last_ = round + 1 == options_.rounds;
        for (std::int32_t g = 0; g < count; ++g) block_.found();
        const double part = 1.0 / static_cast<double>(options_.rounds), cooling = options_.cold / options_.hot;
        improve(*this, static_cast<std::int64_t>(options_.visits * part * block_.rows()),
                options_.hot * std::pow(cooling, part * round), options_.hot * std::pow(cooling, part * (round + 1)));
    }

    const Block& result() const { return block_; }

  private:
    friend void improve(DenseBlock& block, std::int64_t visits, double hot, double cold);

    template <int W>
    ANONSET_INLINE void improve_body(std::int64_t visits, double hot, double cold) {
        if (given_.empty()) seed_groups<W>();
        for (std::int32_t r = 0; r < block_.rows(); ++r) block_.enroll<W>(r, given_[r]);
        for (std::int32_t g = 0; g < block_.groups(); ++g) block_.settle<W>(g);
        if (block_.groups() < 2) return;
        for (std::int32_t g = 0; g < block_.groups(); ++g) propose_dissolving<W>(g);
        anneal<W>(visits, hot, cold);
    }

    template <int W>
    std::int32_t distance(std::int32_t p, std::int32_t q) const;
    template <int W>
    void seed_groups();
    template <int W>
    std::size_t nearest(const std::vector<std::int32_t>& pool, std::int32_t chosen,
                        std::vector<std::int64_t>& sums) const;
    template <int W>
    void shelter(const std::vector<std::int32_t>& rest);
    template <int W>
    void anneal(std::int64_t visits, double hot, double cold);
    template <int W>
    void look_ahead(std::int64_t at) const;
    template <int W>
    void visit(std::int32_t t, double temperature, std::uint64_t draw);
    template <int W>
    bool propose(std::int32_t t, std::int32_t h, std::int32_t moving, double temperature);
    template <int W>
    void propose_dissolving(std::int32_t g);
    std::int64_t recounted(std::int32_t g) const;

    static constexpr std::int64_t AHEAD = 256;                    // visits that are drawn at a time
    static constexpr std::int64_t TAKEN = std::int64_t{1} << 60;  // farther away than anybody

    CrowdDenseOptions options_;
    Monitor& monitor_;
    Block block_;
    Random random_;
    bool last_ = true;
    std::vector<std::int32_t> given_, havens_;
    std::vector<std::uint32_t> near_;
    std::int32_t coming_[AHEAD] = {};
    std::vector<std::uint64_t> weights_;
};

template <int W>
ANONSET_INLINE std::int32_t DenseBlock::distance(std::int32_t p, std::int32_t q) const {
    const std::int64_t words = W ? W : block_.words();
    const std::uint64_t *a = block_.row<W>(p), *b = block_.row<W>(q);
    std::int32_t sum = 0;
    for (std::int64_t w = 0; w < words; ++w) sum += __builtin_popcountll(a[w] ^ b[w]);
    return sum;
}

// The oldest waiting row founds a group and takes the k - 1 rows of the pool with the least summed distance to it.
template <int W>
ANONSET_INLINE void DenseBlock::seed_groups() {
    const std::int32_t n = block_.rows();
    given_.assign(n, -1);
    const auto limit = static_cast<std::size_t>(std::max(options_.pool, options_.k));
    std::vector<std::int32_t> pool;
    std::vector<std::int64_t> sums;
    for (std::int32_t next = 0;;) {
        while (pool.size() < limit && next < n) pool.push_back(next++);
        if (static_cast<std::int64_t>(pool.size()) < options_.k) break;
        sums.assign(pool.size(), 0);
        const std::int32_t group = block_.found();
        std::size_t best = 0;
        for (std::int64_t left = options_.k - 1;; --left) {
            given_[pool[best]] = group;
            sums[best] = TAKEN;
            if (left == 0) break;
            best = nearest<W>(pool, pool[best], sums);
        }
        pool.erase(std::remove_if(pool.begin(), pool.end(), [&](std::int32_t r) { return given_[r] >= 0; }),
                   pool.end());
    }
    shelter<W>(pool);
}

// Adds the distances to row `chosen` to the sums, and finds the place of the least; of equal ones the first.
template <int W>
ANONSET_INLINE std::size_t DenseBlock::nearest(const std::vector<std::int32_t>& pool, std::int32_t chosen,
                                               std::vector<std::int64_t>& sums) const {
    std::int64_t least = INT64_MAX;
    std::size_t best = 0;
    for (std::size_t i = 0; i < pool.size(); ++i) {
        const std::int64_t sum = sums[i] += distance<W>(chosen, pool[i]);
        best = sum < least ? i : best;
        least = sum < least ? sum : least;
    }
    return best;
}

// Fewer than k rows are left: each goes where the nearest row with a group went.
template <int W>
ANONSET_INLINE void DenseBlock::shelter(const std::vector<std::int32_t>& rest) {
    std::vector<std::int32_t> all(block_.rows());
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::int64_t> far;
    for (const std::int32_t r : rest) {
        far.assign(all.size(), 0);
        for (const std::int32_t other : rest) far[other] = TAKEN;
        given_[r] = given_[nearest<W>(all, r, far)];
    }
}

// Visits to random rows. They are drawn ahead, so that the memory they need can be asked for ahead.
template <int W>
ANONSET_INLINE void DenseBlock::anneal(std::int64_t visits, double hot, double cold) {
    const double cooling = visits ? std::pow(cold / hot, 1.0 / static_cast<double>(visits)) : 1;
    const auto dissolving = static_cast<std::uint64_t>(0.1 * 1024 / static_cast<double>(options_.k)) + 1;
    const std::int64_t frozen =
        last_ && !without(Mechanism::frozen) ? visits - visits / 6 : visits;  // in the end only what does not lose
    double temperature = hot;
    for (std::int64_t step = 0; step < visits; ++step, temperature *= cooling) {
        const std::int64_t at = step % AHEAD;
        if (at == 0) {
            monitor_.check();
            for (std::int32_t& t : coming_)
                t = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(block_.rows())));
        }
        if (!without(Mechanism::prefetch)) look_ahead<W>(at);
        const std::uint64_t draw = random_.next();
        if ((draw & 1023) < dissolving) {
            propose_dissolving<W>(block_.group(coming_[at]));
        } else {
            visit<W>(coming_[at], step < frozen ? temperature : 0, draw);
        }
    }
}

// Rows first, then the groups of their neighbours, which can be told only once the rows are there.
template <int W>
ANONSET_INLINE void DenseBlock::look_ahead(std::int64_t at) const {
    constexpr std::int64_t FAR = 8, NEAR = 4;
    const std::int64_t near = options_.near.near;
    if (at + FAR < AHEAD) {
        __builtin_prefetch(near_.data() + coming_[at + FAR] * near);
        block_.ask_for_row<W>(coming_[at + FAR]);
    }
    if (at + NEAR >= AHEAD) return;
    const std::int32_t t = coming_[at + NEAR];
    block_.ask_for_group<W>(t);
    for (std::int64_t i = 0; i < near && near_[t * near + i] != NOBODY; ++i)
        block_.ask_for_group<W>(static_cast<std::int32_t>(near_[t * near + i]));
}

// Row t looks at the groups of its neighbours, from a random one on, until something is accepted. Moving to a group
// costs little to foretell, and where it would lose more than 1 (2 every other time) a swap hardly ever gains.
template <int W>
ANONSET_INLINE void DenseBlock::visit(std::int32_t t, double temperature, std::uint64_t draw) {
    const std::int64_t near = options_.near.near;
    const std::uint32_t* list = near_.data() + t * near;
    const std::int32_t g = block_.group(t),
                       least = without(Mechanism::filter) ? INT32_MIN : -1 - static_cast<std::int32_t>(draw >> 63);
    const std::int32_t leaving = block_.leaving<W>(block_.row<W>(t), g);
    auto at = static_cast<std::int64_t>((draw >> 10 & 0xffff) * near >> 16);
    std::int32_t last = g;
    for (std::int64_t left = near; left > 0; --left, at = at + 1 < near ? at + 1 : 0) {
        if (list[at] == NOBODY) continue;
        const std::int32_t h = block_.group(static_cast<std::int32_t>(list[at]));
        if (h == g || h == last) continue;
        last = h;
        const std::int32_t moving = leaving + block_.joining<W>(block_.row<W>(t), h);
        if (moving >= least && propose<W>(t, h, moving, temperature)) return;
    }
}

// The best of moving t to h, which gains `moving`, and of swapping it with some members of h, if that gains enough (a
// small loss may lead on). Groups never fall below k.
template <int W>
ANONSET_INLINE bool DenseBlock::propose(std::int32_t t, std::int32_t h, std::int32_t moving, double temperature) {
    const std::int32_t g = block_.group(t), size = block_.size(h);
    const std::uint64_t* mine = block_.row<W>(t);
    const std::uint64_t draw = random_.next();
    std::int32_t best = block_.size(g) > block_.k() && size < block_.capacity() ? moving : INT32_MIN, partner = -1;
    auto at = static_cast<std::int32_t>((draw & UINT32_MAX) * static_cast<std::uint64_t>(size) >> 32);
    std::uint64_t few[W ? 3 * W : 1];
    std::uint64_t* weights = W ? few : weights_.data();
    block_.weigh<W>(mine, g, h, weights);
    const std::int32_t given = gain::weight<W>(mine, weights, block_.words());
    for (auto left = std::min<std::int64_t>(size, options_.partners); left > 0; --left) {
        const std::int32_t u = block_.members(h)[at];
        const std::int32_t gain = gain::weight<W>(block_.row<W>(u), weights, block_.words()) - given;
        if (gain > best) best = gain, partner = u;
        if (++at == size) at = 0;
    }
    if (best < temperature * LOGS.values[draw >> 52]) return false;
    havens_.assign(1, h);
    const std::int64_t before = recounted(g);
    partner < 0 ? block_.move<W>(t, h) : block_.swap<W>(t, partner);
    if (const std::int64_t after = recounted(g); after != 0 && after - before != best)
        throw std::logic_error("crowd: a change gained other than foretold");
    return true;
}

// Every member of g looks for the group of a near neighbour that suits it best. If they gain no less there one by one
// than g does, g is dissolved; should they be in each other's way there, it is not.
template <int W>
ANONSET_INLINE void DenseBlock::propose_dissolving(std::int32_t g) {
    std::int32_t elsewhere = 0;
    if (without(Mechanism::dense_dissolving)) return;
    havens_.clear();
    for (std::int32_t i = 0; i < block_.size(g); ++i) {
        const std::int32_t t = block_.members(g)[i];
        std::int32_t best = INT32_MIN, haven = -1;
        const std::uint32_t* list = near_.data() + t * options_.near.near;
        for (std::int64_t j = 0; j < options_.near.near && list[j] != NOBODY; ++j) {
            const std::int32_t h = block_.group(static_cast<std::int32_t>(list[j]));
            if (h == g || block_.size(h) >= block_.capacity()) continue;
            const std::int32_t gain = block_.joining<W>(block_.row<W>(t), h);
            if (gain > best) best = gain, haven = h;
        }
        if (haven < 0) return;
        elsewhere += best;
        havens_.push_back(haven);
    }
    if (elsewhere < block_.gain<W>(g)) return;
    for (const std::int32_t h : havens_)
        if (block_.size(h) + std::count(havens_.begin(), havens_.end(), h) > block_.capacity()) return;
    const std::int64_t before = recounted(g);
    block_.dissolve<W>(g, havens_.data());
    if (recounted(g) < before) throw std::logic_error("crowd: a dissolved group gained less than foretold");
}

// In a debug build the gain of g and of the groups its members may go to, counted anew; otherwise 0.
inline std::int64_t DenseBlock::recounted([[maybe_unused]] std::int32_t g) const {
    std::int64_t sum = 0;
#ifdef ANONSET_DEBUG_CHECKS
    sum = block_.recounted(g);
    std::vector<std::int32_t> others(havens_);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (const std::int32_t h : others) sum += block_.recounted(h);
#endif
    return sum;
}

// Everything hot is inlined here, so that it is compiled for what the processor can do.
ANONSET_CLONES inline void improve(DenseBlock& block, std::int64_t visits, double hot, double cold) {
    switch (block.block_.words()) {
        case 1:
            return block.improve_body<1>(visits, hot, cold);
        case 2:
            return block.improve_body<2>(visits, hot, cold);
        case 3:
            return block.improve_body<3>(visits, hot, cold);
        default:
            return block.improve_body<0>(visits, hot, cold);
    }
}

}  // namespace crowd

}  // namespace anonset
