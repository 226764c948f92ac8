#include "crowd/local_search.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/bitmap.hpp"

namespace anonset::crowd {

namespace {

constexpr std::int64_t PARTNERS = 8;                   // rows of a group with which another one may swap
constexpr std::int64_t DISSOLVING = 10;                // one of so many times k visits is to a whole group
constexpr std::int64_t TAKEN = std::int64_t{1} << 60;  // farther away than anybody

}  // namespace

void improve(DenseBlock& block, std::int64_t visits);

DenseBlock::DenseBlock(std::int64_t words, std::int32_t k, const DenseSettings& settings, Monitor& monitor)
    : settings_(settings), monitor_(monitor), block_(words, k), random_(0, 0), weights_(3 * words) {}

void DenseBlock::solve(const std::uint64_t* bits, const std::vector<std::int32_t>& rows,
                       std::vector<std::uint32_t> near, std::vector<std::int32_t> groups, std::int32_t count,
                       const Random& random) {
    random_ = random;
    block_.load(bits, rows);
    near_ = std::move(near);
    given_ = std::move(groups);
    for (std::int32_t g = 0; g < count; ++g) block_.found();
    const double visits = settings_.visits / static_cast<double>(settings_.rounds);
    improve(*this, static_cast<std::int64_t>(visits * block_.rows()));
}

template <int W>
ANONSET_INLINE void DenseBlock::improve_body(std::int64_t visits) {
    if (given_.empty()) seed_groups<W>();
    for (std::int32_t r = 0; r < block_.rows(); ++r) block_.enroll<W>(r, given_[r]);
    for (std::int32_t g = 0; g < block_.groups(); ++g) block_.settle<W>(g);
    if (block_.groups() < 2) return;
    for (std::int32_t g = 0; g < block_.groups(); ++g) propose_dissolving<W>(g);
    for (std::int64_t step = 0; step < visits; ++step) {
        if (step % 1024 == 0) monitor_.check();
        const auto t = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(block_.rows())));
        if (random_.below(static_cast<std::uint32_t>(DISSOLVING * block_.k())) == 0) {
            propose_dissolving<W>(block_.group(t));
        } else {
            visit<W>(t);
        }
    }
}

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
    const auto limit = static_cast<std::size_t>(std::max(settings_.pool, std::int64_t{block_.k()}));
    std::vector<std::int32_t> pool;
    std::vector<std::int64_t> sums;
    for (std::int32_t next = 0;;) {
        while (pool.size() < limit && next < n) pool.push_back(next++);
        if (static_cast<std::int64_t>(pool.size()) < block_.k()) break;
        sums.assign(pool.size(), 0);
        const std::int32_t group = block_.found();
        std::size_t best = 0;
        for (std::int64_t left = block_.k() - 1;; --left) {
            given_[pool[best]] = group;
            sums[best] = TAKEN;
            if (left == 0) break;
            best = nearest<W>(pool, pool[best], sums);
        }
        pool.erase(std::remove_if(pool.begin(), pool.end(), [&](std::int32_t r) { return given_[r] >= 0; }),
                   pool.end());
    }
    place_rest<W>(pool);
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
ANONSET_INLINE void DenseBlock::place_rest(const std::vector<std::int32_t>& rest) {
    std::vector<std::int32_t> all(block_.rows());
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::int64_t> far;
    for (const std::int32_t r : rest) {
        far.assign(all.size(), 0);
        for (const std::int32_t other : rest) far[other] = TAKEN;
        given_[r] = given_[nearest<W>(all, r, far)];
    }
}

// Row t looks at the groups of its neighbours, from a random one on, until something is accepted. Moving to a group
// costs little to count, and where it would lose more than 1 (2 every other time) a swap hardly ever gains.
template <int W>
ANONSET_INLINE void DenseBlock::visit(std::int32_t t) {
    const std::uint64_t draw = random_.next();
    const std::int64_t near = settings_.near;
    const std::uint32_t* list = near_.data() + t * near;
    const std::int32_t g = block_.group(t), least = -1 - static_cast<std::int32_t>(draw >> 63);
    const std::int32_t leaving = block_.leaving<W>(block_.row<W>(t), g);
    auto at = static_cast<std::int64_t>((draw >> 10 & 0xffff) * near >> 16);
    std::int32_t last = g;
    for (std::int64_t left = near; left > 0; --left, at = at + 1 < near ? at + 1 : 0) {
        if (list[at] == NOBODY) continue;
        const std::int32_t h = block_.group(static_cast<std::int32_t>(list[at]));
        if (h == g || h == last) continue;
        last = h;
        const std::int32_t moving = leaving + block_.joining<W>(block_.row<W>(t), h);
        if (moving >= least && propose<W>(t, h, moving)) return;
    }
}

// The best of moving t to h, which gains `moving`, and of swapping it with some members of h, if nothing is
// lost: what changes nothing may lead on. Groups never fall below k.
template <int W>
ANONSET_INLINE bool DenseBlock::propose(std::int32_t t, std::int32_t h, std::int32_t moving) {
    const std::int32_t g = block_.group(t), size = block_.size(h);
    const std::uint64_t* mine = block_.row<W>(t);
    std::int32_t best = block_.size(g) > block_.k() && size < block_.capacity() ? moving : INT32_MIN, partner = -1;
    auto at = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(size)));
    std::uint64_t fixed[W ? 3 * W : 1];
    std::uint64_t* weights = W ? fixed : weights_.data();
    block_.weigh<W>(mine, g, h, weights);
    const std::int32_t given = gain::weight<W>(mine, weights, block_.words());
    for (auto left = std::min<std::int64_t>(size, PARTNERS); left > 0; --left) {
        const std::int32_t u = block_.members(h)[at];
        const std::int32_t gain = gain::weight<W>(block_.row<W>(u), weights, block_.words()) - given;
        if (gain > best) best = gain, partner = u;
        if (++at == size) at = 0;
    }
    if (best < 0) return false;
#ifdef ANONSET_DEBUG_CHECKS
    const std::int64_t before = block_.recounted(g) + block_.recounted(h);
#endif
    partner < 0 ? block_.move<W>(t, h) : block_.swap<W>(t, partner);
#ifdef ANONSET_DEBUG_CHECKS
    if (block_.recounted(g) + block_.recounted(h) != before + best)
        throw std::logic_error("crowd: a change gained something else");
#endif
    return true;
}

// Every member of g looks for the group of a near neighbour that suits it best. If they gain no less there one by one
// than g does, g is dissolved; should they be in each other's way there, it is not.
template <int W>
ANONSET_INLINE void DenseBlock::propose_dissolving(std::int32_t g) {
    std::int32_t elsewhere = 0;
    targets_.clear();
    for (std::int32_t i = 0; i < block_.size(g); ++i) {
        const std::int32_t t = block_.members(g)[i];
        std::int32_t best = INT32_MIN, target = -1;
        const std::uint32_t* list = near_.data() + t * settings_.near;
        for (std::int64_t j = 0; j < settings_.near && list[j] != NOBODY; ++j) {
            const std::int32_t h = block_.group(static_cast<std::int32_t>(list[j]));
            if (h == g || block_.size(h) >= block_.capacity()) continue;
            const std::int32_t gain = block_.joining<W>(block_.row<W>(t), h);
            if (gain > best) best = gain, target = h;
        }
        if (target < 0) return;
        elsewhere += best;
        targets_.push_back(target);
    }
    if (elsewhere < block_.gain<W>(g)) return;
    for (const std::int32_t h : targets_)
        if (block_.size(h) + std::count(targets_.begin(), targets_.end(), h) > block_.capacity()) return;
    block_.dissolve<W>(g, targets_.data());
}

// Everything hot is inlined here, so that it is compiled for what the processor can do.
ANONSET_CLONES void improve(DenseBlock& block, std::int64_t visits) {
    switch (block.block_.words()) {
        case 1:
            return block.improve_body<1>(visits);
        case 2:
            return block.improve_body<2>(visits);
        case 3:
            return block.improve_body<3>(visits);
        default:
            return block.improve_body<0>(visits);
    }
}

}  // namespace anonset::crowd
