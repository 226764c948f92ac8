// The start are groups without regard to persons. Groups of fewer than k persons are repaired: a row that brings no
// person of its own changes places with one of somebody new, somebody new comes from a group that can spare the row,
// the group is dissolved, or it takes in another group. Each of these lowers the sum of excesses or the number of
// groups and raises no excess, so the repair ends: at the latest with one group of all rows, which holds k persons (the
// caller has made sure). From then on rows move and swap, and groups are dissolved, only if that gains and no group
// falls below k persons.
//
// What could be done is searched for in parallel on a state that stands still; changes are made one after the other,
// each only if it is still allowed. So the answer does not depend on the number of threads.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/transpose.hpp"
#include "crowd/api.hpp"
#include "crowd/groups.hpp"
#include "crowd/persons.hpp"

namespace anonset::crowd {

namespace {

class PersonGroups {
  public:
    // `group` numbers the group of each row from 0 without gaps.
    PersonGroups(const Csr& rows, const std::int32_t* person, std::int32_t n_items, const std::int32_t* group,
                 const PersonSettings& settings, int threads, Monitor& monitor)
        : rows_(rows),
          settings_(settings),
          threads_(threads),
          monitor_(monitor),
          groups_(rows, n_items, threads),
          persons_(person, settings.k, rows.rows ? *std::max_element(group, group + rows.rows) + 1 : 0),
          scratch_(thread_count(threads)),
          holders_(transpose(rows, n_items)) {
        std::vector<std::vector<std::int32_t>> members;
        for (std::int32_t row = 0; row < rows.rows; ++row) {
            if (group[row] >= static_cast<std::int32_t>(members.size())) members.resize(group[row] + 1);
            members[group[row]].push_back(row);
            persons_.put(row, group[row]);
        }
        for (const auto& list : members) groups_.found(list);
        changed_.assign(members.size(), false);
        for (Scratch& scratch : scratch_) {
            scratch.table.prepare(n_items);
            scratch.score.assign(members.size(), 0);
        }
    }

    std::vector<std::int32_t> solve() {
        while (repair()) {
        }
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            while (short_of_persons(g)) {
                monitor_.check();
                merge(g);
            }
        for (std::int64_t round = 0; round < settings_.rounds && improve(); ++round) {
        }
        return numbered();
    }

  private:
    enum class Kind { nothing, exchange, dissolve };
    struct Change {  // row leaves its group for `to`, and `back` comes in exchange (NOBODY: nobody does)
        std::int64_t gain = INT64_MIN;
        std::int32_t row = -1, to = -1, back = -1;
        Kind kind = Kind::nothing;
    };
    struct Scratch {
        SwapTable table;
        std::vector<std::int32_t> score, found, spare;
    };

    static constexpr std::int32_t NOBODY = Persons::NOBODY;
    static constexpr std::size_t TO_IMPROVE = 6, TO_REPAIR = 12;  // groups looked at
    static constexpr std::size_t PARTNERS = 16, SPARE = 3;        // rows looked at in a group
    static constexpr std::int64_t LIST = 24;                      // rows looked at in an item's list, to either side
    static constexpr std::int32_t MOST_TIMES_K = 8;               // times k rows: a group that is not looked into

    bool short_of_persons(std::int32_t g) const { return groups_[g].size() > 0 && persons_.excess(g) > 0; }
    bool small(std::int32_t g) const { return groups_[g].size() <= MOST_TIMES_K * settings_.k; }

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

    // No group gets an excess, nor does one that it had grow.
    bool allowed(std::int32_t row, std::int32_t h, std::int32_t back) const {
        const std::int32_t g = groups_.of(row);
        return persons_.excess(g, row, back) <= persons_.excess(g) &&
               persons_.excess(h, back, row) <= persons_.excess(h);
    }

    // All groups that are short of persons look for one change each. Returns whether any was made.
    bool repair() {
        std::vector<std::int32_t> open;
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (short_of_persons(g) && small(g)) open.push_back(g);
        std::vector<Change> found(open.size());
        search(open.size(), [&](std::int64_t i, Scratch& scratch) { found[i] = mended(open[i], scratch); });
        bool any = false;
        for (std::size_t i = 0; i < open.size(); ++i) {
            monitor_.check();
            if (!short_of_persons(open[i])) continue;
            any |= found[i].kind == Kind::dissolve ? dissolve(open[i], INT64_MIN) : remake(found[i], open[i]);
        }
        return any;
    }

    // The change that gives g one person more and loses least, or g dissolved where that loses less than all of them.
    Change mended(std::int32_t g, Scratch& scratch) const {
        Change best;
        for (const std::int32_t row : spare_rows(g, scratch)) {
            for (const std::int32_t h : nearby(row, TO_REPAIR, scratch)) {
                exchange(row, h, best, scratch.table);
                fetch(g, h, best);
            }
        }
        const std::int64_t apart = elsewhere(g, scratch);
        const std::int64_t lacking = persons_.excess(g);
        const bool better = best.kind == Kind::nothing || apart - groups_[g].gain > best.gain * lacking;
        if (apart > INT64_MIN && better) best.kind = Kind::dissolve;
        return best;
    }
    // The rows that bring no person of their own, those that are missed least first.
    std::vector<std::int32_t> spare_rows(std::int32_t g, Scratch& scratch) const {
        std::vector<std::int32_t>& rows = scratch.spare;
        rows.clear();
        for (const std::int32_t row : groups_[g].members)
            if (persons_.superfluous(row, g)) rows.push_back(row);
        const std::size_t kept = std::min(rows.size(), SPARE);
        std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                          [&](std::int32_t a, std::int32_t b) {
                              return std::pair(-groups_.leaving(a), a) < std::pair(-groups_.leaving(b), b);
                          });
        rows.resize(kept);
        return rows;
    }
    // A row of g against one of h whose person is new to g.
    void exchange(std::int32_t row, std::int32_t h, Change& best, SwapTable& table) const {
        const std::int32_t g = groups_.of(row);
        const auto& others = groups_[h].members;
        groups_.hold(row, table);
        groups_.open(row, h, table);
        for (std::size_t i = 0; i < std::min(others.size(), PARTNERS); ++i) {
            if (!persons_.is_new(others[i], g)) continue;
            const std::int64_t gain = groups_.swapping(others[i], table);
            if (gain > best.gain && allowed(row, h, others[i])) best = {gain, row, h, others[i], Kind::exchange};
        }
        groups_.close(row, table);
    }
    // A row that h can spare, of a person who is new to g.
    void fetch(std::int32_t g, std::int32_t h, Change& best) const {
        const auto& others = groups_[h].members;
        if (groups_[h].size() <= settings_.k && persons_.excess(h) == 0) return;
        for (std::size_t i = 0; i < std::min(others.size(), PARTNERS); ++i) {
            const std::int32_t row = others[i];
            if (!persons_.is_new(row, g) || persons_.excess(h, row) > persons_.excess(h)) continue;
            const std::int64_t gain = groups_.leaving(row) + groups_.joining(row, g);
            if (gain > best.gain) best = {gain, row, g, NOBODY, Kind::exchange};
        }
    }
    // What the members of g would gain in the groups that suit them best, one by one; the smallest number if some
    // member has nowhere to go.
    std::int64_t elsewhere(std::int32_t g, Scratch& scratch) const {
        std::int64_t sum = 0;
        for (const std::int32_t row : groups_[g].members) {
            const auto [gain, to] = best_place(row, scratch);
            if (to < 0) return INT64_MIN;
            sum += gain;
        }
        return sum;
    }
    std::pair<std::int64_t, std::int32_t> best_place(std::int32_t row, Scratch& scratch) const {
        std::pair<std::int64_t, std::int32_t> best{INT64_MIN, -1};
        for (const std::int32_t h : nearby(row, TO_IMPROVE, scratch)) {
            const std::int64_t gain = groups_.joining(row, h);
            if (gain > best.first) best = {gain, h};
        }
        return best;
    }
    // All members of g join other groups, if that changes the gain by more than `least`.
    bool dissolve(std::int32_t g, std::int64_t least) {
        std::vector<std::pair<std::int32_t, std::int32_t>> moves;
        for (const std::int32_t row : groups_[g].members) {
            const std::int32_t to = best_place(row, scratch_[0]).second;
            if (to < 0) return false;
            moves.emplace_back(row, to);
        }
        std::int64_t change = -groups_[g].gain;
        const std::vector<std::int32_t> members = groups_.disband(g);
        for (const auto& [row, to] : moves) change += groups_.join(row, to);
        if (change <= least) {
            for (const std::int32_t row : members) groups_.leave(row);
            groups_.restore(g, members);
            return false;
        }
        for (const auto& [row, to] : moves) {
            persons_.take(row, g);
            persons_.put(row, to);
            changed_[to] = true;
        }
        return true;
    }
    // Makes a change that was found before others were made, if it still gives g somebody new.
    bool remake(const Change& change, std::int32_t g) {
        if (change.kind == Kind::nothing) return false;
        const std::int32_t from = groups_.of(change.row);
        const std::int32_t comes = change.back < 0 ? change.row : change.back;
        if (groups_[change.to].size() == 0 || from == change.to || !persons_.is_new(comes, g)) return true;
        if (change.back < 0 ? change.to != g : from != g || groups_.of(change.back) != change.to) return true;
        if (allowed(change.row, change.to, change.back) && persons_.excess(g) > 0) apply(change);
        return true;  // if not now, then in the next round
    }
    void apply(const Change& change) {
        const std::int32_t g = groups_.of(change.row), h = change.to;
        leave(change.row);
        if (change.back >= 0) {
            leave(change.back);
            join(change.back, g);
        }
        join(change.row, h);
        changed_[g] = changed_[h] = true;
    }
    void leave(std::int32_t row) {
        persons_.take(row, groups_.of(row));
        groups_.leave(row);
    }
    void join(std::int32_t row, std::int32_t g) {
        persons_.put(row, g);
        groups_.join(row, g);
    }

    // g takes in another group: of those near its first rows the one that costs least.
    void merge(std::int32_t g) {
        std::int32_t chosen = -1;
        std::pair<bool, std::int64_t> least{};
        for (std::size_t i = 0; i < std::min(groups_[g].members.size(), SPARE); ++i)
            for (const std::int32_t h : nearby(groups_[g].members[i], TO_IMPROVE, scratch_[0])) {
                const std::int64_t removed = persons_.excess(g) + persons_.excess(h) - persons_.excess_together(g, h);
                const std::int64_t lost = groups_[g].gain + groups_[h].gain - groups_.gain_together(g, h);
                const std::pair cost{removed <= 0, lost};
                if (chosen < 0 || cost < least) chosen = h, least = cost;
            }
        if (chosen < 0) throw std::logic_error("persons: fewer than k in all");
        groups_.merge(g, chosen);
        persons_.merge(g, chosen);
        changed_[g] = true;
    }

    // Groups that changed are dissolved, or their rows move or swap to where they gain most, if that gains.
    bool improve() {
        std::vector<std::int32_t> waiting, weak;
        for (std::int32_t row = 0; row < rows_.rows; ++row)
            if (const std::int32_t g = groups_.of(row); changed_[g] && small(g)) waiting.push_back(row);
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            if (changed_[g] && small(g) && groups_[g].size() > 0) weak.push_back(g);
        std::vector<Change> changes(waiting.size());
        std::vector<std::uint8_t> parts(weak.size());
        search(weak.size(), [&](std::int64_t i, Scratch& scratch) {
            parts[i] = elsewhere(weak[i], scratch) > groups_[weak[i]].gain;
        });
        search(waiting.size(), [&](std::int64_t i, Scratch& scratch) {
            changes[i].gain = 0;
            for (const std::int32_t h : nearby(waiting[i], TO_IMPROVE, scratch))
                consider(waiting[i], h, changes[i], scratch.table);
        });
        changed_.assign(changed_.size(), false);
        bool any = false;
        for (std::size_t i = 0; i < weak.size(); ++i)
            if (parts[i]) any |= dissolve(weak[i], 0);
        for (const Change& change : changes)
            if (change.row >= 0) any |= retry(change);
        return any;
    }
    // The best way for a row to get to h: alone, if its group can spare it, or in exchange for a row of h.
    void consider(std::int32_t row, std::int32_t h, Change& best, SwapTable& table) const {
        const auto weigh = [&](std::int64_t gain, std::int32_t back) {
            if (gain > best.gain && allowed(row, h, back)) best = {gain, row, h, back, Kind::exchange};
        };
        const std::int32_t alone = groups_.leaving(row) + groups_.joining(row, h);
        weigh(alone, NOBODY);
        if (alone <= 0) return;  // such a swap hardly ever gains
        const auto& others = groups_[h].members;
        groups_.hold(row, table);
        groups_.open(row, h, table);
        for (std::size_t i = 0; i < std::min(others.size(), PARTNERS); ++i)
            weigh(groups_.swapping(others[i], table), others[i]);
        groups_.close(row, table);
    }
    // Makes a change that was found before others were made, if it still gains; its row looks again in any case.
    bool retry(const Change& change) {
        const std::int32_t g = groups_.of(change.row);
        changed_[g] = true;
        if (g == change.to || groups_[change.to].size() == 0) return false;
        if (change.back >= 0 && groups_.of(change.back) != change.to) return false;
        const std::int64_t gain =
            change.back < 0 ? groups_.leaving(change.row) + groups_.joining(change.row, change.to) : swapped(change);
        if (gain <= 0 || !allowed(change.row, change.to, change.back)) return false;
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

    template <class Body>
    void search(std::size_t tasks, Body&& body) {
        parallel_for(
            static_cast<std::int64_t>(tasks), threads_, monitor_,
            [&](std::int64_t i, int worker) { body(i, scratch_[worker]); }, 32);
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
    PersonSettings settings_;
    int threads_;
    Monitor& monitor_;
    Groups groups_;
    Persons persons_;
    std::vector<Scratch> scratch_;
    std::vector<char> changed_;
    Transposed<> holders_;  // the rows of each item
};

}  // namespace

std::vector<std::int32_t> person_groups(const Csr& rows, const std::int32_t* person, std::int32_t n_items,
                                        const std::int32_t* group, const PersonSettings& settings, int threads,
                                        Monitor& monitor) {
    return PersonGroups(rows, person, n_items, group, settings, threads, monitor).solve();
}

}  // namespace anonset::crowd
