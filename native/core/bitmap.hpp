// How many items the rows of one segment share. Only items that occur there matter, so they are renumbered; an item of
// a single row can never be shared, so it is left out. What it costs no longer depends on the vocabulary.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"

// Hot loops are compiled twice; one is chosen at the start (too early for ThreadSanitizer): any x86-64, or with AVX2.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define ANONSET_CLONES __attribute__((target_clones("avx2", "default")))
#define ANONSET_INLINE inline __attribute__((always_inline))
#define ANONSET_INLINE_LAMBDA __attribute__((always_inline))
#else
#define ANONSET_CLONES
#define ANONSET_INLINE inline
#define ANONSET_INLINE_LAMBDA
#endif

namespace anonset {

// shared[j] = the bits that bitmap `one` and the j-th of `others` have in common. Words > 0 is their length in words
// where the compiler may know it; otherwise it is `words`.
template <int Words>
ANONSET_INLINE void count_shared(const std::uint64_t* one, const std::uint64_t* others, std::int64_t words,
                                 std::int64_t count, std::uint32_t* shared) {
    const std::int64_t length = Words > 0 ? Words : words;
    for (std::int64_t j = 0; j < count; ++j, others += length) {
        int bits = 0;
        for (std::int64_t w = 0; w < length; ++w) bits += __builtin_popcountll(one[w] & others[w]);
        shared[j] = static_cast<std::uint32_t>(bits);
    }
}

ANONSET_CLONES inline void shared_bits(const std::uint64_t* one, const std::uint64_t* others, std::int64_t words,
                                       std::int64_t count, std::uint32_t* shared) {
    switch (words) {
        case 1:
            return count_shared<1>(one, others, words, count, shared);
        case 2:
            return count_shared<2>(one, others, words, count, shared);
        case 3:
            return count_shared<3>(one, others, words, count, shared);
        case 4:
            return count_shared<4>(one, others, words, count, shared);
        case 5:
            return count_shared<5>(one, others, words, count, shared);
        case 6:
            return count_shared<6>(one, others, words, count, shared);
        default:
            return count_shared<0>(one, others, words, count, shared);
    }
}

// One object per thread, used again for segment after segment: its table over the vocabulary is cleared only where it
// was touched.
class SharedItems {
  public:
    explicit SharedItems(std::int64_t vocabulary) : places_(vocabulary, 0) {}

    void load(const Csr& data, const std::int64_t* rows, std::int64_t count) {
        count_ = count;
        renumber(data, rows);
        double meetings = 0;
        for (const std::int32_t times : times_) meetings += 0.5 * times * (times - 1.0);
        words_ = (local_ + 63) / 64;
        const double pairs = 0.5 * static_cast<double>(count) * static_cast<double>(count);
        sparse_ = WORDS_PER_MEETING * meetings < pairs * static_cast<double>(words_);
        sparse_ ? fill_postings(data, rows) : fill_bitmaps(data, rows);
        for (const std::int32_t item : touched_) places_[item] = 0;
    }

    // shared[j] = the number of items that rows i and j of the segment share, for every j > i.
    void row(std::int64_t i, std::uint32_t* shared) const {
        if (!sparse_) {
            const std::uint64_t* one = bits_.data() + i * words_;
            shared_bits(one, one + words_, words_, count_ - i - 1, shared + i + 1);
            return;
        }
        std::fill(shared + i + 1, shared + count_, 0);
        for (std::int64_t at = starts_[i]; at < starts_[i + 1]; ++at)
            for (std::int64_t p = later_[at]; p < first_[items_[at] + 1]; ++p) ++shared[postings_[p]];
    }

  private:
    static constexpr double WORDS_PER_MEETING = 2;  // what one step along a posting list costs, in words of a bitmap

    // places_[item] = 1 + the local number of an item that at least two rows hold, and 0 for any other.
    void renumber(const Csr& data, const std::int64_t* rows) {
        std::int64_t most = 0;
        for (std::int64_t i = 0; i < count_; ++i) most += data.size(rows[i]);
        touched_.resize(most + 1);
        std::int64_t touched = 0;
        for_rows(data, rows, count_, [&](std::int64_t row) {
            for (const std::int32_t* item = data.begin(row); item != data.end(row); ++item) {
                touched_[touched] = *item;  // kept if it is new; a branch would be guessed wrong too often
                touched += places_[*item]++ == 0;
            }
        });
        touched_.resize(touched);
        times_.resize(touched + 1);
        local_ = 0;
        for (const std::int32_t item : touched_) {
            times_[local_] = places_[item];
            local_ += places_[item] > 1;
            places_[item] = places_[item] > 1 ? local_ : 0;
        }
        times_.resize(local_);
    }

    // An item of a single row sets no bit; to pass over it would be a branch that is guessed wrong too often.
    void fill_bitmaps(const Csr& data, const std::int64_t* rows) {
        bits_.assign(count_ * words_, 0);
        if (words_ == 0) return;
        for (std::int64_t i = 0; i < count_; ++i)
            for (const std::int32_t* item = data.begin(rows[i]); item != data.end(rows[i]); ++item) {
                const std::uint32_t known = places_[*item] != 0, place = places_[*item] - known;
                bits_[i * words_ + place / 64] |= std::uint64_t{known} << place % 64;
            }
    }

    // The local items of every row, and for each local item the rows that hold it; `later_` says where in that list the
    // rows after this one begin.
    void fill_postings(const Csr& data, const std::int64_t* rows) {
        first_.assign(local_ + 1, 0);
        for (std::int32_t i = 0; i < local_; ++i) first_[i + 1] = first_[i] + times_[i];
        cursor_.assign(first_.begin(), first_.end() - 1);
        postings_.resize(first_[local_]);
        starts_.assign(1, 0);
        items_.clear();
        later_.clear();
        for (std::int64_t i = 0; i < count_; ++i) {
            for (const std::int32_t* item = data.begin(rows[i]); item != data.end(rows[i]); ++item) {
                if (places_[*item] == 0) continue;
                const std::int32_t local = places_[*item] - 1;
                postings_[cursor_[local]++] = static_cast<std::int32_t>(i);
                items_.push_back(local);
                later_.push_back(cursor_[local]);
            }
            starts_.push_back(static_cast<std::int64_t>(items_.size()));
        }
    }

    std::int64_t count_ = 0, words_ = 0;
    std::int32_t local_ = 0;
    bool sparse_ = false;
    std::vector<std::int32_t> places_, touched_, times_, items_, postings_;
    std::vector<std::int64_t> starts_, first_, cursor_, later_;
    std::vector<std::uint64_t> bits_;
};

}  // namespace anonset
