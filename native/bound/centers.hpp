// One pass over all rows after their prices were raised (docs/explanation/bound.md).
//
// Precondition: without the lifts no group of k rows or more loses less than the prices of its members add up to.
// Postcondition: the prices returned are at most those given, and have the same property.
#pragma once

#include <cmath>
#include <utility>

#include "bound/center_search.hpp"
#include "bound/dual.hpp"
#include "bound/violated_cuts.hpp"

namespace anonset {

namespace centers {

// Makes the neighbourhood of a row from the offers it gets.
class Gatherer {
  public:
    Neighbourhood around;
    std::int64_t outsiders = 0;  // what a group may be worth whose center changes items in which no row here differs

    bool full(std::int64_t keep) const { return static_cast<std::int64_t>(around.rows.size()) > keep; }

    void load(const dual::Problem& problem, const std::vector<std::int32_t>& parts, std::int64_t u,
              dual::Cheapest& cheapest) {
        around.k = problem.k;
        around.rest = units(-cheapest.limit());
        around.rows.clear();
        add(problem, parts, u, problem.y[u]);
        for (const dual::Offer& offer : cheapest.sorted()) add(problem, parts, offer.row, -offer.price);
        compare(problem.data, u);
        prepare();
    }
    // What the bits of a center stand for, where there are not too many.
    bool names(std::vector<std::int32_t>& items) const {
        items.clear();
        for (auto each = candidates_.rbegin(); each != candidates_.rend(); ++each)
            items.push_back(differs_[each->begin].item);
        return items.size() <= 64;
    }
    // Decides which items a center may change; to be called before a search.
    void choose() {
        candidates_.clear();
        const std::int64_t half = around.k / 2 + 1;
        for (std::size_t begin = 0, end; begin < differs_.size(); begin = end) {
            for (end = begin; end < differs_.size() && differs_[end].item == differs_[begin].item;) ++end;
            std::int64_t worth = 0;
            for (int q = 1; q < static_cast<int>(rest_.size()); ++q)
                worth = std::max(worth, rest_[q] + top(begin, end, half, q));
            if (worth > 0) candidates_.push_back({worth, begin, end});
        }
        assign();
    }

  private:
    struct Differs {
        std::int32_t item, row;
        bool operator<(const Differs& other) const { return std::pair(item, row) < std::pair(other.item, other.row); }
    };
    struct Candidate {
        std::int64_t worth;
        std::size_t begin, end;
    };
    static std::int32_t units(double price) { return static_cast<std::int32_t>(std::lround(price * UNIT)); }
    void add(const dual::Problem& problem, const std::vector<std::int32_t>& parts, std::int64_t row, double base) {
        around.rows.push_back({units(base), parts[row], static_cast<std::int32_t>(row), 0, problem.weight[row], 0});
    }

    void compare(const Csr& data, std::int64_t u) {
        differs_.clear();
        counts_.assign(around.rows.size(), 0);
        for (std::size_t row = 1; row < around.rows.size(); ++row) {
            const std::int64_t v = around.rows[row].id;
            const std::int32_t *one = data.begin(u), *other = data.begin(v);
            while (one != data.end(u) || other != data.end(v)) {
                const bool left = other == data.end(v) || (one != data.end(u) && *one < *other);
                const bool right = one == data.end(u) || (other != data.end(v) && *other < *one);
                if (left || right) {
                    differs_.push_back({left ? *one : *other, static_cast<std::int32_t>(row)});
                    ++counts_[row];
                }
                one += !right;
                other += !left;
            }
        }
        std::sort(differs_.begin(), differs_.end());
    }

    // A center changes an item only if more than half of its group differ from the anchor there. What can the anchor
    // and all the others in the group be worth if it changes q items?
    void prepare() {
        outsiders = 0;
        const std::int64_t half = around.k / 2 + 1;
        const int most = half < around.k ? (around.rows[0].base - 1) / UNIT : 0;
        rest_.assign(most + 1, 0);
        for (int q = 1; q <= most; ++q) {
            begin(around.k - 1 - half, q);
            largest_.add(around.rows[0].base - q * UNIT, around.rows[0].copies - 1);
            for (std::size_t row = 1; row < around.rows.size() && hopes(row, q); ++row) hope(row, q);
            rest_[q] = around.rows[0].base - q * UNIT + largest_.sum(around.k - 1 - half);
            begin(half, q);
            outsiders = std::max(outsiders, rest_[q] + largest_.sum(half));
        }
    }
    void begin(std::int64_t keep, int q) {
        largest_.begin(keep, std::min(around.rows[0].base - q * UNIT, around.rest + q * UNIT));
    }
    bool hopes(std::size_t row, int q) const { return around.rows[row].base + q * UNIT > largest_.floor(); }
    void hope(std::size_t row, int q) {
        const Row& one = around.rows[row];
        largest_.add(std::min(around.rows[0].base - q * UNIT, one.base + (2 * std::min(q, counts_[row]) - q) * UNIT),
                     one.copies);
    }
    std::int64_t top(std::size_t from, std::size_t to, std::int64_t half, int q) {
        begin(half, q);
        for (std::size_t at = from; at < to && hopes(differs_[at].row, q); ++at) hope(differs_[at].row, q);
        return largest_.sum(half);
    }

    // The most promising items come last: what is tried after them is little. Items beyond 64 are ignored: they cost
    // nobody anything, so that groups look cheaper than they are.
    void assign() {
        std::stable_sort(candidates_.begin(), candidates_.end(),
                         [](const Candidate& one, const Candidate& other) { return one.worth > other.worth; });
        around.items = static_cast<int>(std::min<std::size_t>(64, candidates_.size()));
        for (std::size_t c = 0; c < candidates_.size(); ++c)
            for (std::size_t at = candidates_[c].begin; at < candidates_[c].end; ++at) {
                Row& row = around.rows[differs_[at].row];
                if (c < 64) {
                    row.differs |= std::uint64_t{1} << (around.items - 1 - static_cast<int>(c));
                } else {
                    row.base += UNIT;
                    row.doubt += UNIT;
                }
            }
        if (candidates_.size() > 64)
            std::stable_sort(around.rows.begin() + 1, around.rows.end(),
                             [](const Row& one, const Row& other) { return one.base > other.base; });
    }

    std::vector<Differs> differs_;
    std::vector<std::int32_t> counts_;
    std::vector<std::int64_t> rest_;
    std::vector<Candidate> candidates_;
    Largest<std::int32_t> largest_;
};

}  // namespace centers

// `keep` rows around each are looked at, and more (up to `widest`) where those may not be all that count; a search
// ends after about `budget` looks at a row for one center. Around each row `notes` centers are noted at most.
struct CenterEffort {
    std::int64_t keep, widest, budget, notes;
};

struct CenterPass {
    std::vector<double> price;
    std::vector<std::int64_t> looks;  // around each row
    NotedCenters noted;
};

inline CenterPass center_pass(const Csr& data, const std::int64_t* weight, const double* y, const double* lift,
                              std::int32_t n_items, std::int64_t k, bool dense, const CenterEffort& effort, int threads,
                              Monitor& monitor) {
    using namespace centers;
    struct Worker {
        dual::Market::Scratch scratch;
        Gatherer gatherer;
        std::vector<std::pair<std::int32_t, std::int32_t>> found;
        std::vector<std::int32_t> items;
        Debts debts;
        Notebook notebook;
    };
    const dual::Market market(data, weight, y, n_items, k, dense);
    std::vector<std::int32_t> parts(data.rows);
    for (std::int64_t v = 0; v < data.rows; ++v)
        parts[v] = static_cast<std::int32_t>(std::lround(lift[v] * UNIT / PARTS));
    const std::int64_t dearest = k * PARTS * (data.rows ? *std::max_element(parts.begin(), parts.end()) : 0);
    std::vector<Worker> workers(thread_count(threads), Worker{{}, {}, {}, {}, Debts(data.rows), {}});
    CenterPass out{std::vector<double>(y, y + data.rows), std::vector<std::int64_t>(data.rows), {}};
    parallel_for(data.rows, threads, monitor, [&](std::int64_t u, int number) {
        if (y[u] <= 0) return;
        Worker& worker = workers[number];
        Gatherer& gatherer = worker.gatherer;
        const auto owes = [&](std::int32_t row, std::int32_t count) { worker.found.emplace_back(row, count); };
        const auto fails = [&](std::uint64_t changed, std::int64_t worth) { worker.notebook.fails(changed, worth); };
        for (std::int64_t keep = effort.keep;; keep *= 4) {
            market.look(u, keep, worker.scratch);
            gatherer.load(market.problem, parts, u, worker.scratch.cheapest);
            const bool last = keep >= effort.widest || !gatherer.full(keep);
            if (gatherer.outsiders > 0 && !last) continue;
            gatherer.choose();
            worker.found.clear();
            worker.notebook.clear();
            const Search search(gatherer.around, effort.budget, owes, fails);
            if (search.outside() && !last) continue;
            out.looks[u] = search.looks();
            out.price[u] -=
                static_cast<double>(std::min(dearest, std::max(search.charge(), gatherer.outsiders))) / UNIT;
            break;
        }
        if (gatherer.names(worker.items))
            worker.notebook.write(gatherer.around, worker.items, data.begin(u), data.size(u), y,
                                  static_cast<std::size_t>(effort.notes));
        for (const auto& [row, count] : worker.found) worker.debts.owes(row, count);
    });
    std::vector<NotedCenters> noted;
    for (Worker& worker : workers) {
        noted.push_back(std::move(worker.notebook.noted));
        workers[0].debts.and_also(worker.debts);
    }
    workers[0].debts.pay(parts, out.price);
    out.noted = merged(noted);
    return out;
}

}  // namespace anonset
