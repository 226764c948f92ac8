// One block of dense rows, solved: groups of k from a pool of waiting rows, near neighbours of every row, then random
// moves and swaps between the groups of near neighbours, accepted as in simulated annealing, and now and then a group
// dissolved (docs/methods/crowd.md).
#pragma once

#include <cmath>
#include <numeric>
#include <utility>

#include "crowd_block.hpp"
#include "gray_bits.hpp"
#include "monitor.hpp"
#include "random.hpp"

namespace anonset {

struct CrowdDenseOptions {
    std::int64_t k;
    std::int64_t block;  // rows per block
    std::int64_t pool;   // how many waiting rows a new group may choose from
    std::int64_t near;   // neighbours kept per row
    std::int64_t sorts;  // by random bits, to find them
    bool friends;        // whether neighbours of neighbours are looked at too
    std::int64_t rounds;
    double proposals;       // per row, in all rounds together
    std::int64_t partners;  // swap partners looked at per proposal
    double hot, cold;       // temperatures of the first and the last proposal
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

class DenseBlock;
void improve(DenseBlock& block, std::int64_t proposals, double hot, double cold);

// Solves one block after the other; one object per thread.
class DenseBlock {
  public:
    DenseBlock(std::int64_t words, const CrowdDenseOptions& options, Monitor& monitor)
        : options_(options),
          monitor_(monitor),
          block_(words, static_cast<std::int32_t>(options.k)),
          random_(0, 0),
          weights_(3 * words) {}

    // Groups for `rows` of `bits`: built anew, or improved from `groups` (numbered from 0 to `count` - 1).
    void solve(const RankedBits& bits, const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& groups,
               std::int32_t count, int round, std::uint64_t stream) {
        random_ = Random(options_.seed, stream);
        block_.load(bits, rows);
        given_ = groups;
        last_ = round + 1 == options_.rounds;
        for (std::int32_t g = 0; g < count; ++g) block_.found();
        const double part = 1.0 / static_cast<double>(options_.rounds), cooling = options_.cold / options_.hot;
        improve(*this, static_cast<std::int64_t>(options_.proposals * part * block_.rows()),
                options_.hot * std::pow(cooling, part * round), options_.hot * std::pow(cooling, part * (round + 1)));
    }

    const Block& result() const { return block_; }

  private:
    friend void improve(DenseBlock& block, std::int64_t proposals, double hot, double cold);

    template <int W>
    ANONSET_INLINE void improve_body(std::int64_t proposals, double hot, double cold) {
        if (given_.empty()) seed_groups<W>();
        for (std::int32_t r = 0; r < block_.rows(); ++r) block_.enroll<W>(r, given_[r]);
        for (std::int32_t g = 0; g < block_.groups(); ++g) block_.settle<W>(g);
        if (block_.groups() < 2) return;
        find_neighbours<W>();
        for (std::int32_t g = 0; g < block_.groups(); ++g) propose_dissolving<W>(g);
        anneal<W>(proposals, hot, cold);
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
    void meet(std::int32_t p, std::int32_t q);
    void remember(std::int32_t row, std::uint32_t neighbour);
    template <int W>
    void find_neighbours();
    template <int W>
    void meet_friends();
    void sort_by_random_bits();
    void sort_by_bits(int shift);
    template <int W>
    void anneal(std::int64_t proposals, double hot, double cold);
    template <int W>
    void propose(std::int32_t t, std::int32_t h, double least, std::uint32_t draw);
    template <int W>
    void propose_dissolving(std::int32_t g);
    std::int64_t recounted(std::int32_t g) const;

    static constexpr std::uint32_t ROW_BITS = 20;  // of a neighbour: its distance above, its row below
    static constexpr std::uint32_t ROW = (std::uint32_t{1} << ROW_BITS) - 1;
    static constexpr int DIGIT = 11;  // bits that a pass of sorting goes by
    static constexpr std::uint32_t NOBODY = UINT32_MAX;
    static constexpr std::int64_t TAKEN = std::int64_t{1} << 60;  // farther away than anybody

    CrowdDenseOptions options_;
    Monitor& monitor_;
    Block block_;
    Random random_;
    bool last_ = true;
    std::vector<std::int32_t> given_, havens_;
    std::vector<std::uint32_t> near_, before_;
    std::vector<std::pair<std::uint64_t, std::int32_t>> keys_, sorted_;
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

// Lists of neighbours are short and sorted; a distance and a row in one number make an entry.
inline void DenseBlock::remember(std::int32_t row, std::uint32_t neighbour) {
    std::uint32_t* list = near_.data() + row * options_.near;
    std::int64_t at = options_.near - 1;
    if (neighbour >= list[at]) return;
    while (at > 0 && list[at - 1] > neighbour) --at;
    if (at > 0 && list[at - 1] == neighbour) return;
    for (std::int64_t i = options_.near - 1; i > at; --i) list[i] = list[i - 1];
    list[at] = neighbour;
}

template <int W>
ANONSET_INLINE void DenseBlock::meet(std::int32_t p, std::int32_t q) {
    const std::uint32_t most = (std::uint32_t{1} << (32 - ROW_BITS)) - 2;
    const std::uint32_t far = std::min(static_cast<std::uint32_t>(distance<W>(p, q)), most);
    remember(p, far << ROW_BITS | static_cast<std::uint32_t>(q));
    remember(q, far << ROW_BITS | static_cast<std::uint32_t>(p));
}

// 64 bits from a random place on, half of the time the last of their bytes first; rows that are equal there
// stay in Gray order.
inline void DenseBlock::sort_by_random_bits() {
    const auto offset = static_cast<std::int64_t>(random_.below(static_cast<std::uint32_t>(64 * block_.words())));
    const std::int64_t word = offset / 64, next = (word + 1) % block_.words(), shift = offset % 64;
    const bool backwards = random_.next() & 1;
    keys_.resize(block_.rows());
    for (std::int32_t r = 0; r < block_.rows(); ++r) {
        std::uint64_t key = block_.row<0>(r)[word] >> shift;
        if (shift) key |= block_.row<0>(r)[next] << (64 - shift);
        keys_[r] = {backwards ? __builtin_bswap64(key) : key, r};
    }
    for (int shift = 0; shift < 64; shift += DIGIT) sort_by_bits(shift);
}

inline void DenseBlock::sort_by_bits(int shift) {
    constexpr std::uint64_t last = (1 << DIGIT) - 1;
    std::int32_t starts[last + 2] = {};
    for (const auto& entry : keys_) ++starts[(entry.first >> shift & last) + 1];
    for (std::uint64_t i = 0; i <= last; ++i) starts[i + 1] += starts[i];
    sorted_.resize(keys_.size());
    for (const auto& entry : keys_) sorted_[starts[entry.first >> shift & last]++] = entry;
    keys_.swap(sorted_);
}

// Approximate nearest neighbours: rows next to each other in Gray order and under sorts by random bits.
template <int W>
ANONSET_INLINE void DenseBlock::find_neighbours() {
    const std::int32_t n = block_.rows();
    near_.assign(n * options_.near, NOBODY);
    for (std::int32_t p = 0; p < n; ++p)
        for (std::int32_t q = p + 1; q <= std::min(n - 1, p + 4); ++q) meet<W>(p, q);
    for (std::int64_t sort = 0; sort < options_.sorts; ++sort) {
        monitor_.check();
        sort_by_random_bits();
        for (std::int32_t p = 0; p < n; ++p)
            for (std::int32_t q = p + 1; q <= std::min(n - 1, p + 2); ++q) meet<W>(keys_[p].second, keys_[q].second);
    }
    if (options_.friends) meet_friends<W>();
    for (std::uint32_t& entry : near_)
        if (entry != NOBODY) entry &= ROW;
}

template <int W>
ANONSET_INLINE void DenseBlock::meet_friends() {
    before_ = near_;
    for (std::int32_t p = 0; p < block_.rows(); ++p)
        for (std::int64_t i = 0; i < options_.near && before_[p * options_.near + i] != NOBODY; ++i) {
            const std::uint32_t* theirs = before_.data() + (before_[p * options_.near + i] & ROW) * options_.near;
            for (std::int64_t j = 0; j < options_.near && theirs[j] != NOBODY; ++j) {
                const auto q = static_cast<std::int32_t>(theirs[j] & ROW);
                if (q > p) meet<W>(p, q);
            }
        }
}

// Proposals: a random row t and the group h of one of its near neighbours.
template <int W>
ANONSET_INLINE void DenseBlock::anneal(std::int64_t proposals, double hot, double cold) {
    static const LogTable logs;
    const double cooling = proposals ? std::pow(cold / hot, 1.0 / static_cast<double>(proposals)) : 1;
    const auto dissolving = static_cast<std::uint64_t>(0.2 * 1024 / static_cast<double>(options_.k)) + 1;
    const std::int64_t frozen = last_ ? proposals - proposals / 6 : proposals;  // in the end only what does not lose
    double temperature = hot;
    for (std::int64_t step = 0; step < proposals; ++step, temperature *= cooling) {
        if ((step & 4095) == 0) monitor_.check();
        const auto t = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(block_.rows())));
        const std::uint64_t draw = random_.next();
        const std::uint32_t near =
            near_[t * options_.near + static_cast<std::int64_t>((draw >> 10 & 0xffff) * options_.near >> 16)];
        if (near == NOBODY) continue;
        const std::int32_t h = block_.group(static_cast<std::int32_t>(near));
        if (h == block_.group(t)) continue;
        if ((draw & 1023) < dissolving) {
            propose_dissolving<W>(block_.group(t));
        } else {
            propose<W>(t, h, step < frozen ? temperature * logs.values[draw >> 52] : 0,
                       static_cast<std::uint32_t>(draw >> 26 & 0x3ffffff));
        }
    }
}

// The best of moving t to h and of swapping it with some members of h, if it gains at least `least` (which is
// negative: a small loss may lead on). Groups never fall below k.
template <int W>
ANONSET_INLINE void DenseBlock::propose(std::int32_t t, std::int32_t h, double least, std::uint32_t draw) {
    const std::int32_t g = block_.group(t), size = block_.size(h);
    const std::uint64_t* mine = block_.row<W>(t);
    std::int32_t best = INT32_MIN, partner = -1;
    if (block_.size(g) > block_.k() && size < block_.capacity())
        best = block_.leaving<W>(mine, g) + block_.joining<W>(mine, h);
    auto at = static_cast<std::int32_t>(std::uint64_t{draw} * size >> 26);
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
    if (best < least) return;
    havens_.assign(1, h);
    const std::int64_t before = recounted(g);
    partner < 0 ? block_.move<W>(t, h) : block_.swap<W>(t, partner);
    if (const std::int64_t after = recounted(g); after != 0 && after - before != best)
        throw std::logic_error("crowd: a change gained other than foretold");
}

// Every member of g looks for the group of a near neighbour that suits it best. If they gain no less there one by one
// than g does, g is dissolved; should they be in each other's way there, it is not.
template <int W>
ANONSET_INLINE void DenseBlock::propose_dissolving(std::int32_t g) {
    std::int32_t elsewhere = 0;
    havens_.clear();
    for (std::int32_t i = 0; i < block_.size(g); ++i) {
        const std::int32_t t = block_.members(g)[i];
        std::int32_t best = INT32_MIN, haven = -1;
        for (std::int64_t j = 0; j < options_.near && near_[t * options_.near + j] != NOBODY; ++j) {
            const std::int32_t h = block_.group(static_cast<std::int32_t>(near_[t * options_.near + j]));
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
ANONSET_CLONES inline void improve(DenseBlock& block, std::int64_t proposals, double hot, double cold) {
    switch (block.block_.words()) {
        case 1:
            return block.improve_body<1>(proposals, hot, cold);
        case 2:
            return block.improve_body<2>(proposals, hot, cold);
        case 3:
            return block.improve_body<3>(proposals, hot, cold);
        default:
            return block.improve_body<0>(proposals, hot, cold);
    }
}

}  // namespace crowd

}  // namespace anonset
