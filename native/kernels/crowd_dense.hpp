// `crowd` for dense data: few hundred items, long rows. Groups are kept as bitmaps, and every change of the gain
// (see docs/methods/crowd.md) is a handful of popcounts.
//
// For a group of s rows in which item i occurs c times let v = 2c - s. The gain of the group is the sum of max(0, v):
// what its rows keep, counted against publishing nothing. Four bitmaps per group hold the items with v >= -1, 0, 1, 2:
//   row t leaves g:        |V0 \ t| - |t & V1|
//   row t joins h:         |t & V0| - |V1 \ t|
//   t in g against u in h: for D = t \ u:  |D & Vh-1| + |D & Vh0| - |D & Vg1| - |D & Vg2|, and mirrored for u \ t
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "bitmap.hpp"
#include "csr.hpp"
#include "monitor.hpp"
#include "random.hpp"

namespace anonset {

struct CrowdDenseOptions {
    std::int64_t k;
    std::int64_t pool;       // how many waiting rows a new group may choose from
    std::int64_t proposals;  // per row
    std::int64_t partners;   // random swap partners per proposal
    std::uint64_t seed;
    double hot, cold;  // temperatures of the first and the last proposal
};

namespace crowd {

// ln of 4,096 equally likely numbers in (0, 1): the acceptance test needs no better.
struct LogTable {
    std::vector<float> values;
    LogTable() : values(4096) {
        for (int i = 0; i < 4096; ++i) values[i] = static_cast<float>(std::log((i + 0.5) / 4096.0));
    }
};

class DenseShard;
void anneal(DenseShard& shard);

class DenseShard {
  public:
    DenseShard(const Csr& data, std::int64_t first, std::int64_t last, std::int32_t n_items,
               const CrowdDenseOptions& options, Monitor& monitor)
        : n_(last - first),
          items_(n_items),
          words_((n_items + 63) / 64),
          options_(options),
          monitor_(monitor),
          random_(options.seed, static_cast<std::uint64_t>(first)) {
        bits_.assign(n_ * words_, 0);
        for (std::int64_t row = 0; row < n_; ++row)
            for (const std::int32_t* i = data.begin(first + row); i != data.end(first + row); ++i)
                bits_[row * words_ + (*i >> 6)] |= std::uint64_t{1} << (*i & 63);
    }

    void solve(std::int32_t* group) {
        seed_groups();
        build();
        find_neighbours();
        anneal(*this);
        std::copy(group_.begin(), group_.end(), group);
    }

    std::int32_t groups() const { return static_cast<std::int32_t>(members_.size()); }

  private:
    const std::uint64_t* row(std::int64_t r) const { return &bits_[r * words_]; }

    std::int32_t distance(std::int64_t a, std::int64_t b) const {
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < words_; ++w) sum += __builtin_popcountll(row(a)[w] ^ row(b)[w]);
        return sum;
    }

    void seed_groups();
    void build();
    void refresh(std::int32_t g);
    void find_neighbours();
    void neighbours_by(const std::vector<std::int32_t>& order, std::int64_t reach);
    friend void anneal(DenseShard& shard);
    template <int Fixed>
    void anneal_body();
    void exchange(std::int32_t t, std::int32_t u);
    void move(std::int32_t t, std::int32_t to);
    void place_item(std::int32_t g, std::int32_t item);
    std::int64_t gain(std::int32_t g) const;

    std::int64_t n_;
    std::int32_t items_;
    std::int64_t words_;
    CrowdDenseOptions options_;
    Monitor& monitor_;
    Random random_;
    std::vector<std::uint64_t> bits_, planes_;  // planes: four bitmaps per group
    std::vector<std::int32_t> group_, place_, counts_;
    std::vector<std::vector<std::int32_t>> members_;
    std::vector<std::int32_t> near_;  // Near per row
    static constexpr std::int64_t Near = 8;
    std::vector<std::int32_t> near_distance_;
};

// The oldest waiting row founds a group and takes the k - 1 rows of the pool with the least summed distance to it.
ANONSET_CLONES inline void pool_distances(const std::uint64_t* bits, std::int64_t words, const std::int32_t* pool,
                                          std::int64_t size, std::int32_t chosen, std::int32_t* sums) {
    const std::uint64_t* a = bits + chosen * words;
    for (std::int64_t i = 0; i < size; ++i) {
        const std::uint64_t* b = bits + pool[i] * words;
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < words; ++w) sum += __builtin_popcountll(a[w] ^ b[w]);
        sums[i] += sum;
    }
}

inline void DenseShard::seed_groups() {
    group_.assign(n_, -1);
    std::vector<std::int32_t> pool, sums(options_.pool + options_.k);
    std::int32_t next = 0, count = 0;
    const auto limit = static_cast<std::size_t>(std::max(options_.pool, options_.k));
    sums.resize(limit);
    while (true) {
        while (pool.size() < limit && next < n_) pool.push_back(next++);
        if (static_cast<std::int64_t>(pool.size()) < options_.k) break;
        std::fill(sums.begin(), sums.end(), 0);
        std::size_t best = 0;
        for (std::int64_t step = 0;; ++step) {
            const std::int32_t chosen = pool[best];
            group_[chosen] = count;
            pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(best));
            sums.erase(sums.begin() + static_cast<std::ptrdiff_t>(best));
            sums.push_back(0);
            if (step + 1 == options_.k) break;
            pool_distances(bits_.data(), words_, pool.data(), static_cast<std::int64_t>(pool.size()), chosen,
                           sums.data());
            best =
                std::min_element(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(pool.size())) - sums.begin();
        }
        ++count;
    }
    // Fewer than k rows are left: each goes where its nearest neighbour in Gray order went.
    for (const std::int32_t r : pool) group_[r] = count ? group_[std::max(0, r - 1)] : 0;
    for (std::int32_t r = 0; r < n_; ++r)
        if (group_[r] < 0) group_[r] = r ? group_[r - 1] : 0;
    members_.assign(std::max(1, count), {});
}

inline void DenseShard::place_item(std::int32_t g, std::int32_t item) {
    const std::int32_t v =
        2 * counts_[static_cast<std::int64_t>(g) * items_ + item] - static_cast<std::int32_t>(members_[g].size());
    const std::uint64_t bit = std::uint64_t{1} << (item & 63);
    std::uint64_t* plane = &planes_[static_cast<std::int64_t>(g) * 4 * words_ + (item >> 6)];
    for (int t = -1; t <= 2; ++t, plane += words_) *plane = v >= t ? (*plane | bit) : (*plane & ~bit);
}

inline void DenseShard::refresh(std::int32_t g) {
    std::uint64_t* plane = &planes_[static_cast<std::int64_t>(g) * 4 * words_];
    std::fill(plane, plane + 4 * words_, 0);
    const std::int32_t* count = &counts_[static_cast<std::int64_t>(g) * items_];
    const auto size = static_cast<std::int32_t>(members_[g].size());
    for (std::int32_t item = 0; item < items_; ++item) {
        const std::int32_t v = 2 * count[item] - size;
        const std::uint64_t bit = std::uint64_t{1} << (item & 63);
        for (int t = -1; t <= 2; ++t)
            if (v >= t) plane[(t + 1) * words_ + (item >> 6)] |= bit;
    }
}

inline std::int64_t DenseShard::gain(std::int32_t g) const {
    std::int64_t sum = 0;
    for (std::int32_t item = 0; item < items_; ++item)
        sum += std::max<std::int64_t>(0, 2 * counts_[static_cast<std::int64_t>(g) * items_ + item] -
                                             static_cast<std::int64_t>(members_[g].size()));
    return sum;
}

inline void DenseShard::build() {
    place_.resize(n_);
    counts_.assign(members_.size() * items_, 0);
    planes_.assign(members_.size() * 4 * words_, 0);
    for (std::int32_t r = 0; r < n_; ++r) {
        auto& list = members_[group_[r]];
        place_[r] = static_cast<std::int32_t>(list.size());
        list.push_back(r);
        std::int32_t* count = &counts_[static_cast<std::int64_t>(group_[r]) * items_];
        for (std::int64_t w = 0; w < words_; ++w)
            for (std::uint64_t bits = row(r)[w]; bits; bits &= bits - 1) ++count[w * 64 + __builtin_ctzll(bits)];
    }
    for (std::int32_t g = 0; g < groups(); ++g) refresh(g);
}

inline void DenseShard::neighbours_by(const std::vector<std::int32_t>& order, std::int64_t reach) {
    for (std::int64_t at = 0; at < n_; ++at)
        for (std::int64_t other = std::max<std::int64_t>(0, at - reach); other <= std::min(n_ - 1, at + reach);
             ++other) {
            if (other == at) continue;
            const std::int32_t a = order[at], b = order[other];
            std::int32_t* list = &near_[a * Near];
            std::int32_t* far = &near_distance_[a * Near];
            const std::int32_t d = distance(a, b);
            if (d >= far[Near - 1] || std::find(list, list + Near, b) != list + Near) continue;
            std::int64_t slot = Near - 1;
            for (; slot > 0 && far[slot - 1] > d; --slot) list[slot] = list[slot - 1], far[slot] = far[slot - 1];
            list[slot] = b, far[slot] = d;
        }
}

// Approximate nearest neighbours: rows next to each other in Gray order and under sorts by random bits.
inline void DenseShard::find_neighbours() {
    near_.assign(n_ * Near, -1);
    near_distance_.assign(n_ * Near, INT32_MAX);
    std::vector<std::int32_t> order(n_);
    std::iota(order.begin(), order.end(), 0);
    neighbours_by(order, 4);
    std::vector<std::pair<std::uint64_t, std::int32_t>> keys(n_);
    for (int round = 0; round < 4; ++round) {
        monitor_.check();
        std::vector<std::int32_t> chosen(64);
        for (auto& item : chosen) item = static_cast<std::int32_t>(random_.below(items_));
        for (std::int32_t r = 0; r < n_; ++r) {
            std::uint64_t key = 0;
            for (const std::int32_t item : chosen) key = key << 1 | (row(r)[item >> 6] >> (item & 63) & 1);
            keys[r] = {key, r};
        }
        std::sort(keys.begin(), keys.end());
        for (std::int64_t i = 0; i < n_; ++i) order[i] = keys[i].second;
        neighbours_by(order, 2);
    }
}

inline void DenseShard::exchange(std::int32_t t, std::int32_t u) {
    const std::int32_t g = group_[t], h = group_[u];
    for (std::int64_t w = 0; w < words_; ++w)
        for (std::uint64_t differ = row(t)[w] ^ row(u)[w]; differ; differ &= differ - 1) {
            const auto item = static_cast<std::int32_t>(w * 64 + __builtin_ctzll(differ));
            const std::int32_t sign = row(t)[w] >> (item & 63) & 1 ? 1 : -1;
            counts_[static_cast<std::int64_t>(g) * items_ + item] -= sign;
            counts_[static_cast<std::int64_t>(h) * items_ + item] += sign;
            place_item(g, item);
            place_item(h, item);
        }
    std::swap(members_[g][place_[t]], members_[h][place_[u]]);
    std::swap(place_[t], place_[u]);
    std::swap(group_[t], group_[u]);
}

inline void DenseShard::move(std::int32_t t, std::int32_t to) {
    const std::int32_t g = group_[t];
    const std::int32_t last = members_[g].back();
    members_[g][place_[t]] = last;
    place_[last] = place_[t];
    members_[g].pop_back();
    place_[t] = static_cast<std::int32_t>(members_[to].size());
    members_[to].push_back(t);
    group_[t] = to;
    for (std::int64_t w = 0; w < words_; ++w)
        for (std::uint64_t bits = row(t)[w]; bits; bits &= bits - 1) {
            const std::int64_t item = w * 64 + __builtin_ctzll(bits);
            --counts_[static_cast<std::int64_t>(g) * items_ + item];
            ++counts_[static_cast<std::int64_t>(to) * items_ + item];
        }
    refresh(g);
    refresh(to);
}

template <int Fixed>
inline __attribute__((always_inline)) std::int32_t swap_gain(const std::uint64_t* t, const std::uint64_t* u,
                                                             const std::uint64_t* g, const std::uint64_t* h,
                                                             std::int64_t runtime) {
    const std::int64_t words = Fixed ? Fixed : runtime;
    std::int32_t sum = 0;
    for (std::int64_t w = 0; w < words; ++w) {
        const std::uint64_t gives = t[w] & ~u[w], takes = u[w] & ~t[w];
        sum += __builtin_popcountll(gives & h[w]) + __builtin_popcountll(gives & h[words + w]) -
               __builtin_popcountll(gives & g[2 * words + w]) - __builtin_popcountll(gives & g[3 * words + w]);
        sum += __builtin_popcountll(takes & g[w]) + __builtin_popcountll(takes & g[words + w]) -
               __builtin_popcountll(takes & h[2 * words + w]) - __builtin_popcountll(takes & h[3 * words + w]);
    }
    return sum;
}

template <int Fixed>
inline __attribute__((always_inline)) std::int32_t move_gain(const std::uint64_t* t, const std::uint64_t* g,
                                                             const std::uint64_t* h, std::int64_t runtime) {
    const std::int64_t words = Fixed ? Fixed : runtime;
    std::int32_t sum = 0;
    for (std::int64_t w = 0; w < words; ++w)
        sum += __builtin_popcountll(g[words + w] & ~t[w]) - __builtin_popcountll(g[2 * words + w] & t[w]) +
               __builtin_popcountll(h[words + w] & t[w]) - __builtin_popcountll(h[2 * words + w] & ~t[w]);
    return sum;
}

// Proposals: a random row t and the group h of one of its near neighbours; the best of moving t to h and of
// swapping it with a few members of h; accepted as in simulated annealing. Groups never fall below k.
template <int Fixed>
inline __attribute__((always_inline)) void DenseShard::anneal_body() {
    static const LogTable table;
    const std::int64_t total = n_ * options_.proposals;
    const double cooling = total ? std::pow(options_.cold / options_.hot, 1.0 / static_cast<double>(total)) : 1;
    double temperature = options_.hot;
    for (std::int64_t step = 0; step < total; ++step, temperature *= cooling) {
        if ((step & 4095) == 0) monitor_.check();
        const auto t = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(n_)));
        const std::int32_t near = near_[t * Near + random_.below(Near)];
        if (near < 0) continue;
        const std::int32_t g = group_[t], h = group_[near];
        if (g == h) continue;
        const std::uint64_t *mine = row(t), *g_planes = &planes_[static_cast<std::int64_t>(g) * 4 * words_],
                            *h_planes = &planes_[static_cast<std::int64_t>(h) * 4 * words_];
        std::int32_t best = INT32_MIN, partner = -1;
        if (static_cast<std::int64_t>(members_[g].size()) > options_.k)
            best = move_gain<Fixed>(mine, g_planes, h_planes, words_);
        const auto& others = members_[h];
        for (std::int64_t i = 0; i < options_.partners; ++i) {
            const std::int32_t u = others[random_.below(static_cast<std::uint32_t>(others.size()))];
            const std::int32_t gain = swap_gain<Fixed>(mine, row(u), g_planes, h_planes, words_);
            if (gain > best) best = gain, partner = u;
        }
        if (best < temperature * table.values[random_.next() >> 52]) continue;
#ifdef ANONSET_DEBUG_CHECKS
        const std::int64_t before = gain(g) + gain(h);
#endif
        partner < 0 ? move(t, h) : exchange(t, partner);
#ifdef ANONSET_DEBUG_CHECKS
        if (gain(g) + gain(h) - before != best) throw std::logic_error("crowd: a change gained other than foretold");
#endif
    }
}

ANONSET_CLONES inline void anneal(DenseShard& shard) {
    switch (shard.words_) {
        case 1:
            return shard.anneal_body<1>();
        case 2:
            return shard.anneal_body<2>();
        case 3:
            return shard.anneal_body<3>();
        default:
            return shard.anneal_body<0>();
    }
}

}  // namespace crowd

// Groups of at least k for rows in Gray order. Shards of fixed size run side by side; the answer depends on the seed
// and the options, never on the number of threads.
inline std::vector<std::int32_t> crowd_dense(const Csr& data, std::int32_t n_items, const CrowdDenseOptions& options,
                                             std::int64_t shard_size, int threads, Monitor& monitor) {
    const std::int64_t shards = std::max<std::int64_t>(1, data.rows / std::max(shard_size, options.k));
    std::vector<std::int32_t> group(data.rows), count(shards);
    auto bound = [&](std::int64_t shard) { return data.rows * shard / shards; };
    parallel_for(shards, threads, monitor, [&](std::int64_t shard, int) {
        crowd::DenseShard part(data, bound(shard), bound(shard + 1), n_items, options, monitor);
        part.solve(group.data() + bound(shard));
        count[shard] = part.groups();
    });
    std::int32_t before = 0;
    for (std::int64_t shard = 0; shard < shards; before += count[shard++])
        for (std::int64_t r = bound(shard); r < bound(shard + 1); ++r) group[r] += before;
    return group;
}

}  // namespace anonset
