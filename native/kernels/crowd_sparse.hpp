// `crowd` for sparse data: many items, short rows. Groups grow around seeds from inverted lists; then whole groups
// are dissolved, rows move or swap, and new groups form out of rows that others can spare.
//
// Searching runs in parallel on a state that stands still; changes are applied one after the other, each only if it
// still gains. So the answer does not depend on the number of threads, and every group always has at least k rows.
#pragma once

#include <numeric>
#include <stdexcept>
#include <utility>

#include "crowd_groups.hpp"
#include "monitor.hpp"

namespace anonset {

struct CrowdSparseOptions {
    std::int64_t k;
    std::int64_t visits;  // entries of inverted lists that growing may look at, per row
    std::int64_t rounds;  // rounds of dissolving, improving and regrouping
    std::int64_t part;    // rows among which groups grow
};

namespace crowd {

// Groups of exactly k out of `pool` (rows in Gray order), the longest rows as seeds first. Candidates come from the
// lists of the seed's items, nearest in Gray order first; the group takes those that share most with what it has.
class Grower {
  public:
    Grower(const Csr& rows, const std::int32_t* pool, std::int32_t count, std::int32_t n_items, std::int32_t k,
           std::int64_t visits)
        : rows_(rows), pool_(pool), count_(count), k_(k), per_seed_(std::max<std::int64_t>(4 * k, visits * k)) {
        link(n_items);
    }

    // Calls take(members) for each group it finds; the group stands if that returns true.
    template <class Take>
    void run(Monitor& monitor, Take&& take) {
        if (count_ < k_) return;
        std::vector<std::int32_t> seeds(count_);
        std::iota(seeds.begin(), seeds.end(), 0);
        std::stable_sort(seeds.begin(), seeds.end(),
                         [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });
        for (const std::int32_t seed : seeds) {
            if (gone_[seed] || length(seed) == 0) continue;
            monitor.check();
            unlink(seed);
            mark_candidates(seed);
            if (static_cast<std::int32_t>(seen_.size()) >= k_ - 1) {
                shortlist();
                choose(seed);
                if (take(members_))
                    for (const std::int32_t p : taken_) unlink(p);
            }
            for (const std::int32_t p : seen_) mask_[p] = 0;
        }
    }

  private:
    std::int32_t length(std::int32_t p) const { return static_cast<std::int32_t>(rows_.size(pool_[p])); }

    // A list of the pool's rows for each item, linked so that rows can be taken out.
    void link(std::int32_t n_items) {
        first_.assign(n_items + 1, 0);
        offset_.assign(count_ + 1, 0);
        for (std::int32_t p = 0; p < count_; ++p) {
            offset_[p + 1] = offset_[p] + length(p);
            for (const std::int32_t* i = rows_.begin(pool_[p]); i != rows_.end(pool_[p]); ++i) ++first_[*i + 1];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        const std::int32_t total = offset_[count_];
        owner_.resize(total), before_.resize(total), after_.resize(total), place_.resize(total);
        std::vector<std::int32_t> cursor(first_.begin(), first_.end() - 1);
        for (std::int32_t p = 0; p < count_; ++p)
            for (std::int32_t j = 0; j < length(p); ++j) {
                const std::int32_t item = rows_.begin(pool_[p])[j], at = cursor[item]++;
                owner_[at] = p;
                place_[offset_[p] + j] = at;
                before_[at] = at == first_[item] ? -1 : at - 1;
                after_[at] = at + 1 == first_[item + 1] ? -1 : at + 1;
            }
        gone_.assign(count_, 0);
        mask_.assign(count_, 0);
    }

    void unlink(std::int32_t p) {
        gone_[p] = 1;
        for (std::int32_t o = offset_[p]; o < offset_[p + 1]; ++o) {
            const std::int32_t at = place_[o];
            if (before_[at] >= 0) after_[before_[at]] = after_[at];
            if (after_[at] >= 0) before_[after_[at]] = before_[at];
        }
    }

    // The positions of the seed's rarest 31 items: a mask of one word says which of them a candidate shares.
    void rarest_items(std::int32_t seed) {
        wanted_.resize(length(seed));
        std::iota(wanted_.begin(), wanted_.end(), 0);
        if (wanted_.size() <= 31) return;
        const std::int32_t* items = rows_.begin(pool_[seed]);
        auto frequency = [&](std::int32_t j) { return first_[items[j] + 1] - first_[items[j]]; };
        std::nth_element(wanted_.begin(), wanted_.begin() + 31, wanted_.end(), [&](std::int32_t a, std::int32_t b) {
            return std::pair(frequency(a), a) < std::pair(frequency(b), b);
        });
        wanted_.resize(31);
    }

    void mark_candidates(std::int32_t seed) {
        rarest_items(seed);
        seen_.clear();
        const std::int64_t reach =
            std::max<std::int64_t>(k_, per_seed_ / (2 * static_cast<std::int64_t>(wanted_.size())));
        for (std::size_t bit = 0; bit < wanted_.size(); ++bit) {
            const std::int32_t at = place_[offset_[seed] + wanted_[bit]];
            walk(before_[at], before_, reach, std::uint32_t{1} << bit);
            walk(after_[at], after_, reach, std::uint32_t{1} << bit);
        }
    }

    void walk(std::int32_t from, const std::vector<std::int32_t>& step, std::int64_t reach, std::uint32_t bit) {
        for (; from >= 0 && reach > 0; from = step[from], --reach) {
            if (mask_[owner_[from]] == 0) seen_.push_back(owner_[from]);
            mask_[owner_[from]] |= bit;
        }
    }

    // The candidates that share most items with the seed.
    void shortlist() {
        const auto keep = static_cast<std::size_t>(std::max(32, 3 * k_));
        for (const std::int32_t p : seen_) buckets_[__builtin_popcount(mask_[p])].push_back(p);
        chosen_.clear();
        for (int bits = 32; bits > 0; --bits) {
            for (const std::int32_t p : buckets_[bits])
                if (chosen_.size() < keep) chosen_.push_back(p);
            buckets_[bits].clear();
        }
    }

    // k - 1 times the candidate with the largest sum of c² over the items that it shares with the seed.
    void choose(std::int32_t seed) {
        std::int32_t counts[32];
        std::fill(counts, counts + 32, 1);
        members_.assign(1, pool_[seed]);
        taken_.clear();
        while (static_cast<std::int32_t>(members_.size()) < k_) {
            std::int64_t best_score = -1;
            std::size_t best = 0;
            for (std::size_t c = 0; c < chosen_.size(); ++c) {
                std::int64_t score = 0;
                for (std::uint32_t m = mask_[chosen_[c]]; m; m &= m - 1) {
                    const std::int64_t count = counts[__builtin_ctz(m)];
                    score += count * count;
                }
                if (score > best_score) best_score = score, best = c;
            }
            const std::int32_t p = chosen_[best];
            for (std::uint32_t m = mask_[p]; m; m &= m - 1) ++counts[__builtin_ctz(m)];
            members_.push_back(pool_[p]);
            taken_.push_back(p);
            chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(best));
        }
    }

    const Csr& rows_;
    const std::int32_t* pool_;
    std::int32_t count_, k_;
    std::int64_t per_seed_;
    std::vector<std::int32_t> first_, offset_, owner_, before_, after_, place_;
    std::vector<char> gone_;
    std::vector<std::uint32_t> mask_;
    std::vector<std::int32_t> seen_, wanted_, chosen_, members_, taken_;
    std::vector<std::int32_t> buckets_[33];
};

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
          scratch_(thread_count(threads)) {}

    std::vector<std::int32_t> solve() {
        anchor();
        grow();
        settle();
        for (std::int64_t round = 0; round < options_.rounds; ++round) {
            std::int64_t changes = dissolve() + improve();
            if (round + 1 < options_.rounds) changes += regroup();
            if (changes == 0) break;
        }
        return numbered();
    }

  private:
    std::int32_t rows() const { return static_cast<std::int32_t>(groups_.rows().rows); }

    template <class Body>
    void in_parallel(std::int64_t tasks, Body&& body) {
        for (auto& scratch : scratch_) groups_.prepare(scratch);
        parallel_for(
            tasks, threads_, monitor_, [&](std::int64_t task, int worker) { body(task, scratch_[worker]); }, 64);
    }

    // Equal rows lie side by side in Gray order; k of them are a group that loses nothing.
    void anchor() {
        const Csr& data = groups_.rows();
        for (std::int32_t from = 0, to; from < rows(); from = to) {
            to = from + 1;
            while (to < rows() && data.size(to) == data.size(from) &&
                   std::equal(data.begin(from), data.end(from), data.begin(to)))
                ++to;
            if (to - from < k_) continue;
            std::vector<std::int32_t> members(to - from);
            std::iota(members.begin(), members.end(), from);
            groups_.found(members);
        }
    }

    void grow() {
        std::vector<std::int32_t> waiting;
        for (std::int32_t r = 0; r < rows(); ++r)
            if (groups_.of(r) < 0) waiting.push_back(r);
        const auto count = static_cast<std::int64_t>(waiting.size());
        const std::int64_t parts = std::max<std::int64_t>(1, count / options_.part);
        std::vector<std::vector<std::vector<std::int32_t>>> grown(parts);
        parallel_for(parts, threads_, monitor_, [&](std::int64_t part, int) {
            const std::int64_t from = count * part / parts, to = count * (part + 1) / parts;
            Grower grower(groups_.rows(), waiting.data() + from, static_cast<std::int32_t>(to - from), n_items_, k_,
                          options_.visits);
            grower.run(monitor_, [&](const std::vector<std::int32_t>& members) {
                grown[part].push_back(members);
                return true;
            });
        });
        for (const auto& part : grown)
            for (const auto& members : part) groups_.found(members);
    }

    // Every row without a group joins the one that suits it best, or the crowd that publishes nothing.
    void settle() {
        std::vector<std::int32_t> waiting, rest;
        for (std::int32_t r = 0; r < rows(); ++r)
            if (groups_.of(r) < 0) waiting.push_back(r);
        std::vector<Target> targets(waiting.size());
        in_parallel(static_cast<std::int64_t>(waiting.size()),
                    [&](std::int64_t i, Scratch& scratch) { targets[i] = groups_.best(waiting[i], -1, scratch); });
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            if (targets[i].group >= 0 && groups_.joining(waiting[i], targets[i].group) > 0)
                groups_.join(waiting[i], targets[i].group);
            else
                rest.push_back(waiting[i]);
        }
        if (static_cast<std::int32_t>(rest.size()) >= k_ || groups_.count() == 0) {
            if (!rest.empty()) groups_.found(rest);
            return;
        }
        for (const std::int32_t r : rest) {
            groups_.prepare(scratch_[0]);
            const Target target = groups_.best(r, -1, scratch_[0]);
            groups_.join(r, target.group >= 0 ? target.group : 0);
        }
    }

    // Groups whose members would gain more elsewhere are dissolved, the poorest first.
    std::int64_t dissolve() {
        std::vector<std::int32_t> order;
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (groups_[g].size() > 0 && groups_[g].size() <= 8 * k_) order.push_back(g);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return groups_[a].gain * groups_[b].size() < groups_[b].gain * groups_[a].size();
        });
        std::vector<std::vector<std::int32_t>> havens(order.size());
        in_parallel(static_cast<std::int64_t>(order.size()), [&](std::int64_t i, Scratch& scratch) {
            std::int64_t elsewhere = 0;
            for (const std::int32_t r : groups_[order[i]].members) {
                const Target target = groups_.best(r, order[i], scratch);
                if (target.group < 0) return havens[i].clear();
                elsewhere += target.gain;
                havens[i].push_back(target.group);
            }
            if (elsewhere <= groups_[order[i]].gain) havens[i].clear();
        });
        std::int64_t changes = 0;
        for (std::size_t i = 0; i < order.size(); ++i)
            if (!havens[i].empty()) changes += dissolve(order[i], havens[i]);
        return changes;
    }

    // Groups may have changed since the search, so what is gained is counted again.
    bool dissolve(std::int32_t g, const std::vector<std::int32_t>& havens) {
        const Group& group = groups_[g];
        if (static_cast<std::size_t>(group.size()) != havens.size()) return false;
        std::int64_t elsewhere = 0;
        for (std::size_t i = 0; i < havens.size(); ++i) {
            if (groups_[havens[i]].size() == 0) return false;
            elsewhere += groups_.joining(group.members[i], havens[i]);
        }
        if (elsewhere <= group.gain) return false;
        groups_.prepare(scratch_[0]);
        const std::vector<std::int32_t> members = groups_.disband(g);
        for (std::size_t i = 0; i < members.size(); ++i) {
            const Target target = groups_.best(members[i], g, scratch_[0]);
            groups_.join(members[i], target.group >= 0 ? target.group : havens[i]);
        }
        return true;
    }

    struct Proposal {
        std::int32_t group = -1, partner = -1;
    };

    // Every row looks at the group that suits it best: it moves there if its own can spare it, or swaps with a row
    // there, whichever gains more.
    std::int64_t improve() {
        std::vector<Proposal> proposals(rows());
        in_parallel(rows(), [&](std::int64_t r, Scratch& scratch) {
            proposals[r] = propose(static_cast<std::int32_t>(r), scratch);
        });
        std::int64_t changes = 0;
        for (auto& scratch : scratch_) groups_.prepare(scratch);
        for (std::int32_t r = 0; r < rows(); ++r) {
            if ((r & 1023) == 0) monitor_.check();
            if (proposals[r].group >= 0) changes += accept(r, proposals[r]);
        }
        return changes;
    }

    Proposal propose(std::int32_t r, Scratch& scratch) const {
        const std::int32_t g = groups_.of(r);
        const Target target = groups_.best(r, g, scratch);
        Proposal best;
        if (target.group < 0) return best;
        const std::int32_t alone = target.gain + groups_.leaving(r);
        std::int32_t most = 0;
        if (groups_[g].size() > k_ && alone > 0) most = alone, best = {target.group, -1};
        groups_.load(g, scratch.mine);
        groups_.load(target.group, scratch.theirs);
        const auto& others = groups_[target.group].members;
        for (std::size_t i = 0; i < std::min<std::size_t>(others.size(), 24); ++i) {
            const std::int32_t gain = groups_.swapping(r, others[i], scratch);
            if (gain > most) most = gain, best = {target.group, others[i]};
        }
        groups_.unload(g, scratch.mine);
        groups_.unload(target.group, scratch.theirs);
        return best;
    }

    bool accept(std::int32_t r, const Proposal& proposal) {
        const std::int32_t g = groups_.of(r), h = proposal.group, u = proposal.partner;
        if (g == h || groups_[h].size() == 0) return false;
        const std::int64_t before = groups_[g].gain + groups_[h].gain;
        if (u < 0) {
            const std::int32_t gain = groups_.joining(r, h) + groups_.leaving(r);
            if (groups_[g].size() <= k_ || gain <= 0) return false;
            groups_.leave(r);
            groups_.join(r, h);
            foretold(g, h, before + gain);
            return true;
        }
        if (groups_.of(u) != h) return false;
        Scratch& scratch = scratch_[0];
        groups_.load(g, scratch.mine);
        groups_.load(h, scratch.theirs);
        const std::int32_t gain = groups_.swapping(r, u, scratch);
        groups_.unload(g, scratch.mine);
        groups_.unload(h, scratch.theirs);
        if (gain <= 0) return false;
        groups_.leave(r);
        groups_.leave(u);
        groups_.join(u, g);
        groups_.join(r, h);
        foretold(g, h, before + gain);
        return true;
    }

    // In a debug build: the gain after a change, recomputed from the counts, is what the change was made for.
    void foretold([[maybe_unused]] std::int32_t g, [[maybe_unused]] std::int32_t h,
                  [[maybe_unused]] std::int64_t gain) const {
#ifdef ANONSET_DEBUG_CHECKS
        if (groups_[g].gain + groups_[h].gain != gain)
            throw std::logic_error("crowd: a change gained other than foretold");
#endif
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
        grower.run(monitor_, [&](const std::vector<std::int32_t>& members) {
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

    std::vector<std::int32_t> numbered() const {
        std::vector<std::int32_t> number(groups_.count(), -1), out(rows());
        std::int32_t next = 0;
        for (std::int32_t r = 0; r < rows(); ++r) {
            std::int32_t& mine = number[groups_.of(r)];
            if (mine < 0) mine = next++;
            out[r] = mine;
        }
        return out;
    }

    std::int32_t n_items_, k_;
    CrowdSparseOptions options_;
    int threads_;
    Monitor& monitor_;
    Groups groups_;
    std::vector<Scratch> scratch_;
};

}  // namespace crowd

// Groups of at least k for rows in Gray order. Shards of a fixed size keep the cost linear; one shard uses all
// threads, several run side by side.
inline std::vector<std::int32_t> crowd_sparse(const Csr& data, std::int32_t n_items, const CrowdSparseOptions& options,
                                              std::int64_t shard_size, int threads, Monitor& monitor) {
    const std::int64_t shards = std::max<std::int64_t>(1, data.rows / std::max(shard_size, options.k));
    const int inside = shards == 1 ? threads : 1;
    std::vector<std::vector<std::int32_t>> parts(shards);
    auto bound = [&](std::int64_t shard) { return data.rows * shard / shards; };
    auto solve = [&](std::int64_t shard, int) {
        const Csr rows{data.offsets + bound(shard), data.items, bound(shard + 1) - bound(shard)};
        parts[shard] = crowd::SparseShard(rows, n_items, options, inside, monitor).solve();
    };
    if (shards == 1)
        solve(0, 0);
    else
        parallel_for(shards, threads, monitor, solve);
    std::vector<std::int32_t> group;
    group.reserve(data.rows);
    std::int32_t before = 0;
    for (const auto& part : parts) {
        for (const std::int32_t g : part) group.push_back(before + g);
        before += part.empty() ? 0 : *std::max_element(part.begin(), part.end()) + 1;
    }
    return group;
}

}  // namespace anonset
