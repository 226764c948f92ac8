// Gray order of dense rows, by their bitmaps: the rank of a Gray code word is the XOR of its leading bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset {

// Bitmaps in which the item of rank 0 is the highest bit of the last word, that of rank 1 the next, and so on.
class RankedBits {
  public:
    // Whether this is faster than to sort the items: where a word of a bitmap holds several of them.
    static bool pays(const Csr& data, std::int64_t n_items) {
        return n_items > 0 && 16 * (data.offsets[data.rows] - data.offsets[0]) >= n_items * data.rows;
    }

    RankedBits(const Csr& data, const std::int32_t* rank, std::int64_t n_items, int threads, Monitor& monitor)
        : rows_(data.rows),
          words_((n_items + 63) / 64),
          threads_(thread_count(threads)),
          monitor_(monitor),
          bits_(data.rows * words_, 0) {
        parallel_for(
            rows_, threads_, monitor_,
            [&](std::int64_t row, int) {
                for (const std::int32_t* item = data.begin(row); item != data.end(row); ++item) {
                    const std::int64_t at = place(rank[*item]);
                    bits_[row * words_ + at / 64] |= std::uint64_t{1} << at % 64;
                }
            },
            GRAIN);
    }

    // The rows in Gray order; equal rows keep their order.
    Buffer<std::int64_t> order() const {
        std::vector<std::uint64_t> ranks(rows_ * words_);
        std::vector<Entry> entries(rows_);
        parallel_for(
            rows_, threads_, monitor_,
            [&](std::int64_t row, int) {
                write_rank(row, ranks.data() + row * words_);
                entries[row] = {ranks[row * words_], static_cast<std::int32_t>(row)};
            },
            GRAIN);
        sort(entries, ranks);
        Buffer<std::int64_t> order(rows_);
        for (std::int64_t i = 0; i < rows_; ++i) order[i] = entries[i].row;
        return order;
    }

  private:
    struct Entry {
        std::uint64_t first;  // word of the rank
        std::int32_t row;
    };
    static constexpr std::int64_t GRAIN = 512;

    std::int64_t place(std::int64_t rank) const { return 64 * words_ - 1 - rank; }

    // The most significant word first.
    void write_rank(std::int64_t row, std::uint64_t* rank) const {
        std::uint64_t above = 0;  // all ones where the bits of higher words are odd in number
        for (std::int64_t w = words_ - 1; w >= 0; --w) {
            std::uint64_t word = bits_[row * words_ + w];
            for (int shift = 1; shift < 64; shift *= 2) word ^= word >> shift;
            *rank++ = word ^= above;
            above = word & 1 ? ~std::uint64_t{0} : 0;
        }
    }

    void sort(std::vector<Entry>& entries, const std::vector<std::uint64_t>& ranks) const {
        const auto less = [&](const Entry& a, const Entry& b) {
            if (a.first != b.first) return a.first < b.first;
            const std::uint64_t *p = ranks.data() + a.row * words_, *q = ranks.data() + b.row * words_;
            for (std::int64_t w = 1; w < words_; ++w)
                if (p[w] != q[w]) return p[w] < q[w];
            return a.row < b.row;
        };
        const auto at = [&](std::int64_t part) {
            return entries.begin() + rows_ * std::min<std::int64_t>(part, threads_) / threads_;
        };
        parallel_for(threads_, threads_, monitor_,
                     [&](std::int64_t part, int) { std::sort(at(part), at(part + 1), less); });
        for (std::int64_t width = 1; width < threads_; width *= 2)
            parallel_for((threads_ + 2 * width - 1) / (2 * width), threads_, monitor_, [&](std::int64_t pair, int) {
                const std::int64_t left = 2 * width * pair;
                std::inplace_merge(at(left), at(left + width), at(left + 2 * width), less);
            });
    }

    std::int64_t rows_, words_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::uint64_t> bits_;
};

}  // namespace anonset
