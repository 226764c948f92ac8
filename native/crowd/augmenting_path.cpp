#include "crowd/augmenting_path.hpp"

#include <algorithm>
#include <utility>

#include "core/bitmap.hpp"
#include "core/distinct.hpp"
#include "crowd/index.hpp"

namespace anonset::crowd {

// What a row of a group gains elsewhere, if that is more than any before.
ANONSET_CLONES void raise(Short* most, const Short* scores, Short own, std::int32_t count) {
    for (std::int32_t g = 0; g < count; ++g) {
        const auto more = static_cast<Short>(scores[g] - own);
        most[g] = more > most[g] ? more : most[g];
    }
}

// Places are filled again from group `from`, whose own place is filled at `cost`, where that is best.
ANONSET_CLONES void refill(Short* costs, Short* via, const Short* moves, Short cost, Short from, std::int32_t count) {
    for (std::int32_t g = 0; g < count; ++g) {
        const auto sum = static_cast<Short>(moves[g] + cost);
        const auto here = sum < 0 ? sum : Short{0};
        const bool better = here > costs[g];
        costs[g] = better ? here : costs[g];
        via[g] = better ? from : via[g];
    }
}

namespace {

class Paths {
  public:
    Paths(const Groups& groups, const std::vector<std::int32_t>& numbers, std::int32_t k, int threads, Monitor& monitor,
          const std::int32_t* person)
        : person_(person),
          groups_(groups),
          numbers_(numbers),
          k_(static_cast<std::size_t>(k)),
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
        for (std::int32_t g = 0; g < count_; ++g) base_[g] = static_cast<Short>(-groups[numbers_[g]].center);
        moves_.resize(std::int64_t{count_} * padded_);
        work_.assign(thread_count(threads), base_);
        for (const std::int32_t g : numbers_) {
            members_.push_back(groups[g].members);
            std::vector<std::int32_t>& rows = members_.back();
            std::sort(rows.begin(), rows.end());  // equal ones lie side by side
            step_.push_back(std::max<std::size_t>(1, rows.size() / (SAMPLED * k_)));
        }
    }

    Augmented run() {
        Augmented out{{}, 0};
        for (int pass = 0; pass < PASSES; ++pass) {
            monitor_.check();
            find_refills();
            const std::int64_t now = make_paths();
            out.gain += now;
            if (now == 0) break;
        }
        for (std::int32_t g = 0; g < count_; ++g)
            for (const std::int32_t row : members_[g])
                if (groups_.of(row) != numbers_[g]) out.moves.push_back({row, numbers_[g]});
        return out;
    }

  private:
    static constexpr Short NEVER = -20'000;
    static constexpr Short WORST = -2;          // a place that costs more is left open
    static constexpr int PASSES = 10;           // of finding refills and making paths, at most
    static constexpr std::int32_t TURNS = 5;    // in which refills are found, each from farther away
    static constexpr std::size_t LONGEST = 40;  // path
    static constexpr std::size_t SAMPLED = 4;   // times k: of larger groups so many rows are looked at, then others

    struct Edge {
        std::int32_t from, to;
    };

    Short* moves(std::int32_t g) { return moves_.data() + std::int64_t{g} * padded_; }
    bool spare(std::int32_t g) const { return members_[g].size() > k_; }

    template <class Body>
    void for_some(std::int32_t g, Body&& body) const {
        const std::vector<std::int32_t>& rows = members_[g];
        for (std::size_t i = looks_[g] % step_[g]; i < rows.size(); i += step_[g])
            if (groups_.rows().size(rows[i]) <= LARGEST_CENTER) body(rows[i]);
    }

    // What the row of g that gains most by it gains in each other group.
    void look(std::int32_t g, Short* scores) {
        if (known_[g]) return;
        known_[g] = true;
        ++looks_[g];
        std::fill_n(moves(g), padded_, NEVER);
        std::int32_t last = -1;
        for_some(g, [&](std::int32_t row) {
            if (last >= 0 && equal_rows(groups_.rows(), last, row)) return;
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
            [&](std::int64_t i, int worker) { look(open[i], work_[worker].data()); }, 16);
    }

    // What it costs (0 or less) to fill a place again that a row of a group leaves, and whence.
    void find_refills() {
        costs_.assign(padded_, NEVER);
        via_.assign(padded_, -1);
        std::vector<Short> before(padded_, NEVER);
        look_at_all();
        for (std::int32_t g = 0; g < count_; ++g)
            if (spare(g)) costs_[g] = 0;
        bool more = true;
        for (std::int32_t turn = 0; turn < TURNS && std::exchange(more, false); ++turn)
            for (std::int32_t g = 0; g < count_; ++g) {
                if (costs_[g] == before[g] || most_[g] + costs_[g] < WORST) continue;
                before[g] = costs_[g];
                refill(costs_.data(), via_.data(), moves(g), costs_[g], static_cast<Short>(g), padded_);
                more = true;
            }
    }

    // All paths that gain. What is known of refills may be out of date; what a path gains is counted as things are.
    std::int64_t make_paths() {
        std::int64_t gained = 0;
        for (std::int32_t g = 0; g < count_; ++g)
            for (std::int64_t gain = best_path(g); gain > 0 && make(); gain = best_path(g)) gained += gain;
        return gained;
    }
    std::int64_t best_path(std::int32_t g) {
        look(g, work_[0].data());
        return most_[g] > 0 ? plan(g, first_[g]) : 0;
    }
    std::int32_t move(std::int32_t from, std::int32_t to) {
        look(from, work_[0].data());
        return moves(from)[to];
    }
    // The best path on which a row goes from g to `first`: its place is filled, and then the place of the one that
    // fills it, until the last one comes from a group with rows to spare, or a row of `first` closes the cycle.
    std::int64_t plan(std::int32_t g, std::int32_t first) {
        std::int64_t gain = 0, most = 0;
        std::size_t length = 0;
        path_.clear();
        for (std::int32_t from = g, to = first; from >= 0 && path_.size() < LONGEST;
             to = std::exchange(from, via_[from])) {
            const auto here = [&](const Edge& edge) { return edge.from == from; };
            if (std::any_of(path_.begin(), path_.end(), here)) return 0;
            path_.push_back({from, to});
            gain += move(from, to);
            const std::int64_t closed = from == first ? gain : gain + move(first, from);
            if (closed > most) most = closed, length = path_.size();
            if (spare(from) || from == first) {
                if (gain >= most) most = gain, length = 0;
                break;
            }
        }
        if (length == 0) return most;
        path_.resize(length);
        if (path_.back().from != first) path_.push_back({first, path_.back().from});
        return most;
    }
    // Makes the path, unless it would leave a group with too few persons.
    bool make() {
        std::vector<std::int32_t> moving;
        for (const Edge& edge : path_) moving.push_back(best_for(edge));
        if (person_ && !keeps_persons(moving)) return false;
        for (std::size_t i = 0; i < path_.size(); ++i) {
            std::vector<std::int32_t>&from = members_[path_[i].from], &to = members_[path_[i].to];
            from.erase(std::lower_bound(from.begin(), from.end(), moving[i]));
            to.insert(std::lower_bound(to.begin(), to.end(), moving[i]), moving[i]);
            known_[path_[i].from] = known_[path_[i].to] = false;
        }
        return true;
    }
    bool keeps_persons(const std::vector<std::int32_t>& moving) const {
        const auto coming = [&](std::int32_t g) {
            for (std::size_t i = 0; i < path_.size(); ++i)
                if (path_[i].to == g) return moving[i];
            return -1;
        };
        for (std::size_t i = 0; i < path_.size(); ++i)
            if (!keeps_persons(path_[i].from, moving[i], coming(path_[i].from))) return false;
        return true;
    }
    // Whether a group has k different persons, or as many as before, when one row has left and perhaps one has come.
    bool keeps_persons(std::int32_t g, std::int32_t out, std::int32_t in) const {
        const std::vector<std::int32_t>& rows = members_[g];
        const auto others = [&](std::int32_t whom) {
            return std::count_if(rows.begin(), rows.end(),
                                 [&](std::int32_t row) { return row != out && person_[row] == whom; });
        };
        if (person_[out] < 0 || others(person_[out]) > 0) return true;
        if (in >= 0 && person_[in] >= 0 && (person_[in] == person_[out] || others(person_[in]) == 0)) return true;
        std::vector<std::int32_t> left;
        for (const std::int32_t row : rows)
            if (row != out && person_[row] >= 0) left.push_back(person_[row]);
        std::sort(left.begin(), left.end());
        return static_cast<std::size_t>(std::unique(left.begin(), left.end()) - left.begin()) >= k_;
    }
    std::int32_t best_for(const Edge& edge) const {
        std::int32_t best = -1, most = INT32_MIN;
        for_some(edge.from, [&](std::int32_t row) {
            const std::int32_t gain = groups_.worth(row, numbers_[edge.to]) - groups_.worth(row, numbers_[edge.from]);
            if (gain > most) most = gain, best = row;
        });
        return best;
    }

    const std::int32_t* person_;  // of each row; null: nobody looks at persons
    const Groups& groups_;
    const std::vector<std::int32_t>& numbers_;
    const std::size_t k_;
    std::vector<std::vector<std::int32_t>> members_;
    const std::int32_t count_;
    const int threads_;
    Monitor& monitor_;
    GroupLists lists_;
    std::int32_t padded_ = 0;                 // scores of a row
    std::vector<Short> most_, base_, moves_;  // base_: the scores of a row without items
    std::vector<std::int32_t> first_;         // the group in which a row of another one gains most
    std::vector<Short> costs_, via_;
    std::vector<std::vector<Short>> work_;   // of each thread
    std::vector<char> known_;                // whether `moves` is up to date
    std::vector<std::size_t> looks_, step_;  // of each group; step_: one of so many rows is looked at
    std::vector<Edge> path_;
};

}  // namespace

Augmented augment(const Groups& groups, const std::vector<std::int32_t>& numbers, std::int32_t k, int threads,
                  Monitor& monitor, const std::int32_t* person) {
    return Paths(groups, numbers, k, threads, monitor, person).run();
}

}  // namespace anonset::crowd
