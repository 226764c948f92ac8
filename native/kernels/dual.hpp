// One sweep of the dual ascent behind the lower bound of the information loss (see utility/bound.py).
//
// For each requested row u and the current prices y it finds
//   penalty[u] = sum over v != u of weight[v] * max(0, y[u] + y[v] - d(u, v))
//   best[u]    = the smallest t >= 0 such that the v with d(u, v) - y[v] <= t weigh at least k - weight[u], at most |u|
// Rows are distinct; weight[u] counts the copies of u. Because y[u] <= |u|, rows without a common item
// never pay a penalty and never lower `best`, so only overlapping rows need to be visited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.hpp"
#include "monitor.hpp"

namespace anonset {

struct DualSweep {
    std::vector<double> best, penalty;
};

namespace dual_detail {

struct Offer {
    double value;
    std::int64_t weight;
    bool operator<(const Offer& other) const { return value < other.value; }
};

// Keeps the cheapest offers that together weigh at least `need`; the dearest of them is the answer.
class Cheapest {
  public:
    Cheapest(std::int64_t need, double cap) : need_(need), cap_(cap) { heap_.clear(); }
    void add(double value, std::int64_t weight) {
        if (value >= cap_) return;
        heap_.push_back({value, weight});
        std::push_heap(heap_.begin(), heap_.end());
        held_ += weight;
        while (held_ - heap_.front().weight >= need_) {
            held_ -= heap_.front().weight;
            std::pop_heap(heap_.begin(), heap_.end());
            heap_.pop_back();
        }
        if (held_ >= need_) cap_ = heap_.front().value;
    }
    double answer() const { return std::max(0.0, cap_); }

  private:
    std::int64_t need_, held_ = 0;
    double cap_;
    std::vector<Offer> heap_;
};

// Rows of bits, for data so dense that every pair overlaps anyway.
struct Bits {
    std::int64_t words = 0;
    std::vector<std::uint64_t> bits;
    Bits(const Csr& data, std::int32_t n_items) : words((n_items + 63) / 64), bits(data.rows * words, 0) {
        for (std::int64_t row = 0; row < data.rows; ++row)
            for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i)
                bits[row * words + (*i >> 6)] |= std::uint64_t{1} << (*i & 63);
    }
};

// How many items row `mine` shares with each of the rows [from, to). Compiled twice: with and without popcnt.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("popcnt", "default")))
#endif
inline void count_common(const Bits& bits, std::int64_t mine, std::int64_t from, std::int64_t to,
                         std::int32_t* shared) {
    const std::uint64_t* a = bits.bits.data() + mine * bits.words;
    for (std::int64_t row = from; row < to; ++row) {
        const std::uint64_t* b = bits.bits.data() + row * bits.words;
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < bits.words; ++w) sum += __builtin_popcountll(a[w] & b[w]);
        shared[row - from] = sum;
    }
}

}  // namespace dual_detail

// `dense` says whether to compare bitmaps of all pairs or to walk an inverted index of the overlapping ones.
inline DualSweep dual_sweep(const Csr& data, const std::int64_t* weight, const double* y, std::int32_t n_items,
                            std::int64_t k, const std::int64_t* wanted, std::int64_t count, bool dense, int threads,
                            Monitor& monitor) {
    using namespace dual_detail;
    DualSweep out{std::vector<double>(count), std::vector<double>(count)};
    std::vector<std::int64_t> start(n_items + 1, 0);
    std::vector<std::int32_t> posting;
    if (!dense) {
        const std::int64_t nnz = data.offsets[data.rows];
        posting.resize(nnz);
        for (std::int64_t i = 0; i < nnz; ++i) ++start[data.items[i] + 1];
        for (std::int32_t i = 0; i < n_items; ++i) start[i + 1] += start[i];
        std::vector<std::int64_t> cursor(start.begin(), start.end() - 1);
        for (std::int64_t row = 0; row < data.rows; ++row)
            for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i)
                posting[cursor[*i]++] = static_cast<std::int32_t>(row);
    }
    const Bits bits(dense ? data : Csr{data.offsets, data.items, 0}, n_items);
    std::vector<std::vector<std::int32_t>> common(thread_count(threads)), touched(thread_count(threads));

    parallel_for(count, threads, monitor, [&](std::int64_t task, int worker) {
        const std::int64_t u = wanted[task];
        const auto size = static_cast<double>(data.size(u));
        double penalty = 0;
        Cheapest offers(std::max<std::int64_t>(1, k - weight[u]), size);
        auto meet = [&](std::int64_t v, std::int64_t shared) {
            const double distance = size + static_cast<double>(data.size(v) - 2 * shared);
            const double slack = y[u] + y[v] - distance;
            if (slack > 0) penalty += static_cast<double>(weight[v]) * slack;
            offers.add(distance - y[v], weight[v]);
        };
        if (dense) {
            std::int32_t shared[256];
            for (std::int64_t from = 0; from < data.rows; from += 256) {
                const std::int64_t to = std::min(data.rows, from + 256);
                count_common(bits, u, from, to, shared);
                for (std::int64_t v = from; v < to; ++v)
                    if (v != u) meet(v, shared[v - from]);
            }
        } else {
            auto& counter = common[worker];
            auto& seen = touched[worker];
            counter.resize(data.rows, 0);
            seen.clear();
            for (const std::int32_t* i = data.begin(u); i != data.end(u); ++i)
                for (std::int64_t p = start[*i]; p < start[*i + 1]; ++p)
                    if (counter[posting[p]]++ == 0) seen.push_back(posting[p]);
            for (std::int32_t v : seen) {
                if (v != u) meet(v, counter[v]);
                counter[v] = 0;
            }
        }
        out.penalty[task] = penalty;
        out.best[task] = weight[u] >= k ? 0.0 : offers.answer();
    });
    return out;
}

}  // namespace anonset
