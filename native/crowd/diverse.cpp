// The start are groups of at least k without regard to sensitive items. First those are repaired that hold one too
// often: by exchanging a holder against a row of another group, or by merging two groups. An exchange must lower the
// excess of both groups together and raise none, a merge lowers the number of groups, so the repair ends: at the latest
// with one group of all rows, which has no excess (the caller has made sure). From then on rows move and swap only if
// both groups keep at least k rows and no excess, and only if that gains.
//
// As for sparse data, what could gain is searched for in parallel on a state that stands still; changes are made one
// after the other, each only if it still gains. So the answer does not depend on the number of threads.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "core/transpose.hpp"
#include "crowd/api.hpp"
#include "crowd/groups.hpp"
#include "crowd/sensitive.hpp"

namespace anonset::crowd {

namespace {

class DiverseGroups {
  public:
    // `group` numbers the group of each row from 0 without gaps.
    DiverseGroups(const Csr& rows, const Csr& sensitive, std::int32_t n_items, const std::int32_t* group,
                  const DiverseSettings& settings, int threads, Monitor& monitor)
        : rows_(rows),
          settings_(settings),
          threads_(threads),
          monitor_(monitor),
          groups_(rows, n_items),
          sensitive_(sensitive, settings.p, rows.rows ? *std::max_element(group, group + rows.rows) + 1 : 0),
          scratch_(thread_count(threads)),
          holders_(transpose(rows, n_items)) {
        std::vector<std::vector<std::int32_t>> members;
        for (std::int32_t row = 0; row < rows.rows; ++row) {
            if (group[row] >= static_cast<std::int32_t>(members.size())) members.resize(group[row] + 1);
            members[group[row]].push_back(row);
            sensitive_.put(row, group[row]);
        }
        for (const auto& list : members) groups_.found(list);
        changed_.assign(members.size(), false);
        for (Scratch& scratch : scratch_) {
            scratch.table.prepare(n_items);
            scratch.score.assign(members.size(), 0);
        }
    }

    std::vector<std::int32_t> solve() {
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            while (sensitive_.excess(g) > 0) {
                monitor_.check();
                if (!expel(g)) merge(g);
            }
        for (std::int64_t round = 0; round < settings_.rounds && improve(); ++round) {
        }
        return numbered();
    }

  private:
    struct Change {  // row leaves its group for `to`, and `back` comes in exchange (NOBODY: nobody does)
        std::int64_t gain = INT64_MIN;
        std::int32_t row = -1, to = -1, back = -1;
    };
    struct Scratch {
        SwapTable table;
        std::vector<std::int32_t> score, found;
    };

    static constexpr std::int32_t NOBODY = Sensitive::NOBODY;
    static constexpr std::size_t TO_IMPROVE = 6, TO_REPAIR = 12;  // groups looked at
    static constexpr std::size_t PARTNERS = 16, HOLDERS = 4;      // rows looked at in a group
    static constexpr std::int64_t LIST = 24;                      // rows looked at in an item's list, to either side

    // The groups that rows like this one are in, those with most items in common first; only rows near it in the order
    // of the data are looked at. If there are none, the groups of its neighbours.
    const std::vector<std::int32_t>& nearby(std::int32_t row, std::size_t most, Scratch& scratch) const {
        std::vector<std::int32_t>&found = scratch.found, &score = scratch.score;
        found.clear();
        const std::int32_t mine = groups_.of(row);
        const auto meet = [&](std::int32_t other) {
            const std::int32_t g = groups_.of(other);
            if (g != mine && score[g]++ == 0) found.push_back(g);
        };
        for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
            const std::int32_t *begin = holders_.begin(*i), *end = holders_.end(*i);
            const std::int32_t* here = std::lower_bound(begin, end, row);
            std::for_each(here - std::min<std::int64_t>(LIST, here - begin),
                          here + std::min<std::int64_t>(LIST, end - here), meet);
        }
        for (std::int32_t step = 1; found.size() < 2 && step < rows_.rows; ++step) {
            if (row >= step) meet(row - step);
            if (row + step < rows_.rows) meet(row + step);
        }
        const std::size_t kept = std::min(found.size(), most);
        std::partial_sort(
            found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
            [&](std::int32_t a, std::int32_t b) { return score[a] > score[b] || (score[a] == score[b] && a < b); });
        for (const std::int32_t g : found) score[g] = 0;
        found.resize(kept);
        return found;
    }

    // Groups anywhere that have room for the sensitive item (`room` rows more than its holders need), those next to g
    // in number first: their rows come first at about the same place of the data.
    std::vector<std::int32_t> roomy(std::int32_t g, std::int32_t item, std::int64_t room) const {
        std::vector<std::int32_t> found;
        const auto look = [&](std::int32_t h) {
            if (h < 0 || h >= groups_.count() || groups_[h].size() == 0) return;
            if (sensitive_.has_room(h, item, room)) found.push_back(h);
        };
        for (std::int32_t step = 1; step < groups_.count() && found.size() < TO_IMPROVE; ++step) {
            look(g - step);
            look(g + step);
        }
        return found;
    }

    // Neither group gets an excess, or one that it had grows; with `mend`, that of both together must fall.
    bool allowed(std::int32_t row, std::int32_t h, std::int32_t back, bool mend) const {
        const std::int32_t g = groups_.of(row);
        const std::int64_t had = sensitive_.excess(g), others = sensitive_.excess(h);
        const std::int64_t mine = sensitive_.excess(g, row, back);
        if (mine > had) return false;
        const std::int64_t theirs = sensitive_.excess(h, back, row);
        return theirs <= others && (!mend || mine + theirs < had + others);
    }

    // The best way for a row to get to h: alone, if its group can spare it, or in exchange for a row of h.
    void consider(std::int32_t row, std::int32_t h, bool mend, Change& best, SwapTable& table,
                  std::size_t partners = PARTNERS) const {
        const auto weigh = [&](std::int64_t gain, std::int32_t back) {
            if (gain > best.gain && allowed(row, h, back, mend)) best = {gain, row, h, back};
        };
        const std::int32_t alone = groups_.leaving(row) + groups_.joining(row, h);
        if (groups_[groups_.of(row)].size() > settings_.k) weigh(alone, NOBODY);
        if (!mend && alone <= 0) return;  // such a swap hardly ever gains
        const auto& others = groups_[h].members;
        groups_.hold(row, table);
        groups_.open(row, h, table);
        for (std::size_t i = 0; i < std::min(others.size(), partners); ++i)
            weigh(groups_.swapping(others[i], table), others[i]);
        groups_.close(row, table);
    }

    void apply(const Change& change) {
        const std::int32_t g = groups_.of(change.row), h = change.to;
        [[maybe_unused]] std::int64_t gained = leave(change.row);
        if (change.back >= 0) {
            gained += leave(change.back);
            gained += join(change.back, g);
        }
        gained += join(change.row, h);
        changed_[g] = changed_[h] = true;
#ifdef ANONSET_DEBUG_CHECKS
        if (gained != change.gain) throw std::logic_error("diverse: another gain than expected");
        if (std::min(groups_[g].size(), groups_[h].size()) < settings_.k) throw std::logic_error("diverse: below k");
#endif
    }
    std::int64_t leave(std::int32_t row) {
        sensitive_.take(row, groups_.of(row));
        return groups_.leave(row);
    }
    std::int64_t join(std::int32_t row, std::int32_t g) {
        sensitive_.put(row, g);
        return groups_.join(row, g);
    }

    // Some holder of the sensitive item that is most in excess changes places with a row elsewhere.
    bool expel(std::int32_t g) {
        const std::int32_t item = sensitive_.most_held(g);
        SwapTable& table = scratch_[0].table;
        Change best;
        std::size_t looked = 0;
        for (const std::int32_t row : groups_[g].members) {
            if (!sensitive_.holds(row, item)) continue;
            if (++looked > HOLDERS) break;
            for (const std::int32_t h : nearby(row, TO_REPAIR, scratch_[0])) consider(row, h, true, best, table);
            if (best.row < 0)
                for (const std::int32_t h : roomy(g, item, settings_.p))
                    consider(row, h, true, best, table, groups_[h].members.size());
        }
        if (best.row < 0) return false;
        apply(best);
        return true;
    }

    // The group takes in another one: of those nearby the one that costs least for the excess that it removes.
    void merge(std::int32_t g) {
        std::vector<std::int32_t> others = roomy(g, sensitive_.most_held(g), 1);
        for (std::size_t i = 0; i < std::min(groups_[g].members.size(), HOLDERS); ++i)
            for (const std::int32_t h : nearby(groups_[g].members[i], TO_IMPROVE, scratch_[0])) others.push_back(h);
        std::int32_t chosen = -1;
        std::tuple<bool, double, std::int64_t> least{};
        for (const std::int32_t h : others) {
            const std::int64_t together = sensitive_.excess_together(g, h);
            const std::int64_t removed = sensitive_.excess(g) + sensitive_.excess(h) - together;
            const std::int64_t lost = groups_[g].gain + groups_[h].gain - groups_.gain_together(g, h);
            const double price = static_cast<double>(lost) / static_cast<double>(std::max<std::int64_t>(1, removed));
            const std::tuple cost{removed <= 0, price, together};
            if (chosen < 0 || cost < least) chosen = h, least = cost;
        }
        [[maybe_unused]] const std::int64_t expected = groups_.gain_together(g, chosen);
        groups_.merge(g, chosen);
        sensitive_.merge(g, chosen);
        changed_[g] = true;
#ifdef ANONSET_DEBUG_CHECKS
        if (groups_[g].gain != expected) throw std::logic_error("diverse: merged groups gain other than expected");
#endif
    }

    // The rows of groups that changed: each moves or swaps to where it gains most, if it gains.
    // (Those of very large groups are where they are because nobody is like them.)
    bool improve() {
        std::vector<std::int32_t> waiting;
        for (std::int32_t row = 0; row < rows_.rows; ++row)
            if (const std::int32_t g = groups_.of(row);
                changed_[g] && groups_[g].size() <= 8 * std::max(settings_.k, settings_.p))
                waiting.push_back(row);
        std::vector<Change> changes(waiting.size());
        parallel_for(
            static_cast<std::int64_t>(waiting.size()), threads_, monitor_,
            [&](std::int64_t i, int worker) {
                Scratch& scratch = scratch_[worker];
                changes[i].gain = 0;
                for (const std::int32_t h : nearby(waiting[i], TO_IMPROVE, scratch))
                    consider(waiting[i], h, false, changes[i], scratch.table);
            },
            64);
        changed_.assign(changed_.size(), false);
        bool any = false;
        for (const Change& change : changes)
            if (change.row >= 0) any |= retry(change);
        return any;
    }

    // Makes a change that was found before others were made, if it still gains; its row looks again in any case.
    bool retry(Change change) {
        const std::int32_t g = groups_.of(change.row);
        changed_[g] = true;
        if (g == change.to || (change.back >= 0 && groups_.of(change.back) != change.to)) return false;
        if (change.back < 0 && groups_[g].size() <= settings_.k) return false;
        change.gain =
            change.back < 0 ? groups_.leaving(change.row) + groups_.joining(change.row, change.to) : swapped(change);
        if (change.gain <= 0 || !allowed(change.row, change.to, change.back, false)) return false;
        apply(change);
        return true;
    }
    std::int64_t swapped(const Change& change) {
        SwapTable& table = scratch_[0].table;
        groups_.hold(change.row, table);
        groups_.open(change.row, change.to, table);
        const std::int64_t gain = groups_.swapping(change.back, table);
        groups_.close(change.row, table);
        return gain;
    }

    std::vector<std::int32_t> numbered() const {
        std::vector<std::int32_t> number(groups_.count(), -1), out(rows_.rows);
        std::int32_t next = 0;
        for (std::int32_t row = 0; row < rows_.rows; ++row) {
            std::int32_t& mine = number[groups_.of(row)];
            if (mine < 0) mine = next++;
            out[row] = mine;
        }
        return out;
    }

    Csr rows_;
    DiverseSettings settings_;
    int threads_;
    Monitor& monitor_;
    Groups groups_;
    Sensitive sensitive_;
    std::vector<Scratch> scratch_;
    std::vector<bool> changed_;
    Transposed<> holders_;  // the rows of each item
};

}  // namespace

std::vector<std::int32_t> diverse_groups(const Csr& rows, const Csr& sensitive, std::int32_t n_items,
                                         const std::int32_t* group, const DiverseSettings& settings, int threads,
                                         Monitor& monitor) {
    return DiverseGroups(rows, sensitive, n_items, group, settings, threads, monitor).solve();
}

}  // namespace anonset::crowd
