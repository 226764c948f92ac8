// Rows change groups in *relays*: one goes where it gains, another one takes its place, a third one takes the place of
// that one, and so on; the last one comes from a group that has rows to spare, or from the one to which the
// first one went. With given centers the best groups are a flow of least cost with lower bounds, and relays are the
// paths and circles on which it is improved. Centers stand still meanwhile; when groups vote anew, they can only gain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/monitor.hpp"
#include "crowd/groups.hpp"
#include "crowd/index.hpp"
#include "crowd/lists.hpp"

namespace anonset::crowd {

// What a row of a group gains elsewhere, if that is more than any before.
ANONSET_CLONES inline void raise(std::int16_t* most, const std::int16_t* scores, std::int16_t own, std::int32_t count) {
    for (std::int32_t g = 0; g < count; ++g) {
        const auto more = static_cast<std::int16_t>(scores[g] - own);
        most[g] = more > most[g] ? more : most[g];
    }
}

// Places are filled again from group `from`, whose own place is filled at `cost`, where that is best.
ANONSET_CLONES inline void refill(std::int16_t* costs, std::int16_t* via, const std::int16_t* moves, std::int16_t cost,
                                  std::int16_t from, std::int32_t count) {
    for (std::int32_t g = 0; g < count; ++g) {
        const auto sum = static_cast<std::int16_t>(moves[g] + cost);
        const auto here = sum < 0 ? sum : std::int16_t{0};
        const bool better = here > costs[g];
        costs[g] = better ? here : costs[g];
        via[g] = better ? from : via[g];
    }
}
// The same from a group with rows to spare. Of equals the last one counts in one case of four, by the dice: so that
// places do not all wait for the same row.
ANONSET_CLONES inline void refill_fairly(std::int16_t* costs, std::int16_t* via, const std::int16_t* moves,
                                         const std::uint16_t* dice, std::int16_t from, std::int32_t count) {
    const auto salt = static_cast<std::uint16_t>(from * 30011);
    for (std::int32_t g = 0; g < count; ++g) {
        const auto here = moves[g] < 0 ? moves[g] : std::int16_t{0};
        const auto thrown = static_cast<std::uint16_t>(static_cast<std::uint16_t>(dice[g] + salt) * 25173);
        const bool better = here > costs[g] || (here == costs[g] && (thrown & 0x3000) == 0);
        costs[g] = better ? here : costs[g];
        via[g] = better ? from : via[g];
    }
}

// Some groups, among which rows change places. Precondition: no center has more than MOST items. Longer rows stay.
class Relay {
  public:
    static constexpr std::int32_t MOST = 5'000;  // so that scores fit

    // `members` are those that may leave; of the crowd that publishes nothing it may be a part of all.
    Relay(const Groups& groups, std::vector<std::int32_t> numbers, std::vector<std::vector<std::int32_t>> members,
          std::int32_t k, int threads, Monitor& monitor)
        : groups_(groups),
          numbers_(std::move(numbers)),
          members_(std::move(members)),
          count_(static_cast<std::int32_t>(numbers_.size())),
          threads_(threads),
          monitor_(monitor),
          most_(count_),
          first_(count_),
          known_(count_, false),
          looks_(count_, 0) {
        lists_.build(groups, numbers_, false);
        padded_ = lists_.padded();
        base_.assign(padded_, NEVER);
        for (std::int32_t g = 0; g < count_; ++g) base_[g] = static_cast<std::int16_t>(-groups[numbers_[g]].center);
        moves_.resize(std::int64_t{count_} * padded_);
        work_.assign(thread_count(threads), base_);
        for (std::vector<std::int32_t>& rows : members_) {
            std::sort(rows.begin(), rows.end());  // equal ones lie side by side
            least_.push_back(std::min(rows.size(), static_cast<std::size_t>(k)));
            much_.push_back(without(Mechanism::sampled_members) ? 1
                                                                : std::max<std::size_t>(1, rows.size() / (MANY * k)));
        }
        for (std::int32_t g = 0; g < padded_; ++g) dice_.push_back(static_cast<std::uint16_t>(g * 40503));
    }

    // Returns what is gained, before groups vote anew.
    std::int64_t run(std::int64_t passes) {
        std::int64_t gained = 0;
        for (std::int64_t pass = 0; pass < passes; ++pass) {
            monitor_.check();
            find_refills();
            const std::int64_t now = make_relays();
            gained += now;
            if (now == 0) break;
        }
        return gained;
    }

    // Adds every row that is in another group now.
    void list(std::vector<Move>& all) const {
        for (std::int32_t g = 0; g < count_; ++g)
            for (const std::int32_t row : members_[g])
                if (groups_.of(row) != numbers_[g]) all.push_back({row, numbers_[g]});
    }

  private:
    static constexpr std::int16_t NEVER = -20'000;
    static constexpr std::int16_t WORST = -2;  // a place that costs more is left open
    static constexpr std::int32_t TURNS = 5;   // in which refills are found, each from farther away
    static constexpr int TRIES = 4;            // groups in which a row gains most
    static constexpr std::int64_t GRAIN = 16;
    static constexpr std::int32_t WIDTH = 1024;  // groups whose places are filled side by side
    static constexpr std::size_t LONGEST = 40;   // relay
    static constexpr std::size_t MANY = 4;       // times k: of larger groups some rows are looked at, then others

    struct Leg {
        std::int32_t from, to;
    };

    std::int16_t* moves(std::int32_t g) { return moves_.data() + std::int64_t{g} * padded_; }
    bool spare(std::int32_t g) const { return members_[g].size() > least_[g]; }

    template <class Body>
    void for_some(std::int32_t g, Body&& body) const {
        const std::vector<std::int32_t>& rows = members_[g];
        for (std::size_t i = looks_[g] % much_[g]; i < rows.size(); i += much_[g])
            if (groups_.rows().size(rows[i]) <= MOST) body(rows[i]);
    }

    // What the row of g that gains most by it gains in each other group.
    void look(std::int32_t g) { look(g, work_[0].data()); }
    void look(std::int32_t g, std::int16_t* scores) {
        if (known_[g]) return;
        known_[g] = true;
        ++looks_[g];
        std::fill_n(moves(g), padded_, NEVER);
        std::int32_t last = -1;
        for_some(g, [&](std::int32_t row) {
            if (last >= 0 && equal(groups_.rows(), last, row)) return;
            last = row;
            lists_.score(groups_.rows().begin(row), groups_.rows().end(row), base_.data(), scores);
            raise(moves(g), scores, scores[g], padded_);
        });
        moves(g)[g] = NEVER;
        most_[g] = largest_score(moves(g), padded_);
        if (most_[g] > 0)
            first_[g] = static_cast<std::int32_t>(std::find(moves(g), moves(g) + count_, most_[g]) - moves(g));
    }
    void look_at_all() {
        std::vector<std::int32_t> open;
        for (std::int32_t g = 0; g < count_; ++g)
            if (!known_[g]) open.push_back(g);
        parallel_for(
            static_cast<std::int64_t>(open.size()), threads_, monitor_,
            [&](std::int64_t i, int worker) { look(open[i], work_[worker].data()); }, GRAIN);
    }

    // What it costs (0 or less) to fill a place again that a row of a group leaves, and whence.
    void find_refills() {
        costs_.assign(padded_, NEVER);
        via_.assign(padded_, -1);
        std::vector<std::int16_t> before(padded_, NEVER);
        look_at_all();
        std::vector<std::int32_t> sources;
        for (std::int32_t g = 0; g < count_; ++g) {
            if (!spare(g)) continue;
            costs_[g] = before[g] = 0;
            if (most_[g] >= WORST) sources.push_back(g);
        }
        parallel_for((padded_ + WIDTH - 1) / WIDTH, threads_, monitor_, [&](std::int64_t part, int) {
            const auto at = static_cast<std::int32_t>(part * WIDTH);
            for (const std::int32_t g : sources) {
                if (without(Mechanism::dice)) {
                    refill(costs_.data() + at, via_.data() + at, moves(g) + at, 0, static_cast<std::int16_t>(g),
                           std::min(WIDTH, padded_ - at));
                    continue;
                }
                refill_fairly(costs_.data() + at, via_.data() + at, moves(g) + at, dice_.data() + at,
                              static_cast<std::int16_t>(g), std::min(WIDTH, padded_ - at));
            }
        });
        bool more = true;
        for (std::int32_t turn = 1; turn < (without(Mechanism::refill_turns) ? 1 : TURNS) && std::exchange(more, false);
             ++turn)
            for (std::int32_t g = 0; g < count_; ++g) {
                if (costs_[g] == before[g] || most_[g] + costs_[g] < WORST) continue;
                before[g] = costs_[g];
                refill(costs_.data(), via_.data(), moves(g), costs_[g], static_cast<std::int16_t>(g), padded_);
                more = true;
            }
    }

    // All relays that gain. What is known of refills may be out of date; what a relay gains is counted as things are.
    std::int64_t make_relays() {
        std::int64_t gained = 0;
        for (std::int32_t g = 0; g < count_; ++g)
            for (std::int64_t gain = best_relay(g); gain > 0; gain = best_relay(g)) {
                make();
                gained += gain;
            }
        return gained;
    }
    std::int64_t best_relay(std::int32_t g) {
        look(g);
        const std::int16_t *from = moves(g), *end = from + count_;
        if (most_[g] <= 0) return 0;
        const std::int16_t* to = from + first_[g];
        for (int tries = 0; to != end && tries < (without(Mechanism::tries) ? 1 : TRIES);
             ++tries, to = std::find(to + 1, end, most_[g]))
            if (const std::int64_t gain = plan(g, static_cast<std::int32_t>(to - from)); gain > 0) return gain;
        return 0;
    }
    std::int32_t move(std::int32_t from, std::int32_t to) {
        look(from);
        return moves(from)[to];
    }
    // The best relay in which a row goes from g to `first`: its place is filled, and then the place of whoever fills
    // it, until the last one comes from a group with rows to spare, or a row of `first` closes the circle. Or, should
    // places be filled in a circle without g, that circle.
    std::int64_t plan(std::int32_t g, std::int32_t first) {
        std::int64_t gain = 0, most = 0;
        std::size_t length = 0;
        legs_.clear();
        for (std::int32_t from = g, to = first; from >= 0 && legs_.size() < LONGEST;
             to = std::exchange(from, via_[from])) {
            const auto before =
                std::find_if(legs_.begin(), legs_.end(), [&](const Leg& leg) { return leg.from == from; });
            if (before != legs_.end() && without(Mechanism::circles)) return 0;
            if (before != legs_.end()) return circle(static_cast<std::size_t>(before - legs_.begin()), to);
            legs_.push_back({from, to});
            gain += move(from, to);
            const std::int64_t closed = from == first ? gain : gain + move(first, from);
            if (closed > most) most = closed, length = legs_.size();
            if (spare(from) || from == first) {
                if (gain >= most) most = gain, length = 0;
                break;
            }
        }
        if (length == 0) return most;
        legs_.resize(length);
        if (legs_.back().from != first) legs_.push_back({first, legs_.back().from});
        return most;
    }
    // The last place is to be filled from a group that a row has left before.
    std::int64_t circle(std::size_t before, std::int32_t to) {
        const Leg last{legs_[before].from, to};
        legs_.erase(legs_.begin(), legs_.begin() + static_cast<std::ptrdiff_t>(before) + 1);
        legs_.push_back(last);
        std::int64_t gain = 0;
        for (const Leg& leg : legs_) gain += move(leg.from, leg.to);
        return gain;
    }
    void make() {
        runners_.clear();
        for (const Leg& leg : legs_) runners_.push_back(best_for(leg));
        for (std::size_t i = 0; i < legs_.size(); ++i) {
            std::vector<std::int32_t>&from = members_[legs_[i].from], &to = members_[legs_[i].to];
            from.erase(std::lower_bound(from.begin(), from.end(), runners_[i]));
            to.insert(std::lower_bound(to.begin(), to.end(), runners_[i]), runners_[i]);
            known_[legs_[i].from] = known_[legs_[i].to] = false;
        }
    }
    std::int32_t best_for(const Leg& leg) const {
        std::int32_t best = -1, most = INT32_MIN;
        for_some(leg.from, [&](std::int32_t row) {
            const std::int32_t gain = worth(row, leg.to) - worth(row, leg.from);
            if (gain > most) most = gain, best = row;
        });
        return best;
    }
    std::int32_t worth(std::int32_t row, std::int32_t g) const {
        std::int32_t sum = 0;
        for (const HalfItem& half : groups_[numbers_[g]].half)
            if (half.central) sum += groups_.holds(row, half.item) ? 1 : -1;
        return sum;
    }

    const Groups& groups_;
    const std::vector<std::int32_t> numbers_;
    std::vector<std::vector<std::int32_t>> members_;
    const std::int32_t count_;
    const int threads_;
    Monitor& monitor_;
    GroupLists lists_;
    std::int32_t padded_ = 0;                        // scores of a row
    std::vector<std::int16_t> most_, base_, moves_;  // base_: the scores of a row without items
    std::vector<std::int32_t> first_;                // the group in which a row of another one gains most
    std::vector<std::int16_t> costs_, via_;
    std::vector<std::uint16_t> dice_;
    std::vector<std::vector<std::int16_t>> work_;    // of each thread
    std::vector<char> known_;                        // whether `moves` is up to date
    std::vector<std::size_t> looks_, least_, much_;  // of each group; much_: one of so many rows is looked at
    std::vector<Leg> legs_;
    std::vector<std::int32_t> runners_;
};

}  // namespace anonset::crowd
