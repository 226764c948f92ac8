// Centers at which groups of a target fail, as far as a quick look around every row finds them
// (docs/explanation/bound.md).
//
// Nothing is promised: what is found makes better targets, and `lift_pass` says how much of a target is affordable.
// Around each row, the *anchor*, candidates are those rows that share most with it and ask for little. From several
// first centers on, in turn, the best group of candidates is chosen for the center, and the best center for the group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "bound/members.hpp"
#include "core/monitor.hpp"

namespace anonset {

namespace lifting {

class Probe {
  public:
    explicit Probe(const Problem& problem)
        : p_(problem), keep_(static_cast<std::size_t>(4 * problem.k + 48)), shared_(problem.data.rows, 0) {}

    // The centers at which groups of candidates are worth more than `least`, the best of them first.
    void look(std::int64_t anchor, std::int64_t least) {
        anchor_ = anchor;
        found_.clear();
        choose_items();
        if (items_.empty()) return;
        find_candidates();
        const Set all = ~Set{0} >> (64 - items_.size());
        seen_.clear();
        climb(all, least);
        const std::size_t starts = std::min(STARTS, candidates_.size());
        for (std::size_t i = 0; i < starts; ++i) climb(candidates_[i].held, least);
        std::sort(found_.begin(), found_.end());
        if (found_.size() > MOST) found_.resize(MOST);
    }
    template <class Take>
    void each_found(Take&& take) const {
        for (const auto& [minus, center] : found_) {
            Items kept;
            for (Set left = center; left; left &= left - 1) kept.push_back(items_[__builtin_ctzll(left)]);
            std::sort(kept.begin(), kept.end());
            take(std::move(kept));
        }
    }

  private:
    static constexpr std::size_t STARTS = 24;  // candidates whose common items with the anchor are first centers
    static constexpr std::size_t MOST = 4;     // centers of an anchor
    static constexpr int TURNS = 8;
    struct Candidate {
        std::int32_t brings, id;
        Set held;
        std::int32_t asks, copies;
        bool operator<(const Candidate& other) const {
            return brings != other.brings ? brings > other.brings : id < other.id;
        }
    };

    // Of more than 64 the most frequent ones.
    void choose_items() {
        items_.clear();
        for (const std::int32_t* i = p_.data.begin(anchor_); i != p_.data.end(anchor_); ++i)
            if (p_.holders[*i] >= p_.half) items_.push_back(*i);
        if (items_.size() <= 64) return;
        std::nth_element(items_.begin(), items_.begin() + 64, items_.end(), [&](std::int32_t a, std::int32_t b) {
            return std::pair(-p_.holders[a], a) < std::pair(-p_.holders[b], b);
        });
        items_.resize(64);
    }
    void find_candidates() {
        touched_.clear();
        for (std::size_t i = 0; i < items_.size(); ++i)
            for (std::int64_t at = p_.index.start[items_[i]]; at < p_.index.start[items_[i] + 1]; ++at) {
                const std::int32_t row = p_.index.rows[at];
                if (shared_[row] == 0) touched_.push_back(row);
                shared_[row] |= Set{1} << i;
            }
        candidates_.clear();
        for (const std::int32_t row : touched_) {
            const Set held = std::exchange(shared_[row], 0);
            const std::int32_t others = p_.copies(row) - (row == anchor_);
            if (others > 0)
                candidates_.push_back({2 * UNIT * count(held) - p_.asks[row], row, held, p_.asks[row], others});
        }
        if (candidates_.size() > keep_) {
            std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(keep_),
                             candidates_.end());
            candidates_.resize(keep_);
        }
        std::sort(candidates_.begin(), candidates_.end());
    }

    void climb(Set center, std::int64_t least) {
        std::int64_t best = NEVER;
        for (int turn = 0; turn < TURNS && center; ++turn) {
            if (std::find(seen_.begin(), seen_.end(), center) != seen_.end()) return;
            seen_.push_back(center);
            if (!choose(center)) return;
            const auto [worth, voted] = vote();
            if (worth <= best) return;
            best = worth;
            if (worth > least && voted) keep(worth, voted);
            center = voted;
        }
    }
    void keep(std::int64_t worth, Set center) {
        for (auto& [minus, known] : found_)
            if (known == center) {
                minus = std::min(minus, -worth);
                return;
            }
        found_.emplace_back(-worth, center);
    }
    // The best k - 1 candidates at this center.
    bool choose(Set center) {
        order_.clear();
        for (std::size_t i = 0; i < candidates_.size(); ++i)
            order_.emplace_back(candidates_[i].asks - 2 * UNIT * count(candidates_[i].held & center),
                                static_cast<std::int32_t>(i));
        const std::size_t most = std::min(order_.size(), static_cast<std::size_t>(p_.k - 1));
        if (most < order_.size())
            std::nth_element(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(most), order_.end());
        std::sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(most));
        group_.clear();
        std::int64_t left = p_.k - 1;
        for (std::size_t i = 0; i < most && left > 0; ++i) {
            const auto copies =
                static_cast<std::int32_t>(std::min<std::int64_t>(left, candidates_[order_[i].second].copies));
            group_.emplace_back(order_[i].second, copies);
            left -= copies;
        }
        return left == 0;
    }
    // What the group keeps beyond what its members ask for, and its center.
    std::pair<std::int64_t, Set> vote() {
        std::fill_n(counts_, items_.size(), 1);
        std::int64_t asks = p_.asks[anchor_];
        for (const auto& [i, copies] : group_) {
            asks += std::int64_t{copies} * candidates_[i].asks;
            for (Set left = candidates_[i].held; left; left &= left - 1) counts_[__builtin_ctzll(left)] += copies;
        }
        Set center = 0;
        std::int64_t kept = 0;
        for (std::size_t i = 0; i < items_.size(); ++i)
            if (2 * counts_[i] > p_.k) {
                center |= Set{1} << i;
                kept += 2 * counts_[i] - p_.k;
            }
        return {kept * UNIT - asks, center};
    }

    const Problem& p_;
    const std::size_t keep_;
    std::int64_t anchor_ = 0;
    std::vector<Set> shared_;  // by each row; 0 in between
    std::vector<std::int32_t> items_, touched_;
    std::vector<Candidate> candidates_;
    std::vector<Set> seen_;
    std::vector<std::pair<std::int64_t, Set>> found_;
    std::vector<std::pair<std::int32_t, std::int32_t>> order_, group_;
    std::int64_t counts_[64];
};

// The rows at a center, and the center that is best for the best group there, with all rows and all items.
class Polish {
  public:
    Members members;

    explicit Polish(const Problem& problem) : members(problem), p_(problem) {}

    void gather(const Items& center) {
        const std::int64_t size = UNIT * static_cast<std::int64_t>(center.size());
        members.gather(center, [&](std::int32_t row, std::int32_t held) {
            return 2 * UNIT * std::int64_t{held} - size - p_.asks[row];
        });
    }
    Items better(Items center) {
        for (int turn = 0; turn < TURNS; ++turn) {
            gather(center);
            members.choose();
            Items voted = majority();
            if (voted == center || voted.empty()) break;
            center = std::move(voted);
        }
        return center;
    }

  private:
    static constexpr int TURNS = 4;

    Items majority() {
        counted_.clear();
        std::int64_t left = p_.k;
        for (std::size_t i = 0; i < members.chosen(); ++i) {
            const Member& one = members.rows[i];
            const std::int64_t copies = std::min<std::int64_t>(left, one.copies);
            left -= copies;
            for (const std::int32_t* item = p_.data.begin(one.id); item != p_.data.end(one.id); ++item)
                counted_.emplace_back(*item, copies);
        }
        std::sort(counted_.begin(), counted_.end());
        Items voted;
        for (std::size_t from = 0, to; from < counted_.size(); from = to) {
            std::int64_t holders = 0;
            for (to = from; to < counted_.size() && counted_[to].first == counted_[from].first; ++to)
                holders += counted_[to].second;
            if (2 * holders > p_.k) voted.push_back(counted_[from].first);
        }
        return voted;
    }

    const Problem& p_;
    std::vector<std::pair<std::int32_t, std::int64_t>> counted_;  // items, and how many hold them
};

// Each center once.
inline std::vector<Items> distinct(std::vector<Items> centers) {
    std::sort(centers.begin(), centers.end());
    centers.erase(std::unique(centers.begin(), centers.end()), centers.end());
    return centers;
}

}  // namespace lifting

// `value`: the target. Centers count where a group is worth more than `least`.
inline NotedCenters lift_probe(const Csr& data, const std::int64_t* weight, const double* value, std::int32_t n_items,
                               std::int64_t k, double least, int threads, Monitor& monitor) {
    using namespace lifting;
    Problem problem(data, weight, n_items, k);
    for (std::int64_t v = 0; v < data.rows; ++v)
        problem.asks[v] = static_cast<std::int32_t>(std::lround((static_cast<double>(data.size(v)) - value[v]) * UNIT));
    const auto enough = static_cast<std::int64_t>(std::lround(least * UNIT));
    struct Worker {
        Probe probe;
        Polish polish;
        std::vector<Items> found;
        explicit Worker(const Problem& problem) : probe(problem), polish(problem) {}
    };
    std::deque<Worker> workers;
    while (static_cast<int>(workers.size()) < thread_count(threads)) workers.emplace_back(problem);
    const auto look = [&](std::int64_t u, int number) {
        Worker& worker = workers[number];
        worker.probe.look(u, enough);
        worker.probe.each_found([&](Items&& center) { worker.found.push_back(std::move(center)); });
    };
    parallel_for(data.rows, threads, monitor, look, 16);
    std::vector<Items> all;
    for (Worker& worker : workers) std::move(worker.found.begin(), worker.found.end(), std::back_inserter(all));
    all = distinct(std::move(all));
    const auto polish = [&](std::int64_t i, int number) { all[i] = workers[number].polish.better(std::move(all[i])); };
    parallel_for(static_cast<std::int64_t>(all.size()), threads, monitor, polish, 16);
    NotedCenters noted;
    Polish& last = workers[0].polish;
    for (const Items& center : distinct(std::move(all))) {
        monitor.check();
        last.gather(center);
        if (last.members.choose() > enough) last.members.note(center, noted);
    }
    return noted;
}

}  // namespace anonset
