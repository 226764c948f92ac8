// What an attacker who knows m random items of a transaction finds: every m-subset of every transaction, counted.
//
// Fix the rarest item of a subset, keep the transactions that hold it, fix the next rarest, and so on: an itemset is
// visited once for all the transactions that share it. Where only one distinct transaction is left, all its further
// subsets lead to it alone and are counted by a binomial coefficient instead of being walked. Sums are whole numbers,
// so that they do not depend on the order in which threads add to them.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/transpose.hpp"
#include "risk/api.hpp"

namespace anonset::risk {

namespace {

inline std::int64_t choose(std::int64_t n, int m) {
    if (n < m) return 0;
    std::int64_t ways = 1;
    for (int i = 1; i <= m; ++i) ways = ways * (n - m + i) / i;
    return ways;
}

// A division for every subset would cost more than all the rest: small sizes, nearly all of them, are looked up.
inline std::int64_t inverse_of(std::int64_t size) {
    static const std::vector<std::int64_t> table = [] {
        std::vector<std::int64_t> inverses(4096);
        for (std::int64_t i = 1; i < 4096; ++i) inverses[i] = (std::int64_t{1} << 32) / i;
        return inverses;
    }();
    return size < 4096 ? table[size] : (std::int64_t{1} << 32) / size;
}

// Over the m-subsets of one row; `success` is the sum of 1 / size in units of 2⁻³².
struct SubsetSums {
    std::int64_t singled = 0, sizes = 0, success = 0, smallest = INT64_MAX;

    void add(std::int64_t size, std::int64_t subsets = 1) {
        if (subsets == 0) return;
        singled += size == 1 ? subsets : 0;
        sizes += size * subsets;
        success += inverse_of(size) * subsets;
        smallest = std::min(smallest, size);
    }
};

// Any thread may add to the sums of a row.
inline void add(SubsetTally& tally, std::int64_t row, const SubsetSums& found) {
    __atomic_fetch_add(&tally.singled[row], found.singled, __ATOMIC_RELAXED);
    __atomic_fetch_add(&tally.sizes[row], found.sizes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&tally.success[row], found.success, __ATOMIC_RELAXED);
    std::int64_t* const smallest = &tally.smallest[row];
    std::int64_t seen = __atomic_load_n(smallest, __ATOMIC_RELAXED);
    while (found.smallest < seen &&
           !__atomic_compare_exchange_n(smallest, &seen, found.smallest, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
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

// Where an item stands in a row: the row goes on behind it.
struct Occurrence {
    std::int32_t row;
    std::int32_t next;
};

class SubsetWalk {
  public:
    SubsetWalk(const SubsetData& data, std::int64_t n_items, int m, SubsetTally& tally)
        : data_(data), tally_(tally), seen_(n_items, 0), levels_(m), ways_(m) {
        const Csr rows = data.rows.view();
        std::int64_t longest = 0;
        for (std::int64_t row = 0; row < rows.rows; ++row)
            if (data.target[row]) longest = std::max(longest, rows.size(row));
        for (int need = 0; need < m; ++need)
            for (std::int64_t n = 0; n <= longest; ++n) ways_[need].push_back(choose(n, need));
    }

    // All subsets whose rarest item is the one that occurs in these places; `need` more items are to be chosen.
    void of_first_item(const Occurrence* places, std::int64_t count, int need, const Monitor& monitor) {
        const Csr rows = data_.rows.view();
        slots_.clear();
        first_.clear();
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t row = places[i].row;
            if (rows.size(row) - places[i].next < need) continue;
            first_.push_back({static_cast<std::int32_t>(slots_.size()), places[i].next});
            slots_.push_back({rows.begin(row),
                              static_cast<std::int32_t>(rows.size(row)),
                              data_.target[row],
                              data_.weight[row],
                              row,
                              {}});
        }
        walk(first_.data(), static_cast<std::int64_t>(first_.size()), need, monitor);
        for (const Slot& slot : slots_)
            if (slot.found.sizes) add(tally_, slot.row, slot.found);
    }

  private:
    static constexpr std::int64_t PRIVATE = -1;

    // A row that holds the first item, and what was found about it: summed up here, handed over once.
    struct Slot {
        const std::int32_t* items;
        std::int32_t size;
        bool target;
        std::int64_t weight, row;
        SubsetSums found;
    };
    // A row from some place on: what is left of it after the items fixed so far.
    struct Entry {
        std::int32_t slot;
        std::int32_t from;
    };
    struct Bucket {
        std::int32_t item;
        std::int64_t begin, end;
    };
    struct Level {
        std::vector<Bucket> buckets;
        std::vector<Entry> entries;
    };

    // All subsets of the rows in entries[0, count) that add `need` more items.
    void walk(const Entry* entries, std::int64_t count, int need, const Monitor& monitor) {
        if (std::none_of(entries, entries + count, [&](const Entry& e) { return slots_[e.slot].target; })) return;
        if (count == 1) {
            Slot& slot = slots_[entries[0].slot];
            slot.found.add(slot.weight, ways_[need][slot.size - entries[0].from]);
        } else if (count == 2) {
            two(entries[0], entries[1], need);
        } else if (need == 0) {
            together(entries, count);
        } else if (need == 1) {
            last(entries, count);
        } else {
            monitor.check();
            branch(entries, count, need, monitor);
        }
    }

    // Two rows: what both hold leads to both, everything else to one of them.
    void two(const Entry& a, const Entry& b, int need) {
        Slot &one = slots_[a.slot], &other = slots_[b.slot];
        std::int32_t shared = 0;
        for (std::int32_t i = a.from, j = b.from; i < one.size && j < other.size;) {
            const std::int32_t x = one.items[i], y = other.items[j];
            shared += x == y;
            i += x <= y;
            j += y <= x;
        }
        const std::int64_t size = one.weight + other.weight;
        for (const Entry& e : {a, b}) {
            Slot& slot = slots_[e.slot];
            if (!slot.target) continue;
            slot.found.add(size, ways_[need][shared]);
            slot.found.add(slot.weight, ways_[need][slot.size - e.from] - ways_[need][shared]);
        }
    }

    void together(const Entry* entries, std::int64_t count) {
        std::int64_t size = 0;
        for (std::int64_t e = 0; e < count; ++e) size += slots_[entries[e].slot].weight;
        for (std::int64_t e = 0; e < count; ++e)
            if (Slot& slot = slots_[entries[e].slot]; slot.target) slot.found.add(size, 1);
    }

    // One more item to choose: how often each occurs is the size of its candidate set.
    void last(const Entry* entries, std::int64_t count) {
        for (std::int64_t e = 0; e < count; ++e) {
            const Slot& slot = slots_[entries[e].slot];
            for (std::int32_t i = entries[e].from; i < slot.size; ++i) seen_[slot.items[i]] += slot.weight;
        }
        for (std::int64_t e = 0; e < count; ++e) {
            Slot& slot = slots_[entries[e].slot];
            if (!slot.target) continue;
            for (std::int32_t i = entries[e].from; i < slot.size; ++i) slot.found.add(seen_[slot.items[i]]);
        }
        for (std::int64_t e = 0; e < count; ++e) {
            const Slot& slot = slots_[entries[e].slot];
            for (std::int32_t i = entries[e].from; i < slot.size; ++i) seen_[slot.items[i]] = 0;
        }
    }

    // Two or more items to choose: hand every entry to each item it can go on with, then go on with each item.
    void branch(const Entry* entries, std::int64_t count, int need, const Monitor& monitor) {
        Level& level = levels_[need - 1];
        level.buckets.clear();
        for (std::int64_t e = 0; e < count; ++e) {
            const Slot& slot = slots_[entries[e].slot];
            for (std::int32_t i = entries[e].from; i <= slot.size - need; ++i)
                if (seen_[slot.items[i]]++ == 0) level.buckets.push_back({slot.items[i], 0, 0});
        }
        std::int64_t place = 0;
        for (Bucket& bucket : level.buckets) {
            const std::int64_t holders = seen_[bucket.item];
            bucket.begin = place;
            seen_[bucket.item] = holders == 1 ? PRIVATE : place;
            place += holders == 1 ? 0 : holders;
        }
        level.entries.resize(place);
        for (std::int64_t e = 0; e < count; ++e) deliver(entries[e], need, level);
        for (Bucket& bucket : level.buckets) bucket.end = std::exchange(seen_[bucket.item], 0);
        for (const Bucket& bucket : level.buckets)
            if (bucket.end > bucket.begin)
                walk(level.entries.data() + bucket.begin, bucket.end - bucket.begin, need - 1, monitor);
    }

    // An item that no other row here holds leads to this row alone, whatever is chosen after it.
    void deliver(const Entry& e, int need, Level& level) {
        Slot& slot = slots_[e.slot];
        for (std::int32_t i = e.from; i <= slot.size - need; ++i) {
            std::int64_t& seen = seen_[slot.items[i]];
            if (seen != PRIVATE)
                level.entries[seen++] = {e.slot, i + 1};
            else if (slot.target)
                slot.found.add(slot.weight, ways_[need - 1][slot.size - i - 1]);
        }
    }

    const SubsetData& data_;
    SubsetTally& tally_;
    std::vector<Slot> slots_;
    std::vector<Entry> first_;
    std::vector<std::int64_t> seen_;
    std::vector<Level> levels_;
    std::vector<std::vector<std::int64_t>> ways_;  // ways_[need][n]: subsets of `need` out of n items
};

}  // namespace

SubsetTally::SubsetTally(std::int64_t rows) : singled(rows), sizes(rows), success(rows), smallest(rows, INT64_MAX) {}

SubsetTally subset_tally(const Csr& distinct, std::int64_t n_items, const std::int64_t* weight, const bool* target,
                         int m, int threads, Monitor& monitor) {
    const SubsetData data{rarest_first(distinct, n_items), std::vector<std::int64_t>(weight, weight + distinct.rows),
                          std::vector<bool>(target, target + distinct.rows)};
    const auto places = transpose_places<Occurrence>(
        data.rows.view(), n_items, [](std::int32_t row, std::int32_t place) { return Occurrence{row, place + 1}; });
    SubsetTally tally(distinct.rows);
    std::vector<SubsetWalk> walks(thread_count(threads), SubsetWalk(data, n_items, m, tally));
    parallel_for(n_items, threads, monitor, [&](std::int64_t item, int worker) {
        walks[worker].of_first_item(places.begin(item), places.size(item), m - 1, monitor);
    });
    return tally;
}

}  // namespace anonset::risk
