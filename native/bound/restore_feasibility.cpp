#include "bound/restore_feasibility.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace anonset::bound {

RestoreFeasibility::RestoreFeasibility(const IncrementProblem& problem, std::vector<std::int64_t>& decrease)
    : p_(problem), decrease_(decrease), by_demand_(problem.data.rows), held_(problem.data.rows, 0) {
    std::iota(by_demand_.begin(), by_demand_.end(), 0);
    std::stable_sort(by_demand_.begin(), by_demand_.end(),
                     [&](std::int32_t a, std::int32_t b) { return p_.demand[a] < p_.demand[b]; });
}

void RestoreFeasibility::run(const Centers& centers, Monitor& monitor) {
    std::vector<std::pair<std::int64_t, const Items*>> order;
    for (const Items& center : centers) {
        monitor.check();
        gather(center);
        order.emplace_back(-choose(), &center);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [minus, center] : order) {
        monitor.check();
        gather(*center);
        lower();
    }
}

std::int64_t RestoreFeasibility::contribution(std::int32_t row, const Items& center) const {
    return UNIT * (2 * std::int64_t{held_[row]} - static_cast<std::int64_t>(center.size())) - p_.demand[row] -
           decrease_[row];
}

// The rows that can be in a violated group at this center.
void RestoreFeasibility::gather(const Items& center) {
    rows_.clear();
    touched_.clear();
    for (const std::int32_t item : center)
        for (const std::int32_t* row = p_.index.begin(item); row != p_.index.end(item); ++row)
            if (held_[*row]++ == 0) touched_.push_back(*row);
    const std::int64_t size = UNIT * static_cast<std::int64_t>(center.size());
    best_.begin(p_.k - 1, static_cast<std::int32_t>(-size - p_.demand[by_demand_[0]]));  // of rows that hold nothing
    for (const std::int32_t row : touched_) {
        rows_.push_back({contribution(row, center), row, p_.copies(row)});
        if (rows_.back().contribution > best_.floor())
            best_.add(static_cast<std::int32_t>(rows_.back().contribution), rows_.back().copies);
    }
    const std::int64_t others = best_.sum(p_.k - 1);
    for (std::size_t i = 0; i < by_demand_.size() && others - size > p_.demand[by_demand_[i]]; ++i)
        if (const std::int32_t row = by_demand_[i]; held_[row] == 0)
            rows_.push_back({contribution(row, center), row, p_.copies(row)});
    for (const std::int32_t row : touched_) held_[row] = 0;
    rows_.erase(
        std::remove_if(rows_.begin(), rows_.end(), [&](const Member& row) { return row.contribution + others <= 0; }),
        rows_.end());
}

// Puts the k with the largest contributions first. Returns their violation; 0 if there are not as many.
std::int64_t RestoreFeasibility::choose() {
    chosen_ = std::min<std::size_t>(rows_.size(), p_.k);
    std::partial_sort(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(chosen_), rows_.end());
    std::int64_t left = p_.k, sum = 0;
    for (std::size_t i = 0; i < chosen_ && left > 0; ++i) {
        const std::int64_t copies = std::min<std::int64_t>(left, rows_[i].copies);
        sum += copies * rows_[i].contribution;
        left -= copies;
        if (left == 0) chosen_ = i + 1;
    }
    return left == 0 ? sum : 0;
}

// The most violated group gives back its violation in equal parts; then the one that is most violated after that.
void RestoreFeasibility::lower() {
    for (std::int64_t violation = choose(); violation > 0; violation = choose())
        for (std::size_t i = 0; i < chosen_; ++i) {
            const std::int64_t part = (violation + p_.k - 1) / p_.k;
            rows_[i].contribution -= part;
            decrease_[rows_[i].id] += part;
        }
}

}  // namespace anonset::bound
