// One pass over all rows whose values were lifted above what anchors say (docs/explanation/bound.md).
//
// Precondition: rows are distinct, and come by rising |row| - price; without the lifts no row is worth more than it is
// charged in any group of k at the given prices. Postcondition: the values returned are at most those given, and no
// group of k rows or more loses less than they add up to.
#pragma once

#include <cmath>
#include <deque>
#include <utility>

#include "centers.hpp"
#include "lift_repair.hpp"
#include "lift_search.hpp"
#include "per_set.hpp"

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

inline std::vector<std::int32_t> items_of(const Center& center, const Circle& circle) {
    std::vector<std::int32_t> all = center.added;
    for (Set left = center.kept; left; left &= left - 1) all.push_back(circle.items[__builtin_ctzll(left)]);
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace lifting

// `value`: as lifted; `y`: the prices of the anchors. Around each row there are `budget` looks for each of its items,
// and `notes` centers are noted at most.
inline CenterPass lift_pass(const Csr& data, const std::int64_t* weight, const double* y, const double* value,
                            const double* lift, std::int32_t n_items, std::int64_t k, std::int64_t budget,
                            std::int64_t notes, int threads, Monitor& monitor) {
    using namespace lifting;
    Problem problem(data, weight, n_items, k);
    for (std::int64_t v = 0; v < data.rows; ++v) {
        const auto size = static_cast<double>(data.size(v));
        problem.asks[v] = static_cast<std::int32_t>(std::lround((size - value[v]) * UNIT));
        problem.fee[v] = static_cast<std::int32_t>(std::lround((size - y[v]) * UNIT));
        problem.lift[v] = static_cast<std::int32_t>(std::lround(lift[v] * UNIT));
    }
    problem.choose_elite();
    struct Worker {
        Surroundings around;
        Search search;
        FailedCenters failed;
        explicit Worker(const Problem& problem) : around(problem), search(problem) {}
    };
    std::deque<Worker> workers;
    while (static_cast<int>(workers.size()) < thread_count(threads)) workers.emplace_back(problem);
    CenterPass out{std::vector<double>(value, value + data.rows), std::vector<std::int64_t>(data.rows), {}};
    std::vector<std::int64_t> lowered(data.rows, 0);
    parallel_for(data.rows, threads, monitor, [&](std::int64_t u, int number) {
        if (problem.lift[u] == 0) return;
        Worker& worker = workers[number];
        const std::int64_t allowed = budget * data.size(u);
        if (worker.around.look(u)) {
            Search& search = worker.search;
            search.run(u, worker.around.circle, allowed);
            lowered[u] = std::min<std::int64_t>(problem.lift[u], search.account().charge);
            out.looks[u] = search.account().looks;
            auto& failed = search.failed();
            std::stable_sort(failed.begin(), failed.end(),
                             [](const auto& a, const auto& b) { return a.first > b.first; });
            for (std::size_t i = 0; i < failed.size(); ++i)
                worker.failed[items_of(failed[i].second, worker.around.circle)] |= i < static_cast<std::size_t>(notes);
        } else {
            lowered[u] = problem.lift[u];
            out.looks[u] = allowed;
        }
    });
    FailedCenters& failed = workers[0].failed;
    for (const Worker& worker : workers)
        for (const auto& [center, noted] : worker.failed) failed[center] |= noted;
    Repair(problem, lowered).run(failed, out.noted, monitor);
    for (std::int64_t u = 0; u < data.rows; ++u) out.price[u] -= static_cast<double>(lowered[u]) / UNIT;
    return out;
}

}  // namespace anonset
