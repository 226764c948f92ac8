// `crowd` for sparse data: many items, short rows. Groups grow around seeds from inverted lists; then whole groups
// are dissolved, rows move or swap, and new groups form out of rows that others can spare.
//
// Searching runs in parallel on a state that stands still; changes are applied one after the other, each only if it
// still gains. So the answer does not depend on the number of threads, and every group always has at least k rows.
#pragma once

#include <cmath>
#include <stdexcept>
#include <utility>

#include "crowd_index.hpp"
#include "crowd_result.hpp"
#include "crowd_start.hpp"
#include "monitor.hpp"
#include "random.hpp"

namespace anonset {

struct CrowdSparseOptions {
    std::int64_t k;
    std::int64_t visits;   // entries of inverted lists that growing may look at, per row
    std::int64_t rounds;   // of dissolving and improving
    std::int64_t regroup;  // every so many rounds new groups form; 0: never
    std::int64_t cycles;   // of annealing after the rounds; each looks up groups to go to, and ends with new groups
    double proposals;      // per row, in all cycles together
    double hot, cold;      // temperatures of the first and the last proposal
    std::uint64_t seed;
    std::int64_t part;  // rows among which groups grow
    double grown;       // the share of rows that groups grow from; the others join them. 0: groups begin as runs of k
    bool thin;          // whether groups are dissolved once before any round
    bool recent;        // whether later rounds look only at groups that changed in the one before
};

namespace crowd {

// One part of the data, solved with all threads.
class SparseShard {
  public:
    SparseShard(const Csr& rows, std::int32_t n_items, const CrowdSparseOptions& options, int threads, Monitor& monitor)
        : n_items_(n_items),
          k_(static_cast<std::int32_t>(options.k)),
          options_(options),
          threads_(threads),
          monitor_(monitor),
          groups_(rows, n_items),
          scratch_(thread_count(threads)) {
        for (Scratch& scratch : scratch_) scratch.table.prepare(n_items);
    }

    CrowdResult solve() {
        anchor();
        options_.grown > 0 ? grow() : cut();
        settle();
        if (options_.thin) {
            look_around(0);
            dissolve();
        }
        for (std::int64_t round = 1; round <= options_.rounds; ++round) {
            if (polish() == 0) break;
            if (options_.regroup > 0 && round % options_.regroup == 0) regroup();
        }
        for (std::int64_t cycle = 0; cycle < options_.cycles; ++cycle) {
            look_around(CHOICES);
            anneal(cycle);
            polish();
            regroup();
        }
        if (options_.cycles > 0) polish();
        return result();
    }

  private:
    // The number of changes.
    std::int64_t polish() {
        look_around(0);
        const std::int64_t dissolved = dissolve();
        return dissolved + improve();
    }

    std::int32_t rows() const { return static_cast<std::int32_t>(groups_.rows().rows); }

    static constexpr std::int32_t CHOICES = 6;

    struct Scratch {
        Scores scores;
        SwapTable table;
    };

    template <class Body>
    void in_parallel(std::int64_t tasks, Body&& body) {
        parallel_for(
            tasks, threads_, monitor_, [&](std::int64_t task, int worker) { body(task, scratch_[worker]); }, 64);
    }

    Target best(std::int32_t row, std::int32_t except, Scratch& scratch) const {
        return index_.best(groups_.rows(), row, except, scratch.scores);
    }

    // k equal rows are a group that loses nothing.
    void anchor() {
        for (std::int32_t from = 0, to; from < rows(); from = to) {
            to = end_of_equals(groups_.rows(), from);
            if (to - from < k_) continue;
            std::vector<std::int32_t> members(to - from);
            std::iota(members.begin(), members.end(), from);
            groups_.found(members);
        }
    }

    std::vector<std::int32_t> without_group() const {
        std::vector<std::int32_t> waiting;
        for (std::int32_t r = 0; r < rows(); ++r)
            if (groups_.of(r) < 0) waiting.push_back(r);
        return waiting;
    }

    void cut() {
        for_runs(without_group(), k_, [&](const std::vector<std::int32_t>& run) { groups_.found(run); });
    }

    void grow() {
        const std::vector<std::int32_t> waiting = without_group();
        const auto count = static_cast<std::int64_t>(waiting.size());
        const std::int64_t parts = std::max<std::int64_t>(1, count / options_.part);
        std::vector<std::vector<std::vector<std::int32_t>>> grown(parts);
        parallel_for(parts, threads_, monitor_, [&](std::int64_t part, int) {
            const std::int64_t from = count * part / parts, to = count * (part + 1) / parts;
            Grower grower(groups_.rows(), waiting.data() + from, static_cast<std::int32_t>(to - from), n_items_, k_,
                          options_.visits);
            auto anybody = [](std::int32_t) { return true; };
            grower.run(options_.grown, monitor_, anybody, [&](const std::vector<std::int32_t>& members) {
                grown[part].push_back(members);
                return true;
            });
        });
        for (const auto& part : grown)
            for (const auto& members : part) groups_.found(members);
    }

    // Every row without a group joins the one that suits it best, or the crowd that publishes nothing.
    void settle() {
        const std::vector<std::int32_t> waiting = without_group();
        std::vector<std::int32_t> rest;
        if (waiting.empty()) return;
        index_.build(groups_, 0);
        std::vector<Target> targets(waiting.size());
        in_parallel(static_cast<std::int64_t>(waiting.size()),
                    [&](std::int64_t i, Scratch& scratch) { targets[i] = best(waiting[i], -1, scratch); });
        std::vector<std::vector<std::int32_t>> newcomers(groups_.count());
        for (std::size_t i = 0; i < waiting.size(); ++i)
            (targets[i].group >= 0 && targets[i].gain > 0 ? newcomers[targets[i].group] : rest).push_back(waiting[i]);
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (!newcomers[g].empty()) groups_.join(newcomers[g], g);
        if (static_cast<std::int32_t>(rest.size()) >= k_ || groups_.count() == 0) {
            if (!rest.empty()) groups_.found_silent(rest);
            return;
        }
        index_.build(groups_, 0);
        for (const std::int32_t r : rest) {
            const Target target = best(r, -1, scratch_[0]);
            groups_.join(r, target.group >= 0 ? target.group : 0);
        }
    }

    // For every row the group that suits it best, other than its own, and some more that are nearly as good. Without
    // those a row that keeps all its items need not look, and may hold on to what it found before: then only groups
    // that have changed since are looked at.
    void look_around(std::int32_t choices) {
        const bool again = options_.recent && choices == 0 && !targets_.empty();
        since_ = again ? looked_ : 0;
        index_.build(groups_, since_);
        looked_ = groups_.tick();
        if (!again) targets_.assign(rows(), Target());
        choices_.assign(std::int64_t{rows()} * choices, -1);
        in_parallel(rows(), [&](std::int64_t r, Scratch& scratch) {
            const auto row = static_cast<std::int32_t>(r);
            const std::int32_t stays = -groups_.leaving(row);
            const Target known = still_good(targets_[r], row);
            targets_[r] = Target();
            if (choices == 0 && stays >= groups_.rows().size(row)) return;
            targets_[r] = best(row, groups_.of(row), scratch);
            if (known.gain > targets_[r].gain) targets_[r] = known;
            targets_[r].more = targets_[r].group < 0 ? 0 : targets_[r].gain - stays;
            if (choices == 0 || targets_[r].group < 0) return;
            std::int32_t* mine = choices_.data() + r * choices;
            mine[0] = groups_.of(row);  // the way back
            index_.good(scratch.scores, row, std::max(targets_[r].gain - 2, stays - 3), choices - 1, mine + 1);
        });
    }

    // What a row found before, if nothing has changed there.
    Target still_good(const Target& target, std::int32_t row) const {
        const std::int32_t g = target.group;
        return g < 0 || g == groups_.of(row) || groups_[g].size() == 0 || groups_[g].changed >= since_ ? Target()
                                                                                                       : target;
    }

    // Proposals as for dense data: a random row t and one of the groups that suit it; the move, or where its group
    // cannot spare it the best of some swaps, accepted as in simulated annealing.
    void anneal(std::int64_t cycle) {
        Random random(options_.seed, static_cast<std::uint64_t>(cycle));
        const auto cycles = static_cast<double>(options_.cycles);
        const auto proposals = static_cast<std::int64_t>(options_.proposals * rows() / cycles);
        const double cooling = std::pow(options_.cold / options_.hot, 1 / (cycles * static_cast<double>(proposals)));
        double temperature = options_.hot * std::pow(options_.cold / options_.hot, static_cast<double>(cycle) / cycles);
        for (std::int64_t step = 0; step < proposals; ++step, temperature *= cooling) {
            if ((step & 1023) == 0) monitor_.check();
            const auto t = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(rows())));
            const std::int32_t h = choices_[std::int64_t{t} * CHOICES + random.below(CHOICES)];
            if (h < 0 || h == groups_.of(t) || groups_[h].size() == 0) continue;
            const bool frozen = cycle + 1 == options_.cycles && 5 * step >= 4 * proposals;
            const double least = frozen ? 0 : temperature * std::log(random.uniform() + 1e-9);
            change(t, h, least, random.next());
        }
    }

    void change(std::int32_t t, std::int32_t h, double least, std::uint64_t draw) {
        const std::int32_t alone = groups_.joining(t, h) + groups_.leaving(t);
        if (groups_[groups_.of(t)].size() > k_) {
            if (alone >= least) make(t, h, -1, alone);
            return;
        }
        if (alone < 0) return;  // such a swap hardly ever gains
        SwapTable& table = scratch_[0].table;
        const auto& others = groups_[h].members;
        std::int32_t most = INT32_MIN, partner = -1;
        groups_.open(t, h, table);
        for (std::size_t i = 0, at = draw % others.size(); i < std::min<std::size_t>(others.size(), 8); ++i) {
            const std::int32_t gain = groups_.swapping(others[at], table);
            if (gain > most) most = gain, partner = others[at];
            if (++at == others.size()) at = 0;
        }
        groups_.close(t, h, table);
        if (most >= least) make(t, h, partner, most);
    }

    // t moves to h, or swaps with a partner there; `gain` is what that was promised to gain.
    void make(std::int32_t t, std::int32_t h, std::int32_t partner, [[maybe_unused]] std::int32_t gain) {
        const std::int32_t g = groups_.of(t);
        [[maybe_unused]] std::int64_t change = groups_.leave(t);
        if (partner >= 0) {
            change += groups_.leave(partner);
            change += groups_.join(partner, g);
        }
        change += groups_.join(t, h);
#ifdef ANONSET_DEBUG_CHECKS
        if (change != gain || groups_[g].size() < k_)
            throw std::logic_error("crowd: a change gained other than foretold");
#endif
    }

    // Groups whose members would gain more elsewhere are dissolved, the poorest first.
    std::int64_t dissolve() {
        std::vector<std::int32_t> order;
        for (std::int32_t g = 0; g < groups_.count(); ++g) {
            if (groups_[g].size() == 0 || groups_[g].size() > 8 * k_) continue;
            std::int64_t elsewhere = 0;
            for (const std::int32_t r : groups_[g].members)
                elsewhere += targets_[r].group < 0 ? INT32_MIN : targets_[r].gain;
            if (elsewhere > groups_[g].gain) order.push_back(g);
        }
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return groups_[a].gain * groups_[b].size() < groups_[b].gain * groups_[a].size();
        });
        std::int64_t changes = 0;
        for (const std::int32_t g : order) {
            monitor_.check();
            changes += dissolve(g);
        }
        return changes;
    }

    // Groups may have changed since the search, and members may be in each other's way, so what is gained is counted
    // again; if it is nothing, everything is as before.
    bool dissolve(std::int32_t g) {
        std::int64_t change = -groups_[g].gain;
        for (const std::int32_t r : groups_[g].members)
            if (targets_[r].group < 0 || targets_[r].group == g || groups_[targets_[r].group].size() == 0) return false;
        const std::vector<std::int32_t> members = groups_.disband(g);
        for (const std::int32_t r : members) change += groups_.join(r, targets_[r].group);
        if (change > 0) return true;
        for (const std::int32_t r : members) groups_.leave(r);
        groups_.restore(g, members);
        return false;
    }

    // Every row that would gain in the group that suits it best moves there if its own can spare it, or swaps with a
    // row there, whichever gains more.
    std::int64_t improve() {
        std::int64_t changes = 0;
        for (std::int32_t r = 0; r < rows(); ++r) {
            if ((r & 1023) == 0) monitor_.check();
            const std::int32_t h = targets_[r].group;
            if (h >= 0 && h != groups_.of(r) && groups_[h].size() > 0 && !in_vain(r, h)) changes += improve(r, h);
        }
        return changes;
    }

    // Whether r cannot gain in h, because it would not have when it looked, or failed in the round before, and nothing
    // has changed since there or in its own group.
    bool in_vain(std::int32_t r, std::int32_t h) const {
        const std::int64_t changed = std::max(groups_[h].changed, groups_[groups_.of(r)].changed);
        return (targets_[r].more <= 0 && changed < looked_) || (options_.recent && changed < since_);
    }

    bool improve(std::int32_t r, std::int32_t h) {
        const std::int32_t g = groups_.of(r), alone = groups_.joining(r, h) + groups_.leaving(r);
        if (alone <= 0) return false;
        std::int32_t most = 0, partner = -1;
        if (groups_[g].size() > k_) most = alone;
        SwapTable& table = scratch_[0].table;
        groups_.open(r, h, table);
        const auto& others = groups_[h].members;
        for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 24); ++i) {
            const std::int32_t gain = groups_.swapping(others[i], table);
            if (gain > most) most = gain, partner = others[i];
        }
        groups_.close(r, h, table);
        if (most > 0) make(r, h, partner, most);
        return most > 0;
    }

    // New groups out of the rows that the present ones can spare, those that gain least there; a new group stands
    // only if it gains more than its members were worth.
    std::int64_t regroup() {
        std::vector<std::int32_t> pool;
        std::vector<std::pair<std::int32_t, std::int32_t>> worth;
        for (std::int32_t g = 0; g < groups_.count(); ++g) {
            const std::int32_t spare = groups_[g].size() - k_;
            if (spare <= 0) continue;
            worth.clear();
            for (const std::int32_t r : groups_[g].members) worth.emplace_back(-groups_.leaving(r), r);
            std::sort(worth.begin(), worth.end());
            for (std::int32_t i = 0; i < spare; ++i) pool.push_back(worth[i].second);
        }
        std::sort(pool.begin(), pool.end());
        std::int64_t changes = 0;
        Grower grower(groups_.rows(), pool.data(), static_cast<std::int32_t>(pool.size()), n_items_, k_,
                      options_.visits);
        // A row that keeps most of its items where it is need not found a group, though it may join one.
        auto poor = [&](std::int32_t r) { return -2 * groups_.leaving(r) < groups_.rows().size(r); };
        grower.run(1.0, monitor_, poor, [&](const std::vector<std::int32_t>& members) {
            std::int64_t worth_there = groups_.gain_of(members);
            for (const std::int32_t r : members) worth_there += groups_.leaving(r);
            if (worth_there <= 0) return false;
            for (const std::int32_t r : members) groups_.leave(r);
            groups_.found(members);
            ++changes;
            return true;
        });
        return changes;
    }

    // Groups are numbered in the order of their first rows.
    CrowdResult result() {
        CrowdResult out;
        out.group.resize(rows());
        std::vector<std::int32_t> number(groups_.count(), -1);
        for (std::int32_t r = 0; r < rows(); ++r) {
            std::int32_t& mine = number[groups_.of(r)];
            if (mine < 0) {
                mine = static_cast<std::int32_t>(out.offsets.size()) - 1;
                groups_.append_center(groups_.of(r), out.items);
                out.offsets.push_back(static_cast<std::int64_t>(out.items.size()));
            }
            out.group[r] = mine;
        }
        return out;
    }

    std::int32_t n_items_, k_;
    CrowdSparseOptions options_;
    int threads_;
    Monitor& monitor_;
    Groups groups_;
    Index index_;
    std::vector<Target> targets_;
    std::int64_t looked_ = 0, since_ = 0;  // when groups were last looked at, and the time before
    std::vector<std::int32_t> choices_;    // CHOICES groups per row
    std::vector<Scratch> scratch_;
};

}  // namespace crowd

// All parts, one after the other; groups are numbered through all of them. Each part is freed once it is copied.
inline CrowdResult joined(std::vector<CrowdResult>&& parts) {
    std::size_t rows = 0, groups = 1, items = 0;
    for (const CrowdResult& part : parts) {
        rows += part.group.size();
        groups += part.offsets.size() - 1;
        items += part.items.size();
    }
    CrowdResult all;
    all.group.reserve(rows);
    all.offsets.reserve(groups);
    all.items.reserve(items);
    for (CrowdResult& slot : parts) {
        const CrowdResult part = std::exchange(slot, CrowdResult());
        const auto before = static_cast<std::int32_t>(all.offsets.size()) - 1;
        const auto first = static_cast<std::int64_t>(all.items.size());
        for (const std::int32_t g : part.group) all.group.push_back(before + g);
        for (std::size_t g = 1; g < part.offsets.size(); ++g) all.offsets.push_back(first + part.offsets[g]);
        all.items.insert(all.items.end(), part.items.begin(), part.items.end());
    }
    return all;
}

// Groups of at least k for rows in Gray order. Shards keep the cost linear; one shard uses all threads, several run
// side by side.
inline CrowdResult crowd_sparse(const Csr& data, std::int32_t n_items, const CrowdSparseOptions& options,
                                std::int64_t wanted, int threads, Monitor& monitor) {
    const std::int64_t shards = std::max<std::int64_t>(1, std::min(wanted, data.rows / (2 * options.k)));
    const int inside = shards == 1 ? threads : 1;
    std::vector<CrowdResult> parts(shards);
    auto bound = [&](std::int64_t shard) { return data.rows * shard / shards; };
    auto solve = [&](std::int64_t shard, int) {
        const Csr rows{data.offsets + bound(shard), data.items, bound(shard + 1) - bound(shard)};
        CrowdSparseOptions own = options;
        own.seed = Random(options.seed, static_cast<std::uint64_t>(shard)).next();
        parts[shard] = crowd::SparseShard(rows, n_items, own, inside, monitor).solve();
    };
    if (shards == 1) {
        solve(0, 0);
        return std::move(parts[0]);
    }
    parallel_for(shards, threads, monitor, solve);
    return joined(std::move(parts));
}

}  // namespace anonset
