// Optimal anonymization: the cheapest safe cut, exactly.
//
// The paper walks through all cuts from the bottom. This search visits only cuts that some rare itemset forces: of a
// cut that holds a rare itemset, every safe generalisation raises at least one of its nodes, so it is enough to try
// each of them. Cheapest cut first; the first safe one is optimal, because generalising never costs less.
#include "km/optimal.hpp"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "km/walker.hpp"

namespace anonset::km {

namespace {

class OptimalSearch {
  public:
    OptimalSearch(const Database& db, std::int64_t bound, std::int64_t most_cuts, std::int64_t most_rare)
        : db_(db), bound_(bound), most_cuts_(most_cuts), most_rare_(most_rare) {}

    OptimalCut run(std::int64_t k, int m, Monitor& monitor) {
        OptimalCut out;
        if (!collect(k, m, monitor)) return out;
        out.rare = static_cast<std::int64_t>(rare_.size());
        push(leaves(), 0);
        while (!open_.empty()) {
            monitor.check();
            State state = open_.top();
            open_.pop();
            monitor.advance();
            if (++out.examined > most_cuts_) return out;
            const Nodes* itemset = violated(state.bits);
            if (itemset == nullptr) {
                out.cut = nodes_of(state.bits);
                break;
            }
            for (std::int32_t node : *itemset) raise(state, node);
        }
        out.finished = true;
        return out;
    }

  private:
    using Bits = std::string;  // one byte per node: hashes and compares out of the box

    struct State {
        std::int64_t loss;
        std::int64_t number;  // the earlier one first among equals
        Bits bits;
        bool operator<(const State& other) const {
            return loss != other.loss ? loss > other.loss : number > other.number;
        }
    };

    // All rare itemsets over all nodes; those of one node first, since they leave no choice.
    bool collect(std::int64_t k, int m, Monitor& monitor) {
        const Cut nothing(db_.tree);
        Walker walker(db_, nothing, k, m, Report::shortest, monitor);
        auto keep = [&](const Nodes& itemset, const std::int32_t*) {
            const bool known = itemset.size() > 1 && std::any_of(itemset.begin(), itemset.end(), [&](std::int32_t v) {
                                   return db_.tree.support[v] < k;
                               });
            if (!known) rare_.push_back(itemset);
            return static_cast<std::int64_t>(rare_.size()) <= most_rare_;
        };
        for (std::int32_t node = 1; node < db_.tree.count(); ++node)
            if (!walker.walk(node, keep)) return false;
        std::stable_sort(rare_.begin(), rare_.end(),
                         [](const Nodes& a, const Nodes& b) { return a.size() < b.size(); });
        return true;
    }

    Bits leaves() const {
        Bits bits(db_.tree.count(), 0);
        for (std::int32_t node = 0; node < db_.tree.count(); ++node) bits[node] = db_.tree.children[node] == 0;
        return bits;
    }

    const Nodes* violated(const Bits& bits) const {
        for (const Nodes& itemset : rare_)
            if (std::all_of(itemset.begin(), itemset.end(), [&](std::int32_t node) { return bits[node]; }))
                return &itemset;
        return nullptr;
    }

    void raise(const State& state, std::int32_t node) {
        const std::int32_t upper = db_.tree.parent[node];
        if (upper < 0) return;
        Bits bits = state.bits;
        std::int64_t loss = state.loss + db_.tree.loss(upper);
        for (std::int32_t place = db_.tree.begin[upper] + 1; place < db_.tree.end[upper]; ++place) {
            const std::int32_t inside = db_.tree.at[place];
            if (bits[inside]) loss -= db_.tree.loss(inside);
            bits[inside] = 0;
        }
        bits[upper] = 1;
        push(std::move(bits), loss);
    }

    void push(Bits bits, std::int64_t loss) {
        if (loss >= bound_ || !seen_.insert(bits).second) return;
        open_.push({loss, static_cast<std::int64_t>(seen_.size()), std::move(bits)});
    }

    Nodes nodes_of(const Bits& bits) const {
        Nodes out;
        for (std::int32_t node = 0; node < db_.tree.count(); ++node)
            if (bits[node]) out.push_back(node);
        return out;
    }

    const Database& db_;
    const std::int64_t bound_, most_cuts_, most_rare_;
    std::vector<Nodes> rare_;
    std::priority_queue<State> open_;
    std::unordered_set<Bits> seen_;
};

}  // namespace

OptimalCut search_optimal(const Database& db, std::int64_t k, int m, std::int64_t bound, std::int64_t most_cuts,
                          std::int64_t most_rare, Monitor& monitor) {
    return OptimalSearch(db, bound, most_cuts, most_rare).run(k, m, monitor);
}

OptimalCut optimal_cut(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, std::int64_t bound,
                       std::int64_t most_cuts, std::int64_t most_rare, Monitor& monitor) {
    Database db = extend(data, tree);
    db.sort_rows();
    OptimalCut found = search_optimal(db, k, m, bound, most_cuts, most_rare, monitor);
    found.cut = in_given_order(db.tree, found.cut);
    return found;
}

}  // namespace anonset::km
