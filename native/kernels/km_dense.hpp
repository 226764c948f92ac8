// The published transactions as one bitmap per node, for data in which most nodes meet: whether two of them meet often
// enough is known after a few words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bitmap.hpp"
#include "km_attempt.hpp"

namespace anonset::km {

using Word = std::uint64_t;

// The first of `words` words, from `from` on, in which both bitmaps have a bit; `words` if there is none.
ANONSET_CLONES inline std::int64_t next_shared(const Word* a, const Word* b, std::int64_t from, std::int64_t words) {
    for (; from + 8 <= words; from += 8) {
        Word any = 0;
        for (int i = 0; i < 8; ++i) any |= a[from + i] & b[from + i];
        if (any != 0) break;
    }
    while (from < words && (a[from] & b[from]) == 0) ++from;
    return from;
}

// out = a & b; returns whether there is any bit.
ANONSET_CLONES inline bool intersect(const Word* a, const Word* b, std::int64_t words, Word* out) {
    Word any = 0;
    for (std::int64_t w = 0; w < words; ++w) {
        out[w] = a[w] & b[w];
        any |= out[w];
    }
    return any != 0;
}

class DenseRows {
  public:
    DenseRows(const Database& db, std::int64_t k, int m, Monitor& monitor)
        : db_(db), k_(k), m_(m), monitor_(monitor), words_((db.rows() + 63) / 64), meets_(m) {
        reset();
    }

    // Everything as the root, nothing left out.
    void reset() {
        cut_.assign(1, 0);
        bits_.assign(words_ * db_.tree.count(), 0);
        for (std::int64_t r = 0; r < db_.rows(); ++r) {
            const Word bit = Word{1} << (r % 64);
            for (std::int32_t i = 0; i < db_.length(r); ++i) bits_[db_.row(r)[i] * words_ + r / 64] |= bit;
        }
    }

    // What replacing `node` takes; gives up where more than `most` items would have to be left out.
    Attempt attempt(std::int32_t node, std::int64_t most) {
        Attempt found(node, children_of(db_.tree, node));
        own_.resize(found.children.size() * words_);
        for (std::size_t c = 0; c < found.children.size(); ++c)
            std::copy_n(bits_.data() + found.children[c] * words_, words_, own_.data() + c * words_);
        for (bool changed = true; changed;) {
            const std::int64_t before = found.items;
            for (std::size_t c = 0; c < found.children.size(); ++c)
                if (!thin(found, c, most)) return found;
            changed = found.items > before;
        }
        found.possible = true;
        return found;
    }

    // Makes the replacement that was attempted last.
    void commit(const Attempt& found) {
        cut_.erase(std::find(cut_.begin(), cut_.end(), found.node));
        cut_.insert(cut_.end(), found.children.begin(), found.children.end());
        for (const LeftOut& out : found.left_out)
            for (std::int32_t place = db_.tree.begin[out.node]; place < db_.tree.end[out.node]; ++place)
                bits_[db_.tree.at[place] * words_ + out.row / 64] &= ~(Word{1} << (out.row % 64));
    }

  private:
    // How many transactions two bitmaps share; stops counting at k.
    std::int64_t shared(const Word* a, const Word* b) const {
        std::int64_t total = 0;
        for (std::int64_t w = 0; (w = next_shared(a, b, w, words_)) < words_; ++w) {
            for (Word bits = a[w] & b[w]; bits != 0; bits &= bits - 1) {
                total += db_.weights[64 * w + __builtin_ctzll(bits)];
                if (total >= k_) return total;
            }
        }
        return total;
    }
    bool rare(const Word* a, const Word* b) const {
        const std::int64_t met = shared(a, b);
        return met > 0 && met < k_;
    }

    // Leaves the child out of every row in which it is part of a rare set; false where that is too much.
    bool thin(Attempt& found, std::size_t child, std::int64_t most) {
        monitor_.check();
        Word* own = own_.data() + child * words_;
        others_.clear();
        for (std::int32_t node : cut_)
            if (node != found.node) others_.push_back(bits_.data() + node * words_);
        for (std::size_t c = 0; c < found.children.size(); ++c)
            if (c != child) others_.push_back(own_.data() + c * words_);
        for (std::int64_t before = -1; before != found.items;) {
            before = found.items;
            if (rare(own, own) && !drop(found, child, own, most)) return false;
            if (m_ > 1 && !walk(found, child, own, 0, 2, most)) return false;
        }
        return true;
    }

    // All sets that go on from the transactions in `common`, which hold the child and `size` − 2 others.
    bool walk(Attempt& found, std::size_t child, Word* common, std::size_t from, int size, std::int64_t most) {
        for (std::size_t i = from; i < others_.size(); ++i) {
            const std::int64_t met = shared(common, others_[i]);
            if (met == 0) continue;
            if (met < k_) {
                meet_.resize(words_);
                intersect(common, others_[i], words_, meet_.data());
                if (!drop(found, child, meet_.data(), most)) return false;
                continue;
            }
            if (size == m_) continue;
            std::vector<Word>& next = meets_[size - 2];
            next.resize(words_);
            intersect(common, others_[i], words_, next.data());
            if (!walk(found, child, next.data(), i + 1, size + 1, most)) return false;
        }
        return true;
    }

    // Leaves the child out of these rows.
    bool drop(Attempt& found, std::size_t child, const Word* rows, std::int64_t most) {
        if (most == 0) return false;
        gone_.assign(rows, rows + words_);
        Word* own = own_.data() + child * words_;
        for (std::int64_t w = 0; w < words_; ++w) {
            for (Word bits = gone_[w]; bits != 0; bits &= bits - 1) {
                const std::int32_t row = static_cast<std::int32_t>(64 * w + __builtin_ctzll(bits));
                found.leave_out(child, row, items_below(db_, row, found.children[child]));
            }
            own[w] &= ~gone_[w];
            for (std::vector<Word>& meet : meets_)
                if (!meet.empty()) meet[w] &= ~gone_[w];
        }
        return found.items <= most;
    }

    const Database& db_;
    const std::int64_t k_;
    const int m_;
    Monitor& monitor_;
    const std::int64_t words_;
    Nodes cut_;
    std::vector<Word> bits_;  // of each node: the rows that hold it
    // the attempt at hand
    std::vector<Word> own_;  // of each child: the rows that hold it still
    std::vector<const Word*> others_;
    std::vector<std::vector<Word>> meets_;
    std::vector<Word> meet_, gone_;
};

}  // namespace anonset::km
