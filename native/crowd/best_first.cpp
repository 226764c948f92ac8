#include "crowd/best_first.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "core/buffer.hpp"
#include "core/distinct.hpp"
#include "core/transpose.hpp"
#include "crowd/candidates.hpp"
#include "crowd/majority.hpp"

namespace anonset::crowd {

namespace {

class BestFirst {
  public:
    BestFirst(const Csr& rows, std::int32_t n_items, const BestFirstOptions& options, int threads, Monitor& monitor)
        : rows_(rows), n_items_(n_items), options_(options), k_(options.k), threads_(threads), monitor_(monitor) {
        find_classes();
        list_classes();
    }

    FoundGroups run() {
        look_around();
        pick();
        close();
        return std::move(out_);
    }

  private:
    using Ranked = std::pair<std::int64_t, std::int32_t>;  // surplus and anchor, negative so that ties go to the first

    static constexpr std::int32_t TURNS = 2;             // in which members and center of a group are chosen
    static constexpr std::size_t MOST_ITEMS = 62;        // of an anchor that count: one bit each
    static constexpr std::int32_t UNIT = 32;             // surpluses are multiples of 1/32 of an item
    static constexpr std::int32_t STEPS = 32;            // that tell apart candidates with the same number of items
    static constexpr std::int64_t NO_GROUP = INT64_MIN;  // instead of a surplus

    struct Wanted {
        std::int32_t item, place;  // of the anchor in the item's list
    };
    struct Scratch {
        std::vector<std::uint8_t> shared;  // how many of the anchor's items a class holds
        std::vector<std::uint8_t> place;   // of each item among the anchor's, from 1 on; 0: it is none of these
        std::vector<std::int32_t> seen, several, brings, with, keys;
        std::vector<std::int32_t> met;  // persons who are in a group already
        std::vector<Wanted> wanted;
        Ranks ranks;
        Members members;
    };

    std::int32_t classes() const { return static_cast<std::int32_t>(first_.size()); }
    const std::int32_t* begin(std::int32_t c) const { return rows_.begin(first_[c]); }
    const std::int32_t* end(std::int32_t c) const { return rows_.end(first_[c]); }

    // Equal rows lie side by side in Gray order.
    void find_classes() {
        for (std::int32_t from = 0, to; from < rows_.rows; from = to) {
            to = from + 1;
            while (!options_.person && to < rows_.rows && equal_rows(rows_, from, to)) ++to;
            const bool somebody = !options_.person || options_.person[from] >= 0;
            if (to - from < k_ && rows_.size(from) > 0 && somebody && first_.size() % options_.every == 0)
                anchors_.push_back(static_cast<std::int32_t>(first_.size()));
            first_.push_back(from);
            copies_.push_back(to - from);
        }
        // k equal rows are a group that loses nothing. Its other rows stay there, or help others who need them.
        left_ = copies_;
        for (std::int32_t& left : left_) left -= left >= k_ ? k_ : 0;
    }

    // For each item that more than k/2 rows hold the classes that hold it, in Gray order; no center can have another.
    // For each anchor, its places in the lists of these items. Everybody can expect to keep about one item; a long row
    // may find another group more easily than a short one, so it is taken only if it brings a little more. Rows that
    // are equal to k others keep all they have.
    void list_classes() {
        std::vector<std::int32_t> held(n_items_, 0);
        for (std::int32_t c = 0; c < classes(); ++c)
            for (const std::int32_t* i = begin(c); i != end(c); ++i) held[*i] += copies_[c];
        const auto frequent = [&](std::int32_t item) { return 2 * held[item] > k_; };
        lists_ = transpose_pairs<std::int32_t, std::int32_t>(n_items_, [&](auto&& visit) {
            for (std::int32_t c = 0; c < classes(); ++c)
                if (left_[c] > 0)
                    for (const std::int32_t* i = begin(c); i != end(c); ++i)
                        if (frequent(*i)) visit(*i, c);
        });
        std::vector<std::int32_t> next(lists_.start.begin(), lists_.start.end() - 1);
        auto anchor = anchors_.begin();
        for (std::int32_t c = 0; c < classes(); ++c) {
            const bool anchored = anchor != anchors_.end() && *anchor == c;
            anchor += anchored;
            if (anchored) starts_.push_back(static_cast<std::int64_t>(wanted_.size()));
            std::int32_t size = 0;
            for (const std::int32_t* i = begin(c); i != end(c); ++i) {
                if (!frequent(*i)) continue;
                ++size;
                if (anchored) wanted_.push_back({*i, next[*i]});
                next[*i] += left_[c] > 0;
            }
            expected_.push_back(copies_[c] >= k_ ? UNIT * static_cast<std::int32_t>(rows_.size(first_[c]))
                                                 : UNIT - 1 + size);
        }
        starts_.push_back(static_cast<std::int64_t>(wanted_.size()));
    }

    // The first group of every anchor, while all rows are there.
    void look_around() {
        const std::size_t count = anchors_.size();
        surplus_.assign(count, NO_GROUP);
        known_.assign(count, 0);
        items_.assign(count, 0);
        candidates_.resize(count * options_.keep);
        masks_.resize(count * options_.keep);
        least_.resize(count * options_.keep);
        members_.resize(count * k_);
        scratch_.resize(thread_count(threads_));
        for (Scratch& scratch : scratch_) {
            scratch.place.assign(n_items_, 0);
            scratch.shared.assign(classes(), 0);
            for (auto* list : {&scratch.seen, &scratch.several, &scratch.brings}) list->resize(classes() + 1);
            scratch.met.assign(options_.persons, 0);
        }
        parallel_for(
            static_cast<std::int64_t>(count), threads_, monitor_,
            [&](std::int64_t a, int worker) {
                remember(static_cast<std::int32_t>(a), scratch_[worker]);
                best_group(static_cast<std::int32_t>(a), scratch_[worker]);
            },
            64);
    }

    // The best group of all, and so on, until no anchor finds another.
    void pick() {
        std::vector<Ranked> first;
        for (std::size_t a = 0; a < anchors_.size(); ++a)
            if (surplus_[a] > NO_GROUP) first.emplace_back(surplus_[a], -static_cast<std::int32_t>(a));
        std::sort(first.begin(), first.end(), std::greater<>());
        auto next = first.begin();          // groups as they were found, the best first
        std::priority_queue<Ranked> found;  // and those found since
        while (next != first.end() || !found.empty()) {
            monitor_.check();
            const bool old = found.empty() || (next != first.end() && found.top() < *next);
            const std::int32_t a = -(old ? *next++ : found.top()).second;
            if (!old) found.pop();
            if (left_[anchors_[a]] == 0) continue;
            if (seize(a)) {
                hand_over(a);
                continue;
            }
            best_group(a, scratch_[0]);
            if (surplus_[a] > NO_GROUP) found.emplace(surplus_[a], -a);
        }
    }

    // The candidates that bring most to the anchor.
    void remember(std::int32_t a, Scratch& scratch) {
        look_up(a, scratch.wanted);
        items_[a] = static_cast<std::int32_t>(scratch.wanted.size());
        known_[a] = find_nearby(a, scratch);
        line_up(scratch, known_[a]);
        memorize(a, scratch);
    }
    // The anchor's items with a list; of very many the most frequent, which a center is likeliest to keep.
    void look_up(std::int32_t a, std::vector<Wanted>& wanted) const {
        wanted.assign(wanted_.begin() + starts_[a], wanted_.begin() + starts_[a + 1]);
        if (wanted.size() <= MOST_ITEMS) return;
        std::nth_element(wanted.begin(), wanted.begin() + MOST_ITEMS, wanted.end(),
                         [&](const Wanted& x, const Wanted& y) {
                             return std::pair(-lists_.size(x.item), x.item) < std::pair(-lists_.size(y.item), y.item);
                         });
        wanted.resize(MOST_ITEMS);
    }
    // Of those that are near it in Gray order. Most share a single item: they are candidates only where the others are
    // few. Returns how many there are.
    std::int32_t find_nearby(std::int32_t a, Scratch& scratch) const {
        const auto last = static_cast<std::int32_t>(lists_.values.size()) - 1;
        for (const Wanted& one : scratch.wanted)  // lists lie anywhere: to wait for them costs more than to count
            for (const std::int32_t at :
                 {std::max(0, one.place - options_.reach), one.place, std::min(last, one.place + options_.reach)})
                __builtin_prefetch(lists_.values.data() + at);
        scratch.shared[anchors_[a]] = 1;  // known already, so it is not found
        std::int32_t found = 0;
        for (const Wanted& one : scratch.wanted) found = mark(one, found, scratch);
        scratch.shared[anchors_[a]] = 0;
        if (options_.person) found = drop_own(options_.person[anchors_[a]], found, scratch);
        std::int32_t count = sharing_several(scratch, found);
        if (count > options_.keep) count = keep_best(scratch, count);
        for (std::int32_t i = 0; i < found && count < options_.keep; ++i) {
            scratch.several[count] = scratch.seen[i];
            count += scratch.shared[scratch.seen[i]] == 1;
        }
        if (classes() < found * 16) {
            std::fill(scratch.shared.begin(), scratch.shared.end(), 0);
        } else {
            for (std::int32_t i = 0; i < found; ++i) scratch.shared[scratch.seen[i]] = 0;
        }
        return count;
    }
    // Counts the item for the classes around the anchor in its list. Whether a class is new is anybody's guess, so it
    // is written down in any case, and written over if it is not. Returns how many have been found so far.
    std::int32_t mark(const Wanted& one, std::int32_t found, Scratch& scratch) const {
        const std::int32_t *from = lists_.begin(one.item), *to = lists_.end(one.item);
        const std::int32_t* const at = lists_.values.data() + one.place;
        const std::int32_t* c = at - std::min<std::ptrdiff_t>(at - from, options_.reach);
        const std::int32_t* const end = at + std::min<std::ptrdiff_t>(to - at, options_.reach + 1);
        std::uint8_t* const shared = scratch.shared.data();
        std::int32_t* const seen = scratch.seen.data();
        for (; c != end; ++c) {
            const std::uint8_t before = shared[*c];
            seen[found] = *c;
            found += before == 0;
            shared[*c] = static_cast<std::uint8_t>(before + 1);
        }
        return found;
    }
    // Rows of the anchor's own person, who often holds the same items, and those of unknown ones are no candidates.
    std::int32_t drop_own(std::int32_t whose, std::int32_t found, Scratch& scratch) const {
        std::int32_t kept = 0;
        for (std::int32_t i = 0; i < found; ++i) {
            const std::int32_t c = scratch.seen[i], person = options_.person[c];
            if (person == whose || person < 0)
                scratch.shared[c] = 0;
            else
                scratch.seen[kept++] = c;
        }
        return kept;
    }
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
    // Puts the candidates in the order that `Ranks` needs; equals stay as they are.
    void line_up(Scratch& scratch, std::int32_t count) const {
        scratch.keys.resize(count);
        for (std::int32_t i = 0; i < count; ++i)
            scratch.keys[i] = static_cast<std::int32_t>(expected_[scratch.several[i]] % Ranks::WHOLE) << 24 | i;
        std::sort(scratch.keys.begin(), scratch.keys.end());
        std::copy_n(scratch.several.begin(), count, scratch.seen.begin());
        for (std::int32_t i = 0; i < count; ++i) scratch.several[i] = scratch.seen[scratch.keys[i] & 0xffffff];
    }
    // The candidates, and which items of the anchor they hold.
    void memorize(std::int32_t a, Scratch& scratch) {
        for (std::size_t i = 0; i < scratch.wanted.size(); ++i)
            scratch.place[scratch.wanted[i].item] = static_cast<std::uint8_t>(i + 1);
        std::int32_t* own = candidates_.data() + std::int64_t{a} * options_.keep;
        std::uint64_t* masks = masks_.data() + std::int64_t{a} * options_.keep;
        for (std::int32_t i = 0; i < known_[a]; ++i) {
            own[i] = scratch.several[i];
            scratch.seen[i] = first_[own[i]];
            least_[std::int64_t{a} * options_.keep + i] = Ranks::least(expected_[own[i]]);
        }
        for_rows(rows_, scratch.seen.data(), known_[a], [&](std::int32_t row) {
            std::uint64_t mask = 0;
            for (const std::int32_t* item = rows_.begin(row); item != rows_.end(row); ++item)
                mask |= (std::uint64_t{1} << scratch.place[*item]) >> 1;
            *masks++ = mask;
        });
        for (const Wanted& one : scratch.wanted) scratch.place[one.item] = 0;
    }

    // With a given center the best members are known, and with given members the best center: in turn, as long as it
    // gains. The anchor holds all items of any center, so the rows of its class are in the group in any case.
    void best_group(std::int32_t a, Scratch& scratch) {
        const std::int32_t own = left_[anchors_[a]];
        surplus_[a] = NO_GROUP;
        std::uint64_t center = all_items(a);
        for (std::int32_t turn = 0; turn < TURNS; ++turn) {
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
        if (options_.person)
            return scratch.ranks.first_different(all, options_.person, anchors_[a], k_ - own, scratch.met,
                                                 scratch.members);
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
    // Rows of a class are taken from its end.
    void hand_over(std::int32_t a) {
        const std::int32_t* mine = members_.data() + std::int64_t{a} * k_;
        for (std::int32_t i = 0; i < k_; ++i) out_.rows.push_back(first_[mine[i]] + --copies_[mine[i]]);
        out_.ends.push_back(static_cast<std::int64_t>(out_.rows.size()));
    }
    // What is left of k or more equal rows is a group.
    void close() {
        for (std::int32_t c = 0; c < classes(); ++c) {
            if (copies_[c] < k_) continue;
            for (std::int32_t copy = 0; copy < copies_[c]; ++copy) out_.rows.push_back(first_[c] + copy);
            out_.ends.push_back(static_cast<std::int64_t>(out_.rows.size()));
        }
    }

    const Csr rows_;
    const std::int32_t n_items_;
    const BestFirstOptions options_;
    const std::int32_t k_;
    const int threads_;
    Monitor& monitor_;
    std::vector<std::int32_t> first_, copies_, left_, expected_;  // of each class; left: rows that may join a group
    Transposed<std::int32_t, std::int32_t> lists_;
    std::vector<std::int32_t> anchors_, items_, known_;  // of each anchor
    std::vector<std::int64_t> surplus_, starts_;
    std::vector<Wanted> wanted_;       // of each anchor, from starts_ on
    Buffer<std::int32_t> candidates_;  // `keep` of each anchor, of which some are known
    Buffer<std::uint64_t> masks_;
    Buffer<std::uint8_t> least_;
    Buffer<std::int32_t> members_;  // k of each anchor
    std::vector<Scratch> scratch_;
    FoundGroups out_;
};

}  // namespace

FoundGroups best_first(const Csr& rows, std::int32_t n_items, const BestFirstOptions& options, int threads,
                       Monitor& monitor) {
    return BestFirst(rows, n_items, options, threads, monitor).run();
}

}  // namespace anonset::crowd
