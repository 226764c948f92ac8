// CAHD (section 5.3): for each sensitive transaction of an ordering the alpha * p nearest others on each side that do
// not conflict with it or with each other; the p - 1 most similar of them join it.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cahd/api.hpp"
#include "cahd/degree.hpp"

namespace anonset::cahd {

namespace {

// Linked lists over the ordering: one of the transactions without sensitive items, and one per sensitive item. A step
// never meets more than one transaction of an item that is taken already, however many there are in a row.
class NeighbourLists {
  public:
    explicit NeighbourLists(const Problem& problem) : secrets_(problem.secrets) {
        const std::int64_t rows = problem.rows();
        const std::int32_t lists = problem.sensitive + 1;
        std::vector<std::int32_t> size(lists, 2);
        for (std::int64_t row = 0; row < rows; ++row) each_list(row, [&](std::int32_t list) { ++size[list]; });
        std::vector<std::int32_t> cursor(lists);
        std::int32_t nodes = 0;
        for (std::int32_t list = 0; list < lists; ++list) {
            cursor[list] = nodes + 1;
            nodes += size[list];
        }
        position_.resize(nodes);
        first_node_.resize(rows + 1);
        for (std::int64_t row = 0; row < rows; ++row) {
            first_node_[row] = static_cast<std::int64_t>(node_of_.size());
            each_list(row, [&](std::int32_t list) {
                position_[cursor[list]] = static_cast<std::int32_t>(row);
                node_of_.push_back(cursor[list]++);
            });
        }
        first_node_[rows] = static_cast<std::int64_t>(node_of_.size());
        link(size, static_cast<std::int32_t>(rows));
    }

    std::int32_t lists() const { return static_cast<std::int32_t>(after_.size()); }
    std::int32_t position(std::int32_t node) const { return position_[node]; }
    std::int32_t next(std::int32_t node) const { return next_[node]; }
    std::int32_t previous(std::int32_t node) const { return previous_[node]; }

    // The first node of the list behind `row`. Rows are asked for front to back.
    std::int32_t behind(std::int32_t list, std::int64_t row) {
        std::int32_t node = after_[list];
        while (position_[node] <= row) node = next_[node];
        return after_[list] = node;
    }

    void remove(std::int64_t row) {
        std::int64_t i = first_node_[row];
        each_list(row, [&](std::int32_t list) {
            const std::int32_t node = node_of_[i++];
            next_[previous_[node]] = next_[node];
            previous_[next_[node]] = previous_[node];
            if (after_[list] == node) after_[list] = next_[node];
        });
    }

  private:
    template <class Visit>
    void each_list(std::int64_t row, Visit&& visit) const {
        if (secrets_.size(row) == 0) visit(0);
        for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s) visit(*s + 1);
    }

    // Every list starts and ends with a node that stands for "nobody": position -1, and the number of rows.
    void link(const std::vector<std::int32_t>& size, std::int32_t rows) {
        const std::int32_t nodes = static_cast<std::int32_t>(position_.size());
        next_.resize(nodes);
        previous_.resize(nodes);
        for (std::int32_t node = 0; node < nodes; ++node) {
            next_[node] = node + 1;
            previous_[node] = node - 1;
        }
        std::int32_t begin = 0;
        for (const std::int32_t count : size) {
            const std::int32_t end = begin + count - 1;
            position_[begin] = -1;
            position_[end] = rows;
            previous_[begin] = begin;
            next_[end] = end;
            after_.push_back(begin + 1);
            begin = end + 1;
        }
    }

    Csr secrets_;
    Buffer<std::int32_t> position_, next_, previous_;
    std::vector<std::int32_t> after_;  // per list, a node at or before the first one behind the current row
    Buffer<std::int32_t> node_of_;
    Buffer<std::int64_t> first_node_;
};

class CahdFinder {
  public:
    CahdFinder(const Problem& problem, std::int64_t alpha)
        : problem_(problem),
          lists_(problem),
          conflicts_(problem),
          reach_(std::min(alpha * problem.p, std::max<std::int64_t>(problem.rows(), 1))) {
        backward_.resize(lists_.lists());
        forward_.resize(lists_.lists());
    }

    void find(std::int64_t t, std::vector<std::int32_t>& members) {
        collect(t);
        const std::size_t wanted = static_cast<std::size_t>(problem_.p) - 1;
        if (candidates_.size() < wanted) return;
        for (auto& [distance, row] : candidates_) distance = hamming(problem_.quasi, t, row);
        std::partial_sort(candidates_.begin(), candidates_.begin() + wanted, candidates_.end());
        for (std::size_t i = 0; i < wanted; ++i) members.push_back(candidates_[i].second);
    }

    void remove(const std::vector<std::int32_t>& members) {
        for (const std::int32_t row : members) lists_.remove(row);
    }

  private:
    // The candidate list: alternately the next one before t and the next one behind it, `reach_` of each.
    void collect(std::int64_t t) {
        candidates_.clear();
        conflicts_.start(t);
        for (std::int32_t list = 0; list < lists_.lists(); ++list) {
            forward_[list] = lists_.behind(list, t);
            backward_[list] = lists_.previous(forward_[list]);
            if (lists_.position(backward_[list]) == t) backward_[list] = lists_.previous(backward_[list]);
        }
        bool before = true, behind = true;
        for (std::int64_t i = 0; i < reach_ && (before || behind); ++i) {
            before = before && step<false>();
            behind = behind && step<true>();
        }
    }

    // Admits the nearest transaction of one side that conflicts with nobody; false at the end of the ordering.
    template <bool Forward>
    bool step() {
        auto& heads = Forward ? forward_ : backward_;
        const std::int32_t nobody = Forward ? static_cast<std::int32_t>(problem_.rows()) : -1;
        for (;;) {
            std::int32_t nearest = nobody, from = 0;
            for (std::int32_t list = 0; list < lists_.lists(); ++list) {
                if (list > 0 && conflicts_.taken(list - 1)) continue;
                const std::int32_t at = lists_.position(heads[list]);
                if (Forward ? at < nearest : at > nearest) {
                    nearest = at;
                    from = list;
                }
            }
            if (nearest == nobody) return false;
            heads[from] = Forward ? lists_.next(heads[from]) : lists_.previous(heads[from]);
            if (conflicts_.clash(nearest)) continue;
            conflicts_.add(nearest);
            candidates_.emplace_back(0, nearest);
            return true;
        }
    }

    const Problem& problem_;
    NeighbourLists lists_;
    Conflicts conflicts_;
    std::int64_t reach_;
    std::vector<std::int32_t> backward_, forward_;
    std::vector<std::pair<std::int32_t, std::int32_t>> candidates_;  // (distance, row): ties go to the lower row
};

}  // namespace

std::vector<std::int32_t> cahd_groups(const Problem& problem, std::int64_t alpha, Monitor& monitor) {
    CahdFinder finder(problem, alpha);
    return form_groups(problem, finder, monitor);
}

}  // namespace anonset::cahd
