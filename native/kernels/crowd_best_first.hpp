// Groups of exactly k sparse rows, the best ones first.
//
// Equal rows are one class of so many *copies*. Around every class, the *anchor*, the group is sought that gains most
// beyond what its members can expect anyway. Of all these groups the best one is taken; others that wanted one of its
// rows look for another group; and so on. Only centers inside the anchor are considered: then all that matters of a
// candidate is which of the anchor's items it holds, one bit each.
#pragma once

#include <numeric>
#include <queue>
#include <utility>

#include "bitmap.hpp"
#include "crowd_lists.hpp"
#include "csr.hpp"
#include "monitor.hpp"

namespace anonset::crowd {

struct BestFirstOptions {
    std::int32_t k;
    std::int32_t reach;  // how far an anchor looks in the inverted list of each of its items, on both sides of itself
    std::int32_t keep;   // candidates that it remembers
    std::int32_t again;  // how often it may look anew, when those that it remembers are gone
    std::int32_t every;  // one class of so many is an anchor
    std::int32_t turns;  // in which members and center of a group are chosen, at most
};

// What candidates would bring to a center, as keys that sort: most first, and the first of those that bring the same.
// Rows that are gone have no key. Returns the number of keys.
struct Candidates {
    const std::int32_t* rows;    // the class of each
    const std::uint64_t* masks;  // and which items of the anchor it holds
    std::int32_t count;
};
ANONSET_CLONES inline std::size_t weigh(const Candidates& all, std::uint64_t center, std::int32_t unit,
                                        const std::int32_t* expected, const std::int32_t* left, std::int64_t* keys) {
    std::size_t live = 0;
    for (std::int32_t i = 0; i < all.count; ++i) {
        const std::int32_t brings = 2 * unit * __builtin_popcountll(all.masks[i] & center) - expected[all.rows[i]];
        keys[live] = -brings * (std::int64_t{1} << 32) + i;
        live += left[all.rows[i]] > 0;
    }
    return live;
}

class BestFirst {
  public:
    BestFirst(const Csr& rows, std::int32_t n_items, const BestFirstOptions& options, int threads, Monitor& monitor)
        : rows_(rows), options_(options), k_(options.k), threads_(threads), monitor_(monitor) {
        find_classes();
        lists_.build(rows_, first_, copies_, left_, n_items, k_);
        expect();
    }

    // Calls take(rows) for every group. Rows for which nobody found k - 1 others are in none.
    template <class Take>
    void run(Take&& take) {
        look_around();
        pick(take);
        close(take);
    }

  private:
    using Ranked = std::pair<std::int64_t, std::int32_t>;  // surplus and anchor, negative so that ties go to the first

    static constexpr std::size_t WANTED = 62;  // items of an anchor that count: one bit each
    static constexpr std::int32_t UNIT = 32;   // surpluses are multiples of 1/32 of an item
    static constexpr std::int64_t NONE = INT64_MIN;
    static constexpr std::size_t MANY = 256;  // anchors

    using Members = std::vector<std::pair<std::int32_t, std::int32_t>>;  // candidates and how many copies of each
    struct Scratch {
        std::vector<std::uint64_t> mask;  // which of the anchor's items a class holds
        std::vector<std::int32_t> seen, wanted;
        Sharers several, single;  // by how many items
        std::vector<std::int64_t> keys;
        Members members;
    };

    void find_classes() {
        for (std::int32_t from = 0, to; from < rows_.rows; from = to) {
            to = end_of_equals(rows_, from);
            if (to - from < k_ && rows_.size(from) > 0 && first_.size() % options_.every == 0)
                anchors_.push_back(static_cast<std::int32_t>(first_.size()));
            first_.push_back(from);
            copies_.push_back(to - from);
        }
        // k equal rows are a group that loses nothing. Its other rows stay there, or help others who need them.
        left_ = copies_;
        for (std::int32_t& left : left_) left -= left >= k_ ? k_ : 0;
    }

    std::int32_t classes() const { return static_cast<std::int32_t>(first_.size()); }

    // Everybody can expect to keep about one item; a long row may find another group more easily than a short one,
    // so it is taken only if it brings a little more. Rows that are equal to k others keep all they have.
    void expect() {
        expected_.resize(classes());
        for (std::int32_t c = 0; c < classes(); ++c) {
            const auto size = static_cast<std::int32_t>(rows_.size(first_[c]));
            std::int32_t useful = 0;
            for (const std::int32_t* i = rows_.begin(first_[c]); i != rows_.end(first_[c]); ++i)
                useful += lists_.size(*i) > 0;
            expected_[c] = copies_[c] >= k_ ? UNIT * size : UNIT - 1 + useful;
        }
    }

    // The first group of every anchor, while all rows are there.
    void look_around() {
        const std::size_t count = anchors_.size();
        surplus_.assign(count, NONE);
        looked_.assign(count, 0);
        known_.assign(count, 0);
        items_.assign(count, 0);
        candidates_.resize(count * options_.keep);
        masks_.resize(count * options_.keep);
        members_.resize(count * k_);
        scratch_.resize(thread_count(threads_));
        for (Scratch& scratch : scratch_) {
            scratch.mask.assign(classes(), 0);
            scratch.seen.resize(classes() + 1);
            scratch.several.resize(classes() + 1);
            scratch.single.resize(classes() + 1);
        }
        parallel_for(
            static_cast<std::int64_t>(count), threads_, monitor_,
            [&](std::int64_t a, int worker) { look(static_cast<std::int32_t>(a), scratch_[worker]); }, 64);
    }
    std::vector<Ranked> ranked() const {
        std::vector<Ranked> all;
        for (std::size_t a = 0; a < anchors_.size(); ++a)
            if (surplus_[a] != NONE) all.emplace_back(surplus_[a], -static_cast<std::int32_t>(a));
        return all;
    }

    // The best group of all, and so on, until no anchor finds another. Anchors that have to look for new candidates
    // wait until they are many, and then do so side by side.
    template <class Take>
    void pick(Take&& take) {
        std::priority_queue<Ranked> queue(std::less<Ranked>(), ranked());
        std::vector<std::int32_t> waiting;
        while (!queue.empty() || !waiting.empty()) {
            monitor_.check();
            if (queue.empty() || waiting.size() == MANY) {
                look_again(waiting);
                for (const std::int32_t a : std::exchange(waiting, {}))
                    if (surplus_[a] != NONE) queue.emplace(surplus_[a], -a);
                continue;
            }
            const std::int32_t a = -queue.top().second;
            queue.pop();
            if (left_[anchors_[a]] == 0) continue;
            if (seize(a)) {
                hand_over(a, take);
            } else if (!content(a)) {
                waiting.push_back(a);
            } else if (surplus_[a] != NONE) {
                queue.emplace(surplus_[a], -a);
            }
        }
    }
    // Another group for an anchor whose rows were taken. False if it lost so much that it should look further.
    bool content(std::int32_t a) {
        const std::int64_t before = surplus_[a];
        best_group(a, scratch_[0]);
        return surplus_[a] >= before - UNIT * k_ / 4 || looked_[a] == options_.again;
    }
    void look_again(const std::vector<std::int32_t>& waiting) {
        for (const std::int32_t a : waiting) {
            ++looked_[a];
            for (const std::int32_t* i = begin(a); i != end(a); ++i) lists_.tidy(*i, left_);
        }
        parallel_for(
            static_cast<std::int64_t>(waiting.size()), threads_, monitor_,
            [&](std::int64_t i, int worker) { look(waiting[i], scratch_[worker]); }, 16);
    }
    void look(std::int32_t a, Scratch& scratch) {
        surplus_[a] = NONE;
        if (left_[anchors_[a]] == 0) return;
        remember(a, scratch);
        best_group(a, scratch);
    }
    const std::int32_t* begin(std::int32_t a) const { return rows_.begin(first_[anchors_[a]]); }
    const std::int32_t* end(std::int32_t a) const { return rows_.end(first_[anchors_[a]]); }

    // The candidates that share most items with the anchor, of those that are near it in Gray order.
    void remember(std::int32_t a, Scratch& scratch) {
        look_up(a, scratch.wanted);
        items_[a] = static_cast<std::int32_t>(scratch.wanted.size());
        Marker marker{left_.data(), scratch.mask.data(), scratch.seen.data()};
        for (std::size_t bit = 0; bit < scratch.wanted.size(); ++bit)
            lists_.mark(scratch.wanted[bit], anchors_[a], std::uint64_t{1} << bit, options_.reach, marker);
        part(scratch, marker.found);
        if (scratch.several.count > options_.keep) keep_most_bits(scratch.several, options_.keep);
        const std::int32_t more = std::min(options_.keep - scratch.several.count, scratch.single.count);
        known_[a] = 0;
        memorize(a, scratch.several, scratch.several.count);
        memorize(a, scratch.single, more);
    }
    // Most share a single item: they are candidates only where the others are few.
    static void part(Scratch& scratch, std::int32_t found) {
        Writer several(scratch.several), single(scratch.single);
        std::uint64_t* masks = scratch.mask.data();
        const std::int32_t *seen = scratch.seen.data(), *end = seen + found;
        for (; seen != end; ++seen) {
            const std::uint64_t mask = std::exchange(masks[*seen], 0);
            const bool more = (mask & (mask - 1)) != 0;
            several.put(*seen, mask, more);
            single.put(*seen, mask, !more);
        }
        scratch.several.count = several.count;
        scratch.single.count = single.count;
    }
    void memorize(std::int32_t a, const Sharers& from, std::int32_t count) {
        const std::int64_t at = std::int64_t{a} * options_.keep + known_[a];
        std::copy_n(from.rows.begin(), count, candidates_.begin() + at);
        std::copy_n(from.masks.begin(), count, masks_.begin() + at);
        known_[a] += count;
    }
    // The anchor's items with a list; of very many the most frequent, which a center is likeliest to keep.
    void look_up(std::int32_t a, std::vector<std::int32_t>& wanted) const {
        wanted.clear();
        for (const std::int32_t* i = begin(a); i != end(a); ++i)
            if (lists_.size(*i) > 0) wanted.push_back(*i);
        if (wanted.size() <= WANTED) return;
        std::nth_element(wanted.begin(), wanted.begin() + WANTED, wanted.end(), [&](std::int32_t x, std::int32_t y) {
            return std::pair(-lists_.size(x), x) < std::pair(-lists_.size(y), y);
        });
        wanted.resize(WANTED);
    }
    // With a given center the best members are known, and with given members the best center: in turn, until nothing
    // is gained. The anchor holds all items of any center, so the rows of its class are in the group in any case.
    void best_group(std::int32_t a, Scratch& scratch) {
        const std::int32_t own = left_[anchors_[a]];
        surplus_[a] = NONE;
        std::uint64_t center = ~std::uint64_t{0};
        for (std::int32_t turn = 0; turn < options_.turns; ++turn) {
            if (!choose(a, own, center, scratch)) return;
            const auto [surplus, voted] = vote(a, own, scratch.members);
            if (voted == 0 || surplus <= surplus_[a]) return;
            surplus_[a] = surplus;
            note(a, own, scratch.members);
            if (voted == center) return;
            center = voted;
        }
    }

    // The rows that bring most to this center, as many as k is more than `own`; false if there are not as many.
    bool choose(std::int32_t a, std::int32_t own, std::uint64_t center, Scratch& scratch) const {
        const Candidates all{candidates_.data() + std::int64_t{a} * options_.keep,
                             masks_.data() + std::int64_t{a} * options_.keep, known_[a]};
        std::vector<std::int64_t>& keys = scratch.keys;
        keys.resize(known_[a] + 1);
        const std::size_t live = weigh(all, center, UNIT, expected_.data(), left_.data(), keys.data());
        const auto few = std::min<std::size_t>(live, k_ - own);
        if (few < live) std::nth_element(keys.begin(), keys.begin() + few, keys.begin() + live);
        std::int32_t missing = k_ - own, rows = 0;
        for (std::size_t i = 0; i < few; ++i) rows += left_[all.rows[keys[i] & INT32_MAX]];
        if (rows < missing) return false;
        if (rows > missing) std::sort(keys.begin(), keys.begin() + few);
        scratch.members.clear();
        for (std::size_t i = 0; missing > 0; ++i) {
            const auto candidate = static_cast<std::int32_t>(keys[i] & INT32_MAX);
            const std::int32_t taken = std::min(missing, left_[all.rows[candidate]]);
            scratch.members.emplace_back(candidate, taken);
            missing -= taken;
        }
        return true;
    }

    // What the members gain beyond their expectations, and their center.
    std::pair<std::int64_t, std::uint64_t> vote(std::int32_t a, std::int32_t own, const Members& members) const {
        std::int32_t counts[64];
        std::fill(counts, counts + 64, own);
        std::int64_t surplus = -std::int64_t{own} * expected_[anchors_[a]];
        std::uint64_t center = 0;
        for (const auto& [candidate, copies] : members) {
            const std::int64_t at = std::int64_t{a} * options_.keep + candidate;
            surplus -= std::int64_t{copies} * expected_[candidates_[at]];
            for (std::uint64_t m = masks_[at]; m; m &= m - 1) counts[__builtin_ctzll(m)] += copies;
        }
        for (std::int32_t bit = 0; bit < items_[a]; ++bit) {
            if (2 * counts[bit] <= k_) continue;
            surplus += std::int64_t{UNIT} * (2 * counts[bit] - k_);
            center |= std::uint64_t{1} << bit;
        }
        return {surplus, center};
    }
    void note(std::int32_t a, std::int32_t own, const Members& members) {
        std::int32_t* at = std::fill_n(members_.data() + std::int64_t{a} * k_, own, anchors_[a]);
        for (const auto& [candidate, copies] : members)
            at = std::fill_n(at, copies, candidates_[std::int64_t{a} * options_.keep + candidate]);
    }

    // Takes all rows of the anchor's group, or none if some are gone.
    bool seize(std::int32_t a) {
        const std::int32_t* mine = members_.data() + std::int64_t{a} * k_;
        std::int32_t taken = 0;
        while (taken < k_ && left_[mine[taken]] > 0) --left_[mine[taken++]];
        if (taken == k_) return true;
        while (taken > 0) ++left_[mine[--taken]];
        return false;
    }
    template <class Take>
    void hand_over(std::int32_t a, Take&& take) {
        std::vector<std::int32_t> group;
        const std::int32_t* mine = members_.data() + std::int64_t{a} * k_;
        for (std::int32_t i = 0; i < k_; ++i) group.push_back(pop_row(mine[i]));
        take(group);
    }
    // Rows of a class are taken from its end.
    std::int32_t pop_row(std::int32_t c) {
        const std::int32_t row = first_[c] + --copies_[c];
        if (left_[c] == 0 && (copies_[c] == 0 || copies_[c] == k_))
            for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) lists_.lose(*i);
        return row;
    }

    // What is left of k or more equal rows is a group.
    template <class Take>
    void close(Take&& take) {
        std::vector<std::int32_t> group;
        for (std::int32_t c = 0; c < classes(); ++c) {
            if (copies_[c] < k_) continue;
            group.resize(copies_[c]);
            std::iota(group.begin(), group.end(), first_[c]);
            take(group);
        }
    }

    const Csr rows_;
    const BestFirstOptions options_;
    const std::int32_t k_;
    const int threads_;
    Monitor& monitor_;
    std::vector<std::int32_t> first_, copies_, left_, expected_;  // of each class; left: rows that may join a group
    ClassLists lists_;
    std::vector<std::int32_t> anchors_, items_, looked_, known_;  // of each anchor
    std::vector<std::int64_t> surplus_;
    std::vector<std::int32_t> candidates_;  // `keep` of each anchor, of which some are known
    std::vector<std::uint64_t> masks_;
    std::vector<std::int32_t> members_;  // k of each anchor
    std::vector<Scratch> scratch_;
};

}  // namespace anonset::crowd
