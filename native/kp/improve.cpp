// Groups of counts in unary code that are made to keep a limit on sensitive attributes, and improved while they keep
// it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/random.hpp"
#include "kp/candidate_groups.hpp"
#include "kp/groups.hpp"
#include "kp/parts.hpp"
#include "kp/seed.hpp"

namespace anonset::kp {

namespace {

class Improver {
  public:
    Improver(Groups& groups, const ImproveOptions& options, std::uint64_t stream, Monitor& monitor)
        : groups_(groups),
          options_(options),
          monitor_(monitor),
          random_(options.seed, stream),
          candidates_(groups, monitor) {}

    // Each step stands here once: all of it is compiled for every width and processor.
    template <int Fixed>
    ANONSET_INLINE void run() {
        if (groups_.count() < 2) return;
        const bool dense = options_.dense;
        const std::int64_t rounds = dense ? 1 : static_cast<std::int64_t>(options_.proposals);
        std::int64_t round = 0;
        do {
            candidates_.find<Fixed>(dense);
            if (round == 0) {
                repair_all<Fixed>();
                take_in<Fixed>();
            }
            if (round == rounds) break;
            dissolve<Fixed>();
            dense ? anneal<Fixed>() : reassign<Fixed>();
        } while (++round < rounds);
        take_in<Fixed>();
    }

    // Members of groups that have too many holders leave until they have not; a group of fewer than k is given up.
    void evict() {
        for (std::int32_t g = 0; g < groups_.count(); ++g) {
            while (groups_.is_over(g) && !groups_.members(g).empty()) groups_.leave(worst_of(g));
            if (groups_.people(g) >= groups_.k()) continue;
            while (!groups_.members(g).empty()) groups_.leave(groups_.members(g).back());
        }
    }

    // A row without a group joins, of all that can take it, the one where it gains most.
    template <int Fixed>
    ANONSET_INLINE void settle() {
        for (std::int32_t t = 0; t < groups_.size(); ++t) {
            if (groups_.group(t) >= 0) continue;
            monitor_.check();
            std::int32_t best = INT32_MIN, host = -1;
            for (std::int32_t h = 0; h < groups_.count(); ++h) {
                if (groups_.members(h).empty()) continue;
                const std::int32_t gain = groups_.join_gain<Fixed>(t, h);
                if (gain > best && groups_.may_join(t, h)) best = gain, host = h;
            }
            if (host >= 0) groups_.join(t, host);
        }
    }

  private:
    static constexpr int REPAIRS = 3;
    static constexpr std::int32_t ANYWHERE = 8;  // groups that the last of them looks at
    static constexpr std::uint32_t TRIED = 2;    // candidates among which a random change chooses

    // Groups with too many holders swap them away, each for the row nearby, or anywhere, that costs least.
    template <int Fixed>
    ANONSET_INLINE void repair_all() {
        for (int round = 0; round < REPAIRS; ++round)
            for (std::int32_t g = 0; g < groups_.count(); ++g) {
                if ((g & 255) == 0) monitor_.check();
                for (std::size_t i = 0; i < groups_.members(g).size() && groups_.is_over(g); ++i) {
                    const std::int32_t t = groups_.members(g)[i];
                    if (groups_.held_beyond(t) > 0) repair<Fixed>(t, g, round == REPAIRS - 1);
                }
            }
    }

    template <int Fixed>
    ANONSET_INLINE void repair(std::int32_t t, std::int32_t g, bool anywhere) {
        std::int32_t best = INT32_MIN, partner = -1;
        for (std::int32_t i = 0; i < (anywhere ? ANYWHERE : CANDIDATES); ++i) {
            const std::int32_t h = anywhere ? groups_.group(static_cast<std::int32_t>(
                                                  random_.below(static_cast<std::uint32_t>(groups_.size()))))
                                            : candidates_.candidate(t, i);
            if (h < 0 || h == g) continue;
            const std::size_t looked = std::min<std::size_t>(groups_.members(h).size(), 16);
            for (std::size_t j = 0; j < looked; ++j) {
                const std::int32_t u = groups_.members(h)[j], excess = groups_.swap_excess(t, u);
                if (excess >= 0) continue;
                const std::int32_t gain = groups_.swap_gain<Fixed>(t, u) - 4 * excess;
                if (gain > best) best = gain, partner = u;
            }
        }
        if (partner >= 0) groups_.exchange(t, partner);
    }

    // Every row without a group joins, of those that can take it, the one where it gains most.
    template <int Fixed>
    ANONSET_INLINE void take_in() {
        for (std::int32_t t = 0; t < groups_.size(); ++t) {
            if (groups_.group(t) >= 0) continue;
            const std::int32_t host = best_host<Fixed>(t, -1).second;
            if (host >= 0) groups_.join(t, host);
        }
    }

    // What a row gains in the group that suits it best, can take it and is not `except`; and that group.
    template <int Fixed>
    ANONSET_INLINE std::pair<std::int32_t, std::int32_t> best_host(std::int32_t t, std::int32_t except) const {
        std::int32_t best = INT32_MIN, host = -1;
        for (std::int32_t i = 0; i < CANDIDATES; ++i) {
            const std::int32_t h = candidates_.candidate(t, i);
            if (h < 0 || h == except || h == host || groups_.members(h).empty()) continue;
            const std::int32_t gain = groups_.join_gain<Fixed>(t, h);
            if (gain > best && groups_.may_join(t, h)) best = gain, host = h;
        }
        return {best, host};
    }

    // Groups whose members would gain more elsewhere are dissolved, the poorest first.
    template <int Fixed>
    ANONSET_INLINE void dissolve() {
        std::vector<std::int32_t> gains(groups_.count()), order(groups_.count());
        for (std::int32_t g = 0; g < groups_.count(); ++g) gains[g] = groups_.gain_of(g);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return gains[a] * groups_.people(b) < gains[b] * groups_.people(a);
        });
        for (const std::int32_t g : order) {
            if (groups_.members(g).empty() || groups_.people(g) > 3 * groups_.k() || !worth_leaving<Fixed>(g)) continue;
            const std::vector<std::int32_t> leaving = groups_.members(g);
            for (const std::int32_t t : leaving) groups_.leave(t);
            for (const std::int32_t t : leaving) {
                const std::int32_t host = best_host<Fixed>(t, g).second;
                if (host >= 0) groups_.join(t, host);
            }
        }
    }

    template <int Fixed>
    ANONSET_INLINE bool worth_leaving(std::int32_t g) const {
        std::int32_t elsewhere = 0;
        for (const std::int32_t t : groups_.members(g)) {
            const auto [gain, host] = best_host<Fixed>(t, g);
            if (host < 0) return false;
            elsewhere += gain;
        }
        return elsewhere > groups_.gain_of(g);
    }

    // A random row t and one of its candidates h: the best of moving t to h and of swapping it with a few members of h,
    // if no holder beyond the limit comes of it; accepted as in simulated annealing.
    template <int Fixed>
    ANONSET_INLINE void anneal() {
        const auto total = static_cast<std::int64_t>(options_.proposals * groups_.size());
        const double cooling = total ? std::pow(options_.cold / options_.hot, 1.0 / static_cast<double>(total)) : 1;
        double temperature = options_.hot;
        for (std::int64_t step = 0; step < total; ++step, temperature *= cooling) {
            if ((step & 4095) == 0) monitor_.check();
            const auto t = static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(groups_.size())));
            const std::int32_t g = groups_.group(t);
            const std::int32_t h = candidates_.candidate(t, static_cast<std::int32_t>(random_.below(TRIED)));
            if (g < 0 || h < 0 || g == h || groups_.members(h).empty()) continue;
            std::int32_t best = INT32_MIN;
            const std::int32_t partner = random_partner<Fixed>(t, h, best);
            bool moves = false;
            if (groups_.people(g) > groups_.k()) {
                const std::int32_t gain = groups_.move_gain<Fixed>(t, h);
                if (gain > best && groups_.may_move(t, h)) best = gain, moves = true;
            }
            if (best == INT32_MIN || best < temperature * logarithm()) continue;
            moves ? groups_.move(t, h) : groups_.exchange(t, partner);
        }
    }

    template <int Fixed>
    ANONSET_INLINE std::int32_t random_partner(std::int32_t t, std::int32_t h, std::int32_t& best) {
        std::int32_t partner = -1;
        const auto& others = groups_.members(h);
        for (std::int64_t i = 0; i < options_.partners; ++i) {
            const std::int32_t u = others[random_.below(static_cast<std::uint32_t>(others.size()))];
            const std::int32_t gain = groups_.swap_gain<Fixed>(t, u);
            if (gain > best && groups_.swap_excess(t, u) <= 0) best = gain, partner = u;
        }
        return partner;
    }

    double logarithm() { return std::log((static_cast<double>(random_.next() >> 40) + 0.5) / double(1 << 24)); }

    // Every row moves to the group where it gains most, if its own can spare it, or else swaps with a row there.
    template <int Fixed>
    ANONSET_INLINE void reassign() {
        for (std::int32_t t = 0; t < groups_.size(); ++t) {
            if ((t & 1023) == 0) monitor_.check();
            const std::int32_t g = groups_.group(t);
            if (g < 0) continue;
            const bool spare = groups_.people(g) > groups_.k();
            std::int32_t best = 0, partner = -1, host = -1;
            for (std::int32_t i = 0; i < CANDIDATES; ++i) {
                const std::int32_t h = candidates_.candidate(t, i);
                if (h < 0 || h == g || groups_.members(h).empty()) continue;
                const std::int32_t moved = groups_.move_gain<Fixed>(t, h);
                if (spare && moved > best && groups_.may_move(t, h)) best = moved, host = h;
                if (spare || moved <= 0) continue;  // a row that gains nothing by moving is hardly worth a swap
                for (std::size_t j = 0; j < std::min<std::size_t>(groups_.members(h).size(), 8); ++j) {
                    const std::int32_t u = groups_.members(h)[j], gain = groups_.swap_gain<Fixed>(t, u);
                    if (gain > best && groups_.swap_excess(t, u) <= 0) best = gain, partner = u, host = h;
                }
            }
            if (host < 0) continue;
            partner >= 0 ? groups_.exchange(t, partner) : groups_.move(t, host);
        }
    }

    // Who holds most of what is too frequent.
    std::int32_t worst_of(std::int32_t g) const {
        std::int32_t worst = groups_.members(g)[0];
        for (const std::int32_t r : groups_.members(g))
            if (groups_.held_beyond(r) > groups_.held_beyond(worst)) worst = r;
        return worst;
    }

    Groups& groups_;
    ImproveOptions options_;
    Monitor& monitor_;
    Random random_;
    CandidateGroups candidates_;
};

// Groups from nothing where a part has none, and better ones.
template <int Fixed>
ANONSET_INLINE void solve_with(Groups& groups, Improver& improver, const Part& part, Monitor& monitor) {
    if (part.groups == 0) {
        Seeder seeder(groups, monitor);
        const std::int32_t count = seeder.run<Fixed>();
        groups.build(seeder.take(), count);
    } else {
        groups.build(part.group, part.groups);
    }
    improver.run<Fixed>();
    improver.evict();
    improver.settle<Fixed>();
}

ANONSET_CLONES void solve(Groups& groups, Improver& improver, const Part& part, Monitor& monitor) {
    switch (groups.words()) {
        case 1:
            return solve_with<1>(groups, improver, part, monitor);
        case 2:
            return solve_with<2>(groups, improver, part, monitor);
        default:
            return solve_with<0>(groups, improver, part, monitor);
    }
}

}  // namespace

std::vector<std::int32_t> improve_groups(const Csr& data, const Csr& secret, const std::int32_t* group,
                                         const ImproveOptions& options, int threads, Monitor& monitor) {
    std::vector<Part> parts = options.build ? parts_of_clusters(group, data.rows, options.shard)
                                            : parts_of_groups(group, data.rows, options.shard);
    parallel_for(static_cast<std::int64_t>(parts.size()), threads, monitor, [&](std::int64_t i, int) {
        Part& part = parts[i];
        Groups groups(data, secret, part.rows, options.k, options.limit);
        Improver improver(groups, options, static_cast<std::uint64_t>(i), monitor);
        solve(groups, improver, part, monitor);
        part.group = groups.all();
        part.groups = groups.count();
    });
    std::vector<std::int32_t> out(data.rows, -1);
    std::int32_t before = 0;
    for (const Part& part : parts) {
        for (std::size_t i = 0; i < part.rows.size(); ++i)
            if (part.group[i] >= 0) out[part.rows[i]] = before + part.group[i];
        before += part.groups;
    }
    return out;
}

}  // namespace anonset::kp
