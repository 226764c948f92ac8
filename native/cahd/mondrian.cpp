// PermMondrian: split the transactions on one quasi-identifier item after the other, as near to half and half as both
// parts keep degree p; ties go to the split that shares out the sensitive items most evenly, then to the lower item.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cahd/api.hpp"
#include "cahd/degree.hpp"
#include "core/transpose.hpp"

namespace anonset::cahd {

namespace {

class Mondrian {
  public:
    Mondrian(const Problem& problem, Monitor& monitor)
        : problem_(problem),
          monitor_(monitor),
          node_of_(problem.rows(), 0),
          group_(problem.rows(), -1),
          slot_of_(problem.items, -1),
          lists_(transpose(problem.quasi, problem.items)) {}

    std::vector<std::int32_t> groups() {
        Node all;
        all.rows.resize(problem_.rows());
        for (std::int64_t row = 0; row < problem_.rows(); ++row) all.rows[row] = static_cast<std::int32_t>(row);
        if (!all.rows.empty()) split(std::move(all));
        return std::move(group_);
    }

  private:
    struct Node {
        std::int32_t id = 0;
        std::vector<std::int32_t> rows;       // may still list rows that left; node_of_ knows
        std::vector<std::int32_t> sensitive;  // rows with sensitive items
        std::vector<std::int32_t> items;      // those that occur
        std::vector<std::int32_t> count;      // per item of the vocabulary
        std::vector<std::int64_t> secrets;    // per sensitive item
        std::int64_t size = 0;
    };

    // Splits off the smaller part again and again; what is counted for it is taken from what stays.
    void split(Node node) {
        measure(node);
        while (!node.sensitive.empty()) {
            monitor_.check();
            const std::int32_t item = best_item(node);
            if (item < 0) break;
            Node part = take_smaller(node, item);
            subtract(node, part);
            split(std::move(part));
        }
        for (const std::int32_t row : node.rows)
            if (node_of_[row] == node.id) group_[row] = next_group_;
        monitor_.advance(node.size);
        ++next_group_;
    }

    void measure(Node& node) {
        node.size = static_cast<std::int64_t>(node.rows.size());
        node.count.assign(problem_.items, 0);
        node.secrets.assign(problem_.sensitive, 0);
        for (const std::int32_t row : node.rows) {
            for (const std::int32_t* i = problem_.quasi.begin(row); i != problem_.quasi.end(row); ++i)
                if (node.count[*i]++ == 0) node.items.push_back(*i);
            for (const std::int32_t* s = problem_.secrets.begin(row); s != problem_.secrets.end(row); ++s)
                ++node.secrets[*s];
            if (problem_.is_sensitive(row)) node.sensitive.push_back(row);
        }
    }

    void subtract(Node& node, const Node& part) {
        for (const std::int32_t row : part.rows) {
            for (const std::int32_t* i = problem_.quasi.begin(row); i != problem_.quasi.end(row); ++i) --node.count[*i];
            for (const std::int32_t* s = problem_.secrets.begin(row); s != problem_.secrets.end(row); ++s)
                --node.secrets[*s];
        }
        node.size -= static_cast<std::int64_t>(part.rows.size());
        const auto left = [&](std::int32_t row) { return node_of_[row] != node.id; };
        node.sensitive.erase(std::remove_if(node.sensitive.begin(), node.sensitive.end(), left), node.sensitive.end());
        const auto gone = [&](std::int32_t item) { return node.count[item] == 0; };
        node.items.erase(std::remove_if(node.items.begin(), node.items.end(), gone), node.items.end());
    }

    // For each item of the node's sensitive rows, how often each sensitive item comes with it.
    void pair_up(const Node& node) {
        for (const std::int32_t item : slots_) slot_of_[item] = -1;
        slots_.clear();
        pairs_.clear();
        for (const std::int32_t row : node.sensitive) {
            for (const std::int32_t* i = problem_.quasi.begin(row); i != problem_.quasi.end(row); ++i) {
                if (slot_of_[*i] < 0) {
                    slot_of_[*i] = static_cast<std::int32_t>(slots_.size());
                    slots_.push_back(*i);
                    pairs_.resize(pairs_.size() + problem_.sensitive, 0);
                }
                std::int32_t* counts = &pairs_[static_cast<std::size_t>(slot_of_[*i]) * problem_.sensitive];
                for (const std::int32_t* s = problem_.secrets.begin(row); s != problem_.secrets.end(row); ++s)
                    ++counts[*s];
            }
        }
    }

    std::int32_t best_item(const Node& node) {
        pair_up(node);
        std::int32_t best = -1;
        std::int64_t best_gap = node.size;
        double best_unevenness = 0;
        for (const std::int32_t item : node.items) {
            const std::int64_t gap = std::abs(2 * static_cast<std::int64_t>(node.count[item]) - node.size);
            if (gap > best_gap || node.count[item] == node.size) continue;
            double unevenness = 0;
            if (!allowed(node, item, unevenness)) continue;
            const bool better = gap < best_gap || best < 0 || unevenness < best_unevenness ||
                                (unevenness == best_unevenness && item < best);
            if (!better) continue;
            best = item;
            best_gap = gap;
            best_unevenness = unevenness;
        }
        return best;
    }

    // Whether both parts keep degree p; `unevenness` sums up how much the sensitive items' frequencies differ.
    bool allowed(const Node& node, std::int32_t item, double& unevenness) const {
        const std::int64_t with = node.count[item], without = node.size - with;
        const std::int32_t* counts =
            slot_of_[item] < 0 ? nullptr : &pairs_[static_cast<std::size_t>(slot_of_[item]) * problem_.sensitive];
        for (std::int32_t s = 0; s < problem_.sensitive; ++s) {
            const std::int64_t inside = counts ? counts[s] : 0, outside = node.secrets[s] - inside;
            if (inside * problem_.p > with || outside * problem_.p > without) return false;
            unevenness += std::abs(static_cast<double>(inside) / static_cast<double>(with) -
                                   static_cast<double>(outside) / static_cast<double>(without));
        }
        return true;
    }

    // The rows of the smaller part move to a node of their own.
    Node take_smaller(Node& node, std::int32_t item) {
        Node part;
        part.id = ++next_node_;
        const bool with = 2 * static_cast<std::int64_t>(node.count[item]) <= node.size;
        if (with) {
            for (const std::int32_t* row = lists_.begin(item); row != lists_.end(item); ++row)
                if (node_of_[*row] == node.id) part.rows.push_back(*row);
        } else {
            for (const std::int32_t row : node.rows)
                if (node_of_[row] == node.id &&
                    !std::binary_search(problem_.quasi.begin(row), problem_.quasi.end(row), item))
                    part.rows.push_back(row);
        }
        for (const std::int32_t row : part.rows) node_of_[row] = part.id;
        return part;
    }

    const Problem& problem_;
    Monitor& monitor_;
    std::vector<std::int32_t> node_of_, group_;
    std::vector<std::int32_t> slot_of_, slots_, pairs_;
    Transposed<> lists_;
    std::int32_t next_node_ = 0, next_group_ = 0;
};

}  // namespace

std::vector<std::int32_t> mondrian_groups(const Problem& problem, Monitor& monitor) {
    return Mondrian(problem, monitor).groups();
}

}  // namespace anonset::cahd
