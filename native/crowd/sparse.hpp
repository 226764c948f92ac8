// `crowd` for sparse data: many items, short rows. Groups begin as the best that can be found around each row; then
// whole groups are dissolved, rows move or swap, and relays of rows change places.
//
// Searching runs in parallel on a state that stands still; changes are applied one after the other, each only if it
// still gains. So the answer does not depend on the number of threads, and every group always has at least k rows.
#pragma once

#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/monitor.hpp"
#include "core/rows.hpp"
#include "crowd/augmenting_path.hpp"
#include "crowd/best_first.hpp"
#include "crowd/frequent_items.hpp"
#include "crowd/groups.hpp"
#include "crowd/index.hpp"
#include "crowd/result.hpp"
#include "pta/baseline.hpp"

namespace anonset {

struct CrowdSparseOptions {
    crowd::BestFirstOptions start;
    std::int64_t part;    // rows among which groups begin
    std::int64_t rounds;  // of dissolving and improving
    bool open;            // whether rows that their groups can spare form new ones after these
    bool recent;          // whether later rounds look only at groups that changed in the one before
    std::int64_t relays;  // rounds in which rows change groups in relays
    std::int64_t after;   // rounds of dissolving and improving after each of these
    std::int64_t passes;  // of such a round, at most
    std::int64_t block;   // groups among which relays are run
};

namespace crowd {

// One part of the data, solved with all threads.
class SparseShard {
  public:
    SparseShard(const Csr& rows, std::int32_t n_items, const CrowdSparseOptions& options, int threads, Monitor& monitor)
        : n_items_(n_items),
          k_(options.start.k),
          options_(options),
          threads_(threads),
          monitor_(monitor),
          groups_(rows, n_items, threads, !without(Mechanism::forgetful)),
          scratch_(thread_count(threads)) {
        for (Scratch& scratch : scratch_) scratch.table.prepare(n_items);
    }

    // Calls aside(task) for other tasks, too, where threads would have nothing to do: beside the parts in which groups
    // begin, or beside the last changes, which are made one after the other.
    template <class Aside>
    CrowdResult solve(std::int64_t others, Aside&& aside) {
        const bool waits = looks_once();
        begin(waits ? 0 : others, aside);
        settle();
        if (waits) {
            look_around();
        } else {
            polish(options_.rounds);
            if (options_.open) open();
            for (std::int64_t round = 0; round < options_.relays && relay() > 0; ++round) polish(options_.after);
        }
        CrowdResult out;
        parallel_for(1 + (waits ? others : 0), threads_, monitor_, [&](std::int64_t task, int) {
            if (task > 0) return aside(task - 1);
            if (waits) change();
            out = result();
            groups_.clear();
        });
        return out;
    }

  private:
    bool looks_once() const { return options_.rounds == 1 && options_.relays == 0; }
    // As long as something changes.
    void polish(std::int64_t rounds) {
        for (std::int64_t changes = 1; rounds > 0 && changes > 0; --rounds) {
            look_around();
            changes = change();
        }
    }
    // Returns the number of changes.
    std::int64_t change() {
        const std::int64_t dissolved = dissolve();
        return dissolved + improve();
    }

    std::int32_t rows() const { return static_cast<std::int32_t>(groups_.rows().rows); }

    struct Scratch {
        Scores scores;
        SwapTable table;
    };

    static constexpr std::int64_t GRAIN = 64;  // tasks that a thread does one after the other
    static constexpr std::int32_t WAITS = -2;  // instead of the group of a target
    static constexpr std::int32_t LARGE = 8;  // times k rows are a group that is not dissolved, nor asked what it holds

    template <class Body>
    void in_parallel(std::int64_t tasks, Body&& body) {
        parallel_for(
            tasks, threads_, monitor_, [&](std::int64_t task, int worker) { body(task, scratch_[worker]); }, GRAIN);
    }

    // The group that suits a row best, other than its own if it has one.
    Target best(std::int32_t row, Scratch& scratch) const {
        std::int32_t own;
        index_.list(groups_.rows(), row, scratch.scores);
        return index_.best(groups_.of(row), scratch.scores, own);
    }

    std::int64_t parts() const { return std::max<std::int64_t>(1, rows() / options_.part); }

    // Parts of the Gray order side by side, or one part with all threads.
    template <class Aside>
    void begin(std::int64_t others, Aside&& aside) {
        const std::int64_t parts = this->parts();
        const std::vector<std::int64_t> bounds = even_stretches(groups_.rows(), parts, 0);
        struct Found {
            std::vector<std::int32_t> rows;
            std::vector<std::int64_t> ends;
        };
        std::vector<Found> found(parts);
        const int inside = parts == 1 ? threads_ : 1;
        parallel_for(parts + others, threads_, monitor_, [&](std::int64_t part, int) {
            if (part >= parts) return aside(part - parts);
            const std::int64_t from = bounds[part];
            const Csr here{groups_.rows().offsets + from, groups_.rows().items, bounds[part + 1] - from};
            BestFirst(here, n_items_, options_.start, inside, monitor_)
                .run([&](const std::vector<std::int32_t>& members) {
                    for (const std::int32_t row : members)
                        found[part].rows.push_back(row + static_cast<std::int32_t>(from));
                    found[part].ends.push_back(static_cast<std::int64_t>(found[part].rows.size()));
                });
        });
        for (std::int64_t part = 1; part < parts; ++part) {
            const auto before = static_cast<std::int64_t>(found[0].rows.size());
            for (const std::int64_t end : found[part].ends) found[0].ends.push_back(before + end);
            found[0].rows.insert(found[0].rows.end(), found[part].rows.begin(), found[part].rows.end());
        }
        groups_.found(found[0].rows, found[0].ends, monitor_);
    }

    std::vector<std::int32_t> without_group() const {
        std::vector<std::int32_t> waiting;
        for (std::int32_t r = 0; r < rows(); ++r)
            if (groups_.of(r) < 0) waiting.push_back(r);
        return waiting;
    }

    // Every row without a group joins the one that suits it best, or the crowd that publishes nothing.
    void settle() {
        const std::vector<std::int32_t> waiting = without_group();
        if (waiting.empty()) return;
        index_.build(groups_, 0);
        std::vector<Target> targets(waiting.size());
        in_parallel(static_cast<std::int64_t>(waiting.size()),
                    [&](std::int64_t i, Scratch& scratch) { targets[i] = best(waiting[i], scratch); });

        std::vector<std::int32_t> joining, to, rest;
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            const bool gains = targets[i].group >= 0 && targets[i].gain > 0;
            (gains ? joining : rest).push_back(waiting[i]);
            if (gains) to.push_back(targets[i].group);
        }
        groups_.join(joining, to, monitor_);
        if (static_cast<std::int32_t>(rest.size()) >= k_ || groups_.count() == 0) {
            if (static_cast<std::int32_t>(rest.size()) > LARGE * k_ && !without(Mechanism::silent))
                groups_.found_silent(rest);
            else if (!rest.empty())
                groups_.found(rest);
            return;
        }
        index_.build(groups_, 0);
        for (const std::int32_t r : rest) {
            const Target target = best(r, scratch_[0]);
            groups_.join(r, target.group >= 0 ? target.group : 0);
        }
    }

    // For every row the group that suits it best, other than its own. A row that keeps all its items need not look, nor
    // one that is equal to the row before it, and one may hold on to what it found before: then only groups that have
    // changed since are looked at. A row that cannot gain more anywhere waits: it matters only if the others of its
    // group may gain so much elsewhere that the group is dissolved.
    void look_around() {
        const bool again = options_.recent && !targets_.empty(),
                   waits = (!options_.recent || looks_once()) && !without(Mechanism::waiting);
        since_ = again ? looked_ : 0;
        index_.build(groups_, since_);
        looked_ = groups_.tick();
        if (!again) targets_.assign(rows(), Target());
        in_parallel(rows(), [&](std::int64_t r, Scratch& scratch) {
            const auto row = static_cast<std::int32_t>(r);
            if (r % GRAIN > 0 && groups_.of(r) == groups_.of(r - 1) && equal(groups_.rows(), row - 1, row)) {
                targets_[r] = targets_[r - 1];
                return;
            }
            const Target known = still_good(targets_[r], row);
            targets_[r] = Target();
            if (groups_.keeps_all(row)) return;
            const std::int32_t most = index_.list(groups_.rows(), row, scratch.scores);
            if (waits && most <= groups_[groups_.of(row)].center && most <= -groups_.leaving(row)) {
                targets_[r] = {WAITS, most, 0};
                return;
            }
            std::int32_t score = 0;
            targets_[r] = index_.best(groups_.of(row), scratch.scores, score);
            if (known.gain > targets_[r].gain) targets_[r] = known;
            targets_[r].more = targets_[r].group < 0 ? 0 : targets_[r].gain - staying(row, score);
        });
        weak_.assign(groups_.count(), 0);
        in_parallel(groups_.count(), [&](std::int64_t g, Scratch& scratch) {
            if (!is_weak(groups_[g])) return;
            for (const std::int32_t r : groups_[g].members)
                if (targets_[r].group == WAITS) targets_[r] = best(r, scratch);
            weak_[g] = is_weak(groups_[g]);
        });
    }
    // Whether its members would gain more elsewhere; of those that wait that is what they gain at most.
    bool is_weak(const Group& group) const {
        if (group.size() == 0 || group.size() > LARGE * k_) return false;
        std::int64_t elsewhere = 0;
        for (const std::int32_t r : group.members) elsewhere += targets_[r].group == -1 ? INT32_MIN : targets_[r].gain;
        return elsewhere > group.gain;
    }
    // What a row gains where it is, given the score of its group if the index knows it.
    std::int32_t staying(std::int32_t row, std::int32_t score) const {
        const Group& group = groups_[groups_.of(row)];
        return index_.knows(groups_.of(row)) ? score + group.center - static_cast<std::int32_t>(group.half.size())
                                             : -groups_.leaving(row);
    }

    // What a row found before, if nothing has changed there.
    Target still_good(const Target& target, std::int32_t row) const {
        const std::int32_t g = target.group;
        return g < 0 || g == groups_.of(row) || groups_[g].size() == 0 || groups_[g].changed >= since_ ? Target()
                                                                                                       : target;
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

    // Weak groups are dissolved, the poorest first.
    std::int64_t dissolve() {
        std::vector<std::int32_t> order;
        if (without(Mechanism::dissolving)) return 0;
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (weak_[g]) order.push_back(g);
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

    // Every row that would have gained, when it looked, in the group that suits it best moves there if its own can
    // spare it, or swaps with a row there, whichever gains more.
    std::int64_t improve() {
        std::int64_t changes = 0;
        for (std::int32_t r = 0; r < rows(); ++r) {
            if ((r & 1023) == 0) monitor_.check();
            const std::int32_t h = targets_[r].group;
            if (targets_[r].more > 0 && h != groups_.of(r) && groups_[h].size() > 0 && !in_vain(r, h))
                changes += improve(r, h);
        }
        return changes;
    }

    // Whether r failed in the round before, and nothing has changed since in h or in its own group.
    bool in_vain(std::int32_t r, std::int32_t h) const {
        return options_.recent && std::max(groups_[h].changed, groups_[groups_.of(r)].changed) < since_;
    }

    bool improve(std::int32_t r, std::int32_t h) {
        SwapTable& table = scratch_[0].table;
        groups_.hold(r, table);
        const std::int32_t alone = groups_.moving(r, h, table);
        std::int32_t most = groups_[groups_.of(r)].size() > k_ ? std::max(0, alone) : 0, partner = -1;
        if (alone > 0 && !without(Mechanism::swaps)) {
            groups_.open(r, h, table);
            const auto& others = groups_[h].members;
            for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 24); ++i) {
                const std::int32_t gain = groups_.swapping(others[i], table);
                if (gain > most) most = gain, partner = others[i];
            }
        }
        groups_.close(r, table);
        if (most > 0) make(r, h, partner, most);
        return most > 0;
    }

    // Of each group all but the k rows that gain most there can be spared. Where k of them gain more together than they
    // do now, they form a group, the best first.
    void open() {
        const std::vector<std::int32_t> spare = spare_rows();
        std::vector<std::int32_t> worths;
        for (const std::int32_t row : spare) worths.push_back(worth(row));
        const std::vector<std::int64_t> order(spare.begin(), spare.end());
        const OwnedCsr some =
            take_rows(groups_.rows(), order.data(), static_cast<std::int64_t>(order.size()), threads_, monitor_);
        BestFirstOptions options = options_.start;
        options.every = 1;
        [[maybe_unused]] const std::int64_t before = gain();
        BestFirst(some.view(), n_items_, options, threads_, monitor_, worths.data())
            .run([&](std::vector<std::int32_t> members) {
                for (std::int32_t& row : members) groups_.leave(row = spare[row]);
                groups_.found(members);
            });
#ifdef ANONSET_DEBUG_CHECKS
        if (gain() < before) throw std::logic_error("crowd: new groups gained less than their rows did");
        require_sizes();
#endif
    }
    // In Gray order. Rows that keep all their items have nothing to gain.
    std::vector<std::int32_t> spare_rows() const {
        std::vector<std::int32_t> spare;
        std::vector<std::pair<std::int32_t, std::int32_t>> here;
        for (std::int32_t g = 0; g < groups_.count(); ++g) {
            if (groups_[g].size() <= k_) continue;
            here.clear();
            for (const std::int32_t row : groups_[g].members) here.emplace_back(worth(row), row);
            std::nth_element(here.begin(), here.end() - k_, here.end());
            here.resize(here.size() - k_);
            for (const auto& [worth, row] : here)
                if (worth < groups_.rows().size(row)) spare.push_back(row);
        }
        std::sort(spare.begin(), spare.end());
        return spare;
    }
    // What a row gains where it is, as long as that group publishes what it does now.
    std::int32_t worth(std::int32_t row) const {
        std::int32_t sum = 0;
        for (const HalfItem& half : groups_[groups_.of(row)].half)
            if (half.central) sum += groups_.holds(row, half.item) ? 1 : -1;
        return sum;
    }

    // Relays among groups that lie side by side in Gray order. Returns the number of rows that went elsewhere.
    std::size_t relay() {
        const std::vector<std::int32_t> order = by_middle();
        const auto parts = static_cast<std::int64_t>(order.size()) / options_.block + 1;
        std::vector<std::vector<Move>> moves(parts);
        std::vector<std::int64_t> gained(parts, 0);
        const int inside = parts == 1 ? threads_ : 1;
        const std::int32_t crowd = silent();
        std::vector<std::int32_t> quiet = crowd < 0 ? std::vector<std::int32_t>() : groups_[crowd].members;
        std::sort(quiet.begin(), quiet.end());
        parallel_for(parts, threads_, monitor_, [&](std::int64_t part, int) {
            std::vector<std::int32_t> numbers = share(order, part, parts);
            std::vector<std::vector<std::int32_t>> members;
            for (const std::int32_t g : numbers) members.push_back(groups_[g].members);
            if (crowd >= 0) numbers.push_back(crowd), members.push_back(share(quiet, part, parts));
            Relay relay(groups_, std::move(numbers), std::move(members), k_, inside, monitor_);
            gained[part] = relay.run(options_.passes);
            relay.list(moves[part]);
        });
        std::vector<Move> all;
        for (const std::vector<Move>& some : moves) all.insert(all.end(), some.begin(), some.end());
        [[maybe_unused]] const std::int64_t before = gain();
        groups_.rearrange(all, monitor_);
#ifdef ANONSET_DEBUG_CHECKS
        if (gain() < std::accumulate(gained.begin(), gained.end(), before))
            throw std::logic_error("crowd: relays gained less than foretold");
        require_sizes();
#endif
        return all.size();
    }
    void require_sizes() const {
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (groups_[g].size() > 0 && groups_[g].size() < k_) throw std::logic_error("crowd: a group fell below k");
    }
    static std::vector<std::int32_t> share(const std::vector<std::int32_t>& of, std::int64_t part, std::int64_t parts) {
        const auto count = static_cast<std::int64_t>(of.size());
        return {of.begin() + count * part / parts, of.begin() + count * (part + 1) / parts};
    }
    // Groups by the row in their middle.
    std::vector<std::int32_t> by_middle() const {
        std::vector<std::pair<std::int32_t, std::int32_t>> middle;
        for (std::int32_t g = 0; g < groups_.count(); ++g) {
            if (groups_[g].size() == 0 || groups_[g].silent || groups_[g].center > Relay::MOST) continue;
            std::vector<std::int32_t> rows = groups_[g].members;
            std::nth_element(rows.begin(), rows.begin() + groups_[g].size() / 2, rows.end());
            middle.emplace_back(rows[rows.size() / 2], g);
        }
        std::sort(middle.begin(), middle.end());
        std::vector<std::int32_t> order;
        for (const auto& [row, g] : middle) order.push_back(g);
        return order;
    }
    // The crowd that publishes nothing, or -1.
    std::int32_t silent() const {
        std::int32_t g = groups_.count() - 1;
        while (g >= 0 && !groups_[g].silent) --g;
        return g;
    }
    std::int64_t gain() const {
        std::int64_t sum = 0;
        for (std::int32_t g = 0; g < groups_.count(); ++g) sum += groups_[g].gain;
        return sum;
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
    std::vector<char> weak_;               // groups whose members would gain more elsewhere
    std::int64_t looked_ = 0, since_ = 0;  // when groups were last looked at, and the time before
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

struct SparseResult {
    CrowdResult found;
    SegmentLosses beside;  // of the sample
};

// Groups of at least k for rows in Gray order. Shards keep the cost linear; one shard uses all threads, several run
// side by side.
inline SparseResult crowd_sparse(const Csr& data, std::int32_t n_items, const CrowdSparseOptions& options,
                                 std::int64_t wanted, const PtaSample& sample, int threads, Monitor& monitor) {
    const std::int64_t shards = std::max<std::int64_t>(1, std::min(wanted, data.rows / (2 * options.start.k)));
    BesidePta beside({data, nullptr, n_items, sample.bounds}, sample, options.start.k, threads, monitor);
    std::vector<CrowdResult> parts(shards);
    const std::vector<std::int64_t> bounds = even_stretches(data, shards, 2 * options.start.k);
    const auto solve = [&](std::int64_t shard, std::int64_t others, int inside) {
        const Csr rows{data.offsets + bounds[shard], data.items, bounds[shard + 1] - bounds[shard]};
        const crowd::UsefulItems useful(rows, n_items, options.start.k, inside, monitor);
        parts[shard] = crowd::SparseShard(useful.rows(), useful.n_items(), options, inside, monitor)
                           .solve(others, [&](std::int64_t task) { beside.run(task); });
        useful.restore(parts[shard].items);
    };
    if (shards == 1) {
        solve(0, beside.tasks(), threads);
    } else {
        parallel_for(shards + beside.tasks(), threads, monitor, [&](std::int64_t task, int) {
            if (task < shards) return solve(task, 0, 1);
            beside.run(task - shards);
        });
    }
    SparseResult out{shards == 1 ? std::move(parts[0]) : joined(std::move(parts)), {}};
    const Csr centers{out.found.offsets.data(), out.found.items.data(),
                      static_cast<std::int64_t>(out.found.offsets.size()) - 1};
    out.beside = beside.losses(out.found.group.data(), centers);
    return out;
}

}  // namespace anonset
