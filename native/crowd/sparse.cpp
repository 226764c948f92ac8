// Searching runs in parallel on a state that stands still; changes are applied one after the other, each only if it
// still gains. So the answer does not depend on the number of threads, and every group always has at least k rows.
#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/distinct.hpp"
#include "core/rows.hpp"
#include "crowd/api.hpp"
#include "crowd/augmenting_path.hpp"
#include "crowd/best_first.hpp"
#include "crowd/groups.hpp"
#include "crowd/index.hpp"
#include "crowd/persons.hpp"

namespace anonset::crowd {

namespace {

constexpr std::int64_t INFREQUENT_SHARE = 16;  // infrequent items are dropped if they are one of so many occurrences
constexpr std::int32_t MOST_TIMES_K = 8;       // rows of a group that is dissolved
constexpr std::size_t SWAP_PARTNERS = 24;      // rows of a group with which another one may swap
constexpr std::int64_t GRAIN = 64;             // rows or groups that a thread looks at one after the other

// One shard, solved with all threads.
class Shard {
  public:
    Shard(const Csr& rows, std::int32_t n_items, std::int32_t k, const SparseSettings& settings, int threads,
          Monitor& monitor, const std::int32_t* person)
        : n_items_(n_items),
          k_(k),
          settings_(settings),
          threads_(threads),
          monitor_(monitor),
          groups_(rows, n_items, threads, true),
          scratch_(thread_count(threads)) {
        for (Scratch& scratch : scratch_) scratch.table.prepare(n_items);
        if (person) number_persons(person);
    }

    Result solve() {
        BestFirstOptions options{k_, settings_.every, settings_.reach, settings_.keep};
        if (!person_.empty()) options.person = person_.data(), options.persons = known_persons_;
        const FoundGroups found = best_first(groups_.rows(), n_items_, options, threads_, monitor_);
        groups_.found(found.rows, found.ends, monitor_);
        settle();
        if (!person_.empty()) count_persons();
        polish(settings_.rounds);
        for (std::int64_t time = 0; time < settings_.augment && augment_all() > 0; ++time) polish(1);
        return result();
    }

  private:
    struct Scratch {
        Scores scores;
        SwapTable table;
    };

    // The known persons of this shard, from 0 on.
    void number_persons(const std::int32_t* person) {
        std::vector<std::int32_t> known(person, person + rows());
        std::sort(known.begin(), known.end());
        known.erase(std::unique(known.begin(), known.end()), known.end());
        known.erase(known.begin(), std::lower_bound(known.begin(), known.end(), 0));
        known_persons_ = static_cast<std::int32_t>(known.size());
        person_.assign(rows(), Persons::NOBODY);
        for (std::int32_t r = 0; r < rows(); ++r)
            if (person[r] >= 0)
                person_[r] =
                    static_cast<std::int32_t>(std::lower_bound(known.begin(), known.end(), person[r]) - known.begin());
    }
    void count_persons() {
        persons_ = std::make_unique<Persons>(person_.data(), k_, groups_.count());
        for (std::int32_t r = 0; r < rows(); ++r) persons_->put(r, groups_.of(r));
    }
    // Whether t may go to h, in exchange for a partner there or alone, without a group that is short of persons after.
    bool allowed(std::int32_t t, std::int32_t h, std::int32_t partner) const {
        if (!persons_) return true;
        const std::int32_t g = groups_.of(t);
        return persons_->excess(g, t, partner) <= persons_->excess(g) &&
               persons_->excess(h, partner, t) <= persons_->excess(h);
    }
    void regroup(std::int32_t row, std::int32_t from, std::int32_t to) {
        if (!persons_) return;
        persons_->take(row, from);
        persons_->put(row, to);
    }

    std::int32_t rows() const { return static_cast<std::int32_t>(groups_.rows().rows); }

    template <class Body>
    void in_parallel(std::int64_t tasks, Body&& body) {
        parallel_for(
            tasks, threads_, monitor_, [&](std::int64_t task, int worker) { body(task, scratch_[worker]); }, GRAIN);
    }

    // As long as something changes.
    void polish(std::int64_t rounds) {
        for (std::int64_t changes = 1; rounds > 0 && changes > 0; --rounds) {
            look_around();
            changes = dissolve();
            changes += improve();
        }
    }

    // Every row without a group joins the one that suits it best, or those who gain nowhere.
    void settle() {
        std::vector<std::int32_t> waiting, joining, to, rest;
        for (std::int32_t r = 0; r < rows(); ++r)
            if (groups_.of(r) < 0) waiting.push_back(r);
        if (waiting.empty()) return;
        const std::vector<Target> targets = best_targets(waiting);
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            const bool gains = targets[i].group >= 0 && targets[i].gain > 0;
            (gains ? joining : rest).push_back(waiting[i]);
            if (gains) to.push_back(targets[i].group);
        }
        groups_.join(joining, to, monitor_);
        const auto left = static_cast<std::int32_t>(rest.size());
        if (left >= k_ || (groups_.count() == 0 && left > 0)) {
            groups_.found(rest);
        } else if (left > 0) {
            const std::vector<Target> last = best_targets(rest);
            for (std::int32_t i = 0; i < left; ++i) groups_.join(rest[i], std::max(0, last[i].group));
        }
    }
    std::vector<Target> best_targets(const std::vector<std::int32_t>& waiting) {
        const Index index(groups_);
        std::vector<Target> targets(waiting.size());
        in_parallel(static_cast<std::int64_t>(waiting.size()), [&](std::int64_t i, Scratch& scratch) {
            std::int32_t none;
            index.list(groups_.rows(), waiting[i], scratch.scores);
            targets[i] = index.best(-1, scratch.scores, none);
        });
        return targets;
    }

    // For every row the group that suits it best, other than its own. A row that keeps all its items need not look, nor
    // one that is equal to the row before it.
    void look_around() {
        const Index index(groups_);
        targets_.assign(rows(), Target());
        in_parallel(rows(), [&](std::int64_t r, Scratch& scratch) {
            const auto row = static_cast<std::int32_t>(r);
            if (r % GRAIN > 0 && groups_.of(r) == groups_.of(r - 1) && equal_rows(groups_.rows(), row - 1, row)) {
                targets_[r] = targets_[r - 1];
                return;
            }
            if (groups_.keeps_all(row)) return;
            std::int32_t score = 0;
            index.list(groups_.rows(), row, scratch.scores);
            targets_[r] = index.best(groups_.of(row), scratch.scores, score);
            const Group& own = groups_[groups_.of(row)];
            const std::int32_t staying = score + own.center - static_cast<std::int32_t>(own.half.size());
            targets_[r].more = targets_[r].group < 0 ? 0 : targets_[r].gain - staying;
        });
    }

    // Groups whose members would gain more elsewhere are dissolved, the poorest first. Returns how many.
    std::int64_t dissolve() {
        std::vector<std::int32_t> order;
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (is_weak(groups_[g])) order.push_back(g);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return groups_[a].gain * groups_[b].size() < groups_[b].gain * groups_[a].size();
        });
        return std::count_if(order.begin(), order.end(), [&](std::int32_t g) {
            monitor_.check();
            return dissolve(g);
        });
    }
    bool is_weak(const Group& group) const {
        if (group.size() == 0 || group.size() > MOST_TIMES_K * k_) return false;
        std::int64_t elsewhere = 0;
        for (const std::int32_t r : group.members) elsewhere += targets_[r].gain;
        return elsewhere > group.gain;
    }
    // Groups may have changed since the search, and members may be in each other's way, so what is gained is counted
    // again; if it is nothing, everything is as before.
    bool dissolve(std::int32_t g) {
        std::int64_t change = -groups_[g].gain;
        for (const std::int32_t r : groups_[g].members)
            if (targets_[r].group < 0 || targets_[r].group == g || groups_[targets_[r].group].size() == 0) return false;
        const std::vector<std::int32_t> members = groups_.disband(g);
        for (const std::int32_t r : members) change += groups_.join(r, targets_[r].group);
        if (change > 0) {
            for (const std::int32_t r : members) regroup(r, g, targets_[r].group);
            return true;
        }
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
            if (targets_[r].more > 0 && h != groups_.of(r) && groups_[h].size() > 0) changes += improve(r, h);
        }
        return changes;
    }
    bool improve(std::int32_t r, std::int32_t h) {
        SwapTable& table = scratch_[0].table;
        groups_.hold(r, table);
        const std::int32_t alone = groups_.moving(r, h, table);
        const bool spare = groups_[groups_.of(r)].size() > k_ && allowed(r, h, Persons::NOBODY);
        std::int32_t most = spare ? std::max(0, alone) : 0, partner = -1;
        if (alone > 0) {
            groups_.open(r, h, table);
            const auto& others = groups_[h].members;
            for (std::size_t i = 0; i < std::min(others.size(), SWAP_PARTNERS); ++i) {
                const std::int32_t gain = groups_.swapping(others[i], table);
                if (gain > most && allowed(r, h, others[i])) most = gain, partner = others[i];
            }
        }
        groups_.close(r, table);
        if (most > 0) make(r, h, partner, most);
        return most > 0;
    }
    // t moves to h, or swaps with a partner there; `gain` is what that was found to gain.
    void make(std::int32_t t, std::int32_t h, std::int32_t partner, [[maybe_unused]] std::int32_t gain) {
        const std::int32_t g = groups_.of(t);
        [[maybe_unused]] std::int64_t change = groups_.leave(t);
        if (partner >= 0) {
            change += groups_.leave(partner);
            change += groups_.join(partner, g);
            regroup(partner, h, g);
        }
        change += groups_.join(t, h);
        regroup(t, g, h);
#ifdef ANONSET_DEBUG_CHECKS
        if (change != gain || groups_[g].size() < k_) throw std::logic_error("crowd: a change gained something else");
#endif
    }

    // Augmenting paths among groups that lie side by side in Gray order. Returns the number of rows that went
    // elsewhere.
    std::size_t augment_all() {
        const std::vector<std::int32_t> order = by_middle();
        const auto count = static_cast<std::int64_t>(order.size()), blocks = count / settings_.block + 1;
        std::vector<Augmented> found(blocks);
        parallel_for(blocks, threads_, monitor_, [&](std::int64_t block, int) {
            const std::vector<std::int32_t> numbers(order.begin() + count * block / blocks,
                                                    order.begin() + count * (block + 1) / blocks);
            found[block] = augment(groups_, numbers, k_, blocks == 1 ? threads_ : 1, monitor_,
                                   person_.empty() ? nullptr : person_.data());
        });
        std::vector<Move> moves;
        for (const Augmented& some : found) moves.insert(moves.end(), some.moves.begin(), some.moves.end());
        [[maybe_unused]] std::int64_t expected = gain();
        if (persons_)
            for (const Move& move : moves) regroup(move.row, groups_.of(move.row), move.to);
        groups_.rearrange(moves, monitor_);
#ifdef ANONSET_DEBUG_CHECKS
        for (const Augmented& some : found) expected += some.gain;
        if (gain() < expected) throw std::logic_error("crowd: augmenting paths gained less than they should");
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (groups_[g].size() > 0 && groups_[g].size() < k_) throw std::logic_error("crowd: a group fell below k");
#endif
        return moves.size();
    }
    // Groups by the row in their middle.
    std::vector<std::int32_t> by_middle() const {
        std::vector<std::pair<std::int32_t, std::int32_t>> middle;
        for (std::int32_t g = 0; g < groups_.count(); ++g) {
            if (groups_[g].size() == 0 || groups_[g].center > LARGEST_CENTER) continue;
            std::vector<std::int32_t> rows = groups_[g].members;
            std::nth_element(rows.begin(), rows.begin() + groups_[g].size() / 2, rows.end());
            middle.emplace_back(rows[rows.size() / 2], g);
        }
        std::sort(middle.begin(), middle.end());
        std::vector<std::int32_t> order;
        for (const auto& [row, g] : middle) order.push_back(g);
        return order;
    }
    std::int64_t gain() const {
        std::int64_t sum = 0;
        for (std::int32_t g = 0; g < groups_.count(); ++g) sum += groups_[g].gain;
        return sum;
    }

    // Groups are numbered in the order of their first rows.
    Result result() {
        Result out;
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
    SparseSettings settings_;
    int threads_;
    Monitor& monitor_;
    Groups groups_;
    std::vector<Target> targets_;
    std::vector<Scratch> scratch_;
    std::vector<std::int32_t> person_;  // of each row, where persons are counted
    std::int32_t known_persons_ = 0;
    std::unique_ptr<Persons> persons_;
};

// All shards, one after the other; groups are numbered through all of them. Each is freed once it is copied.
Result joined(std::vector<Result>&& shards) {
    Result all;
    for (Result& slot : shards) {
        const Result shard = std::exchange(slot, Result());
        const auto before = static_cast<std::int32_t>(all.offsets.size()) - 1;
        const auto first = static_cast<std::int64_t>(all.items.size());
        for (const std::int32_t g : shard.group) all.group.push_back(before + g);
        for (std::size_t g = 1; g < shard.offsets.size(); ++g) all.offsets.push_back(first + shard.offsets[g]);
        all.items.insert(all.items.end(), shard.items.begin(), shard.items.end());
    }
    return all;
}

// The rows without items that at most k/2 of them hold, if these are many: no center can hold one, nor does it change
// what any move or swap gains.
OwnedCsr drop_infrequent(const Csr& rows, std::int32_t n_items, std::int32_t k, int threads, Monitor& monitor) {
    const std::int64_t all = rows.offsets[rows.rows] - rows.offsets[0];
    const std::vector<std::int64_t> counts = item_counts(rows.items + rows.offsets[0], all, n_items, threads, monitor);
    const auto infrequent = std::make_unique<bool[]>(n_items);
    std::int64_t dropped = 0;
    for (std::int32_t item = 0; item < n_items; ++item) {
        infrequent[item] = 2 * counts[item] <= k;
        dropped += infrequent[item] ? counts[item] : 0;
    }
    if (INFREQUENT_SHARE * dropped < all) return {};
    return part_rows(rows, infrequent.get(), threads, monitor).first;
}

}  // namespace

Result sparse_groups(const Csr& data, std::int32_t n_items, std::int32_t k, const SparseSettings& settings, int threads,
                     Monitor& monitor, const std::int32_t* person) {
    const OwnedCsr frequent = drop_infrequent(data, n_items, k, threads, monitor);
    const Csr rows = frequent.view().rows == data.rows ? frequent.view() : data;
    const std::int64_t shards = std::max<std::int64_t>(1, std::min(settings.shards, rows.rows / (2 * k)));
    std::vector<Result> found(shards);
    const std::vector<std::int64_t> bounds = even_stretches(data, shards, 2 * k);
    parallel_for(shards, threads, monitor, [&](std::int64_t shard, int) {
        const Csr here{rows.offsets + bounds[shard], rows.items, bounds[shard + 1] - bounds[shard]};
        const std::int32_t* whose = person ? person + bounds[shard] : nullptr;
        found[shard] = Shard(here, n_items, k, settings, shards == 1 ? threads : 1, monitor, whose).solve();
    });
    return shards == 1 ? std::move(found[0]) : joined(std::move(found));
}

}  // namespace anonset::crowd
