// The cheapest offers that other rows make to a row (docs/explanation/bound.md, "From pairs").
//
// Row v offers d(u, v) - price[v] to row u. Rows without a common item offer at least |u|, so an offer above |u| counts
// as |u|, and only overlapping rows need to be visited.
#pragma once

#include <cstdint>
#include <vector>

#include "core/bitmap.hpp"
#include "core/csr.hpp"
#include "core/transpose.hpp"

namespace anonset::bound {

struct Offer {
    double price;
    std::int32_t row;
    bool operator<(const Offer& other) const { return price != other.price ? price < other.price : row < other.row; }
};

// The cheapest offers so far, at most `keep`, none at `limit` or above.
class Cheapest {
  public:
    void begin(std::int64_t keep, double limit);
    double limit() const { return limit_; }
    void add(double price, std::int64_t row);
    const std::vector<Offer>& sorted();

  private:
    std::size_t keep_ = 0;
    double limit_ = 0;
    std::vector<Offer> offers_;
};

// `dense` says whether to compare bitmaps of all pairs or to walk an inverted index of the overlapping ones.
class Offers {
  public:
    struct Scratch {
        Cheapest cheapest;
        std::vector<std::uint32_t> shared;
        std::vector<std::int32_t> touched;
    };
    const Csr data;
    const std::int64_t* const weight;
    const double* const price;
    const std::int64_t k;

    Offers(const Csr& data, const std::int64_t* weight, const double* price, std::int32_t n_items, std::int64_t k,
           bool dense);

    // The `keep` cheapest offers to row u are in scratch.cheapest afterwards.
    void find(std::int64_t u, std::int64_t keep, Scratch& scratch) const;

  private:
    double offer(std::int64_t u, std::int64_t v, std::int64_t shared) const {
        return static_cast<double>(data.size(u) + data.size(v) - 2 * shared) - price[v];
    }
    void by_bitmaps(std::int64_t u, Scratch& scratch) const;
    void by_index(std::int64_t u, Scratch& scratch) const;

    const bool dense_;
    const std::int64_t words_;
    std::vector<std::uint64_t> bits_;
    std::vector<float> slack_;  // |v| - price[v], rounded down: it only sorts out; offers are computed exactly
    Transposed<> index_;
};

}  // namespace anonset::bound
