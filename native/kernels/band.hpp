// Reverse Cuthill-McKee over the graph of A·Aᵀ: transactions are neighbours when they share an item. The graph is never
// formed: a walk goes from transaction to items to transactions, and an item whose transactions were all visited is
// done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "distinct.hpp"
#include "monitor.hpp"

namespace anonset {

// How many rows share an item with a set, itself included. Asked in lexicographic order, a set reuses what it shares
// with the one before: the union over their common first items, which are the most frequent and the dearest.
class NeighbourCount {
  public:
    NeighbourCount(const Csr& sets, const Distinct& distinct, std::int32_t items)
        : sets_(sets), start_(items + 1, 0), copies_(distinct.size(), 0), seen_(distinct.size(), 0) {
        for (const std::int32_t set : distinct.of_row) ++copies_[set];
        for (std::int64_t i = 0; i < sets.offsets[sets.rows]; ++i) ++start_[sets.items[i] + 1];
        for (std::int32_t i = 0; i < items; ++i) start_[i + 1] += start_[i];
        postings_.resize(start_[items]);
        std::vector<std::int64_t> cursor(start_.begin(), start_.end() - 1);
        for (std::int64_t u = 0; u < sets.rows; ++u)
            for (const std::int32_t* i = sets.begin(u); i != sets.end(u); ++i)
                postings_[cursor[*i]++] = static_cast<std::int32_t>(u);
    }

    std::int32_t of(std::int64_t set) {
        std::size_t common = 0;
        const std::size_t size = static_cast<std::size_t>(sets_.size(set));
        while (common < std::min(size, path_.size()) && path_[common].item == sets_.begin(set)[common]) ++common;
        while (path_.size() > common) leave();
        while (path_.size() < size) enter(sets_.begin(set)[path_.size()]);
        return path_.empty() ? 0 : path_.back().count;
    }

  private:
    struct Step {
        std::int32_t item, count;
        std::size_t added_before;
    };

    void enter(std::int32_t item) {
        std::int32_t count = path_.empty() ? 0 : path_.back().count;
        path_.push_back({item, count, added_.size()});
        for (std::int64_t at = start_[item]; at < start_[item + 1]; ++at) {
            const std::int32_t other = postings_[at];
            if (seen_[other]) continue;
            seen_[other] = 1;
            added_.push_back(other);
            count += copies_[other];
        }
        path_.back().count = count;
    }

    void leave() {
        for (std::size_t i = path_.back().added_before; i < added_.size(); ++i) seen_[added_[i]] = 0;
        added_.resize(path_.back().added_before);
        path_.pop_back();
    }

    Csr sets_;
    std::vector<std::int64_t> start_;
    std::vector<std::int32_t> postings_, copies_, added_;
    std::vector<std::uint8_t> seen_;
    std::vector<Step> path_;
};

class BandOrder {
  public:
    BandOrder(const Csr& data, std::int32_t items, int threads, Monitor& monitor)
        : data_(data),
          items_(items),
          threads_(threads),
          monitor_(monitor),
          seen_row_(data.rows, 0),
          seen_item_(items, 0) {
        start_.assign(items + 1, 0);
        for (std::int64_t i = 0; i < data.offsets[data.rows]; ++i) ++start_[data.items[i] + 1];
        for (std::int32_t i = 0; i < items; ++i) start_[i + 1] += start_[i];
        postings_.resize(start_[items]);
        std::vector<std::int64_t> cursor(start_.begin(), start_.end() - 1);
        for (std::int64_t row = 0; row < data.rows; ++row)
            for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i)
                postings_[cursor[*i]++] = static_cast<std::int32_t>(row);
    }

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
            for (std::int64_t at = start_[*i]; at < start_[*i + 1]; ++at) {
                const std::int32_t other = postings_[at];
                if (seen_row_[other] == epoch_) continue;
                seen_row_[other] = epoch_;
                walked_.push_back(other);
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
        std::vector<std::int32_t> sorted(sets.size()), found(sets.size());
        for (std::int32_t u = 0; u < sets.size(); ++u) sorted[u] = u;
        std::sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
            return std::lexicographical_compare(rows.begin(a), rows.end(a), rows.begin(b), rows.end(b));
        });
        const NeighbourCount base(rows, sets, items_);
        const std::int64_t blocks = (sets.size() + kBlock - 1) / kBlock;
        parallel_for(blocks, threads_, monitor_, [&](std::int64_t block, int) {
            NeighbourCount count(base);
            const std::int64_t end = std::min<std::int64_t>(sets.size(), (block + 1) * kBlock);
            for (std::int64_t i = block * kBlock; i < end; ++i) found[sorted[i]] = count.of(sorted[i]);
        });
        degree_.resize(data_.rows);
        for (std::int64_t row = 0; row < data_.rows; ++row) degree_[row] = std::max(found[sets.of_row[row]] - 1, 0);
    }

    // The distinct sets, their items renumbered and sorted so that the most frequent ones come first.
    OwnedCsr frequent_first(const Distinct& sets) const {
        std::vector<std::int32_t> by_count(items_), rank(items_);
        for (std::int32_t i = 0; i < items_; ++i) by_count[i] = i;
        const auto count = [&](std::int32_t i) { return start_[i + 1] - start_[i]; };
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

    static constexpr std::int64_t kBlock = 2048;

    Csr data_;
    std::int32_t items_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::int64_t> start_;
    std::vector<std::int32_t> postings_, degree_, walked_;
    std::vector<std::int32_t> seen_row_, seen_item_;
    std::int32_t epoch_ = 0;
};

}  // namespace anonset
