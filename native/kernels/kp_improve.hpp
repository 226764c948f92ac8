// Groups of counts in unary code that are made to keep a limit on sensitive attributes, and improved while they keep
// it.
//
// For a group of s rows in which code i occurs c times let v = 2c - s. The gain of the group is the sum of max(0, v):
// what its rows keep of their counts, measured against publishing none (docs/methods/crowd.md). Four bitmaps per group
// hold the codes with v >= -1, 0, 1, 2; two more hold the sensitive attributes of which the group has as many holders
// as it may (`full`) and more than it may (`over`). Then all that a swap changes is a handful of popcounts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "bitmap.hpp"
#include "csr.hpp"
#include "monitor.hpp"
#include "random.hpp"
#include "shares.hpp"

namespace anonset {

struct KpImproveOptions {
    std::int64_t k;
    ShareLimit limit;
    double proposals;  // dense: random ones per row; sparse: rounds
    std::int64_t partners;
    double hot, cold;  // temperatures of the first and the last proposal
    bool dense;
    std::uint64_t seed;
};

namespace kp {

constexpr std::int32_t kNear = 8;
constexpr std::int64_t kMostCodes = 2048;
constexpr int kRepairs = 3;
constexpr int kHavens = 3;
constexpr std::int32_t kExact = 1500;  // rows up to which everybody meets everybody

template <int Fixed>
ANONSET_INLINE std::int32_t swap_gain(const std::uint64_t* t, const std::uint64_t* u, const std::uint64_t* g,
                                      const std::uint64_t* h, std::int64_t runtime) {
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
ANONSET_INLINE std::int32_t move_gain(const std::uint64_t* t, const std::uint64_t* g, const std::uint64_t* h,
                                      std::int64_t runtime) {
    const std::int64_t words = Fixed ? Fixed : runtime;
    std::int32_t sum = 0;
    for (std::int64_t w = 0; w < words; ++w)
        sum += __builtin_popcountll(g[words + w] & ~t[w]) - __builtin_popcountll(g[2 * words + w] & t[w]) +
               __builtin_popcountll(h[words + w] & t[w]) - __builtin_popcountll(h[2 * words + w] & ~t[w]);
    return sum;
}

class Shard;
void improve(Shard& shard);

// Some groups, solved by themselves.
class Shard {
  public:
    // `rows` in an order in which neighbours are alike; `group` of each, from 0 to `groups` - 1. Without groups (0 of
    // them) they are built anew.
    Shard(const Csr& data, const Csr& secret, std::vector<std::int32_t> rows, std::vector<std::int32_t> group,
          std::int32_t groups, const KpImproveOptions& options, std::uint64_t stream, Monitor& monitor)
        : options_(options),
          monitor_(monitor),
          random_(options.seed, stream),
          rows_(std::move(rows)),
          group_(std::move(group)),
          members_(groups) {
        load(data);
        load_secrets(secret);
    }

    std::int32_t groups() const { return static_cast<std::int32_t>(members_.size()); }

    // Afterwards every group keeps the limit; a row that did not fit has the group -1.
    const std::vector<std::int32_t>& solve() {
        improve(*this);
        for (std::int32_t g = 0; g < static_cast<std::int32_t>(members_.size()); ++g) evict(g);
        return group_;
    }

  private:
    friend void improve(Shard& shard);

    std::int32_t size() const { return static_cast<std::int32_t>(rows_.size()); }
    const std::uint64_t* bits(std::int32_t r) const { return &bits_[r * words_]; }
    const std::uint64_t* secret(std::int32_t r) const { return &secret_bits_[r * secret_words_]; }
    const std::uint64_t* planes(std::int32_t g) const { return &planes_[std::int64_t{g} * 4 * words_]; }
    const std::uint64_t* full(std::int32_t g) const { return &secret_planes_[std::int64_t{g} * 2 * secret_words_]; }
    const std::uint64_t* over(std::int32_t g) const { return full(g) + secret_words_; }

    // Numbers the codes that can be in a center (more than k / 2 rows hold them); of many, the most frequent ones.
    static std::vector<std::int32_t> numbering(const std::vector<std::int32_t>& times, std::int64_t least,
                                               std::int64_t most, std::int32_t& count) {
        std::vector<std::int32_t> order;
        for (std::size_t code = 0; code < times.size(); ++code)
            if (times[code] >= least) order.push_back(static_cast<std::int32_t>(code));
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int32_t a, std::int32_t b) { return times[a] > times[b]; });
        if (static_cast<std::int64_t>(order.size()) > most) order.resize(most);
        std::vector<std::int32_t> place(times.size(), -1);
        count = static_cast<std::int32_t>(order.size());
        for (std::int32_t i = 0; i < count; ++i) place[order[i]] = i;
        return place;
    }

    static std::vector<std::int32_t> times_of(const Csr& data, const std::vector<std::int32_t>& rows) {
        std::vector<std::int32_t> times;
        for (const std::int32_t row : rows)
            for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i) {
                if (*i >= static_cast<std::int32_t>(times.size())) times.resize(*i + 1, 0);
                ++times[*i];
            }
        return times;
    }

    void load(const Csr& data) {
        const auto place = numbering(times_of(data, rows_), options_.k / 2 + 1, kMostCodes, codes_);
        words_ = std::max(1, (codes_ + 63) / 64);
        fill(data, place, words_, bits_);
    }

    void load_secrets(const Csr& data) {
        const auto place = numbering(times_of(data, rows_), 1, INT32_MAX, attributes_);
        secret_words_ = std::max(1, (attributes_ + 63) / 64);
        fill(data, place, secret_words_, secret_bits_);
    }

    void fill(const Csr& data, const std::vector<std::int32_t>& place, std::int64_t words,
              std::vector<std::uint64_t>& bits) const {
        bits.assign(rows_.size() * words, 0);
        for (std::size_t r = 0; r < rows_.size(); ++r)
            for (const std::int32_t* i = data.begin(rows_[r]); i != data.end(rows_[r]); ++i)
                if (place[*i] >= 0) bits[r * words + (place[*i] >> 6)] |= std::uint64_t{1} << (place[*i] & 63);
    }

    ANONSET_INLINE void build() {
        place_.resize(rows_.size());
        counts_.assign(members_.size() * codes_, 0);
        holders_.assign(members_.size() * attributes_, 0);
        planes_.assign(members_.size() * 4 * words_, 0);
        secret_planes_.assign(members_.size() * 2 * secret_words_, 0);
        for (std::int32_t r = 0; r < size(); ++r) {
            if (group_[r] < 0) continue;
            place_[r] = static_cast<std::int32_t>(members_[group_[r]].size());
            members_[group_[r]].push_back(r);
            count(r, group_[r], 1);
        }
        for (std::int32_t g = 0; g < static_cast<std::int32_t>(members_.size()); ++g) refresh(g);
    }

    void count(std::int32_t r, std::int32_t g, std::int32_t sign) {
        for (std::int64_t w = 0; w < words_; ++w)
            for (std::uint64_t left = bits(r)[w]; left; left &= left - 1)
                counts_[std::int64_t{g} * codes_ + w * 64 + __builtin_ctzll(left)] += sign;
        for (std::int64_t w = 0; w < secret_words_; ++w)
            for (std::uint64_t left = secret(r)[w]; left; left &= left - 1)
                holders_[std::int64_t{g} * attributes_ + w * 64 + __builtin_ctzll(left)] += sign;
    }

    static void set(std::uint64_t& word, std::uint64_t bit, bool on) { word = on ? word | bit : word & ~bit; }

    void place_code(std::int32_t g, std::int32_t code) {
        const std::int32_t v =
            2 * counts_[std::int64_t{g} * codes_ + code] - static_cast<std::int32_t>(members_[g].size());
        std::uint64_t* plane = &planes_[std::int64_t{g} * 4 * words_ + (code >> 6)];
        for (int t = -1; t <= 2; ++t, plane += words_) set(*plane, std::uint64_t{1} << (code & 63), v >= t);
    }

    void place_attribute(std::int32_t g, std::int32_t attribute) {
        const std::int64_t held = holders_[std::int64_t{g} * attributes_ + attribute];
        const auto people = static_cast<std::int64_t>(members_[g].size());
        std::uint64_t* plane = &secret_planes_[std::int64_t{g} * 2 * secret_words_ + (attribute >> 6)];
        const std::uint64_t bit = std::uint64_t{1} << (attribute & 63);
        set(plane[0], bit, !options_.limit.allows(held + 1, people));
        set(plane[secret_words_], bit, !options_.limit.allows(held, people));
    }

    ANONSET_INLINE void refresh(std::int32_t g) {
        const std::int32_t* count = &counts_[std::int64_t{g} * codes_];
        const auto people = static_cast<std::int32_t>(members_[g].size());
        std::uint64_t* plane = &planes_[std::int64_t{g} * 4 * words_];
        for (std::int64_t w = 0; w < words_; ++w) {
            std::uint64_t at_least[4] = {0, 0, 0, 0};
            const std::int32_t last = std::min<std::int32_t>(64, codes_ - static_cast<std::int32_t>(w) * 64);
            for (std::int32_t bit = 0; bit < last; ++bit) {
                const std::int32_t v = 2 * count[w * 64 + bit] - people;
                for (int t = 0; t < 4; ++t) at_least[t] |= static_cast<std::uint64_t>(v >= t - 1) << bit;
            }
            for (int t = 0; t < 4; ++t) plane[t * words_ + w] = at_least[t];
        }
        for (std::int32_t attribute = 0; attribute < attributes_; ++attribute) place_attribute(g, attribute);
    }

    // --- groups from nothing ---------------------------------------------------------------------------------------

    // The oldest waiting row founds a group and takes the k - 1 rows of the pool with the least summed distance to it
    // that keep the limit. A founder that does not find so many is left without a group.
    template <int Fixed>
    ANONSET_INLINE void seed_groups() {
        constexpr std::size_t limit = 768;
        group_.assign(rows_.size(), -1);
        std::vector<std::int32_t> pool, sums, chosen, held(attributes_, 0);
        std::vector<std::uint64_t> shut(secret_words_);
        for (std::int32_t next = 0;;) {
            monitor_.check();
            while (pool.size() < limit && next < size()) pool.push_back(next++);
            if (static_cast<std::int64_t>(pool.size()) < options_.k) return;
            sums.assign(pool.size(), 0);
            std::fill(held.begin(), held.end(), 0);
            const bool nobody = !options_.limit.allows(1, options_.k);
            std::fill(shut.begin(), shut.end(), nobody ? ~std::uint64_t{0} : 0);
            chosen.assign(1, pool[0]);
            if (may_enter(pool[0], shut)) {
                for (std::size_t best = 0; best < pool.size();) {
                    hold(chosen.back(), held, shut);
                    if (static_cast<std::int64_t>(chosen.size()) == options_.k) break;
                    sums[best] = INT32_MAX / 2;
                    best = nearest_in_pool<Fixed>(pool, chosen.back(), shut, sums);
                    if (best < pool.size()) chosen.push_back(pool[best]);
                }
            }
            if (static_cast<std::int64_t>(chosen.size()) == options_.k) {
                members_.emplace_back();
                for (const std::int32_t r : chosen) group_[r] = groups() - 1;
            } else {
                chosen.resize(1);
            }
            pool.erase(std::remove_if(
                           pool.begin(), pool.end(),
                           [&](std::int32_t r) { return std::find(chosen.begin(), chosen.end(), r) != chosen.end(); }),
                       pool.end());
        }
    }

    bool may_enter(std::int32_t r, const std::vector<std::uint64_t>& shut) const {
        for (std::int64_t w = 0; w < secret_words_; ++w)
            if (secret(r)[w] & shut[w]) return false;
        return true;
    }
    // Counts a new member's sensitive attributes; those that no further member may hold are shut.
    void hold(std::int32_t r, std::vector<std::int32_t>& held, std::vector<std::uint64_t>& shut) const {
        for (std::int64_t w = 0; w < secret_words_; ++w)
            for (std::uint64_t left = secret(r)[w]; left; left &= left - 1) {
                const auto a = w * 64 + __builtin_ctzll(left);
                if (!options_.limit.allows(++held[a] + 1, options_.k)) shut[w] |= std::uint64_t{1} << (a & 63);
            }
    }

    // Adds the distances to the newest member; the place of the nearest row that may join, or the end.
    template <int Fixed>
    ANONSET_INLINE std::size_t nearest_in_pool(const std::vector<std::int32_t>& pool, std::int32_t newest,
                                               const std::vector<std::uint64_t>& shut,
                                               std::vector<std::int32_t>& sums) const {
        std::size_t best = pool.size();
        for (std::size_t i = 0; i < pool.size(); ++i) {
            if (sums[i] >= INT32_MAX / 2) continue;
            sums[i] += distance<Fixed>(newest, pool[i]);
            if ((best == pool.size() || sums[i] < sums[best]) && may_enter(pool[i], shut)) best = i;
        }
        return best;
    }

    // --- neighbours ------------------------------------------------------------------------------------------------

    template <int Fixed>
    ANONSET_INLINE std::int32_t distance(std::int32_t a, std::int32_t b) const {
        const std::int64_t words = Fixed ? Fixed : words_;
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < words; ++w) sum += __builtin_popcountll(bits(a)[w] ^ bits(b)[w]);
        return sum;
    }

    template <int Fixed>
    ANONSET_INLINE void meet(std::int32_t a, std::int32_t b) {
        std::int32_t* list = &near_[std::int64_t{a} * kNear];
        std::int32_t* far = &near_distance_[std::int64_t{a} * kNear];
        const std::int32_t d = distance<Fixed>(a, b);
        if (d >= far[kNear - 1] || std::find(list, list + kNear, b) != list + kNear) return;
        std::int32_t slot = kNear - 1;
        for (; slot > 0 && far[slot - 1] > d; --slot) list[slot] = list[slot - 1], far[slot] = far[slot - 1];
        list[slot] = b, far[slot] = d;
    }

    void start_neighbours() {
        near_.assign(rows_.size() * kNear, -1);
        near_distance_.assign(rows_.size() * kNear, INT32_MAX);
    }

    template <int Fixed>
    ANONSET_INLINE void meet_beside(const std::vector<std::int32_t>& order, std::int32_t reach) {
        for (std::int32_t at = 0; at < size(); ++at)
            for (std::int32_t other = std::max(0, at - reach); other <= std::min(size() - 1, at + reach); ++other)
                if (other != at) meet<Fixed>(order[at], order[other]);
    }

    template <int Fixed>
    ANONSET_INLINE void find_all() {
        start_neighbours();
        for (std::int32_t a = 0; a < size(); ++a) {
            if ((a & 63) == 0) monitor_.check();
            for (std::int32_t b = 0; b < size(); ++b)
                if (a != b) meet<Fixed>(a, b);
        }
    }

    // Dense rows: those next to each other in the given order and under sorts by random bits.
    template <int Fixed>
    ANONSET_INLINE void find_by_sorting() {
        start_neighbours();
        std::vector<std::int32_t> order(rows_.size());
        std::iota(order.begin(), order.end(), 0);
        meet_beside<Fixed>(order, 4);
        std::vector<std::pair<std::uint64_t, std::int32_t>> keys(rows_.size());
        for (int round = 0; round < 4 && codes_ > 0; ++round) {
            monitor_.check();
            std::int32_t chosen[64];
            for (auto& code : chosen)
                code = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(codes_)));
            for (std::int32_t r = 0; r < size(); ++r) {
                std::uint64_t key = 0;
                for (const std::int32_t code : chosen) key = key << 1 | (bits(r)[code >> 6] >> (code & 63) & 1);
                keys[r] = {key, r};
            }
            std::sort(keys.begin(), keys.end());
            for (std::int32_t i = 0; i < size(); ++i) order[i] = keys[i].second;
            meet_beside<Fixed>(order, 2);
        }
    }

    // Sparse rows: the groups where each would gain most, found by the codes that at least half of a group holds. Only
    // these can gain. They are looked up as things stand; whoever uses them looks again.
    ANONSET_INLINE void find_havens() {
        std::vector<std::vector<std::int32_t>> lists(codes_);
        std::vector<std::int32_t> center(members_.size(), 0), score(members_.size(), 0), touched;
        for (std::int32_t g = 0; g < groups(); ++g) {
            if (members_[g].empty()) continue;
            const std::uint64_t *half = planes(g) + words_, *central = half + words_;
            for (std::int64_t w = 0; w < words_; ++w) {
                center[g] += __builtin_popcountll(central[w]);
                for (std::uint64_t left = half[w]; left; left &= left - 1) {
                    const int bit = __builtin_ctzll(left);
                    lists[w * 64 + bit].push_back(2 * g + static_cast<std::int32_t>(central[w] >> bit & 1));
                }
            }
        }
        havens_.assign(rows_.size() * kHavens, -1);
        for (std::int32_t r = 0; r < size(); ++r) {
            if ((r & 1023) == 0) monitor_.check();
            touched.clear();
            for (std::int64_t w = 0; w < words_; ++w)
                for (std::uint64_t left = bits(r)[w]; left; left &= left - 1)
                    for (const std::int32_t entry : lists[w * 64 + __builtin_ctzll(left)]) {
                        if (score[entry >> 1] == 0) touched.push_back(entry >> 1);
                        score[entry >> 1] += 1 + (entry & 1);
                    }
            std::int32_t gains[kHavens];
            std::fill(gains, gains + kHavens, INT32_MIN);
            std::int32_t* best = &havens_[std::int64_t{r} * kHavens];
            for (const std::int32_t g : touched) {
                const std::int32_t gain = std::exchange(score[g], 0) - center[g];
                if (g == group_[r] || gain <= gains[kHavens - 1]) continue;
                int slot = kHavens - 1;
                for (; slot > 0 && gains[slot - 1] < gain; --slot)
                    gains[slot] = gains[slot - 1], best[slot] = best[slot - 1];
                gains[slot] = gain, best[slot] = g;
            }
        }
    }

    // The i-th group that is worth a try for a row; -1 where there is none.
    std::int32_t candidate(std::int32_t t, std::int32_t i) const {
        if (!options_.dense) return i < kHavens ? havens_[std::int64_t{t} * kHavens + i] : -1;
        const std::int32_t near = near_[std::int64_t{t} * kNear + i];
        return near < 0 ? -1 : group_[near];
    }

    // --- changes ---------------------------------------------------------------------------------------------------

    // How many holders beyond the limit, in both groups together, a swap brings (negative: takes away).
    ANONSET_INLINE std::int32_t swap_excess(std::int32_t t, std::int32_t u, std::int32_t g, std::int32_t h) const {
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < secret_words_; ++w) {
            const std::uint64_t gives = secret(t)[w] & ~secret(u)[w], takes = secret(u)[w] & ~secret(t)[w];
            sum += __builtin_popcountll(takes & full(g)[w]) - __builtin_popcountll(gives & over(g)[w]) +
                   __builtin_popcountll(gives & full(h)[w]) - __builtin_popcountll(takes & over(h)[w]);
        }
        return sum;
    }

    // Whether both groups keep the limit after t has moved from g to h.
    ANONSET_INLINE bool may_move(std::int32_t t, std::int32_t g, std::int32_t h) const {
        const auto left = static_cast<std::int64_t>(members_[g].size()) - 1;
        const auto grown = static_cast<std::int64_t>(members_[h].size()) + 1;
        for (std::int32_t a = 0; a < attributes_; ++a) {
            const std::int64_t own = secret(t)[a >> 6] >> (a & 63) & 1;
            if (!options_.limit.allows(holders_[std::int64_t{g} * attributes_ + a] - own, left)) return false;
            if (own && !options_.limit.allows(holders_[std::int64_t{h} * attributes_ + a] + 1, grown)) return false;
        }
        return true;
    }

    ANONSET_INLINE void exchange(std::int32_t t, std::int32_t u) {
        const std::int32_t g = group_[t], h = group_[u];
        for (std::int64_t w = 0; w < words_; ++w)
            for (std::uint64_t differ = bits(t)[w] ^ bits(u)[w]; differ; differ &= differ - 1) {
                const auto code = static_cast<std::int32_t>(w * 64 + __builtin_ctzll(differ));
                const std::int32_t sign = bits(t)[w] >> (code & 63) & 1 ? 1 : -1;
                counts_[std::int64_t{g} * codes_ + code] -= sign;
                counts_[std::int64_t{h} * codes_ + code] += sign;
                place_code(g, code);
                place_code(h, code);
            }
        for (std::int64_t w = 0; w < secret_words_; ++w)
            for (std::uint64_t differ = secret(t)[w] ^ secret(u)[w]; differ; differ &= differ - 1) {
                const auto attribute = static_cast<std::int32_t>(w * 64 + __builtin_ctzll(differ));
                const std::int32_t sign = secret(t)[w] >> (attribute & 63) & 1 ? 1 : -1;
                holders_[std::int64_t{g} * attributes_ + attribute] -= sign;
                holders_[std::int64_t{h} * attributes_ + attribute] += sign;
                place_attribute(g, attribute);
                place_attribute(h, attribute);
            }
        std::swap(members_[g][place_[t]], members_[h][place_[u]]);
        std::swap(place_[t], place_[u]);
        std::swap(group_[t], group_[u]);
    }

    void leave(std::int32_t t) {
        const std::int32_t g = group_[t], last = members_[g].back();
        members_[g][place_[t]] = last;
        place_[last] = place_[t];
        members_[g].pop_back();
        count(t, g, -1);
        group_[t] = -1;
    }

    ANONSET_INLINE void join(std::int32_t t, std::int32_t to) {
        place_[t] = static_cast<std::int32_t>(members_[to].size());
        members_[to].push_back(t);
        group_[t] = to;
        count(t, to, 1);
        refresh(to);
    }

    ANONSET_INLINE void move(std::int32_t t, std::int32_t to) {
        const std::int32_t from = group_[t];
        leave(t);
        refresh(from);
        join(t, to);
    }

    ANONSET_INLINE bool may_join(std::int32_t t, std::int32_t h) const {
        const auto grown = static_cast<std::int64_t>(members_[h].size()) + 1;
        for (std::int64_t w = 0; w < secret_words_; ++w)
            for (std::uint64_t left = secret(t)[w]; left; left &= left - 1)
                if (!options_.limit.allows(holders_[std::int64_t{h} * attributes_ + w * 64 + __builtin_ctzll(left)] + 1,
                                           grown))
                    return false;
        return true;
    }

    bool is_over(std::int32_t g) const {
        return std::any_of(over(g), over(g) + secret_words_, [](std::uint64_t word) { return word != 0; });
    }

    // Groups with too many holders swap them away, each for the row nearby that costs least.
    template <int Fixed>
    ANONSET_INLINE void repair(bool anywhere) {
        for (std::int32_t g = 0; g < static_cast<std::int32_t>(members_.size()); ++g) {
            if ((g & 255) == 0) monitor_.check();
            for (std::size_t i = 0; i < members_[g].size() && is_over(g); ++i) {
                const std::int32_t t = members_[g][i];
                bool holds = false;
                for (std::int64_t w = 0; w < secret_words_; ++w) holds |= (secret(t)[w] & over(g)[w]) != 0;
                if (holds) repair<Fixed>(t, g, anywhere);
            }
        }
    }

    template <int Fixed>
    ANONSET_INLINE void repair(std::int32_t t, std::int32_t g, bool anywhere) {
        std::int32_t best = INT32_MIN, partner = -1;
        for (std::int32_t i = 0; i < kNear; ++i) {
            const std::int32_t h =
                anywhere ? group_[random_.below(static_cast<std::uint32_t>(size()))] : candidate(t, i);
            if (h < 0 || h == g || members_[h].empty()) continue;
            const std::size_t looked = std::min<std::size_t>(members_[h].size(), 16);
            for (std::size_t j = 0; j < looked; ++j) {
                const std::int32_t u = members_[h][j];
                const std::int32_t excess = swap_excess(t, u, g, h);
                if (excess >= 0) continue;
                const std::int32_t gain = swap_gain<Fixed>(bits(t), bits(u), planes(g), planes(h), words_) - 4 * excess;
                if (gain > best) best = gain, partner = u;
            }
        }
        if (partner >= 0) exchange(t, partner);
    }

    // Every row without a group joins, of those of its near neighbours that can take it, the one where it gains most.
    template <int Fixed>
    ANONSET_INLINE void shelter() {
        for (std::int32_t t = 0; t < size(); ++t) {
            if (group_[t] >= 0) continue;
            const std::int32_t host = haven<Fixed>(t, -1).second;
            if (host >= 0) join(t, host);
        }
    }

    template <int Fixed>
    ANONSET_INLINE std::int32_t join_gain(std::int32_t t, std::int32_t h) const {
        const std::int64_t words = Fixed ? Fixed : words_;
        const std::uint64_t *own = bits(t), *half = planes(h) + words, *center = half + words;
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < words; ++w)
            sum += __builtin_popcountll(half[w] & own[w]) - __builtin_popcountll(center[w] & ~own[w]);
        return sum;
    }

    std::int32_t gain_of(std::int32_t g) const {
        const std::int32_t* count = &counts_[std::int64_t{g} * codes_];
        const auto people = static_cast<std::int32_t>(members_[g].size());
        std::int32_t sum = 0;
        for (std::int32_t code = 0; code < codes_; ++code) sum += std::max(0, 2 * count[code] - people);
        return sum;
    }

    // The group of a near neighbour where a row gains most, that can take it and is not `except`.
    template <int Fixed>
    ANONSET_INLINE std::pair<std::int32_t, std::int32_t> haven(std::int32_t t, std::int32_t except) const {
        std::int32_t best = INT32_MIN, host = -1;
        for (std::int32_t i = 0; i < kNear; ++i) {
            const std::int32_t h = candidate(t, i);
            if (h < 0 || h == except || h == host || members_[h].empty()) continue;
            const std::int32_t gain = join_gain<Fixed>(t, h);
            if (gain > best && may_join(t, h)) best = gain, host = h;
        }
        return {best, host};
    }

    // Groups whose members would gain more elsewhere are dissolved, the poorest first.
    template <int Fixed>
    ANONSET_INLINE void dissolve() {
        std::vector<std::int32_t> gains(members_.size()), order(members_.size());
        for (std::int32_t g = 0; g < groups(); ++g) gains[g] = gain_of(g);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return gains[a] * std::int64_t(members_[b].size()) < gains[b] * std::int64_t(members_[a].size());
        });
        for (const std::int32_t g : order) {
            if (members_[g].empty() || static_cast<std::int64_t>(members_[g].size()) > 3 * options_.k) continue;
            std::int32_t elsewhere = 0;
            bool all = true;
            for (const std::int32_t t : members_[g]) {
                const auto [gain, host] = haven<Fixed>(t, g);
                all &= host >= 0;
                elsewhere += host >= 0 ? gain : 0;
            }
            if (!all || elsewhere <= gain_of(g)) continue;
            const std::vector<std::int32_t> leaving = members_[g];
            for (const std::int32_t t : leaving) leave(t);
            refresh(g);
            for (const std::int32_t t : leaving) {
                const std::int32_t host = haven<Fixed>(t, g).second;
                if (host >= 0) join(t, host);
            }
        }
    }

    // A random row t and the group h of one of its near neighbours: the best of moving t to h and of swapping it with a
    // few members of h, if no holder beyond the limit comes of it; accepted as in simulated annealing.
    template <int Fixed>
    ANONSET_INLINE void anneal() {
        const auto total = static_cast<std::int64_t>(options_.proposals * size());
        const double cooling = total ? std::pow(options_.cold / options_.hot, 1.0 / static_cast<double>(total)) : 1;
        double temperature = options_.hot;
        for (std::int64_t step = 0; step < total; ++step, temperature *= cooling) {
            if ((step & 4095) == 0) monitor_.check();
            const auto t = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(size())));
            const std::int32_t near = near_[std::int64_t{t} * kNear + random_.below(kNear)];
            if (near < 0 || group_[near] == group_[t] || group_[t] < 0 || group_[near] < 0) continue;
            const std::int32_t g = group_[t], h = group_[near];
            const auto& others = members_[h];
            std::int32_t best = INT32_MIN, partner = -1;
            for (std::int64_t i = 0; i < options_.partners; ++i) {
                const std::int32_t u = others[random_.below(static_cast<std::uint32_t>(others.size()))];
                const std::int32_t gain = swap_gain<Fixed>(bits(t), bits(u), planes(g), planes(h), words_);
                if (gain > best && swap_excess(t, u, g, h) <= 0) best = gain, partner = u;
            }
            bool moves = false;
            if (static_cast<std::int64_t>(members_[g].size()) > options_.k) {
                const std::int32_t gain = move_gain<Fixed>(bits(t), planes(g), planes(h), words_);
                if (gain > best && may_move(t, g, h)) best = gain, moves = true;
            }
            if (best == INT32_MIN || best < temperature * logarithm()) continue;
            moves ? move(t, h) : exchange(t, partner);
        }
    }

    double logarithm() { return std::log((static_cast<double>(random_.next() >> 40) + 0.5) / double(1 << 24)); }

    template <int Fixed>
    ANONSET_INLINE void improve_body() {
        if (members_.empty()) seed_groups<Fixed>();
        build();
        if (members_.size() < 2) return;
        options_.dense ? improve_dense<Fixed>() : improve_sparse<Fixed>();
        shelter<Fixed>();
    }

    template <int Fixed>
    ANONSET_INLINE void improve_dense() {
        size() <= kExact ? find_all<Fixed>() : find_by_sorting<Fixed>();
        repair_all<Fixed>();
        shelter<Fixed>();
        dissolve<Fixed>();
        anneal<Fixed>();
    }

    template <int Fixed>
    ANONSET_INLINE void improve_sparse() {
        find_havens();
        repair_all<Fixed>();
        shelter<Fixed>();
        for (std::int64_t round = 0; round < static_cast<std::int64_t>(options_.proposals); ++round) {
            if (round > 0) find_havens();
            dissolve<Fixed>();
            find_havens();
            reassign<Fixed>();
        }
    }

    template <int Fixed>
    ANONSET_INLINE void repair_all() {
        for (int round = 0; round < kRepairs; ++round) repair<Fixed>(round == kRepairs - 1);
    }

    // Every row moves to the group where it gains most, if its own can spare it, or else swaps with a row there.
    template <int Fixed>
    ANONSET_INLINE void reassign() {
        for (std::int32_t t = 0; t < size(); ++t) {
            if ((t & 1023) == 0) monitor_.check();
            const std::int32_t g = group_[t];
            if (g < 0) continue;
            const bool spare = static_cast<std::int64_t>(members_[g].size()) > options_.k;
            std::int32_t best = 0, partner = -1, host = -1;
            for (std::int32_t i = 0; i < kHavens; ++i) {
                const std::int32_t h = candidate(t, i);
                if (h < 0 || h == g || members_[h].empty()) continue;
                if (spare) {
                    const std::int32_t gain = move_gain<Fixed>(bits(t), planes(g), planes(h), words_);
                    if (gain > best && may_move(t, g, h)) best = gain, host = h, partner = -1;
                    continue;
                }
                for (std::size_t j = 0; j < std::min<std::size_t>(members_[h].size(), 8); ++j) {
                    const std::int32_t u = members_[h][j];
                    const std::int32_t gain = swap_gain<Fixed>(bits(t), bits(u), planes(g), planes(h), words_);
                    if (gain > best && swap_excess(t, u, g, h) <= 0) best = gain, partner = u, host = h;
                }
            }
            if (host < 0) continue;
            partner >= 0 ? exchange(t, partner) : move(t, host);
        }
    }

    // Members of a group that has too many holders leave it until it has not; a group of fewer than k is given up.
    void evict(std::int32_t g) {
        while (is_over(g) && !members_[g].empty()) {
            std::int32_t worst = -1, most = 0;
            for (const std::int32_t r : members_[g]) {
                std::int32_t held = 0;
                for (std::int64_t w = 0; w < secret_words_; ++w)
                    held += __builtin_popcountll(secret(r)[w] & over(g)[w]);
                if (held > most) most = held, worst = r;
            }
            leave(worst);
            for (std::int32_t attribute = 0; attribute < attributes_; ++attribute) place_attribute(g, attribute);
        }
        if (static_cast<std::int64_t>(members_[g].size()) >= options_.k) return;
        for (const std::int32_t r : members_[g]) group_[r] = -1;
        members_[g].clear();
    }

    KpImproveOptions options_;
    Monitor& monitor_;
    Random random_;
    std::vector<std::int32_t> rows_, group_, place_;
    std::vector<std::vector<std::int32_t>> members_;
    std::int32_t codes_ = 0, attributes_ = 0;
    std::int64_t words_ = 1, secret_words_ = 1;
    std::vector<std::uint64_t> bits_, secret_bits_, planes_, secret_planes_;
    std::vector<std::int32_t> counts_, holders_, near_, near_distance_, havens_;
};

ANONSET_CLONES inline void improve(Shard& shard) {
    switch (shard.words_) {
        case 1:
            return shard.improve_body<1>();
        case 2:
            return shard.improve_body<2>();
        case 3:
            return shard.improve_body<3>();
        default:
            return shard.improve_body<0>();
    }
}

}  // namespace kp

// A part of the rows, and what became of it.
struct KpPart {
    std::vector<std::int32_t> rows, group;
    std::int32_t groups = 0;
};

// Groups that are there already, cut into shards between groups by the first row of each.
inline std::vector<KpPart> parts_of_groups(const std::int32_t* group, std::int64_t rows, std::int64_t shard) {
    std::vector<std::int32_t> number, sizes, part_of, inside;
    for (std::int64_t row = 0; row < rows; ++row) {
        if (group[row] >= static_cast<std::int32_t>(number.size())) number.resize(group[row] + 1, -1);
        if (number[group[row]] < 0) number[group[row]] = static_cast<std::int32_t>(sizes.size()), sizes.push_back(0);
        ++sizes[number[group[row]]];
    }
    std::vector<KpPart> parts;
    std::int64_t filled = shard;
    for (const std::int32_t size : sizes) {
        if (filled >= shard) parts.emplace_back(), filled = 0;
        part_of.push_back(static_cast<std::int32_t>(parts.size()) - 1);
        inside.push_back(parts.back().groups++);
        filled += size;
    }
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int32_t g = number[group[row]];
        parts[part_of[g]].rows.push_back(static_cast<std::int32_t>(row));
        parts[part_of[g]].group.push_back(inside[g]);
    }
    return parts;
}

// Rows of one cluster each, cut where they are many; their groups are built anew.
inline std::vector<KpPart> parts_of_clusters(const std::int32_t* cluster, std::int64_t rows, std::int64_t shard) {
    std::vector<KpPart> parts;
    std::vector<std::int32_t> open;
    for (std::int64_t row = 0; row < rows; ++row) {
        if (cluster[row] >= static_cast<std::int32_t>(open.size())) open.resize(cluster[row] + 1, -1);
        std::int32_t& part = open[cluster[row]];
        if (part < 0 || static_cast<std::int64_t>(parts[part].rows.size()) >= shard)
            part = static_cast<std::int32_t>(parts.size()), parts.emplace_back();
        parts[part].rows.push_back(static_cast<std::int32_t>(row));
    }
    return parts;
}

// Afterwards every group keeps the limit and has at least k rows; rows that fit nowhere have the group -1. Parts run
// side by side: the answer depends on the seed and never on the number of threads.
inline std::vector<std::int32_t> kp_improve(const Csr& data, const Csr& secret, std::vector<KpPart> parts,
                                            const KpImproveOptions& options, int threads, Monitor& monitor) {
    parallel_for(static_cast<std::int64_t>(parts.size()), threads, monitor, [&](std::int64_t i, int) {
        KpPart& part = parts[i];
        kp::Shard shard(data, secret, part.rows, std::move(part.group), part.groups, options,
                        static_cast<std::uint64_t>(i), monitor);
        part.group = shard.solve();
        part.groups = shard.groups();
    });
    std::vector<std::int32_t> out(data.rows, -1);
    std::int32_t before = 0;
    for (const KpPart& part : parts) {
        for (std::size_t i = 0; i < part.rows.size(); ++i)
            if (part.group[i] >= 0) out[part.rows[i]] = before + part.group[i];
        before += part.groups;
    }
    return out;
}

}  // namespace anonset
