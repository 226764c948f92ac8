// One pass over all rows whose values were lifted above what anchors say (docs/explanation/bound.md).
//
// Precondition: rows are distinct, and come by rising |row| - price; without the lifts no row is worth more than it is
// charged in any group of k at the given prices. Postcondition: the values returned are at most those given, and no
// group of k rows or more loses less than they add up to.
#pragma once

#include <cmath>
#include <deque>
#include <utility>

#include "bound/centers.hpp"
#include "bound/per_set.hpp"
#include "bound/restore_feasibility.hpp"
#include "bound/search.hpp"

namespace anonset {

namespace lifting {

// Finds the rows around an anchor.
class Surroundings {
  public:
    Circle circle;

    explicit Surroundings(const Problem& problem) : p_(problem), touched_(problem.data.rows / 64 + 1) {
        circle.shared.assign(problem.data.rows, 0);
    }

    // False if there are more items than can be told apart.
    bool look(std::int64_t anchor) {
        choose(anchor);
        if (circle.items.size() > 64) return false;
        gather(anchor);
        line_up(anchor);
        return true;
    }
    // Asks for less by only so much of its lift.
    void ask(std::int64_t anchor, std::int32_t lift) {
        circle.asks = p_.asks[anchor] + p_.lift[anchor] - lift;
        circle.need = (p_.k - 1) * (2 * std::int64_t{circle.asks} - p_.fee[anchor]);
    }

  private:
    // Items that fewer than a majority of k hold are lost in any group.
    void choose(std::int64_t anchor) {
        circle.items.clear();
        for (const std::int32_t* i = p_.data.begin(anchor); i != p_.data.end(anchor); ++i)
            if (p_.holders[*i] >= p_.half) circle.items.push_back(*i);
        std::sort(circle.items.begin(), circle.items.end(), [&](std::int32_t a, std::int32_t b) {
            return std::pair(p_.holders[a], a) < std::pair(p_.holders[b], b);
        });
    }
    void gather(std::int64_t anchor) {
        for (const auto& [kind, row] : found_) circle.shared[row] = 0;
        circle.shared[anchor_] = 0;
        anchor_ = anchor;
        for (std::size_t i = 0; i < circle.items.size(); ++i)
            for (std::int64_t at = p_.index.start[circle.items[i]]; at < p_.index.start[circle.items[i] + 1]; ++at) {
                const std::int32_t row = p_.index.rows[at];
                circle.shared[row] |= Set{1} << i;
                touched_[row / 64] |= std::uint64_t{1} << row % 64;
            }
        circle.kinds.clear();
        kind_.clear();
        found_.clear();
        for (std::size_t word = 0; word < touched_.size(); ++word)
            for (std::uint64_t left = std::exchange(touched_[word], 0); left; left &= left - 1)
                add(static_cast<std::int32_t>(64 * word) + __builtin_ctzll(left), anchor);
    }
    void add(std::int32_t row, std::int64_t anchor) {
        if (p_.weight[row] == (row == anchor)) return;
        std::int64_t& kind = kind_.of(circle.shared[row]);  // from 1 on
        if (kind == 0) {
            circle.kinds.push_back(
                {circle.shared[row], 2 * UNIT * count(circle.shared[row]) - p_.fee[row], 0, 0, 0, 0, 0, 0});
            kind = static_cast<std::int64_t>(circle.kinds.size());
        }
        ++circle.kinds[kind - 1].last;
        found_.emplace_back(static_cast<std::int32_t>(kind - 1), row);
    }
    // Kind by kind; rows come by rising fees already.
    void line_up(std::int64_t anchor) {
        std::int32_t end = 0;
        for (Kind& kind : circle.kinds) {
            end += kind.last;
            kind.first = kind.last = end - kind.last;
        }
        circle.helpers.resize(found_.size());
        for (const auto& [kind, row] : found_) {
            const std::int64_t others = p_.weight[row] - (row == anchor);
            circle.helpers[circle.kinds[kind].last++] = {circle.shared[row], p_.fee[row], p_.asks[row],
                                                         static_cast<std::int32_t>(std::min(others, p_.k)), row};
        }
        circle.elite.clear();
        for (Kind& kind : circle.kinds) {
            kind.elite = static_cast<std::int32_t>(circle.elite.size());
            best_.begin(p_.k);
            for (std::int32_t i = kind.first; i < kind.last; ++i)
                if (best_.take(circle.helpers[i].asks, circle.helpers[i].copies)) circle.elite.push_back(i);
            kind.elite_end = static_cast<std::int32_t>(circle.elite.size());
        }
        std::sort(circle.kinds.begin(), circle.kinds.end(),
                  [](const Kind& a, const Kind& b) { return std::pair(-a.most, a.held) < std::pair(-b.most, b.held); });
    }

    const Problem& p_;
    PerSet kind_;
    Elite best_;
    std::int64_t anchor_ = 0;
    std::vector<std::uint64_t> touched_;                        // rows that share something, one bit each
    std::vector<std::pair<std::int32_t, std::int32_t>> found_;  // kinds and rows
};

inline Items items_of(const Center& center, const Circle& circle) {
    Items all = center.added;
    for (Set left = center.kept; left; left &= left - 1) all.push_back(circle.items[__builtin_ctzll(left)]);
    std::sort(all.begin(), all.end());
    return all;
}

// Searches around one row after the other.
class Searcher {
  public:
    FailedCenters failed;

    struct Result {
        std::int32_t reached;  // of the lift, with which all was looked at
        std::int64_t owes;     // for what was not looked at
        std::int64_t looks;    // that it took; all that are allowed if more looks would be of no use
        double stride;         // by which the lift may rise until it takes e times as many; 0 if that is not known
    };

    Searcher(const Problem& problem, std::int64_t notes)
        : p_(problem), notes_(static_cast<std::size_t>(notes)), around_(problem), search_(problem) {}

    // With the whole lift, or with as much of it as can be searched with so many looks; then the rest is owed. `safe`:
    // a smaller lift that was small enough before, or 0.
    Result run(std::int64_t row, std::int32_t safe, std::int64_t allowed) {
        row_ = row;
        allowed_ = allowed;
        const std::int32_t lift = p_.lift[row];
        best_ = {0, lift, allowed, 0};
        if (!around_.look(row)) return best_;
        search_.around(row, around_.circle);
        safe = std::min(safe, lift);
        if (attempt(lift, safe > 0 ? allowed : allowed / QUICK)) return best_;
        // Too few looks say nothing about more of them.
        std::int32_t high = safe > 0 || hopeless_ ? lift : lift + lift / QUICK;
        if (safe > 0 && safe < lift) {
            high = (safe + lift) / 2;
            if (attempt(high, allowed) || attempt(safe, allowed)) return best_;
            high = safe;
        }
        for (int step = 0; step < STEPS && high - best_.reached > std::max(lift / 16, UNIT / 32); ++step) {
            const std::int32_t next = std::min(lift, best_.reached + step_up(high - best_.reached));
            if (next == best_.reached) break;
            if (!attempt(next, allowed)) high = next;
        }
        if (hopeless_) best_.looks = allowed;
        return best_;
    }

  private:
    static constexpr std::int64_t QUICK = 8;  // such a part of the looks is enough for most rows
    static constexpr int STEPS = 5;

    // By how much more to try, if `gap` more are too much; 0 if nothing is to be expected.
    std::int32_t step_up(std::int32_t gap) const {
        if (best_.reached == 0) return gap / 4;
        if (hopeless_ || best_.stride == 0) return gap / 2;
        const auto left = static_cast<double>(allowed_) / static_cast<double>(std::max<std::int64_t>(1, best_.looks));
        const auto likely = static_cast<std::int32_t>(best_.stride * UNIT * std::log(std::max(1.0, left)));
        return likely < gap / 8 ? 0 : std::clamp(likely * 3 / 4, gap / 4, gap * 3 / 4);
    }
    // False if there was more to look at.
    bool attempt(std::int32_t lift, std::int64_t allowed) {
        around_.ask(row_, lift);
        search_.run(allowed);
        const Account& account = search_.account();
        best_.owes = std::min(best_.owes, p_.lift[row_] - lift + account.charge);
        note();
        if (account.spent()) {
            hopeless_ = account.hopeless;
            return false;
        }
        hopeless_ = false;
        if (best_.reached > 0 && account.looks > best_.looks)
            best_.stride = static_cast<double>(lift - best_.reached) / UNIT /
                           std::log(static_cast<double>(account.looks) / static_cast<double>(best_.looks));
        best_.reached = lift;
        best_.looks = std::max<std::int64_t>(1, account.looks);
        return true;
    }
    void note() {
        auto& found = search_.failed();
        std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        for (std::size_t i = 0; i < found.size(); ++i) failed[items_of(found[i].second, around_.circle)] |= i < notes_;
    }

    const Problem& p_;
    const std::size_t notes_;
    Surroundings around_;
    Search search_;
    std::int64_t row_ = 0, allowed_ = 0;
    Result best_{};
    bool hopeless_ = false;  // more looks would not have helped the last time
};

}  // namespace lifting

struct LiftPass {
    std::vector<double> value, reached, stride;
    std::vector<std::int64_t> looks;
    NotedCenters noted;
};

// `value`: as lifted; `y`: the prices of the anchors; `safe`: smaller lifts that could be searched before, or 0. Around
// each row there are `budget` looks, and `notes` centers are noted at most.
inline LiftPass lift_pass(const Csr& data, const std::int64_t* weight, const double* y, const double* value,
                          const double* lift, const double* safe, std::int32_t n_items, std::int64_t k,
                          std::int64_t budget, std::int64_t notes, int threads, Monitor& monitor) {
    using namespace lifting;
    Problem problem(data, weight, n_items, k);
    for (std::int64_t v = 0; v < data.rows; ++v) {
        const auto size = static_cast<double>(data.size(v));
        problem.asks[v] = static_cast<std::int32_t>(std::lround((size - value[v]) * UNIT));
        problem.fee[v] = static_cast<std::int32_t>(std::lround((size - y[v]) * UNIT));
        problem.lift[v] = static_cast<std::int32_t>(std::lround(lift[v] * UNIT));
    }
    problem.choose_elite();
    std::deque<Searcher> searchers;
    while (static_cast<int>(searchers.size()) < thread_count(threads)) searchers.emplace_back(problem, notes);
    LiftPass out{{value, value + data.rows},
                 std::vector<double>(data.rows),
                 std::vector<double>(data.rows),
                 std::vector<std::int64_t>(data.rows),
                 {}};
    std::vector<std::int64_t> lowered(data.rows, 0);
    parallel_for(data.rows, threads, monitor, [&](std::int64_t u, int number) {
        if (problem.lift[u] == 0) return;
        const auto [reached, owes, looks, stride] =
            searchers[number].run(u, static_cast<std::int32_t>(std::lround(safe[u] * UNIT)), budget);
        out.reached[u] = static_cast<double>(reached) / UNIT;
        out.looks[u] = looks;
        out.stride[u] = stride;
        lowered[u] = owes;
    });
    FailedCenters& failed = searchers[0].failed;
    for (const Searcher& searcher : searchers)
        for (const auto& [center, noted] : searcher.failed) failed[center] |= noted;
    Repair(problem, lowered).run(failed, out.noted, monitor);
    for (std::int64_t u = 0; u < data.rows; ++u) out.value[u] -= static_cast<double>(lowered[u]) / UNIT;
    return out;
}

}  // namespace anonset
