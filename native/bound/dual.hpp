// The loop behind the lower bound of the information loss (docs/explanation/bound.md).
//
// For any prices 0 <= y[v] <= |v| every release loses at least the sum over all rows u of
//   value[u] = (y[u] + mean of the k - 1 smallest offers that other rows make to u) / 2
// where v offers d(u, v) - y[v]. Rows without a common item offer at least |u|, so an offer above |u| counts as |u|,
// and only overlapping rows need to be visited. Rows are distinct; weight[u] counts the copies of u, which offer -y[u]
// to each other and are all alike: one value stands for each of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "core/bitmap.hpp"
#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset {

struct DualPass {
    std::vector<double> value;    // of each row asked for
    std::vector<double> dearest;  // the price of the last of the k - 1 offers that it takes
};

namespace dual {

struct Offer {
    double price;
    std::int32_t row;
    bool operator<(const Offer& other) const { return price != other.price ? price < other.price : row < other.row; }
};

// The cheapest offers so far, at most `keep`, none at `limit` or above.
class Cheapest {
  public:
    void begin(std::int64_t keep, double limit) {
        keep_ = static_cast<std::size_t>(keep);
        limit_ = limit;
        offers_.clear();
    }
    double limit() const { return limit_; }
    void add(double price, std::int64_t row) {
        if (price >= limit_) return;
        offers_.push_back({price, static_cast<std::int32_t>(row)});
        std::push_heap(offers_.begin(), offers_.end());
        if (offers_.size() > keep_) {
            std::pop_heap(offers_.begin(), offers_.end());
            offers_.pop_back();
        }
        if (offers_.size() == keep_) limit_ = offers_.front().price;
    }
    const std::vector<Offer>& sorted() {
        std::sort_heap(offers_.begin(), offers_.end());
        return offers_;
    }

  private:
    std::size_t keep_ = 0;
    double limit_ = 0;
    std::vector<Offer> offers_;
};

struct Problem {
    Csr data;
    const std::int64_t* weight;
    const double* y;
    std::int64_t k;
    std::vector<float> slack;  // |v| - y[v], rounded down: it only sorts out; offers are computed exactly

    Problem(const Csr& rows, const std::int64_t* weights, const double* prices, std::int64_t k)
        : data(rows), weight(weights), y(prices), k(k), slack(rows.rows) {
        for (std::int64_t v = 0; v < rows.rows; ++v) {
            const double exact = static_cast<double>(rows.size(v)) - prices[v];
            slack[v] = static_cast<float>(exact);
            if (slack[v] > exact) slack[v] = std::nextafter(slack[v], -1.0f);
        }
    }
    double offer(std::int64_t u, std::int64_t v, std::int64_t shared) const {
        return static_cast<double>(data.size(u) + data.size(v) - 2 * shared) - y[v];
    }
    // Whoever offers less than `limit` has a slack - 2 * shared below this.
    static float filter(double limit, std::int64_t size) {
        const double exact = limit - static_cast<double>(size);
        const auto rounded = static_cast<float>(exact);
        return rounded < exact ? std::nextafter(rounded, std::numeric_limits<float>::infinity()) : rounded;
    }

    // The k - 1 cheapest offers: those of the other rows (ascending), those of the own copies where they belong, and
    // as many at |u| as are still needed.
    void settle(std::int64_t u, const std::vector<Offer>& offers, double& value, double& dearest) const {
        const auto size = static_cast<double>(data.size(u));
        std::int64_t need = k - 1;
        double sum = 0;
        const auto take = [&](double price, std::int64_t available) {
            const std::int64_t taken = std::min(need, available);
            if (taken <= 0) return;
            need -= taken;
            sum += price * static_cast<double>(taken);
            dearest = price;
        };
        auto next = offers.begin();
        for (; next != offers.end() && next->price < -y[u]; ++next) take(next->price, weight[next->row]);
        take(-y[u], weight[u] - 1);
        for (; next != offers.end(); ++next) take(next->price, weight[next->row]);
        take(size, need);
        value = (y[u] + sum / static_cast<double>(k - 1)) / 2;
    }
};

// Calls found(v) for every v that may offer less than `limit`; most blocks of rows hold none.
template <class Count, class Found>
ANONSET_INLINE void below(const Count* shared, const float* slack, std::int64_t count, float limit, Found&& found) {
    constexpr std::int64_t BLOCK = 32;
    for (std::int64_t from = 0; from < count; from += BLOCK) {
        const std::int64_t to = std::min(count, from + BLOCK);
        int any = 0;
        for (std::int64_t v = from; v < to; ++v) any |= slack[v] - 2.0f * static_cast<float>(shared[v]) < limit;
        for (std::int64_t v = from; any && v < to; ++v)
            if (slack[v] - 2.0f * static_cast<float>(shared[v]) < limit) found(v);
    }
}

// Rows as bits, for data so dense that nearly every pair overlaps.
class Bits {
  public:
    Bits(const Csr& data, std::int32_t n_items) : words_((n_items + 63) / 64), bits_(data.rows * words_, 0) {
        for (std::int64_t row = 0; row < data.rows; ++row)
            for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i)
                bits_[row * words_ + (*i >> 6)] |= std::uint64_t{1} << (*i & 63);
    }
    std::int64_t words() const { return words_; }

    // How many items row u shares with each of the rows [from, from + count).
    template <int Fixed>
    ANONSET_INLINE void count(std::int64_t u, std::int64_t from, std::int64_t count, std::uint32_t* shared) const {
        const std::int64_t words = Fixed ? Fixed : words_;
        const std::uint64_t *one = bits_.data() + u * words, *other = bits_.data() + from * words;
        for (std::int64_t v = 0; v < count; ++v, other += words) {
            int sum = 0;
            for (std::int64_t w = 0; w < words; ++w) sum += __builtin_popcountll(one[w] & other[w]);
            shared[v] = static_cast<std::uint32_t>(sum);
        }
    }

  private:
    std::int64_t words_;
    std::vector<std::uint64_t> bits_;
};

template <int Fixed>
ANONSET_INLINE void search_bits(const Problem& problem, const Bits& bits, std::int64_t u, Cheapest& cheapest) {
    constexpr std::int64_t BLOCK = 256;
    std::uint32_t shared[BLOCK];
    for (std::int64_t from = 0; from < problem.data.rows; from += BLOCK) {
        const std::int64_t count = std::min(BLOCK, problem.data.rows - from);
        bits.count<Fixed>(u, from, count, shared);
        below(shared, problem.slack.data() + from, count, Problem::filter(cheapest.limit(), problem.data.size(u)),
              [&](std::int64_t v) ANONSET_INLINE_LAMBDA {
                  if (from + v != u) cheapest.add(problem.offer(u, from + v, shared[v]), from + v);
              });
    }
}

ANONSET_CLONES inline void search(const Problem& problem, const Bits& bits, std::int64_t u, Cheapest& cheapest) {
    switch (bits.words()) {
        case 1:
            return search_bits<1>(problem, bits, u, cheapest);
        case 2:
            return search_bits<2>(problem, bits, u, cheapest);
        case 3:
            return search_bits<3>(problem, bits, u, cheapest);
        default:
            return search_bits<0>(problem, bits, u, cheapest);
    }
}

// For each item the rows that hold it.
struct Postings {
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> rows;

    Postings(const Csr& data, std::int32_t n_items) : start(n_items + 1, 0), rows(data.offsets[data.rows]) {
        for (std::int64_t i = 0; i < data.offsets[data.rows]; ++i) ++start[data.items[i] + 1];
        for (std::int32_t i = 0; i < n_items; ++i) start[i + 1] += start[i];
        std::vector<std::int64_t> cursor(start.begin(), start.end() - 1);
        for (std::int64_t row = 0; row < data.rows; ++row)
            for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i)
                rows[cursor[*i]++] = static_cast<std::int32_t>(row);
    }
    std::int64_t visits(const Csr& data, std::int64_t row) const {
        std::int64_t sum = 0;
        for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i) sum += start[*i + 1] - start[*i];
        return sum;
    }
    template <class Body>
    ANONSET_INLINE void for_holders(const std::int32_t* from, const std::int32_t* to, Body&& body) const {
        for (const std::int32_t* item = from; item != to; ++item) {
            const std::int32_t *row = rows.data() + start[*item], *last = rows.data() + start[*item + 1];
            for (; row != last; ++row) body(*row);
        }
    }
};

// How many items each row shares with the one looked at, for rows of any length: remembers whom it touched.
struct Touched {
    std::vector<std::uint32_t> shared;
    std::vector<std::int32_t> rows;

    void search(const Problem& problem, const Postings& index, std::int64_t u, Cheapest& cheapest) {
        const Csr& data = problem.data;
        shared.resize(data.rows, 0);
        rows.clear();
        index.for_holders(data.begin(u), data.end(u), [&](std::int32_t v) ANONSET_INLINE_LAMBDA {
            if (shared[v]++ == 0) rows.push_back(v);
        });
        for (const std::int32_t v : rows) {
            if (v != u) cheapest.add(problem.offer(u, v, shared[v]), v);
            shared[v] = 0;
        }
    }
};

// Long lists touch most rows: count blindly in bytes, then scan all bytes at once. Counts go up by `unit`, so that half
// the slack can be compared in parts of an item. Whoever offers less than the limit has
//   shared > slack / 2 + (|u| - limit) / 2,  hence  unit * shared > need[v] + beyond  with both terms rounded down.
struct Blind {
    static constexpr std::int64_t BLOCK = 64;
    std::int64_t unit = 4;
    std::vector<std::uint8_t> need;  // filled up to whole blocks

    explicit Blind(const Problem& problem) : need((problem.data.rows + BLOCK - 1) / BLOCK * BLOCK, 255) {
        std::int64_t longest = 0;
        for (std::int64_t v = 0; v < problem.data.rows; ++v) longest = std::max(longest, problem.data.size(v));
        while (unit > 1 && unit * longest > 255) unit /= 2;
        for (std::int64_t v = 0; v < problem.data.rows; ++v) need[v] = in_bytes(problem.slack[v]);
    }
    // Whether count > need + beyond anywhere in a block.
    static ANONSET_INLINE bool any(const std::uint8_t* count, const std::uint8_t* need, std::uint8_t beyond) {
        typedef std::uint8_t Bytes __attribute__((vector_size(BLOCK)));
        typedef std::uint64_t Words __attribute__((vector_size(BLOCK)));
        Bytes counts, needs;
        std::memcpy(&counts, count, BLOCK);
        std::memcpy(&needs, need, BLOCK);
        const Bytes least = Bytes{} + beyond;
        const auto found = (Words)(((counts > least ? counts : least) - least) > needs);
        std::uint64_t bits = 0;
        for (int i = 0; i < BLOCK / 8; ++i) bits |= found[i];
        return bits != 0;
    }
    bool fits(std::int64_t size) const { return unit * size <= 255; }
    std::uint8_t in_bytes(double slack) const {
        return static_cast<std::uint8_t>(std::clamp(static_cast<double>(unit) * slack / 2, 0.0, 255.0));
    }
};

ANONSET_CLONES inline void search(const Problem& problem, const Postings& index, const Blind& blind, std::int64_t u,
                                  Cheapest& cheapest, std::vector<std::uint8_t>& counts) {
    const Csr& data = problem.data;
    const auto unit = static_cast<std::uint8_t>(blind.unit);
    counts.resize(blind.need.size(), 0);
    std::uint8_t* const all = counts.data();
    index.for_holders(data.begin(u), data.end(u), [=](std::int32_t v) ANONSET_INLINE_LAMBDA { all[v] += unit; });
    double limit = cheapest.limit();
    std::uint8_t beyond = blind.in_bytes(-Problem::filter(limit, data.size(u)));
    for (std::int64_t from = 0; from < data.rows; from += Blind::BLOCK) {
        std::uint8_t* count = all + from;
        const std::uint8_t* need = blind.need.data() + from;
        const bool any = Blind::any(count, need, beyond);
        for (int v = 0; any && v < Blind::BLOCK; ++v)
            if (std::max(count[v], beyond) - beyond > need[v] && from + v != u && from + v < data.rows)
                cheapest.add(problem.offer(u, from + v, count[v] / unit), from + v);
        std::fill(count, count + Blind::BLOCK, 0);
        if (cheapest.limit() == limit) continue;
        limit = cheapest.limit();
        beyond = blind.in_bytes(-Problem::filter(limit, data.size(u)));
    }
}

// Finds the cheapest offers to a row. `dense` says whether to compare bitmaps of all pairs or to walk an inverted index
// of the overlapping ones.
class Market {
  public:
    struct Scratch {
        Cheapest cheapest;
        Touched touched;
        std::vector<std::uint8_t> counts;
    };
    const Problem problem;

    Market(const Csr& data, const std::int64_t* weight, const double* y, std::int32_t n_items, std::int64_t k,
           bool dense)
        : problem(data, weight, y, k),
          dense_(dense),
          bits_(dense ? data : Csr{data.offsets, data.items, 0}, n_items),
          index_(dense ? Csr{data.offsets, data.items, 0} : data, n_items),
          blind_(problem) {}

    void look(std::int64_t u, std::int64_t keep, Scratch& scratch) const {
        constexpr std::int64_t SCAN = 16;  // bytes that can be scanned in the time of a visit
        const Csr& data = problem.data;
        scratch.cheapest.begin(keep, static_cast<double>(data.size(u)));
        if (dense_)
            search(problem, bits_, u, scratch.cheapest);
        else if (blind_.fits(data.size(u)) && SCAN * index_.visits(data, u) > data.rows)
            search(problem, index_, blind_, u, scratch.cheapest, scratch.counts);
        else
            scratch.touched.search(problem, index_, u, scratch.cheapest);
    }

  private:
    const bool dense_;
    const Bits bits_;
    const Postings index_;
    const Blind blind_;
};

}  // namespace dual

inline DualPass dual_pass(const Csr& data, const std::int64_t* weight, const double* y, std::int32_t n_items,
                          std::int64_t k, const std::int64_t* wanted, std::int64_t count, bool dense, int threads,
                          Monitor& monitor) {
    const dual::Market market(data, weight, y, n_items, k, dense);
    DualPass out{std::vector<double>(count), std::vector<double>(count)};
    std::vector<dual::Market::Scratch> workers(thread_count(threads));
    parallel_for(count, threads, monitor, [&](std::int64_t task, int number) {
        market.look(wanted[task], k - 1, workers[number]);
        market.problem.settle(wanted[task], workers[number].cheapest.sorted(), out.value[task], out.dearest[task]);
    });
    return out;
}

}  // namespace anonset
