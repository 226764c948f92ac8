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

// Notes the centers around an anchor at which groups are worth most, and who is worth most there.
inline void note(const Problem& p, std::int64_t anchor, const Circle& circle,
                 std::vector<std::pair<std::int64_t, Center>>& failed, std::size_t most, NotedCenters& noted) {
    std::stable_sort(failed.begin(), failed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    failed.resize(std::min(failed.size(), most));
    for (const auto& [worth, center] : failed) {
        std::uint64_t key = 0;
        for (Set left = center.kept; left; left &= left - 1) key ^= centers::mixed(circle.items[__builtin_ctzll(left)]);
        for (const std::int32_t item : center.added) key ^= centers::mixed(item);
        noted.begin(key, worth, anchor);
        const std::int32_t size = count(center.kept) + static_cast<std::int32_t>(center.added.size());
        std::vector<std::pair<std::int32_t, std::int32_t>> order;  // what rows are worth, negative, and who
        order.emplace_back(p.asks[anchor] - (2 * count(center.kept) - size) * UNIT, anchor);
        for (const Helper& one : circle.helpers) {
            std::int32_t inside = count(one.held & center.kept);
            for (const std::int32_t item : center.added) inside += p.holds(one.id, item);
            if (one.id != anchor) order.emplace_back(one.asks - (2 * inside - size) * UNIT, one.id);
        }
        const auto end =
            order.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(order.size(), centers::noted_rows(p.k)));
        std::partial_sort(order.begin(), end, order.end());
        for (auto each = order.begin(); each != end; ++each)
            noted.add(each->second, static_cast<std::int32_t>(p.data.size(each->second)) +
                                        (each->first - p.asks[each->second]) / UNIT);
    }
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
        problem.part[v] = static_cast<std::int32_t>(std::lround(lift[v] * UNIT / PARTS));
    }
    problem.choose_elite();
    struct Worker {
        Surroundings around;
        Search search;
        Debts debts;
        NotedCenters noted;
        explicit Worker(const Problem& problem) : around(problem), search(problem), debts(problem.data.rows) {}
    };
    std::deque<Worker> workers;
    while (static_cast<int>(workers.size()) < thread_count(threads)) workers.emplace_back(problem);
    CenterPass out{std::vector<double>(value, value + data.rows), std::vector<std::int64_t>(data.rows), {}};
    parallel_for(data.rows, threads, monitor, [&](std::int64_t u, int number) {
        if (problem.part[u] == 0) return;
        Worker& worker = workers[number];
        const std::int64_t allowed = budget * data.size(u);
        std::int64_t charge = k * PARTS * std::int64_t{problem.part[u]};
        if (worker.around.look(u)) {
            Search& search = worker.search;
            search.run(u, worker.around.circle, allowed, worker.debts);
            charge = std::min(charge, search.account().charge);
            out.looks[u] = search.account().looks;
            note(problem, u, worker.around.circle, search.failed(), static_cast<std::size_t>(notes), worker.noted);
        } else {
            out.looks[u] = allowed;
        }
        out.price[u] -= static_cast<double>(charge) / UNIT;
    });
    std::vector<NotedCenters> noted;
    for (Worker& worker : workers) {
        noted.push_back(std::move(worker.noted));
        workers[0].debts.and_also(worker.debts);
    }
    workers[0].debts.pay(problem.part, out.price);
    out.noted = merged(noted);
    return out;
}

}  // namespace anonset
