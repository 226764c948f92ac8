// The published transactions as lists of nodes, for data in which two nodes seldom meet: what a node meets is counted
// by going through the rows that hold it.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "km/attempt.hpp"
#include "km/beside.hpp"
#include "km/refine.hpp"

namespace anonset::km {

namespace {

// Every row in one piece of memory: four cells about it, and the nodes that it publishes in depth-first order of the
// tree. A visit to a row then costs one cache miss, which is what all of this costs.
class PublishedRows {
  public:
    explicit PublishedRows(const Database& db) : start_(db.rows() + 1, 0) {
        for (std::int64_t r = 0; r < db.rows(); ++r) start_[r + 1] = start_[r] + NODES + db.items[r];
        cells_.resize(start_.back());
        for (std::int64_t r = 0; r < db.rows(); ++r) cells_[start_[r] + WEIGHT] = db.weights[r];
        reset();
    }

    void reset() {
        for (std::size_t r = 0; r + 1 < start_.size(); ++r) {
            std::int32_t* row = cells_.data() + start_[r];
            row[LENGTH] = 1;
            row[SEEN] = -1;
            row[THINNED] = 0;
            row[NODES] = 0;
        }
    }

    std::int32_t weight(std::int32_t row) const { return cells_[start_[row] + WEIGHT]; }
    const std::int32_t* begin(std::int32_t row) const { return cells_.data() + start_[row] + NODES; }
    const std::int32_t* end(std::int32_t row) const { return begin(row) + cells_[start_[row] + LENGTH]; }

    // A mark for each walk through the rows.
    std::int32_t& seen(std::int32_t row) { return cells_[start_[row] + SEEN]; }

    // Whether the row does not publish the node, though it holds something below: only where something is left out.
    bool lacks(std::int32_t row, std::int32_t node) const {
        return cells_[start_[row] + THINNED] && std::find(begin(row), end(row), node) == end(row);
    }
    void thin(std::int32_t row) { cells_[start_[row] + THINNED] = 1; }
    void foresee(std::int32_t row) const {
#ifdef __GNUC__
        __builtin_prefetch(cells_.data() + start_[row]);
#else
        (void)row;
#endif
    }

    // Puts `count` nodes in the place of one; `node(i)` tells them.
    template <class Node>
    void replace(std::int32_t row, std::int32_t old, std::int32_t count, Node&& node) {
        std::int32_t* first = cells_.data() + start_[row] + NODES;
        std::int32_t& length = cells_[start_[row] + LENGTH];
        std::int32_t* at = std::find(first, first + length, old);
        if (count == 0) std::copy(at + 1, first + length, at);
        if (count > 1) std::copy_backward(at + 1, first + length, first + length + count - 1);
        for (std::int32_t i = 0; i < count; ++i) at[i] = node(i);
        length += count - 1;
    }

  private:
    enum { WEIGHT, LENGTH, SEEN, THINNED, NODES };
    std::vector<std::uint32_t> start_;  // 32 bits halve the memory that every visit goes through
    Buffer<std::int32_t> cells_;
};

class SparseRows {
  public:
    SparseRows(const Database& db, std::int64_t k, int m, Monitor& monitor)
        : db_(db),
          k_(k),
          m_(m),
          monitor_(monitor),
          published_(db),
          rows_(transpose(db.view(), db.tree.count())),
          local_(db.rows(), -1),
          count_(db.tree.count(), 0),
          touched_(db.tree.count() + 1),
          beside_(db.tree.count(), k, m, monitor) {}

    // Everything as the root, nothing left out.
    void reset() { published_.reset(); }

    // What replacing `node` takes; gives up where more than `most` items would have to be left out.
    Attempt attempt(std::int32_t node, std::int64_t most) {
        Attempt found(node, children_of(db_.tree, node));
        const std::int32_t children = static_cast<std::int32_t>(found.children.size());
        holders_.resize(std::max(holders_.size(), found.children.size()));
        copied_.assign(children, 0);
        clean_.assign(children, 0);
        for (std::int32_t row : shared_) local_[row] = -1;
        shared_.clear();
        pairs_.clear();
        stamp_ = next_stamp_;
        next_stamp_ += children;
        for (std::int32_t c = 0; c < children; ++c)
            if (!look(found, c, most)) return found;
        arrange(children);
        waiting_.assign(children, 1);
        for (bool any = true; any;) {
            any = false;
            for (std::int32_t c = 0; c < children; ++c) {
                if (!waiting_[c]) continue;
                waiting_[c] = 0;
                if (!thin(found, c, most)) return found;
                for (std::int32_t other : disturbed_) waiting_[other] = any = true;
            }
        }
        found.possible = true;
        return found;
    }

    // Makes the replacement that was attempted last.
    void commit(const Attempt& found) {
        for (const LeftOut& out : found.left_out)
            if (local_[out.row] < 0) published_.replace(out.row, found.node, 0, [](std::int32_t) { return 0; });
        for (std::size_t c = 0; c < found.children.size(); ++c) {
            visit(found, static_cast<std::int32_t>(c), [&](std::int32_t row) {
                if (local_[row] < 0)
                    published_.replace(row, found.node, 1, [&](std::int32_t) { return found.children[c]; });
            });
        }
        for (std::size_t r = 0; r < shared_.size(); ++r) {
            const std::int32_t *member = members_.begin(r), *last = std::remove(members_.begin(r), members_.end(r), -1);
            published_.replace(shared_[r], found.node, static_cast<std::int32_t>(last - member),
                               [&](std::int32_t i) { return found.children[member[i]]; });
        }
        for (const LeftOut& out : found.left_out) published_.thin(out.row);
    }

  private:
    // A first look at a child: is it frequent with everything published, and which rows does it share with another
    // child? False where more would have to be left out than may be, whatever the other children meet.
    bool look(const Attempt& found, std::int32_t child, std::int64_t most) {
        monitor_.check();
        std::size_t size = 0;
        visit(found, child, [&](std::int32_t row) {
            std::int32_t& seen = published_.seen(row);
            if (seen < stamp_)
                seen = stamp_ + child;
            else
                share(row, seen - stamp_, child);
            count_published(row, size);
        });
        std::int32_t* counts = count_.data();
        const bool rare = m_ == 1 ? counts[found.node] > 0 && counts[found.node] < k_
                                  : std::any_of(
                                        touched_.begin(), touched_.begin() + size,
                                        [&](std::int32_t node) { return counts[node] < k_; });
        std::int64_t lost = 0;
        if (rare && most > 0) {
            visit(found, child, [&](std::int32_t row) {
                if (lost <= most && std::any_of(published_.begin(row), published_.end(row),
                                                [&](std::int32_t node) { return counts[node] < k_; }))
                    lost += published_.weight(row);
            });
        }
        clean_[child] = !rare;
        for (std::size_t i = 0; i < size; ++i) counts[touched_[i]] = 0;
        return !rare || (most > 0 && lost <= most);
    }

    void share(std::int32_t row, std::int32_t first, std::int32_t second) {
        if (local_[row] < 0) {
            local_[row] = static_cast<std::int32_t>(shared_.size());
            shared_.push_back(row);
            pairs_.push_back({local_[row], first});
        }
        pairs_.push_back({local_[row], second});
    }

    // The pairs of shared row and child, by row and by child.
    void arrange(std::int32_t children) {
        members_ = transpose_pairs<std::int32_t, std::int32_t>(shared_.size(), [&](auto&& visit) {
            for (const Place& pair : pairs_) visit(pair.row, pair.position);
        });
        of_ = transpose_pairs<std::int32_t, std::int32_t>(children, [&](auto&& visit) {
            for (const Place& pair : pairs_) visit(pair.position, pair.row);
        });
    }

    // Every row that publishes the node and holds this child (still).
    template <class Visit>
    void visit(const Attempt& found, std::int32_t child, Visit&& visit) const {
        if (copied_[child]) {
            for (std::int32_t row : holders_[child]) visit(row);
            return;
        }
        constexpr std::int64_t AHEAD = 8;
        const std::int32_t *row = rows_.begin(found.children[child]), *end = rows_.end(found.children[child]);
        for (; row != end; ++row) {
            published_.foresee(*std::min(row + AHEAD, end - 1));
            if (!published_.lacks(*row, found.node)) visit(*row);
        }
    }

    // What the child meets in a row: the published nodes, and where it shares the row the children (itself too).
    template <class Visit>
    void partners(const Attempt& found, std::int32_t row, Visit&& visit) const {
        for (const std::int32_t *node = published_.begin(row), *end = published_.end(row); node != end; ++node)
            visit(*node);
        if (local_[row] >= 0) siblings(found, local_[row], visit);
    }
    template <class Visit>
    void siblings(const Attempt& found, std::int32_t shared_row, Visit&& visit) const {
        for (const std::int32_t* member = members_.begin(shared_row); member != members_.end(shared_row); ++member)
            if (*member >= 0) visit(found.children[*member]);
    }

    // Leaves the child out of every row in which it is part of a rare set; false where that is too much.
    bool thin(Attempt& found, std::int32_t child, std::int64_t most) {
        monitor_.check();
        disturbed_.clear();
        for (;;) {
            if (!thin_pairs(found, child, most)) return false;
            if (m_ < 3) return true;
            load_beside(found, child);
            bool all = true;
            for (int size = 3; size <= m_ && all; ++size) all = beside_.frequent(size, most - found.items);
            if (all) return true;
            if (beside_.too_much()) return false;
            clean_[child] = 0;
            std::size_t place = 0;
            if (!drop(found, child, most, [&](std::int32_t) { return beside_.rare(place++); })) return false;
        }
    }

    void load_beside(const Attempt& found, std::int32_t child) {
        beside_.clear();
        visit(found, child, [&](std::int32_t row) {
            beside_.open_row(published_.weight(row));
            partners(found, row, [&](std::int32_t node) {
                if (node != found.node && node != found.children[child]) beside_.add(node);
            });
        });
    }

    // Rows go until every node that the child meets is met in k transactions. The published node itself is met in all
    // of them, so this looks after single nodes too.
    bool thin_pairs(Attempt& found, std::int32_t child, std::int64_t most) {
        std::size_t size = count_partners(found, child);
        std::int32_t* counts = count_.data();
        auto rare = [&](std::int32_t node) { return counts[node] > 0 && counts[node] < k_; };
        auto any = [&] {
            if (m_ == 1) return rare(found.node);
            return std::any_of(touched_.begin(), touched_.begin() + size, rare);
        };
        auto odd = [&](std::int32_t row) {
            bool met = m_ == 1;
            auto others = [&](auto&& each) {
                partners(found, row, [&](std::int32_t node) {
                    if (node != found.children[child]) each(node);
                });
            };
            others([&](std::int32_t node) { met |= counts[node] < k_; });
            if (met) others([&](std::int32_t node) { counts[node] -= published_.weight(row); });
            return met;
        };
        bool possible = true;
        if (clean_[child] && any()) {
            clean_[child] = 0;
            for (std::size_t i = 0; i < size; ++i) counts[touched_[i]] = 0;
            size = count_partners(found, child);
        }
        while (possible && any()) possible = most > 0 && drop(found, child, most, odd);
        for (std::size_t i = 0; i < size; ++i) counts[touched_[i]] = 0;
        return possible;
    }

    void add(std::int32_t node, std::int32_t weight, std::size_t& size) {
        const std::int32_t before = count_[node];
        touched_[size] = node;  // without a branch: which nodes are new is hard to foresee
        size += before == 0;
        count_[node] = before + weight;
    }
    void count_published(std::int32_t row, std::size_t& size) {
        const std::int32_t weight = published_.weight(row);
        for (const std::int32_t *node = published_.begin(row), *end = published_.end(row); node != end; ++node)
            add(*node, weight, size);
    }

    // Counts what the child meets (of a clean one only the other children); returns how many different nodes that are.
    std::size_t count_partners(const Attempt& found, std::int32_t child) {
        std::size_t size = 0;
        if (!clean_[child]) visit(found, child, [&](std::int32_t row) { count_published(row, size); });
        if (m_ == 1) return size;
        for (const std::int32_t* row = of_.begin(child); row != of_.end(child); ++row) {
            if (std::find(members_.begin(*row), members_.end(*row), child) == members_.end(*row)) continue;
            const std::int32_t weight = published_.weight(shared_[*row]);
            siblings(found, *row, [&](std::int32_t node) {
                if (node != found.children[child]) add(node, weight, size);
            });
        }
        return size;
    }

    // Leaves the child out of the rows that `odd` says; false once that is more than `most` items.
    template <class Odd>
    bool drop(Attempt& found, std::int32_t child, std::int64_t most, Odd&& odd) {
        if (!copied_[child]) {
            Nodes own;
            visit(found, child, [&](std::int32_t row) { own.push_back(row); });
            holders_[child].swap(own);
            copied_[child] = 1;
        }
        auto gone = [&](std::int32_t row) {
            if (!odd(row) || found.items > most) return false;
            found.leave_out(child, row, items_below(db_, row, found.children[child]));
            if (local_[row] >= 0) part(child, local_[row]);
            return true;
        };
        Nodes& holders = holders_[child];
        holders.erase(std::remove_if(holders.begin(), holders.end(), gone), holders.end());
        return found.items <= most;
    }

    // The child leaves a row that it shares; the others there must be counted again.
    void part(std::int32_t child, std::int32_t shared_row) {
        for (std::int32_t* member = members_.begin(shared_row); member != members_.end(shared_row); ++member) {
            if (*member == child)
                *member = -1;
            else if (*member >= 0)
                disturbed_.push_back(*member);
        }
    }

    const Database& db_;
    const std::int64_t k_;
    const int m_;
    Monitor& monitor_;
    PublishedRows published_;
    Transposed<> rows_;  // of each node: the rows that hold it
    // the attempt at hand
    std::int32_t stamp_ = 0,
                 next_stamp_ = 0;  // rows seen since then carry the first child they hold, counted from here
    Nodes local_, shared_;         // of each row that holds several children its number here, and back
    std::vector<Place> pairs_;     // such a row and a child in it
    Transposed<std::int32_t, std::int32_t> members_;  // of each such row: its children; −1 where one is left out
    Transposed<std::int32_t, std::int32_t> of_;       // of each child: such rows
    std::vector<Nodes> holders_;  // of each child that is left out somewhere: the rows that still hold it
    std::vector<std::uint8_t> copied_, clean_, waiting_;
    Nodes disturbed_;  // children that something was left out beside
    Nodes count_, touched_;
    Beside beside_;
};

}  // namespace

Refined refine_sparse(const Database& db, std::int64_t k, int m, std::int64_t budget, int threads, Monitor& monitor) {
    return best_refined<SparseRows>(db, k, m, budget, threads, monitor);
}

}  // namespace anonset::km
