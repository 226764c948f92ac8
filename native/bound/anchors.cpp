// The least that every row is charged in any group of k rows, at given prices (docs/explanation/bound.md, "From
// anchors").
//
// Row u is charged |u| - (k - 1) * fee[u] - (what its items save, less the fees of the k - 1 rows that help), where
// fee[v] = (|v| - price[v]) / (2 (k - 1)).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bound/api.hpp"
#include "bound/branch_and_bound.hpp"
#include "bound/per_set.hpp"
#include "core/transpose.hpp"

namespace anonset::bound {

namespace anchors {

struct Problem {
    const Csr data;
    const std::int64_t* weight;
    const Scale scale;
    const Transposed<> index;
    std::vector<std::int64_t> fee;
    std::vector<std::int64_t> holders;  // of each item, with all copies

    Problem(const Csr& rows, const std::int64_t* weights, const double* price, std::int32_t n_items, std::int64_t k)
        : data(rows), weight(weights), scale(k), index(transpose(rows, n_items)), fee(rows.rows), holders(n_items, 0) {
        for (std::int64_t v = 0; v < rows.rows; ++v) {
            fee[v] = std::llround((static_cast<double>(rows.size(v)) - price[v]) * PART / 2);
            for (const std::int32_t* i = rows.begin(v); i != rows.end(v); ++i) holders[*i] += weights[v];
        }
    }
};

// Finds the rows that may help a row, and what it saves by them.
class Worker {
  public:
    explicit Worker(const Problem& problem)
        : problem_(problem), search_(problem.scale), shared_(problem.data.rows, 0), beyond_(problem.data.rows, 0) {}

    std::int64_t steps() const { return search_.steps(); }
    double value(std::int64_t u, std::int64_t budget) {
        choose(u);
        const std::int64_t end = walk();
        gather(u, end);
        std::sort(helpers_.begin(), helpers_.end());
        const std::int64_t most = search_.most(helpers_, decided(), budget), k = problem_.scale.k;
        const std::int64_t units = problem_.data.size(u) * problem_.scale.item - (k - 1) * problem_.fee[u] - most;
        return static_cast<double>(units) / static_cast<double>(problem_.scale.item);
    }

  private:
    // Items that fewer than a majority of k hold are lost in any group. The most frequent of the others are decided on.
    void choose(std::int64_t u) {
        const Problem& p = problem_;
        items_.clear();
        for (const std::int32_t* i = p.data.begin(u); i != p.data.end(u); ++i)
            if (p.holders[*i] >= p.scale.majority) items_.push_back(*i);
        std::stable_sort(items_.begin(), items_.end(),
                         [&](std::int32_t one, std::int32_t other) { return p.holders[one] > p.holders[other]; });
    }
    int decided() const { return static_cast<int>(std::min<std::size_t>(64, items_.size())); }

    // Notes the items that each row shares; rows from the one returned on have fees above what they can save.
    std::int64_t walk() {
        const Problem& p = problem_;
        const std::int64_t most = static_cast<std::int64_t>(items_.size()) * p.scale.steepest();
        const std::int64_t end = std::lower_bound(p.fee.begin(), p.fee.end(), most) - p.fee.begin();
        for (std::size_t i = 0; i < items_.size(); ++i) {
            const std::int32_t* row = p.index.begin(items_[i]);
            const std::int32_t* const last = p.index.end(items_[i]);
            if (i < 64)
                for (; row != last && *row < end; ++row) shared_[*row] |= std::uint64_t{1} << i;
            else
                for (; row != last && *row < end; ++row) ++beyond_[*row];
        }
        return end;
    }

    // Of rows that share the same items with the anchor, only the k - 1 with the lowest fees count: they come first.
    void gather(std::int64_t u, std::int64_t end) {
        const Problem& p = problem_;
        const std::int64_t steepest = p.scale.steepest();
        const bool all_decided = items_.size() <= 64;
        helpers_.clear();
        seen_.clear();
        for (std::int64_t v = 0; v < end; ++v) {
            const std::uint64_t shared = shared_[v];
            if (!shared && (all_decided || !beyond_[v])) continue;
            const std::int64_t fee = p.fee[v] - beyond_[v] * PART;
            const std::int64_t copies = p.weight[v] - (v == u);
            shared_[v] = 0;
            beyond_[v] = 0;
            if (copies == 0 || fee >= __builtin_popcountll(shared) * steepest) continue;
            std::int64_t& before = seen_.of(shared);
            if (all_decided && before >= p.scale.k - 1) continue;
            before += copies;
            helpers_.push_back({shared, fee, copies});
        }
    }

    const Problem& problem_;
    Search search_;
    PerSet seen_;  // copies of each set of shared items
    std::vector<std::int32_t> items_;
    std::vector<std::uint64_t> shared_;
    std::vector<std::int32_t> beyond_;
    std::vector<Helper> helpers_;
};

}  // namespace anchors

AnchorValues anchor_values(const Csr& data, const std::int64_t* weight, const double* price, std::int32_t n_items,
                           std::int64_t k, const std::int64_t* wanted, std::int64_t count, std::int64_t budget,
                           int threads, Monitor& monitor) {
    const anchors::Problem problem(data, weight, price, n_items, k);
    AnchorValues out{std::vector<double>(count), std::vector<std::int64_t>(count)};
    std::vector<anchors::Worker> workers(thread_count(threads), anchors::Worker(problem));
    parallel_for(count, threads, monitor, [&](std::int64_t task, int number) {
        out.value[task] = workers[number].value(wanted[task], budget);
        out.steps[task] = workers[number].steps();
    });
    return out;
}

}  // namespace anonset::bound
