#include "bound/neighbours.hpp"

#include <algorithm>
#include <cmath>

namespace anonset::bound {

IncrementProblem::IncrementProblem(const Csr& rows, const std::int64_t* weights, const double* price,
                                   const double* value, const double* increments, std::int32_t n_items, std::int64_t k)
    : data(rows),
      weight(weights),
      k(k),
      half(k / 2 + 1),
      index(transpose(rows, n_items)),
      demand(rows.rows),
      increment(rows.rows),
      fee(rows.rows),
      holders(n_items, 0) {
    const auto units = [](double items) { return static_cast<std::int32_t>(std::lround(items * UNIT)); };
    Undominated best;
    best.begin(k + 1);  // one of the rows that dominate another may be the anchor
    for (std::int64_t v = 0; v < rows.rows; ++v) {
        const auto size = static_cast<double>(rows.size(v));
        demand[v] = units(size - value[v]);
        fee[v] = units(size - price[v]);
        increment[v] = units(increments[v]);
        for (const std::int32_t* i = rows.begin(v); i != rows.end(v); ++i) holders[*i] += weights[v];
        if (best.take(demand[v], copies(v))) undominated.push_back(static_cast<std::int32_t>(v));
    }
    // 2 - k / c is concave: a line that touches it at one number of holders is above it at all others.
    const std::int64_t unit = 2 * UNIT * (k - 1);
    for (std::int64_t at = half; at <= k; ++at) {
        Tangent line{static_cast<std::int32_t>(k * unit / (at * at)), INT64_MIN};
        for (std::int64_t c = half; c <= k; ++c)
            line.offset = std::max(line.offset, 2 * unit - k * unit / c - line.slope * c);
        tangents.push_back(line);
    }
}

NeighbourSearch::NeighbourSearch(const IncrementProblem& problem) : p_(problem), touched_(problem.data.rows / 64 + 1) {
    found.shared.assign(problem.data.rows, 0);
}

bool NeighbourSearch::around(std::int64_t anchor) {
    for (const auto& [number, row] : member_) found.shared[row] = 0;
    found.shared[found.anchor] = 0;
    member_.clear();
    found.anchor = anchor;
    choose_items();
    if (found.items.size() > 64) return false;
    gather();
    order();
    return true;
}

void NeighbourSearch::keep(std::int32_t increment) {
    found.demand = p_.demand[found.anchor] + p_.increment[found.anchor] - increment;
    found.need = (p_.k - 1) * (2 * std::int64_t{found.demand} - p_.fee[found.anchor]);
}

// Items that fewer than a majority of k hold are lost in any group.
void NeighbourSearch::choose_items() {
    found.items.clear();
    for (const std::int32_t* i = p_.data.begin(found.anchor); i != p_.data.end(found.anchor); ++i)
        if (p_.holders[*i] >= p_.half) found.items.push_back(*i);
    std::sort(found.items.begin(), found.items.end(), [&](std::int32_t a, std::int32_t b) {
        return std::pair(p_.holders[a], a) < std::pair(p_.holders[b], b);
    });
}

void NeighbourSearch::gather() {
    for (std::size_t i = 0; i < found.items.size(); ++i)
        for (const std::int32_t* row = p_.index.begin(found.items[i]); row != p_.index.end(found.items[i]); ++row) {
            found.shared[*row] |= Set{1} << i;
            touched_[*row / 64] |= std::uint64_t{1} << *row % 64;
        }
    found.classes.clear();
    class_.clear();
    for (std::size_t word = 0; word < touched_.size(); ++word)
        for (std::uint64_t left = std::exchange(touched_[word], 0); left; left &= left - 1)
            add(static_cast<std::int32_t>(64 * word) + __builtin_ctzll(left));
}

void NeighbourSearch::add(std::int32_t row) {
    if (p_.weight[row] == (row == found.anchor)) return;
    const Set held = found.shared[row];
    std::int64_t& number = class_.of(held);  // from 1 on
    if (number == 0) {
        found.classes.push_back({held, 2 * UNIT * count(held) - p_.fee[row], 0, 0, 0, 0});
        number = static_cast<std::int64_t>(found.classes.size());
    }
    ++found.classes[number - 1].last;
    member_.emplace_back(static_cast<std::int32_t>(number - 1), row);
}

// Class by class; rows come by rising fees already.
void NeighbourSearch::order() {
    std::int32_t end = 0;
    for (HelperClass& one : found.classes) {
        end += one.last;
        one.first = one.last = end - one.last;
    }
    found.helpers.resize(member_.size());
    for (const auto& [number, row] : member_) {
        const std::int64_t others = std::min(p_.weight[row] - (row == found.anchor), p_.k);
        found.helpers[found.classes[number].last++] = {p_.fee[row], p_.demand[row], static_cast<std::int32_t>(others),
                                                       row};
    }
    found.undominated.clear();
    for (HelperClass& one : found.classes) {
        one.undominated = static_cast<std::int32_t>(found.undominated.size());
        best_.begin(p_.k);
        for (std::int32_t i = one.first; i < one.last; ++i)
            if (best_.take(found.helpers[i].demand, found.helpers[i].copies)) found.undominated.push_back(i);
        one.undominated_end = static_cast<std::int32_t>(found.undominated.size());
    }
    std::sort(found.classes.begin(), found.classes.end(), [](const HelperClass& a, const HelperClass& b) {
        return std::pair(-a.most, a.held) < std::pair(-b.most, b.held);
    });
}

}  // namespace anonset::bound
