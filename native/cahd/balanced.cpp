// Balanced groups: who joins a sensitive transaction is chosen by what the whole release still lacks.
//
// A release is read by sharing out a group's sensitive items among its members. So for a sensitive item s and a
// quasi-identifier item q the reader sees E = (members with q in groups with s) / p, where the truth is C, the
// transactions with both. The error of that pair grows like E - C - C ln(E / C). A member with q moves E by 1 / p,
// which changes the error by about (D + 1/2) / (p C + D + 1/2) / p, with the excess D = p E - p C of the groups made so
// far: a row that brings what earlier groups lacked is welcome, one that brings what they have enough of is not. Where
// C = 0 that is 1, whatever D is.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "cahd/api.hpp"
#include "cahd/degree.hpp"
#include "core/distinct.hpp"
#include "core/transpose.hpp"

namespace anonset::cahd {

namespace {

// Places 0, 1, … of which some get removed; finds the nearest one left on either side (union-find with path halving).
class LivePlaces {
  public:
    explicit LivePlaces(std::size_t places) : up_(places + 1), down_(places + 1) {
        for (std::size_t i = 0; i <= places; ++i) up_[i] = down_[i] = static_cast<std::int64_t>(i);
    }
    std::int64_t from(std::int64_t place) { return find(up_, place); }          // the first one at or behind `place`
    std::int64_t before(std::int64_t place) { return find(down_, place) - 1; }  // the last one before it, or -1
    void remove(std::int64_t place) {
        up_[place] = place + 1;
        down_[place + 1] = place;
    }

  private:
    static std::int64_t find(std::vector<std::int64_t>& parent, std::int64_t at) {
        while (parent[at] != at) {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        return at;
    }
    std::vector<std::int64_t> up_, down_;
};

// Each item's transactions in the order of the data, of which some get removed.
class ItemWindows {
  public:
    ItemWindows(const Csr& data, std::int32_t items)
        : data_(data), lists_(transpose(data, items)), live_(lists_.values.size()) {}

    std::int64_t holders(std::int32_t item) const { return lists_.size(item); }

    // Visits the `reach` nearest holders of the item on each side of `row`, which holds it too.
    template <class Visit>
    void around(std::int32_t item, std::int32_t row, std::int64_t reach, Visit&& visit) {
        const std::int64_t middle = place(item, row);
        std::int64_t at = live_.from(middle + 1);
        for (std::int64_t i = 0; i < reach && at < lists_.start[item + 1]; ++i, at = live_.from(at + 1))
            visit(lists_.values[at]);
        at = live_.before(middle);
        for (std::int64_t i = 0; i < reach && at >= lists_.start[item]; ++i, at = live_.before(at))
            visit(lists_.values[at]);
    }

    void remove(std::int32_t row) {
        for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) live_.remove(place(*i, row));
    }

  private:
    std::int64_t place(std::int32_t item, std::int32_t row) const {
        return std::lower_bound(lists_.begin(item), lists_.end(item), row) - lists_.values.data();
    }

    Csr data_;
    Transposed<> lists_;
    LivePlaces live_;
};

// For each pair of a sensitive and a quasi-identifier item that occur together: p C and the excess D.
class PairBalance {
  public:
    explicit PairBalance(const Problem& problem) : problem_(problem) {
        std::int64_t pairs = 0;
        for (std::int64_t row = 0; row < problem.rows(); ++row)
            pairs += problem.quasi.size(row) * problem.secrets.size(row);
        while (slots_ < 2 * static_cast<std::size_t>(pairs)) slots_ *= 2;
        entries_.resize(slots_);
        for (std::int64_t row = 0; row < problem.rows(); ++row)
            for (const std::int32_t* s = problem.secrets.begin(row); s != problem.secrets.end(row); ++s)
                for (const std::int32_t* i = problem.quasi.begin(row); i != problem.quasi.end(row); ++i) count(*s, *i);
    }

    // By how much a further member with the item changes the error of the pair, times p.
    double cost(std::int32_t secret, std::int32_t item) const {
        const Entry& entry = entries_[slot(secret, item)];
        if (entry.expected == 0) return 1.0;
        const double excess = static_cast<double>(entry.excess) + 0.5;
        return excess / (static_cast<double>(entry.expected) + excess);
    }

    void shift(std::int32_t secret, std::int64_t row, std::int64_t by) {
        for (const std::int32_t* i = problem_.quasi.begin(row); i != problem_.quasi.end(row); ++i)
            entries_[slot(secret, *i)].excess += by;  // an empty slot stands for all pairs that never occur
    }

  private:
    struct Entry {
        std::int64_t key = -1, expected = 0, excess = 0;
    };

    std::size_t slot(std::int32_t secret, std::int32_t item) const {
        const std::int64_t key = static_cast<std::int64_t>(secret) * problem_.items + item;
        std::size_t at = mix(static_cast<std::uint64_t>(key)) & (slots_ - 1);
        while (entries_[at].key >= 0 && entries_[at].key != key) at = (at + 1) & (slots_ - 1);
        return at;
    }
    void count(std::int32_t secret, std::int32_t item) {
        Entry& entry = entries_[slot(secret, item)];
        entry.key = static_cast<std::int64_t>(secret) * problem_.items + item;
        entry.expected += problem_.p;
    }

    const Problem& problem_;
    std::size_t slots_ = 16;
    std::vector<Entry> entries_;
};

class BalancedFinder {
  public:
    BalancedFinder(const Problem& problem, std::int64_t alpha)
        : problem_(problem),
          conflicts_(problem),
          windows_(problem.quasi, problem.items),
          balance_(problem),
          live_(static_cast<std::size_t>(problem.rows())),
          reach_(std::min(alpha * problem.p, std::max<std::int64_t>(problem.rows(), 1))),
          met_at_(problem.rows(), -1),
          mine_(problem.items, 0),
          cost_(problem.items, 0),
          known_(problem.items, 0) {}

    void find(std::int64_t t, std::vector<std::int32_t>& members) {
        if (open_) take_back();  // the last group was not taken
        open_ = true;
        members_.clear();
        holders_.clear();
        conflicts_.start(t);
        collect(static_cast<std::int32_t>(t));
        for (const std::int32_t* i = problem_.quasi.begin(t); i != problem_.quasi.end(t); ++i) mine_[*i] = 1;
        join(static_cast<std::int32_t>(t));
        shortlist();
        while (static_cast<std::int64_t>(members_.size()) < problem_.p && pick(static_cast<std::int32_t>(t))) {
        }
        for (const std::int32_t* i = problem_.quasi.begin(t); i != problem_.quasi.end(t); ++i) mine_[*i] = 0;
        members = members_;
    }

    void remove(const std::vector<std::int32_t>& members) {
        open_ = false;
        for (const std::int32_t row : members) {
            windows_.remove(row);
            live_.remove(row);
        }
    }

  private:
    // How much it counts, beside the balance, that a member resembles t: keeps combinations of items together.
    static constexpr double LIKENESS = 0.1;
    static constexpr std::size_t ITEMS = 8;      // look around at most this many items of t, the rarest
    static constexpr std::size_t SHORTLIST = 4;  // times p: how many candidates are weighed again and again

    // Neighbours of t in the ordering, and in the lists of its rarest items.
    void collect(std::int32_t t) {
        candidates_.clear();
        met_at_[t] = t;
        items_.assign(problem_.quasi.begin(t), problem_.quasi.end(t));
        if (items_.size() > ITEMS) {
            std::nth_element(items_.begin(), items_.begin() + ITEMS, items_.end(), [&](std::int32_t a, std::int32_t b) {
                const auto one = windows_.holders(a), two = windows_.holders(b);
                return one != two ? one < two : a < b;
            });
            items_.resize(ITEMS);
        }
        for (const std::int32_t item : items_) windows_.around(item, t, reach_, [&](std::int32_t x) { meet(t, x); });
        behind_ = live_.from(t + 1);
        before_ = live_.before(t);
        for (std::int64_t i = 0; i < reach_; ++i) look_further(t);
    }

    bool look_further(std::int32_t t) {
        if (behind_ >= problem_.rows() && before_ < 0) return false;
        if (before_ >= 0) meet(t, static_cast<std::int32_t>(before_)), before_ = live_.before(before_);
        if (behind_ < problem_.rows()) meet(t, static_cast<std::int32_t>(behind_)), behind_ = live_.from(behind_ + 1);
        return true;
    }

    void meet(std::int32_t t, std::int32_t row) {
        if (met_at_[row] == t) return;
        met_at_[row] = t;
        if (!conflicts_.clash(row)) candidates_.emplace_back(0.0, row);
    }

    void shortlist() {
        reserve_.clear();
        const std::size_t keep = SHORTLIST * static_cast<std::size_t>(problem_.p);
        if (candidates_.size() <= keep) return;
        for (auto& [cost, row] : candidates_) cost = cost_of(row);
        std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::int64_t>(keep), candidates_.end());
        reserve_.assign(candidates_.begin() + static_cast<std::int64_t>(keep), candidates_.end());
        candidates_.resize(keep);
    }

    bool recall() {
        candidates_.insert(candidates_.end(), reserve_.begin(), reserve_.end());
        reserve_.clear();
        return !candidates_.empty();
    }

    // Adds the candidate that balances best; ties go to the lower row. False when the ordering is used up.
    bool pick(std::int32_t t) {
        std::pair<double, std::int32_t> best(std::numeric_limits<double>::infinity(), -1);
        std::size_t at = 0;
        do {
            for (std::size_t i = 0; i < candidates_.size();) {
                const std::int32_t row = candidates_[i].second;
                if (conflicts_.clash(row)) {
                    candidates_[i] = candidates_.back();
                    candidates_.pop_back();
                    continue;
                }
                const std::pair<double, std::int32_t> offer(cost_of(row), row);
                if (offer < best) best = offer, at = i;
                ++i;
            }
        } while (best.second < 0 && (recall() || look_further(t)));
        if (best.second < 0) return false;
        candidates_[at] = candidates_.back();
        candidates_.pop_back();
        conflicts_.add(best.second);
        join(best.second);
        return true;
    }

    double cost_of(std::int32_t row) {
        double cost = 0;
        std::int64_t shared = 0;
        for (const std::int32_t* i = problem_.quasi.begin(row); i != problem_.quasi.end(row); ++i) {
            cost += item_cost(*i);
            shared += mine_[*i];
        }
        return cost + LIKENESS * static_cast<double>(problem_.quasi.size(row) - 2 * shared);
    }

    double item_cost(std::int32_t item) {
        if (known_[item] != epoch_) {
            known_[item] = epoch_;
            cost_[item] = 0;
            for (const auto& holder : holders_) cost_[item] += balance_.cost(holder.first, item);
        }
        return cost_[item];
    }

    void join(std::int32_t row) {
        for (const auto& holder : holders_) balance_.shift(holder.first, row, 1);
        members_.push_back(row);
        for (const std::int32_t* s = problem_.secrets.begin(row); s != problem_.secrets.end(row); ++s) {
            holders_.emplace_back(*s, row);
            balance_.shift(*s, row, -problem_.p);
            for (const std::int32_t member : members_) balance_.shift(*s, member, 1);
        }
        if (problem_.is_sensitive(row)) {
            ++epoch_;
        } else {
            for (const std::int32_t* i = problem_.quasi.begin(row); i != problem_.quasi.end(row); ++i) known_[*i] = 0;
        }
    }

    // Takes back what the open group added to the balance.
    void take_back() {
        for (const auto& [secret, row] : holders_) {
            balance_.shift(secret, row, problem_.p);
            for (const std::int32_t member : members_) balance_.shift(secret, member, -1);
        }
    }

    const Problem& problem_;
    Conflicts conflicts_;
    ItemWindows windows_;
    PairBalance balance_;
    LivePlaces live_;
    std::int64_t reach_;
    std::int64_t before_ = -1, behind_ = 0;
    std::vector<std::int32_t> met_at_, members_, items_;
    std::vector<std::pair<double, std::int32_t>> candidates_, reserve_;
    std::vector<std::pair<std::int32_t, std::int32_t>> holders_;  // (sensitive item, who holds it) of the open group
    std::vector<char> mine_;
    std::vector<double> cost_;
    std::vector<std::int64_t> known_;
    std::int64_t epoch_ = 1;
    bool open_ = false;
};

}  // namespace

std::vector<std::int32_t> balanced_groups(const Problem& problem, std::int64_t alpha, Monitor& monitor) {
    BalancedFinder finder(problem, alpha);
    return form_groups(problem, finder, monitor);
}

}  // namespace anonset::cahd
