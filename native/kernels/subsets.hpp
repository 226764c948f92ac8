// What an attacker who knows m random items of a transaction finds: every m-subset of every transaction, counted.
//
// Fix the rarest item of a subset, keep the transactions that hold it, fix the next rarest, and so on: an itemset is
// visited once for all the transactions that share it. Where only one distinct transaction is left, all its further
// subsets lead to it alone and are counted by a binomial coefficient instead of being walked. Sums are whole numbers,
// so that they do not depend on the order in which threads add to them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "monitor.hpp"

namespace anonset {

inline std::int64_t choose(std::int64_t n, int m) {
    if (n < m) return 0;
    std::int64_t ways = 1;
    for (int i = 1; i <= m; ++i) ways = ways * (n - m + i) / i;
    return ways;
}

// Over the m-subsets of each row. `success` is the sum of 1 / size in units of 2⁻³².
struct SubsetTally {
    std::vector<std::int64_t> singled, sizes, success, smallest;

    explicit SubsetTally(std::int64_t rows) : singled(rows), sizes(rows), success(rows), smallest(rows, INT64_MAX) {}

    void add(std::int64_t row, std::int64_t one, std::int64_t size, std::int64_t inverse, std::int64_t least) {
        if (one) __atomic_fetch_add(&singled[row], one, __ATOMIC_RELAXED);
        __atomic_fetch_add(&sizes[row], size, __ATOMIC_RELAXED);
        __atomic_fetch_add(&success[row], inverse, __ATOMIC_RELAXED);
        std::int64_t seen = __atomic_load_n(&smallest[row], __ATOMIC_RELAXED);
        while (least < seen &&
               !__atomic_compare_exchange_n(&smallest[row], &seen, least, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
    }
};

// A division for every subset would cost more than all the rest: small sizes, nearly all of them, are looked up.
inline std::int64_t inverse_of(std::int64_t size) {
    static const std::vector<std::int64_t> table = [] {
        std::vector<std::int64_t> inverses(4096);
        for (std::int64_t i = 1; i < 4096; ++i) inverses[i] = (std::int64_t{1} << 32) / i;
        return inverses;
    }();
    return size < 4096 ? table[size] : (std::int64_t{1} << 32) / size;
}

// Rows are distinct and weighted; items are numbered so that the rarest come first. Only targets are tallied, but every
// row is a candidate.
struct SubsetData {
    OwnedCsr rows;
    std::vector<std::int64_t> weight;
    std::vector<bool> target;
};

// The rows with their items renumbered by ascending frequency.
inline OwnedCsr rarest_first(const Csr& data, std::int64_t n_items) {
    std::vector<std::int64_t> frequency(n_items, 0);
    for (std::int64_t i = 0; i < data.offsets[data.rows]; ++i) ++frequency[data.items[i]];
    std::vector<std::int32_t> order(n_items), rank(n_items);
    for (std::int64_t item = 0; item < n_items; ++item) order[item] = static_cast<std::int32_t>(item);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return frequency[a] < frequency[b]; });
    for (std::int64_t i = 0; i < n_items; ++i) rank[order[i]] = static_cast<std::int32_t>(i);
    OwnedCsr out;
    out.offsets.assign(data.offsets, data.offsets + data.rows + 1);
    out.items.resize(data.offsets[data.rows]);
    for (std::size_t i = 0; i < out.items.size(); ++i) out.items[i] = rank[data.items[i]];
    for (std::int64_t row = 0; row < data.rows; ++row)
        std::sort(out.items.begin() + out.offsets[row], out.items.begin() + out.offsets[row + 1]);
    return out;
}

class SubsetWalk {
  public:
    SubsetWalk(const SubsetData& data, std::int64_t n_items, int m, SubsetTally& tally)
        : data_(data), rows_(data.rows.view()), tally_(tally), seen_(n_items, 0), levels_(m) {}

    // A row from some place on: what is left of it after the items fixed so far.
    struct Entry {
        std::int32_t row;
        std::int32_t from;
    };

    // All subsets of the rows in entries[0, count) that add `need` more items.
    void walk(const Entry* entries, std::int64_t count, int need, const Monitor& monitor) {
        if (std::none_of(entries, entries + count, [&](const Entry& e) { return data_.target[e.row]; })) return;
        if (count == 1) {
            alone(entries[0], need);
        } else if (need == 0) {
            together(entries, count);
        } else if (need == 1) {
            last(entries, count);
        } else {
            monitor.check();
            branch(entries, count, need, monitor);
        }
    }

  private:
    struct Bucket {
        std::int32_t item;
        std::int64_t begin, end;
    };
    struct Level {
        std::vector<Bucket> buckets;
        std::vector<Entry> entries;
    };

    std::int64_t left(const Entry& e) const { return rows_.size(e.row) - e.from; }

    void alone(const Entry& e, int need) {
        const std::int64_t subsets = choose(left(e), need), size = data_.weight[e.row];
        if (subsets) tally_.add(e.row, size == 1 ? subsets : 0, size * subsets, inverse_of(size) * subsets, size);
    }

    void together(const Entry* entries, std::int64_t count) {
        std::int64_t size = 0;
        for (std::int64_t e = 0; e < count; ++e) size += data_.weight[entries[e].row];
        for (std::int64_t e = 0; e < count; ++e)
            if (data_.target[entries[e].row]) tally_.add(entries[e].row, 0, size, inverse_of(size), size);
    }

    // One more item to choose: how often each occurs is the size of its candidate set.
    void last(const Entry* entries, std::int64_t count) {
        for (std::int64_t e = 0; e < count; ++e) {
            const std::int32_t* row = rows_.begin(entries[e].row);
            const std::int64_t weight = data_.weight[entries[e].row];
            for (std::int64_t i = entries[e].from; i < rows_.size(entries[e].row); ++i) seen_[row[i]] += weight;
        }
        for (std::int64_t e = 0; e < count; ++e)
            if (data_.target[entries[e].row] && left(entries[e]) > 0) tally_suffix(entries[e]);
        for (std::int64_t e = 0; e < count; ++e) {
            const std::int32_t* row = rows_.begin(entries[e].row);
            for (std::int64_t i = entries[e].from; i < rows_.size(entries[e].row); ++i) seen_[row[i]] = 0;
        }
    }

    void tally_suffix(const Entry& e) {
        const std::int32_t* row = rows_.begin(e.row);
        std::int64_t singled = 0, sizes = 0, success = 0, smallest = INT64_MAX;
        for (std::int64_t i = e.from; i < rows_.size(e.row); ++i) {
            const std::int64_t size = seen_[row[i]];
            singled += size == 1;
            sizes += size;
            success += inverse_of(size);
            smallest = std::min(smallest, size);
        }
        tally_.add(e.row, singled, sizes, success, smallest);
    }

    // Two or more items to choose: hand every entry to each item it can go on with, then go on with each item.
    void branch(const Entry* entries, std::int64_t count, int need, const Monitor& monitor) {
        Level& level = levels_[need - 1];
        level.buckets.clear();
        std::int64_t total = 0;
        for (std::int64_t e = 0; e < count; ++e) {
            const std::int32_t* row = rows_.begin(entries[e].row);
            for (std::int64_t i = entries[e].from; i <= rows_.size(entries[e].row) - need; ++i, ++total)
                if (seen_[row[i]]++ == 0) level.buckets.push_back({row[i], 0, 0});
        }
        level.entries.resize(total);
        std::int64_t place = 0;
        for (Bucket& bucket : level.buckets) {
            bucket.begin = bucket.end = place;
            place += std::exchange(seen_[bucket.item], place);
        }
        for (std::int64_t e = 0; e < count; ++e) {
            const std::int32_t* row = rows_.begin(entries[e].row);
            for (std::int64_t i = entries[e].from; i <= rows_.size(entries[e].row) - need; ++i)
                level.entries[seen_[row[i]]++] = {entries[e].row, static_cast<std::int32_t>(i + 1)};
        }
        for (Bucket& bucket : level.buckets) bucket.end = std::exchange(seen_[bucket.item], 0);
        for (const Bucket& bucket : level.buckets)
            walk(level.entries.data() + bucket.begin, bucket.end - bucket.begin, need - 1, monitor);
    }

    const SubsetData& data_;
    const Csr rows_;
    SubsetTally& tally_;
    std::vector<std::int64_t> seen_;
    std::vector<Level> levels_;
};

// Tallies over all m-subsets of the target rows. Targets must have fewer than 2³¹ subsets each.
inline SubsetTally subset_tally(const Csr& distinct, std::int64_t n_items, const std::int64_t* weight,
                                const bool* target, int m, int threads, Monitor& monitor) {
    const SubsetData data{rarest_first(distinct, n_items), std::vector<std::int64_t>(weight, weight + distinct.rows),
                          std::vector<bool>(target, target + distinct.rows)};
    const Csr rows = data.rows.view();
    std::vector<std::int64_t> first(n_items + 1, 0);
    for (std::int64_t i = 0; i < rows.offsets[rows.rows]; ++i) ++first[rows.items[i] + 1];
    for (std::int64_t item = 0; item < n_items; ++item) first[item + 1] += first[item];
    std::vector<SubsetWalk::Entry> entries(rows.offsets[rows.rows]);
    std::vector<std::int64_t> cursor(first.begin(), first.end() - 1);
    for (std::int64_t row = 0; row < rows.rows; ++row)
        for (std::int64_t i = 0; i < rows.size(row); ++i)
            entries[cursor[rows.begin(row)[i]]++] = {static_cast<std::int32_t>(row), static_cast<std::int32_t>(i + 1)};

    SubsetTally tally(rows.rows);
    std::vector<SubsetWalk> walks(thread_count(threads), SubsetWalk(data, n_items, m, tally));
    parallel_for(n_items, threads, monitor, [&](std::int64_t item, int worker) {
        walks[worker].walk(entries.data() + first[item], first[item + 1] - first[item], m - 1, monitor);
    });
    return tally;
}

}  // namespace anonset
