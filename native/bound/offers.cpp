#include "bound/offers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace anonset::bound {

void Cheapest::begin(std::int64_t keep, double limit) {
    keep_ = static_cast<std::size_t>(keep);
    limit_ = limit;
    offers_.clear();
}

void Cheapest::add(double price, std::int64_t row) {
    if (price >= limit_) return;
    offers_.push_back({price, static_cast<std::int32_t>(row)});
    std::push_heap(offers_.begin(), offers_.end());
    if (offers_.size() > keep_) {
        std::pop_heap(offers_.begin(), offers_.end());
        offers_.pop_back();
    }
    if (offers_.size() == keep_) limit_ = offers_.front().price;
}

const std::vector<Offer>& Cheapest::sorted() {
    std::sort_heap(offers_.begin(), offers_.end());
    return offers_;
}

Offers::Offers(const Csr& rows, const std::int64_t* weights, const double* prices, std::int32_t n_items, std::int64_t k,
               bool dense)
    : data(rows), weight(weights), price(prices), k(k), dense_(dense), words_((n_items + 63) / 64) {
    if (!dense) {
        index_ = transpose(data, n_items);
        return;
    }
    bits_.assign(data.rows * words_, 0);
    slack_.resize(data.rows);
    for (std::int64_t v = 0; v < data.rows; ++v) {
        for (const std::int32_t* i = data.begin(v); i != data.end(v); ++i)
            bits_[v * words_ + (*i >> 6)] |= std::uint64_t{1} << (*i & 63);
        const double exact = static_cast<double>(data.size(v)) - price[v];
        slack_[v] = static_cast<float>(exact);
        if (slack_[v] > exact) slack_[v] = std::nextafter(slack_[v], -1.0f);
    }
}

void Offers::find(std::int64_t u, std::int64_t keep, Scratch& scratch) const {
    scratch.cheapest.begin(keep, static_cast<double>(data.size(u)));
    if (dense_)
        by_bitmaps(u, scratch);
    else
        by_index(u, scratch);
}

namespace {

// Calls found(v) where slack - 2 * shared is below the limit; most blocks of rows hold none.
template <class Found>
ANONSET_INLINE void below(const std::uint32_t* shared, const float* slack, std::int64_t count, float limit,
                          Found&& found) {
    constexpr std::int64_t BLOCK = 32;
    for (std::int64_t from = 0; from < count; from += BLOCK) {
        const std::int64_t to = std::min(count, from + BLOCK);
        int any = 0;
        for (std::int64_t v = from; v < to; ++v) any |= slack[v] - 2.0f * static_cast<float>(shared[v]) < limit;
        for (std::int64_t v = from; any && v < to; ++v)
            if (slack[v] - 2.0f * static_cast<float>(shared[v]) < limit) found(v);
    }
}

// A row that offers less than `limit` to a row of this size has a slack - 2 * shared below this.
float filter(double limit, std::int64_t size) {
    const double exact = limit - static_cast<double>(size);
    const auto rounded = static_cast<float>(exact);
    return rounded < exact ? std::nextafter(rounded, std::numeric_limits<float>::infinity()) : rounded;
}

}  // namespace

ANONSET_CLONES void Offers::by_bitmaps(std::int64_t u, Scratch& scratch) const {
    constexpr std::int64_t BLOCK = 256;
    std::uint32_t shared[BLOCK];
    Cheapest& cheapest = scratch.cheapest;
    for (std::int64_t from = 0; from < data.rows; from += BLOCK) {
        const std::int64_t count = std::min(BLOCK, data.rows - from);
        shared_bits(bits_.data() + u * words_, bits_.data() + from * words_, words_, count, shared);
        below(shared, slack_.data() + from, count, filter(cheapest.limit(), data.size(u)),
              [&](std::int64_t v) ANONSET_INLINE_LAMBDA {
                  if (from + v != u) cheapest.add(offer(u, from + v, shared[v]), from + v);
              });
    }
}

void Offers::by_index(std::int64_t u, Scratch& scratch) const {
    scratch.shared.resize(data.rows, 0);
    scratch.touched.clear();
    for (const std::int32_t* item = data.begin(u); item != data.end(u); ++item)
        for (const std::int32_t *v = index_.begin(*item), *last = index_.end(*item); v != last; ++v)
            if (scratch.shared[*v]++ == 0) scratch.touched.push_back(*v);
    for (const std::int32_t v : scratch.touched) {
        if (v != u) scratch.cheapest.add(offer(u, v, scratch.shared[v]), v);
        scratch.shared[v] = 0;
    }
}

}  // namespace anonset::bound
