// The published transactions as one bitmap per node, for data in which most nodes meet: whether two of them meet often
// enough is known after a few words.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/bitmap.hpp"
#include "km/attempt.hpp"
#include "km/refine.hpp"

namespace anonset::km {

namespace {

using Word = std::uint64_t;

// The first of `words` words, from `from` on, in which both bitmaps have a bit; `words` if there is none.
ANONSET_CLONES std::int64_t next_shared(const Word* a, const Word* b, std::int64_t from, std::int64_t words) {
    for (; from + 8 <= words; from += 8) {
        Word any = 0;
        for (int i = 0; i < 8; ++i) any |= a[from + i] & b[from + i];
        if (any != 0) break;
    }
    while (from < words && (a[from] & b[from]) == 0) ++from;
    return from;
}

class DenseRows {
  public:
    DenseRows(const Database& db, std::int64_t k, int m, Monitor& monitor)
        : db_(db), k_(k), m_(m), monitor_(monitor), words_((db.rows() + 63) / 64), meets_(m + 1) {
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
    // Leaves the child out of every row in which it is part of a rare set; false where that is too much.
    bool thin(Attempt& found, std::size_t child, std::int64_t most) {
        monitor_.check();
        const Word* own = own_.data() + child * words_;
        for (;;) {
            inside_.clear();
            for (std::int64_t w = 0; w < words_; ++w)
                if (own[w] != 0) inside_.push_back(static_cast<std::int32_t>(w));
            odd_.assign(words_, 0);
            marked_ = 0;
            most_marked_ = most - found.items;
            look_for_rare(found, child, own);
            if (marked_ == 0) return true;
            if (marked_ > most_marked_) return false;
            drop(found, child);
            if (found.items > most) return false;
        }
    }

    // Marks the rows in which the child is part of a rare set: larger ones only where the smaller ones are in order.
    void look_for_rare(const Attempt& found, std::size_t child, const Word* own) {
        if (const std::int64_t support = met(own, own); support < k_) {
            for (std::int32_t w : inside_) mark(w, own[w]);
            return;
        }
        if (m_ == 1) return;
        beside_.clear();
        for (std::int32_t node : cut_)
            if (node != found.node) pair(own, bits_.data() + node * words_);
        for (std::size_t c = 0; c < found.children.size(); ++c)
            if (c != child) pair(own, own_.data() + c * words_);
        if (m_ > 2 && marked_ == 0) walk(nullptr, 0, 3);
    }

    void pair(const Word* own, const Word* other) {
        if (marked_ > most_marked_) return;
        const std::int64_t together = met(own, other);
        if (together == NEVER) return;
        if (together < k_) {
            for (std::int32_t w : inside_) mark(w, own[w] & other[w]);
        } else if (m_ > 2 && marked_ == 0) {  // for larger sets: only the words that the child is in
            for (std::int32_t w : inside_) beside_.push_back(own[w] & other[w]);
        }
    }

    // All sets that go on from `common` (null: the child alone) with the nodes beside it from the `from`-th on.
    void walk(const Word* common, std::int64_t from, int size) {
        const std::int64_t width = static_cast<std::int64_t>(inside_.size());
        const std::int64_t count = static_cast<std::int64_t>(beside_.size()) / width;
        for (std::int64_t i = from; i < count && marked_ <= most_marked_; ++i) {
            const Word* next = beside_.data() + i * width;
            if (common == nullptr) {
                walk(next, i + 1, size);
                continue;
            }
            const std::int64_t together = met_inside(common, next, width);
            if (together == NEVER) continue;
            if (together < k_) {
                for (std::int64_t w = 0; w < width; ++w) mark(inside_[w], common[w] & next[w]);
            } else if (size < m_) {
                std::vector<Word>& both = meets_[size];
                both.resize(width);
                for (std::int64_t w = 0; w < width; ++w) both[w] = common[w] & next[w];
                walk(both.data(), i + 1, size + 1);
            }
        }
    }

    // How many transactions, or different persons, two bitmaps share, the first of which is the child's; stops counting
    // at k. In persons those who meet may all be unknown, so that 0 is another answer than never.
    static constexpr std::int64_t NEVER = -1;
    std::int64_t met(const Word* own, const Word* other) const {
        Count count;
        if (static_cast<std::int64_t>(inside_.size()) * 4 < words_) {
            for (std::int32_t w : inside_)
                if (const Word both = own[w] & other[w]; both != 0 && add(count, w, both) >= k_) break;
            return count.total;
        }
        for (std::int64_t w = 0; count.total < k_ && (w = next_shared(own, other, w, words_)) < words_; ++w)
            add(count, w, own[w] & other[w]);
        return count.total;
    }
    std::int64_t met_inside(const Word* a, const Word* b, std::int64_t width) const {
        Count count;
        for (std::int64_t w = 0; count.total < k_ && (w = next_shared(a, b, w, width)) < width; ++w)
            add(count, inside_[w], a[w] & b[w]);
        return count.total;
    }
    struct Count {
        std::int64_t total = NEVER;
        std::int32_t last = -1;  // the person who was counted last
    };
    // Adds the rows of a word, which lie behind all that were added.
    std::int64_t add(Count& count, std::int64_t word, Word rows) const {
        std::int64_t more = 0;
        if (!db_.in_persons()) more = weight(word, rows);
        for (; db_.in_persons() && rows != 0; rows &= rows - 1)
            more += db_.adds(static_cast<std::int32_t>(64 * word + __builtin_ctzll(rows)), count.last);
        return count.total = std::max<std::int64_t>(count.total, 0) + more;
    }
    std::int64_t weight(std::int64_t word, Word rows) const {
        std::int64_t total = 0;
        for (; rows != 0; rows &= rows - 1) total += db_.weights[64 * word + __builtin_ctzll(rows)];
        return total;
    }

    void mark(std::int32_t word, Word rows) {
        marked_ += weight(word, rows & ~odd_[word]);
        odd_[word] |= rows;
    }

    // Leaves the child out of the marked rows.
    void drop(Attempt& found, std::size_t child) {
        Word* own = own_.data() + child * words_;
        for (std::int32_t w : inside_) {
            for (Word rows = odd_[w]; rows != 0; rows &= rows - 1) {
                const std::int32_t row = static_cast<std::int32_t>(64 * std::int64_t{w} + __builtin_ctzll(rows));
                found.leave_out(child, row, items_below(db_, row, found.children[child]));
            }
            own[w] &= ~odd_[w];
        }
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
    Nodes inside_;           // the words in which the child at hand has a row
    std::vector<Word> odd_;  // the rows that it must be left out of
    std::int64_t marked_ = 0, most_marked_ = 0;
    std::vector<Word> beside_;  // what it meets, in these words
    std::vector<std::vector<Word>> meets_;
};

}  // namespace

Refined refine_dense(const Database& db, std::int64_t k, int m, std::int64_t budget, int threads, Monitor& monitor) {
    return best_refined<DenseRows>(db, k, m, budget, threads, monitor);
}

}  // namespace anonset::km
