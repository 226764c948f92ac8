// Reverse Cuthill-McKee over the graph of A·Aᵀ: transactions are neighbours when they share an item. The graph is never
// formed: a walk goes from transaction to items to transactions, and an item whose transactions were all visited is
// done.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cahd/api.hpp"
#include "core/bitmap.hpp"
#include "core/csr.hpp"
#include "core/distinct.hpp"
#include "core/monitor.hpp"
#include "core/transpose.hpp"

namespace anonset::cahd {

namespace {

// For each item the distinct sets that hold it, and, where that is a long list, the same as a bitmap over the rows.
// Rows are numbered set by set, so that a set is a range of bits.
class SetLists {
  public:
    SetLists(const Csr& sets, const Distinct& distinct, std::int32_t items)
        : sets(sets), holders(transpose(sets, items)) {
        first_bit.assign(distinct.size() + 1, 0);
        for (const std::int32_t set : distinct.of_row) ++first_bit[set + 1];
        for (std::int32_t u = 0; u < distinct.size(); ++u) first_bit[u + 1] += first_bit[u];
        words = (static_cast<std::int64_t>(distinct.of_row.size()) + 63) / 64;
        map_of.assign(items, -1);
        std::int64_t maps = 0;
        for (std::int32_t item = 0; item < items; ++item)
            if (MAPS_FROM * holders.size(item) > words && (maps + 1) * words * 8 <= MOST_BYTES)
                map_of[item] = static_cast<std::int32_t>(maps++);
        bits.assign(static_cast<std::size_t>(maps * words), 0);
        for (std::int32_t item = 0; item < items; ++item)
            if (map_of[item] >= 0)
                for (const std::int32_t* set = holders.begin(item); set != holders.end(item); ++set)
                    flip(*set, &bits[map_of[item] * words]);
    }

    // Sets the bits of a set that has none of them set, or clears them again.
    void flip(std::int32_t set, std::uint64_t* map) const {
        const std::int64_t begin = first_bit[set], end = first_bit[set + 1];
        for (std::int64_t at = begin; at < end;) {
            const std::int64_t stop = std::min(end, (at / 64 + 1) * 64), count = stop - at;
            map[at / 64] ^= (count == 64 ? ~std::uint64_t{0} : ((std::uint64_t{1} << count) - 1)) << (at % 64);
            at = stop;
        }
    }

    static constexpr std::int64_t MAPS_FROM = 12;  // an entry of a list costs about as much as twelve words
    static constexpr std::int64_t MOST_BYTES = std::int64_t{1} << 27;

    Csr sets;
    Transposed<> holders;  // the sets that hold each item
    std::vector<std::int32_t> first_bit;
    std::vector<std::int32_t> map_of;  // which bitmap an item has, or -1
    std::vector<std::uint64_t> bits;
    std::int64_t words = 0;
};

ANONSET_CLONES void unite(const std::uint64_t* one, const std::uint64_t* two, std::uint64_t* out, std::int64_t words) {
    for (std::int64_t w = 0; w < words; ++w) out[w] = one[w] | two[w];
}

ANONSET_CLONES std::int64_t united(const std::uint64_t* one, const std::uint64_t* two, std::int64_t words) {
    std::int64_t count = 0;
    for (std::int64_t w = 0; w < words; ++w) count += __builtin_popcountll(one[w] | two[w]);
    return count;
}

// How many rows share an item with a set, itself included. Asked in lexicographic order, a set reuses what it shares
// with the one before: the union over their common first items, which are the most frequent and the dearest.
class NeighbourCount {
  public:
    explicit NeighbourCount(const SetLists& lists)
        : lists_(lists), maps_(1, std::vector<std::uint64_t>(lists.words, 0)) {}

    // `next` is the set that will be asked for after this one.
    std::int64_t of(std::int64_t set, std::int64_t next) {
        const std::size_t size = static_cast<std::size_t>(lists_.sets.size(set));
        const std::int32_t* items = lists_.sets.begin(set);
        std::size_t common = 0;
        while (common < std::min(size, path_.size()) && path_[common].item == items[common]) ++common;
        while (path_.size() > common) leave();
        // Where the next set does not go on from here, the last union is only counted.
        const bool kept =
            lists_.sets.size(next) >= lists_.sets.size(set) && std::equal(items, items + size, lists_.sets.begin(next));
        while (path_.size() + (kept ? 0 : 1) < size) enter(items[path_.size()]);
        return path_.size() < size ? count_with(items[size - 1]) : count();
    }

  private:
    struct Step {
        std::int32_t item;
        std::int64_t count;  // -1: not known yet
        std::size_t added_before;
    };

    // How many rows the union holds; found out when first asked.
    std::int64_t count() {
        if (path_.empty()) return 0;
        const std::uint64_t* map = maps_[depth_].data();
        if (path_.back().count < 0) path_.back().count = united(map, map, lists_.words);
        return path_.back().count;
    }

    std::int64_t count_with(std::int32_t item) {
        const std::uint64_t* map = maps_[depth_].data();
        if (lists_.map_of[item] >= 0)
            return united(map, &lists_.bits[lists_.map_of[item] * lists_.words], lists_.words);
        std::int64_t total = count();
        for (const std::int32_t* set = lists_.holders.begin(item); set != lists_.holders.end(item); ++set) {
            const std::int64_t bit = lists_.first_bit[*set];
            const std::int64_t fresh = ~(map[bit / 64] >> (bit % 64)) & 1;
            total += fresh * (lists_.first_bit[*set + 1] - bit);
        }
        return total;
    }

    // A frequent item makes a new union beside the old one; the sets of a rare one are added to it and recorded.
    void enter(std::int32_t item) {
        path_.push_back({item, -1, added_.size()});
        if (lists_.map_of[item] >= 0) {
            if (maps_.size() == ++depth_) maps_.emplace_back(lists_.words);
            unite(maps_[depth_ - 1].data(), &lists_.bits[lists_.map_of[item] * lists_.words], maps_[depth_].data(),
                  lists_.words);
            return;
        }
        std::uint64_t* map = maps_[depth_].data();
        for (const std::int32_t* set = lists_.holders.begin(item); set != lists_.holders.end(item); ++set) {
            const std::int64_t bit = lists_.first_bit[*set];
            if (map[bit / 64] >> (bit % 64) & 1) continue;
            lists_.flip(*set, map);
            added_.push_back(*set);
        }
    }

    void leave() {
        if (lists_.map_of[path_.back().item] >= 0) {
            --depth_;
        } else {
            for (std::size_t i = path_.back().added_before; i < added_.size(); ++i)
                lists_.flip(added_[i], maps_[depth_].data());
            added_.resize(path_.back().added_before);
        }
        path_.pop_back();
    }

    const SetLists& lists_;
    std::vector<std::vector<std::uint64_t>> maps_;  // the union after each frequent item of the path
    std::size_t depth_ = 0;
    std::vector<std::int32_t> added_;
    std::vector<Step> path_;
};

class BandOrder {
  public:
    BandOrder(const Csr& data, std::int32_t items, int threads, Monitor& monitor)
        : data_(data),
          items_(items),
          threads_(threads),
          monitor_(monitor),
          holders_(transpose(data, items)),
          seen_row_(data.rows, 0),
          seen_item_(items, 0) {}

    // Component by component, the one with the lowest degree (then row) first; the whole is reversed at the end.
    std::vector<std::int64_t> order() {
        count_neighbours();
        std::vector<std::int32_t> starts(data_.rows);
        for (std::int64_t row = 0; row < data_.rows; ++row) starts[row] = static_cast<std::int32_t>(row);
        std::sort(starts.begin(), starts.end(), by_degree());
        std::vector<char> placed(data_.rows, 0);
        std::vector<std::int64_t> ordering;
        ordering.reserve(data_.rows);
        for (const std::int32_t start : starts) {
            if (placed[start]) continue;
            monitor_.check();
            walk(peripheral(start), true);
            for (const std::int32_t row : walked_) {
                placed[row] = 1;
                ordering.push_back(row);
            }
            monitor_.advance(static_cast<std::int64_t>(walked_.size()));
        }
        std::reverse(ordering.begin(), ordering.end());
        return ordering;
    }

    const std::vector<std::int32_t>& degrees() const { return degree_; }

  private:
    struct ByDegree {
        const std::vector<std::int32_t>& degree;
        bool operator()(std::int32_t a, std::int32_t b) const {
            return degree[a] != degree[b] ? degree[a] < degree[b] : a < b;
        }
    };
    ByDegree by_degree() const { return {degree_}; }

    // Breadth first from `root` into walked_. With `sorted`, the neighbours of a transaction follow each other by
    // ascending degree. Returns where the last level begins, and how many levels there are.
    std::pair<std::size_t, int> walk(std::int32_t root, bool sorted) {
        ++epoch_;
        walked_.assign(1, root);
        seen_row_[root] = epoch_;
        std::size_t level = 0, level_end = 1;
        int levels = 1;
        for (std::size_t head = 0; head < walked_.size(); ++head) {
            if (head == level_end) {
                level = level_end;
                level_end = walked_.size();
                ++levels;
            }
            const std::size_t from = walked_.size();
            visit(walked_[head]);
            if (sorted) std::sort(walked_.begin() + from, walked_.end(), by_degree());
        }
        return {level, levels};
    }

    void visit(std::int32_t row) {
        for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) {
            if (seen_item_[*i] == epoch_) continue;
            seen_item_[*i] = epoch_;
            for (const std::int32_t* other = holders_.begin(*i); other != holders_.end(*i); ++other) {
                if (seen_row_[*other] == epoch_) continue;
                seen_row_[*other] = epoch_;
                walked_.push_back(*other);
            }
        }
    }

    // An end of a pseudo-diameter: from the last level take the lowest degree, as long as that makes the walk longer.
    std::int32_t peripheral(std::int32_t start) {
        auto [last, levels] = walk(start, false);
        for (;;) {
            monitor_.check();
            const std::int32_t end = *std::min_element(walked_.begin() + last, walked_.end(), by_degree());
            const auto [next_last, next_levels] = walk(end, false);
            if (next_levels <= levels) return start;
            start = end;
            last = next_last;
            levels = next_levels;
        }
    }

    // How many others share an item with each transaction.
    void count_neighbours() {
        const Distinct sets = distinct_rows(data_);
        const OwnedCsr ranked = frequent_first(sets);
        const Csr rows = ranked.view();
        std::vector<std::int32_t> sorted(sets.size());
        std::vector<std::int64_t> found(sets.size());
        for (std::int32_t u = 0; u < sets.size(); ++u) sorted[u] = u;
        std::sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
            return std::lexicographical_compare(rows.begin(a), rows.end(a), rows.begin(b), rows.end(b));
        });
        const SetLists lists(rows, sets, items_);
        const std::int64_t blocks = (sets.size() + BLOCK - 1) / BLOCK;
        parallel_for(blocks, threads_, monitor_, [&](std::int64_t block, int) {
            NeighbourCount count(lists);
            const std::int64_t end = std::min<std::int64_t>(sets.size(), (block + 1) * BLOCK);
            for (std::int64_t i = block * BLOCK; i < end; ++i)
                found[sorted[i]] = count.of(sorted[i], sorted[std::min(i + 1, end - 1)]);
        });
        degree_.resize(data_.rows);
        for (std::int64_t row = 0; row < data_.rows; ++row)
            degree_[row] = static_cast<std::int32_t>(std::max<std::int64_t>(found[sets.of_row[row]] - 1, 0));
    }

    // The distinct sets, their items renumbered and sorted so that the most frequent ones come first.
    OwnedCsr frequent_first(const Distinct& sets) const {
        std::vector<std::int32_t> by_count(items_), rank(items_);
        for (std::int32_t i = 0; i < items_; ++i) by_count[i] = i;
        const auto count = [&](std::int32_t i) { return holders_.size(i); };
        std::sort(by_count.begin(), by_count.end(),
                  [&](std::int32_t a, std::int32_t b) { return count(a) != count(b) ? count(a) > count(b) : a < b; });
        for (std::int32_t i = 0; i < items_; ++i) rank[by_count[i]] = i;
        OwnedCsr ranked;
        for (const std::int32_t row : sets.first) {
            const std::size_t from = ranked.items.size();
            for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) ranked.items.push_back(rank[*i]);
            std::sort(ranked.items.begin() + from, ranked.items.end());
            ranked.close_row();
        }
        return ranked;
    }

    static constexpr std::int64_t BLOCK = 2048;

    Csr data_;
    std::int32_t items_;
    int threads_;
    Monitor& monitor_;
    Transposed<> holders_;  // the rows that hold each item
    std::vector<std::int32_t> degree_, walked_;
    std::vector<std::int32_t> seen_row_, seen_item_;
    std::int32_t epoch_ = 0;
};

}  // namespace

std::vector<std::int64_t> band_order(const Csr& data, std::int32_t items, int threads, Monitor& monitor) {
    return BandOrder(data, items, threads, monitor).order();
}

}  // namespace anonset::cahd
