// How many transactions fit what an attacker knows: m items that are present and, maybe, some that are absent.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/transpose.hpp"
#include "risk/api.hpp"

namespace anonset::risk {

namespace {

// Counts the rows that hold all items of a query. Frequent items also get a bitmap: a query of nothing but frequent
// items is a bitwise AND, any other walks the rarest item's list.
class CandidateCounter {
  public:
    CandidateCounter(const Csr& data, std::int64_t n_items)
        : lists_(transpose(data, n_items)), width_((data.rows + 63) / 64), bitmap_(n_items, -1) {
        std::int64_t frequent = 0;
        for (std::int64_t item = 0; item < n_items; ++item)
            if (lists_.size(item) * 32 > data.rows) bitmap_[item] = frequent++;
        words_.assign(frequent * width_, 0);
        for (std::int64_t item = 0; item < n_items; ++item) {
            if (bitmap_[item] < 0) continue;
            std::uint64_t* words = words_.data() + bitmap_[item] * width_;
            for (const std::int32_t* row = lists_.begin(item); row != lists_.end(item); ++row)
                words[*row >> 6] |= std::uint64_t{1} << (*row & 63);
        }
    }

    // Negative items are padding.
    std::int64_t count(const std::int32_t* items, int m, std::int64_t query, const Absence& absence) const {
        std::int32_t known[64];
        int size = 0;
        for (int i = 0; i < m; ++i)
            if (items[i] >= 0) known[size++] = items[i];
        std::sort(known, known + size, [&](std::int32_t a, std::int32_t b) { return lists_.size(a) < lists_.size(b); });
        if (size == 0) throw std::invalid_argument("a query needs an item");
        if (size == 1 && !absence.knows(query)) return lists_.size(known[0]);
        return bitmap_[known[0]] >= 0 ? count_words(known, size, query, absence)
                                      : count_list(known, size, query, absence);
    }

  private:
    std::int64_t count_words(const std::int32_t* known, int size, std::int64_t query, const Absence& absence) const {
        std::int64_t total = 0;
        for (std::int64_t w = 0; w < width_; ++w) {
            std::uint64_t word = words_[bitmap_[known[0]] * width_ + w];
            for (int i = 1; i < size && word; ++i) word &= words_[bitmap_[known[i]] * width_ + w];
            if (!absence.knows(query)) {
                total += __builtin_popcountll(word);
                continue;
            }
            for (; word; word &= word - 1) total += !absence.rules_out(w * 64 + __builtin_ctzll(word), query);
        }
        return total;
    }

    std::int64_t count_list(const std::int32_t* known, int size, std::int64_t query, const Absence& absence) const {
        std::int64_t total = 0;
        const std::int32_t* cursor[64];
        for (int i = 1; i < size; ++i) cursor[i] = lists_.begin(known[i]);
        for (const std::int32_t* row = lists_.begin(known[0]); row != lists_.end(known[0]); ++row) {
            bool in_all = !absence.rules_out(*row, query);
            for (int i = 1; i < size && in_all; ++i) in_all = holds(known[i], *row, cursor[i]);
            total += in_all;
        }
        return total;
    }

    // `cursor` only moves forward: rows are asked for in ascending order. Gallop, then halve.
    bool holds(std::int32_t item, std::int32_t row, const std::int32_t*& cursor) const {
        if (bitmap_[item] >= 0) return words_[bitmap_[item] * width_ + (row >> 6)] >> (row & 63) & 1;
        const std::int32_t* end = lists_.end(item);
        std::int64_t step = 1;
        while (step < end - cursor && cursor[step] < row) step *= 2;
        cursor = std::lower_bound(cursor, std::min(end, cursor + step + 1), row);
        return cursor != end && *cursor == row;
    }

    Transposed<> lists_;
    std::int64_t width_;
    std::vector<std::int64_t> bitmap_;
    std::vector<std::uint64_t> words_;
};

}  // namespace

std::vector<std::int64_t> count_candidates(const Csr& data, std::int64_t n_items, const std::int32_t* queries,
                                           std::int64_t n_queries, int m, const Absence& absence, int threads,
                                           Monitor& monitor) {
    const CandidateCounter counter(data, n_items);
    std::vector<std::int64_t> sizes(n_queries);
    parallel_for(
        n_queries, threads, monitor,
        [&](std::int64_t query, int) { sizes[query] = counter.count(queries + query * m, m, query, absence); }, 256);
    return sizes;
}

}  // namespace anonset::risk
