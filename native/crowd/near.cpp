#include "crowd/near.hpp"

#include <algorithm>
#include <numeric>

#include "core/bitmap.hpp"

namespace anonset::crowd {

class NearSearch {
  public:
    NearSearch(const Bitmaps& rows, std::int64_t near)
        : bits_(rows.bits), rows_(rows.rows), words_(rows.words), near_(near), lists_(rows.rows * near, UINT64_MAX) {}

    std::vector<std::uint32_t> find(std::int64_t sorts, Random& random, int threads, Monitor& monitor) {
        std::vector<std::int32_t> order(rows_);
        std::iota(order.begin(), order.end(), 0);
        meet(order, threads, monitor);
        for (std::int64_t sort = 0; sort < sorts; ++sort) {
            sort_by_random_items(random, order);
            meet(order, threads, monitor);
        }
        std::vector<std::uint32_t> found(lists_.size());
        for (std::size_t i = 0; i < found.size(); ++i) found[i] = static_cast<std::uint32_t>(lists_[i]);
        return found;
    }

  private:
    friend void meet_along(NearSearch& search, const std::int32_t* order, std::int64_t from, std::int64_t to);

    struct Key {
        std::uint32_t bits;
        std::int32_t row;
    };
    static constexpr std::int64_t PART = 4096;    // rows that one thread looks at
    static constexpr std::int64_t REACH = 2;      // places in an order
    static constexpr int DIGIT = 11, DIGITS = 2;  // bits that a pass of sorting goes by, and passes

    void meet(const std::vector<std::int32_t>& order, int threads, Monitor& monitor) {
        parallel_for((rows_ + PART - 1) / PART, threads, monitor, [&](std::int64_t part, int) {
            meet_along(*this, order.data(), part * PART, std::min(rows_, (part + 1) * PART));
        });
    }

    // A distance and a row in one number, so that lists are sorted by both.
    template <int W>
    ANONSET_INLINE std::uint64_t distance(std::int64_t p, std::int64_t q) const {
        const std::int64_t words = W ? W : words_;
        const std::uint64_t *a = bits_ + p * words, *b = bits_ + q * words;
        std::uint64_t sum = 0;
        for (std::int64_t w = 0; w < words; ++w) sum += static_cast<std::uint64_t>(__builtin_popcountll(a[w] ^ b[w]));
        return sum << 32;
    }
    ANONSET_INLINE void remember(std::int64_t row, std::uint64_t neighbour) {
        std::uint64_t* list = lists_.data() + row * near_;
        std::int64_t at = near_ - 1;
        if (neighbour >= list[at]) return;
        while (at > 0 && list[at - 1] > neighbour) --at;
        if (at > 0 && list[at - 1] == neighbour) return;
        for (std::int64_t i = near_ - 1; i > at; --i) list[i] = list[i - 1];
        list[at] = neighbour;
    }

    // Rows at the places [from, to) of an order meet those up to REACH places away. Others' lists are left alone.
    template <int W>
    ANONSET_INLINE void along(const std::int32_t* order, std::int64_t from, std::int64_t to) {
        for (std::int64_t i = std::max<std::int64_t>(0, from - REACH); i < to; ++i)
            for (std::int64_t j = i + 1; j <= std::min(rows_ - 1, i + REACH); ++j) {
                const std::uint64_t far = distance<W>(order[i], order[j]);
                if (i >= from) remember(order[i], far | static_cast<std::uint32_t>(order[j]));
                if (j >= from && j < to) remember(order[j], far | static_cast<std::uint32_t>(order[i]));
            }
    }

    // Rows that are equal in the items drawn stay in Gray order.
    void sort_by_random_items(Random& random, std::vector<std::int32_t>& order) {
        const std::vector<std::int64_t> items = telling_items(random);
        keys_.resize(rows_);
        sorted_.resize(rows_);
        for (std::int64_t r = 0; r < rows_; ++r) {
            std::uint32_t key = 0;
            for (const std::int64_t item : items)
                key = key << 1 | static_cast<std::uint32_t>(bits_[r * words_ + item / 64] >> item % 64 & 1);
            keys_[r] = {key, static_cast<std::int32_t>(r)};
        }
        for (int digit = 0; digit < DIGITS; ++digit) sort_by_digit(digit * DIGIT);
        for (std::int64_t i = 0; i < rows_; ++i) order[i] = keys_[i].row;
    }

    // Each is one in which two random rows differ: an item that nearly all rows hold, or hardly any, tells little.
    std::vector<std::int64_t> telling_items(Random& random) const {
        constexpr std::size_t MOST = DIGIT * DIGITS;
        std::vector<std::int64_t> drawn;
        for (std::size_t tries = 0; tries < 4 * MOST && drawn.size() < MOST; ++tries) {
            const std::int64_t p = random.below(static_cast<std::uint32_t>(rows_));
            const std::int64_t q = random.below(static_cast<std::uint32_t>(rows_));
            const std::int64_t item = one_that_differs(p, q, random);
            if (item >= 0 && std::find(drawn.begin(), drawn.end(), item) == drawn.end()) drawn.push_back(item);
        }
        return drawn;
    }

    std::int64_t one_that_differs(std::int64_t p, std::int64_t q, Random& random) const {
        std::int64_t count = 0;
        for (std::int64_t w = 0; w < words_; ++w)
            count += __builtin_popcountll(bits_[p * words_ + w] ^ bits_[q * words_ + w]);
        if (count == 0) return -1;
        std::int64_t skip = random.below(static_cast<std::uint32_t>(count));
        for (std::int64_t w = 0;; ++w)
            for (std::uint64_t left = bits_[p * words_ + w] ^ bits_[q * words_ + w]; left; left &= left - 1)
                if (skip-- == 0) return 64 * w + __builtin_ctzll(left);
    }

    void sort_by_digit(int shift) {
        constexpr std::uint32_t last = (1 << DIGIT) - 1;
        std::int32_t starts[last + 2] = {};
        for (const Key& key : keys_) ++starts[(key.bits >> shift & last) + 1];
        for (std::uint32_t i = 0; i <= last; ++i) starts[i + 1] += starts[i];
        for (const Key& key : keys_) sorted_[starts[key.bits >> shift & last]++] = key;
        keys_.swap(sorted_);
    }

    const std::uint64_t* bits_;
    std::int64_t rows_, words_, near_;
    std::vector<Key> keys_, sorted_;
    std::vector<std::uint64_t> lists_;
};

// Everything hot is inlined here, so that it is compiled for what the processor can do.
ANONSET_CLONES void meet_along(NearSearch& search, const std::int32_t* order, std::int64_t from, std::int64_t to) {
    switch (search.words_) {
        case 1:
            return search.along<1>(order, from, to);
        case 2:
            return search.along<2>(order, from, to);
        case 3:
            return search.along<3>(order, from, to);
        default:
            return search.along<0>(order, from, to);
    }
}

std::vector<std::uint32_t> near_rows(const Bitmaps& rows, std::int64_t near, std::int64_t sorts, Random& random,
                                     int threads, Monitor& monitor) {
    return NearSearch(rows, near).find(sorts, random, threads, monitor);
}

}  // namespace anonset::crowd
