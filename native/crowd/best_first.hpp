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

#include "core/bitmap.hpp"
#include "core/buffer.hpp"
#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "crowd/lists.hpp"
#include "crowd/majority.hpp"
#include "crowd/overlap.hpp"

namespace anonset::crowd {

struct BestFirstOptions {
    std::int32_t k;
    std::int32_t reach;  // how far an anchor looks in the inverted list of each of its items, on both sides of itself
    std::int32_t keep;   // candidates that it remembers
    std::int32_t again;  // how often it may look anew, when those that it remembers are gone
    std::int32_t every;  // one class of so many is an anchor
    std::int32_t turns;  // in which members and center of a group are chosen, at most
    bool everywhere;     // whether it looks at all classes instead, however far away
};

// What candidates bring to a center is 64 times the items that they share with it, less what they expect. Candidates
// stand in the order of that expectation's remainder by 64, so whoever shares more, after taking away the whole 64s,
// brings more, and of those that share the same the first does.
struct Candidates {
    const std::int32_t* rows;    // the class of each
    const std::uint64_t* masks;  // and which items of the anchor it holds
    const std::uint8_t* least;   // and its rank if the center is empty
    std::int32_t count;
};
class Ranks {
  public:
    static constexpr std::uint32_t WHOLE = 64;

    static std::uint8_t least(std::int32_t expected) {
        return static_cast<std::uint8_t>(MOST - std::min(expected / static_cast<std::int32_t>(WHOLE), MOST));
    }

    // Ranks the candidates by what they bring; rows of a class that is gone do not count.
    ANONSET_CLONES void rank(const Candidates& all, std::uint64_t center, const std::int32_t* left) {
        if (static_cast<std::int32_t>(rank_.size()) < all.count) rank_.resize(all.count), left_.resize(all.count);
        above_ = MOST + __builtin_popcountll(center) + 1;
        std::fill(rows_, rows_ + above_, 0);
        const auto [rows, masks, least, count] = all;
        std::int32_t* ranks = rank_.data();
        for (std::int32_t i = 0; i < count; ++i) {
            ranks[i] = __builtin_popcountll(masks[i] & center) + least[i];
            rows_[ranks[i]] += left_[i] = left[rows[i]];
        }
    }

    // The `missing` rows that bring most; false if there are not as many.
    bool first(std::int32_t known, std::int32_t missing, Members& out) const {
        std::int32_t last = above_;
        while (missing > 0 && last > 0) missing -= rows_[--last];
        if (missing > 0) return false;
        missing += rows_[last];
        if (static_cast<std::int32_t>(out.all.size()) <= known) out.all.resize(known + 1);
        Member* next = out.all.data();
        for (std::int32_t i = 0; i < known; ++i) {
            const std::int32_t some = rank_[i] == last ? std::min(left_[i], missing) : 0;
            const std::int32_t copies = rank_[i] > last ? left_[i] : some;
            missing -= some;
            *next = {i, copies};
            next += copies > 0;
        }
        out.count = static_cast<std::int32_t>(next - out.all.data());
        return true;
    }

  private:
    static constexpr std::int32_t MOST = 64, RANKS = 2 * MOST + 1;
    std::int32_t rows_[RANKS];               // of each rank
    std::int32_t above_ = 0;                 // all ranks
    std::vector<std::int32_t> rank_, left_;  // of each candidate
};

// How many of the keys are smaller than each: where it goes if they are sorted. No branch to guess.
ANONSET_CLONES inline void count_smaller(const std::int32_t* keys, std::int32_t count, std::int32_t* smaller) {
    std::fill(smaller, smaller + count, 0);
    for (std::int32_t j = 0; j < count; ++j)
        for (std::int32_t i = 0; i < count; ++i) smaller[i] += keys[j] < keys[i];
}

class BestFirst {
  public:
    // `worth`, if given, is what every row gains where it is now: then only groups that gain more are formed.
    BestFirst(const Csr& rows, std::int32_t n_items, const BestFirstOptions& options, int threads, Monitor& monitor,
              const std::int32_t* worth = nullptr)
        : rows_(rows), options_(options), k_(options.k), threads_(threads), monitor_(monitor), worth_(worth) {
        n_items_ = n_items;
        find_classes();
        expected_.resize(classes());
        if (options_.everywhere) {
            overlaps_.build(rows_, first_, copies_, left_, n_items, k_);
            for (std::int32_t c = 0; c < classes(); ++c) expect(c, overlaps_.length(c));
            return;
        }
        lists_.build(rows_, first_, copies_, left_, n_items, k_,
                     [&](std::size_t c, const std::vector<std::int32_t>& places) { note(c, places); });
        starts_.push_back(static_cast<std::int64_t>(places_.size()));
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
    static constexpr std::int32_t STEPS = 32;  // in which candidates that share the same number of items are told apart
    static constexpr std::int64_t NONE = INT64_MIN;
    static constexpr std::size_t MANY = 256;  // anchors
    static constexpr std::int32_t FEW = 64;   // candidates

    struct Wanted {
        std::int32_t item, place;  // of the anchor in the item's list
    };
    struct Scratch {
        std::vector<std::uint8_t> shared;  // how many of the anchor's items a class holds
        std::vector<std::uint8_t> place;   // of each item among the anchor's, from 1 on; 0: it is none of these
        std::vector<std::int32_t> seen, several, brings, with;
        std::vector<Wanted> wanted;
        Overlaps::Scratch overlaps;
        Ranks ranks;
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
    // so it is taken only if it brings a little more. Rows that are equal to k others keep all they have. `useful` are
    // the items of a row that a center may hold.
    void expect(std::size_t c, std::int32_t useful) {
        if (worth_) {
            expected_[c] = UNIT * *std::max_element(worth_ + first_[c], worth_ + first_[c] + copies_[c]) + useful / 8;
            return;
        }
        expected_[c] = copies_[c] >= k_ ? UNIT * static_cast<std::int32_t>(rows_.size(first_[c]))
                                        : UNIT - 1 + (without(Mechanism::expectation) ? 1 : useful);
    }
    void note(std::size_t c, const std::vector<std::int32_t>& places) {
        expect(c, static_cast<std::int32_t>(places.size()));
        if (starts_.size() == anchors_.size() || anchors_[starts_.size()] != static_cast<std::int32_t>(c)) return;
        starts_.push_back(static_cast<std::int64_t>(places_.size()));
        places_.insert(places_.end(), places.begin(), places.end());
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
        least_.resize(count * options_.keep);
        members_.resize(count * k_);
        scratch_.resize(thread_count(threads_));
        for (Scratch& scratch : scratch_) {
            scratch.place.assign(n_items_, 0);
            scratch.seen.resize((options_.everywhere ? options_.keep : classes()) + 1);
            scratch.several.resize(scratch.seen.size());
            if (options_.everywhere) continue;
            scratch.shared.assign(classes(), 0);
            scratch.brings.resize(classes() + 1);
        }
        parallel_for(
            static_cast<std::int64_t>(count), threads_, monitor_,
            [&](std::int64_t a, int worker) { look(static_cast<std::int32_t>(a), scratch_[worker]); }, 64);
    }
    std::vector<Ranked> ranked() const {
        std::vector<Ranked> all;
        for (std::size_t a = 0; a < anchors_.size(); ++a)
            if (promising(a)) all.emplace_back(surplus_[a], -static_cast<std::int32_t>(a));
        std::sort(all.begin(), all.end(), std::greater<>());
        return all;
    }

    // The best group of all, and so on, until no anchor finds another. Anchors that have to look for new candidates
    // wait until they are many, and then do so side by side.
    template <class Take>
    void pick(Take&& take) {
        const std::vector<Ranked> first = ranked();
        auto next = first.begin();          // groups as they were found, the best first
        std::priority_queue<Ranked> found;  // and those found since
        const auto put_back = [&](std::int32_t a) {
            if (promising(a)) found.emplace(surplus_[a], -a);
        };
        std::vector<std::int32_t> waiting;
        while (next != first.end() || !found.empty() || !waiting.empty()) {
            monitor_.check();
            if ((next == first.end() && found.empty()) || waiting.size() == MANY) {
                look_again(waiting);
                for (const std::int32_t a : std::exchange(waiting, {})) put_back(a);
                continue;
            }
            const bool old = found.empty() || (next != first.end() && found.top() < *next);
            const std::int32_t a = -(old ? *next++ : found.top()).second;
            if (!old) found.pop();
            if (left_[anchors_[a]] == 0) continue;
            if (seize(a)) {
                hand_over(a, take);
            } else if (!content(a)) {
                waiting.push_back(a);
            } else {
                put_back(a);
            }
        }
    }
    bool promising(std::size_t a) const { return surplus_[a] > (worth_ ? 0 : NONE); }
    // Another group for an anchor whose rows were taken. False if it lost so much that it should look further.
    bool content(std::int32_t a) {
        const std::int64_t before = surplus_[a];
        best_group(a, scratch_[0]);
        return surplus_[a] >= before - UNIT * k_ / 4 || looked_[a] == options_.again;
    }
    void look_again(const std::vector<std::int32_t>& waiting) {
        if (options_.everywhere) overlaps_.tidy(rows_, first_, left_);
        for (const std::int32_t a : waiting) {
            ++looked_[a];
            if (options_.everywhere) continue;
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

    // The candidates that bring most to the anchor.
    void remember(std::int32_t a, Scratch& scratch) {
        if (options_.everywhere) {
            look_up(a, overlaps_, scratch.wanted);
            known_[a] = overlaps_.most_similar(anchors_[a], scratch.wanted, options_.keep, scratch.overlaps,
                                               scratch.several.data());
        } else {
            look_up(a, lists_, scratch.wanted);
            known_[a] = find_nearby(a, scratch);
        }
        items_[a] = static_cast<std::int32_t>(scratch.wanted.size());
        line_up(scratch, known_[a]);
        memorize(a, scratch);
    }
    // Of those that are near it in Gray order. Most share a single item: they are candidates only where the others are
    // few. Returns how many there are.
    std::int32_t find_nearby(std::int32_t a, Scratch& scratch) const {
        Marker marker{left_.data(), scratch.shared.data(), scratch.seen.data()};
        for (const Wanted& one : scratch.wanted) lists_.prefetch(one.place, options_.reach);
        std::uint8_t& itself = scratch.shared[anchors_[a]] = 1;  // known already, so it is not found
        for (const auto& [item, place] : scratch.wanted) lists_.mark(item, anchors_[a], place, options_.reach, marker);
        itself = 0;
        std::int32_t count = sharing_several(scratch, marker.found);
        if (count > options_.keep) count = keep_best(scratch, count);
        for (std::int32_t i = 0; i < marker.found && count < options_.keep; ++i) {
            scratch.several[count] = scratch.seen[i];
            count += scratch.shared[scratch.seen[i]] == 1;
        }
        forget(scratch, marker.found);
        return count;
    }
    // All are written down, and those that do not count are written over.
    static std::int32_t sharing_several(Scratch& scratch, std::int32_t found) {
        const std::uint8_t* shared = scratch.shared.data();
        const std::int32_t *seen = scratch.seen.data(), *end = seen + found;
        std::int32_t *several = scratch.several.data(), count = 0;
        for (; seen != end; ++seen) {
            several[count] = *seen;
            count += shared[*seen] > 1;
        }
        return count;
    }
    // The `keep` that bring most to the whole anchor; ties go to the first.
    std::int32_t keep_best(Scratch& scratch, std::int32_t count) const {
        std::int32_t *several = scratch.several.data(), *brings = scratch.brings.data();
        scratch.with.assign(STEPS * (scratch.wanted.size() + 1), 0);
        std::int32_t least = 0;
        for (std::int32_t i = 0; i < count; ++i) {
            const std::int32_t c = several[i], much = 2 * UNIT * scratch.shared[c] + UNIT - expected_[c];
            ++scratch.with[brings[i] = std::max(0, much) / (2 * UNIT / STEPS)];
            least = std::max(least, brings[i] + 1);
        }
        std::int32_t ties = options_.keep, kept = 0;
        while (ties > 0) ties -= scratch.with[--least];
        ties += scratch.with[least];
        for (std::int32_t i = 0; i < count; ++i) {
            several[kept] = several[i];
            kept += brings[i] > least || (brings[i] == least && ties > 0);
            ties -= brings[i] == least;
        }
        return kept;
    }
    void forget(Scratch& scratch, std::int32_t found) const {
        if (classes() < found * 16) {
            std::fill(scratch.shared.begin(), scratch.shared.end(), 0);
        } else {
            for (std::int32_t i = 0; i < found; ++i) scratch.shared[scratch.seen[i]] = 0;
        }
    }
    // Puts the candidates in the order that `Ranks` needs.
    void line_up(Scratch& scratch, std::int32_t count) const {
        const auto remainder = [&](std::int32_t c) { return static_cast<std::int32_t>(expected_[c] % Ranks::WHOLE); };
        if (count > FEW) {
            std::stable_sort(scratch.several.begin(), scratch.several.begin() + count,
                             [&](std::int32_t c, std::int32_t d) { return remainder(c) < remainder(d); });
            return;
        }
        std::int32_t keys[FEW] = {}, places[FEW];
        for (std::int32_t i = 0; i < count; ++i) keys[i] = remainder(scratch.several[i]) * FEW + i;
        count_smaller(keys, count, places);
        std::copy_n(scratch.several.begin(), count, scratch.seen.begin());
        for (std::int32_t i = 0; i < count; ++i) scratch.several[places[i]] = scratch.seen[i];
    }
    // The candidates, and which items of the anchor they hold.
    void memorize(std::int32_t a, Scratch& scratch) {
        for (std::size_t i = 0; i < scratch.wanted.size(); ++i)
            scratch.place[scratch.wanted[i].item] = static_cast<std::uint8_t>(i + 1);
        std::int32_t* rows = candidates_.data() + std::int64_t{a} * options_.keep;
        std::uint64_t* masks = masks_.data() + std::int64_t{a} * options_.keep;
        for (std::int32_t i = 0; i < known_[a]; ++i) {
            rows[i] = scratch.several[i];
            scratch.seen[i] = first_[rows[i]];
            least_[std::int64_t{a} * options_.keep + i] = Ranks::least(expected_[rows[i]]);
        }
        for_rows(rows_, scratch.seen.data(), known_[a], [&](std::int32_t row) {
            std::uint64_t mask = 0;
            for (const std::int32_t* item = rows_.begin(row); item != rows_.end(row); ++item)
                mask |= (std::uint64_t{1} << scratch.place[*item]) >> 1;
            *masks++ = mask;
        });
        for (const Wanted& one : scratch.wanted) scratch.place[one.item] = 0;
    }
    // The anchor's items with a list; of very many the most frequent, which a center is likeliest to keep.
    template <class Lists>
    void look_up(std::int32_t a, const Lists& lists, std::vector<Wanted>& wanted) const {
        const std::int32_t* place = options_.everywhere ? nullptr : places_.data() + starts_[a];
        wanted.clear();
        for (const std::int32_t* i = begin(a); i != end(a); ++i)
            if (lists.has(*i)) wanted.push_back({*i, place ? *place++ : 0});
        if (wanted.size() <= WANTED) return;
        std::nth_element(wanted.begin(), wanted.begin() + WANTED, wanted.end(), [&](const Wanted& x, const Wanted& y) {
            return std::pair(-lists.size(x.item), x.item) < std::pair(-lists.size(y.item), y.item);
        });
        wanted.resize(WANTED);
    }
    // With a given center the best members are known, and with given members the best center: in turn, until nothing
    // is gained. The anchor holds all items of any center, so the rows of its class are in the group in any case.
    void best_group(std::int32_t a, Scratch& scratch) {
        const std::int32_t own = left_[anchors_[a]];
        surplus_[a] = NONE;
        std::uint64_t center = all_items(a);
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
        const std::int64_t first = std::int64_t{a} * options_.keep;
        const Candidates all{candidates_.data() + first, masks_.data() + first, least_.data() + first, known_[a]};
        scratch.ranks.rank(all, center, left_.data());
        return scratch.ranks.first(known_[a], k_ - own, scratch.members);
    }

    // What the members gain beyond their expectations, and their center.
    std::pair<std::int64_t, std::uint64_t> vote(std::int32_t a, std::int32_t own, const Members& members) const {
        const std::int64_t first = std::int64_t{a} * options_.keep;
        const Votes votes = count_votes(members, masks_.data() + first, all_items(a), k_, own);
        std::int64_t expected = std::int64_t{own} * expected_[anchors_[a]];
        for (const auto& [candidate, copies] : members)
            expected += std::int64_t{copies} * expected_[candidates_[first + candidate]];
        return {UNIT * votes.gain - expected, votes.center};
    }
    std::uint64_t all_items(std::int32_t a) const { return (std::uint64_t{1} << items_[a]) - 1; }
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
        if (options_.everywhere) {
            if (left_[c] == 0) overlaps_.lose(c);
            return row;
        }
        if (options_.again > 0 && left_[c] == 0 && (copies_[c] == 0 || copies_[c] == k_))
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
    const std::int32_t* worth_;  // of each row, or null
    std::int32_t n_items_;
    std::vector<std::int32_t> first_, copies_, left_, expected_;  // of each class; left: rows that may join a group
    ClassLists lists_;                                            // of these two only one is used
    Overlaps overlaps_;
    std::vector<std::int32_t> anchors_, items_, looked_, known_;  // of each anchor
    std::vector<std::int64_t> surplus_, starts_;
    std::vector<std::int32_t> places_;  // of each anchor in the lists of its items, from starts_ on
    Buffer<std::int32_t> candidates_;   // `keep` of each anchor, of which some are known
    Buffer<std::uint64_t> masks_;
    Buffer<std::uint8_t> least_;
    Buffer<std::int32_t> members_;  // k of each anchor
    std::vector<Scratch> scratch_;
};

}  // namespace anonset::crowd
