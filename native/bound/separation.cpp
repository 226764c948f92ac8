// Separation around all rows, and feasibility restored (docs/explanation/bound.md, "From centers").
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bound/api.hpp"
#include "bound/cuts.hpp"
#include "bound/neighbourhood.hpp"
#include "bound/offers.hpp"

namespace anonset::bound {

namespace centers {

// How many parts of its increment each row has to give back: the most that any cut asks for.
class PendingDecrease {
  public:
    explicit PendingDecrease(std::int64_t rows) : parts_(rows, 0) {}

    void raise(std::int64_t row, std::int32_t parts) { parts_[row] = std::max(parts_[row], parts); }
    void merge(const PendingDecrease& other) {
        for (std::size_t row = 0; row < parts_.size(); ++row) raise(static_cast<std::int64_t>(row), other.parts_[row]);
    }
    // `part` is the size of one part of each row.
    void apply(const std::vector<std::int32_t>& part, std::vector<double>& values) const {
        for (std::size_t row = 0; row < parts_.size(); ++row)
            values[row] -= static_cast<double>(parts_[row] * part[row]) / UNIT;
    }

  private:
    std::vector<std::int32_t> parts_;
};

class Worker {
  public:
    PendingDecrease pending;
    CutCollector collector;

    Worker(const Offers& offers, const std::vector<std::int32_t>& part, const SeparationEffort& effort)
        : pending(offers.data.rows), offers_(offers), part_(part), effort_(effort) {}

    std::int64_t steps() const { return steps_; }
    // Returns by how much the anchor alone is lowered, before the limit.
    std::int64_t separate(std::int64_t u) {
        std::int64_t alone = 0;
        for (std::int64_t keep = effort_.nearest; !search(u, keep, alone); keep *= 4) continue;
        if (gatherer_.names(items_))
            collector.keep(gatherer_.around, items_, offers_.data.begin(u), offers_.data.size(u), offers_.price,
                           static_cast<std::size_t>(effort_.cuts));
        for (const auto& [row, count] : found_) pending.raise(row, count);
        return alone;
    }

  private:
    // False if more rows have to be looked at.
    bool search(std::int64_t u, std::int64_t keep, std::int64_t& alone) {
        offers_.find(u, keep, scratch_);
        gatherer_.load(offers_, part_, u, scratch_.cheapest);
        const bool last = keep >= effort_.widest || !gatherer_.full(keep);
        if (gatherer_.outsiders > 0 && !last) return false;
        gatherer_.choose();
        found_.clear();
        collector.clear();
        const auto decrease = [&](std::int32_t row, std::int32_t count) { found_.emplace_back(row, count); };
        const auto violated = [&](std::uint64_t changed, std::int64_t by) { collector.add(changed, by); };
        const Search search(gatherer_.around, effort_.budget, decrease, violated);
        if (search.outside() && !last) return false;
        steps_ = search.steps();
        alone = std::max(search.charge(), gatherer_.outsiders);
        return true;
    }

    const Offers& offers_;
    const std::vector<std::int32_t>& part_;
    const SeparationEffort effort_;
    std::int64_t steps_ = 0;
    Offers::Scratch scratch_;
    Gatherer gatherer_;
    std::vector<std::pair<std::int32_t, std::int32_t>> found_;
    std::vector<std::int32_t> items_;
};

}  // namespace centers

Restored restore_feasibility(const Csr& data, const std::int64_t* weight, const double* target, const double* increment,
                             std::int32_t n_items, std::int64_t k, bool dense, const SeparationEffort& effort,
                             int threads, Monitor& monitor) {
    using namespace centers;
    const Offers offers(data, weight, target, n_items, k, dense);
    std::vector<std::int32_t> part(data.rows);
    for (std::int64_t v = 0; v < data.rows; ++v)
        part[v] = static_cast<std::int32_t>(std::lround(increment[v] * UNIT / PARTS));
    // No cut is violated by more, because none was before the increments.
    const std::int64_t most = k * PARTS * (data.rows ? *std::max_element(part.begin(), part.end()) : 0);
    std::vector<Worker> workers(thread_count(threads), Worker(offers, part, effort));
    Restored out{std::vector<double>(target, target + data.rows), std::vector<std::int64_t>(data.rows), {}};
    parallel_for(data.rows, threads, monitor, [&](std::int64_t u, int number) {
        if (target[u] <= 0) return;
        out.value[u] -= static_cast<double>(std::min(most, workers[number].separate(u))) / UNIT;
        out.steps[u] = workers[number].steps();
    });
    std::vector<Cuts> cuts;
    for (Worker& worker : workers) {
        cuts.push_back(std::move(worker.collector.cuts));
        workers[0].pending.merge(worker.pending);
    }
    workers[0].pending.apply(part, out.value);
    out.cuts = merged(cuts);
    return out;
}

}  // namespace anonset::bound
