// Frequent itemsets, depth first. For each item (rarest first) the transactions that hold it become a database of their
// own in which every item that is still frequent is one bitmap; deeper levels are intersections and counts of bits.
// What a task costs therefore depends on the support of its first item, not on the size of the database.
//
// Closed sets: an itemset is visited with all items that its transactions share, and only from the first of its items
// (no item before it is shared as well), so none is visited twice and none needs to be remembered. A maximal set is a
// closed one that no frequent item extends.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/transpose.hpp"
#include "mining/api.hpp"

namespace anonset::mining {

namespace {

// out[i] = into & others[i]; returns the number of bits that are left.
ANONSET_CLONES std::int64_t intersect(const std::uint64_t* one, const std::uint64_t* other, std::int64_t words,
                                      std::uint64_t* out) {
    std::int64_t bits = 0;
    for (std::int64_t w = 0; w < words; ++w) {
        out[w] = one[w] & other[w];
        bits += __builtin_popcountll(out[w]);
    }
    return bits;
}

// The transactions by item, for the frequent items only, which are renumbered so that the rarest come first.
struct Vertical {
    std::vector<std::int32_t> names;  // rank → item code
    std::vector<std::int64_t> counts;
    OwnedCsr rows;      // transactions as ascending ranks
    Transposed<> tids;  // rank → transactions

    Vertical(const Csr& data, std::int64_t n_items, std::int64_t support) {
        std::vector<std::int64_t> frequency(n_items, 0);
        for (std::int64_t i = 0; i < data.offsets[data.rows]; ++i) ++frequency[data.items[i]];
        for (std::int64_t item = 0; item < n_items; ++item)
            if (frequency[item] >= support) names.push_back(static_cast<std::int32_t>(item));
        std::stable_sort(names.begin(), names.end(),
                         [&](std::int32_t a, std::int32_t b) { return frequency[a] < frequency[b]; });
        std::vector<std::int32_t> rank(n_items, -1);
        for (std::size_t r = 0; r < names.size(); ++r) rank[names[r]] = static_cast<std::int32_t>(r);
        for (const std::int32_t name : names) counts.push_back(frequency[name]);
        for (std::int64_t row = 0; row < data.rows; ++row) {
            for (const std::int32_t* item = data.begin(row); item != data.end(row); ++item)
                if (rank[*item] >= 0) rows.items.push_back(rank[*item]);
            std::sort(rows.items.begin() + rows.offsets.back(), rows.items.end());
            rows.close_row();
        }
        tids = transpose(rows.view(), static_cast<std::int64_t>(names.size()));
    }
};

// All patterns whose rarest item is one given item. One object per thread, used again for item after item.
class PatternWalk {
  public:
    PatternWalk(const Vertical& data, std::int64_t support, Kind kind, int longest, std::atomic<std::int64_t>& left)
        : data_(data), support_(support), kind_(kind), longest_(longest), left_(left), seen_(data.names.size(), 0) {}

    void walk(std::int32_t first, Patterns& out, const Monitor& monitor) {
        out_ = &out;
        monitor_ = &monitor;
        project(first);
        prefix_.assign(1, first);
        std::vector<Entry> before, after;
        for (std::size_t i = 0; i < local_.size(); ++i) {
            const Entry entry{local_[i].first, local_[i].second, &bits_[i * words_]};
            if (entry.item > first) {
                after.push_back(entry);
            } else if (kind_ != Kind::all) {
                before.push_back(entry);
            }
        }
        visit(data_.counts[first], before, after, 1);
    }

  private:
    struct Entry {
        std::int32_t item;
        std::int64_t count;  // of the prefix with this item
        const std::uint64_t* bits;
    };

    // The items that are frequent among the transactions of `first`, each with a bitmap of those transactions.
    void project(std::int32_t first) {
        const Csr rows = data_.rows.view();
        const Transposed<>& tids = data_.tids;
        touched_.clear();
        for (const std::int32_t* tid = tids.begin(first); tid != tids.end(first); ++tid)
            for (const std::int32_t* item = rows.begin(*tid); item != rows.end(*tid); ++item)
                if (seen_[*item]++ == 0) touched_.push_back(*item);
        std::sort(touched_.begin(), touched_.end());
        local_.clear();
        for (const std::int32_t item : touched_) {
            const std::int64_t count = seen_[item];
            seen_[item] = 0;
            if (item == first || count < support_) continue;
            local_.emplace_back(item, count);
            seen_[item] = static_cast<std::int64_t>(local_.size());
        }
        words_ = (tids.size(first) + 63) / 64;
        bits_.assign(local_.size() * words_, 0);
        for (std::int64_t t = 0; t < tids.size(first); ++t) {
            const std::int64_t row = tids.begin(first)[t];
            for (const std::int32_t* item = rows.begin(row); item != rows.end(row); ++item)
                if (seen_[*item]) bits_[(seen_[*item] - 1) * words_ + t / 64] |= std::uint64_t{1} << t % 64;
        }
        for (const std::int32_t item : touched_) seen_[item] = 0;
    }

    // The prefix with `count` transactions; `before` and `after` are the items that extend it and stay frequent.
    void visit(std::int64_t count, const std::vector<Entry>& before, std::vector<Entry>& after, int depth) {
        if (left_.load(std::memory_order_relaxed) < 0) return;
        monitor_->check();
        const std::size_t length = prefix_.size();
        if (kind_ != Kind::all) {
            for (const Entry& entry : before)
                if (entry.count == count) return;  // visited from that item
            std::size_t kept = 0;
            for (const Entry& entry : after) {
                if (entry.count == count) {
                    prefix_.push_back(entry.item);
                } else {
                    after[kept++] = entry;
                }
            }
            after.resize(kept);
        }
        if (kind_ != Kind::maximal || (before.empty() && after.empty())) emit(count);
        if (longest_ == 0 || static_cast<int>(prefix_.size()) < longest_) extend(before, after, depth);
        prefix_.resize(length);
    }

    void extend(const std::vector<Entry>& before, const std::vector<Entry>& after, int depth) {
        if (static_cast<int>(levels_.size()) <= depth) levels_.resize(depth + 1);
        std::vector<Entry> earlier = before, new_before, new_after;
        for (std::size_t i = 0; i < after.size(); ++i) {
            // A vector of vectors may move its elements when a deeper level is added: take the memory first.
            std::vector<std::uint64_t> space = std::move(levels_[depth]);
            space.resize((earlier.size() + after.size()) * words_);
            std::uint64_t* free = space.data();
            new_before.clear();
            new_after.clear();
            for (const Entry& entry : earlier) free = keep(after[i], entry, free, new_before);
            for (std::size_t j = i + 1; j < after.size(); ++j) free = keep(after[i], after[j], free, new_after);
            prefix_.push_back(after[i].item);
            visit(after[i].count, new_before, new_after, depth + 1);
            prefix_.pop_back();
            if (kind_ != Kind::all) earlier.push_back(after[i]);
            levels_[depth] = std::move(space);
        }
    }

    std::uint64_t* keep(const Entry& by, const Entry& entry, std::uint64_t* free, std::vector<Entry>& out) const {
        const std::int64_t count = intersect(by.bits, entry.bits, words_, free);
        if (count < support_) return free;
        out.push_back({entry.item, count, free});
        return free + words_;
    }

    void emit(std::int64_t count) {
        if (left_.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
        OwnedCsr& sets = out_->sets;
        for (const std::int32_t item : prefix_) sets.items.push_back(data_.names[item]);
        std::sort(sets.items.begin() + sets.offsets.back(), sets.items.end());
        sets.close_row();
        out_->counts.push_back(count);
    }

    const Vertical& data_;
    const std::int64_t support_;
    const Kind kind_;
    const int longest_;
    std::atomic<std::int64_t>& left_;
    std::vector<std::int64_t> seen_;
    std::vector<std::int32_t> touched_, prefix_;
    std::vector<std::pair<std::int32_t, std::int64_t>> local_;
    std::vector<std::uint64_t> bits_;
    std::vector<std::vector<std::uint64_t>> levels_;
    std::int64_t words_ = 0;
    Patterns* out_ = nullptr;
    const Monitor* monitor_ = nullptr;
};

// Shorter sets first, equal lengths in the order of their items: the same whatever the threads did.
Patterns in_order(const OwnedCsr& sets, const std::vector<std::int64_t>& counts) {
    const Csr view = sets.view();
    std::vector<std::int64_t> order(view.rows);
    for (std::int64_t i = 0; i < view.rows; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        if (view.size(a) != view.size(b)) return view.size(a) < view.size(b);
        return std::lexicographical_compare(view.begin(a), view.end(a), view.begin(b), view.end(b));
    });
    Patterns out;
    out.sets.items.reserve(sets.items.size());
    for (const std::int64_t i : order) {
        out.sets.items.insert(out.sets.items.end(), view.begin(i), view.end(i));
        out.sets.close_row();
        out.counts.push_back(counts[i]);
    }
    return out;
}

}  // namespace

Patterns frequent_patterns(const Csr& data, std::int64_t n_items, std::int64_t support, Kind kind, int longest,
                           std::int64_t most, int threads, Monitor& monitor) {
    const Vertical vertical(data, n_items, support);
    const auto tasks = static_cast<std::int64_t>(vertical.names.size());
    std::atomic<std::int64_t> left{most};
    std::vector<Patterns> parts(tasks);
    std::vector<PatternWalk> walks(thread_count(threads), PatternWalk(vertical, support, kind, longest, left));
    parallel_for(tasks, threads, monitor, [&](std::int64_t item, int worker) {
        walks[worker].walk(static_cast<std::int32_t>(item), parts[item], monitor);
    });
    Patterns out;
    out.complete = left.load() >= 0;
    if (!out.complete) return out;
    std::vector<OwnedCsr> sets;
    std::vector<std::int64_t> counts;
    for (Patterns& part : parts) {
        sets.push_back(std::move(part.sets));
        counts.insert(counts.end(), part.counts.begin(), part.counts.end());
    }
    return in_order(joined(std::move(sets)), counts);
}

}  // namespace anonset::mining
