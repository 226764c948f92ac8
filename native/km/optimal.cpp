// Optimal anonymization: the cheapest safe cut, exactly.
//
// Best first: only cuts that some rare itemset forces. Of a cut that holds a rare itemset, every safe generalisation
// raises at least one of its nodes, so it is enough to try each of them. Cheapest cut first; the first safe one is
// optimal, because generalising never costs less. Every minimal safe cut is reached this way, too: as long as a cut
// below it is not safe, one of the nodes that it holds and the minimal one does not can be raised.
//
// Breadth first: Algorithm 2 of the paper, level by level through the immediate ancestors of cuts that are not safe.
#include "km/optimal.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "km/attempt.hpp"
#include "km/walker.hpp"

namespace anonset::km {

namespace {

class CutSearch {
  public:
    CutSearch(const Database& db, const SearchLimits& limits) : db_(db), limits_(limits) {}

    OptimalCut best_first(std::int64_t k, int m, Monitor& monitor) {
        if (!collect(k, m, monitor)) return std::move(out_);
        reach_best_first(leaves(), 0);
        while (!open_.empty()) {
            const Candidate next = open_.top();
            open_.pop();
            if (!examine(monitor)) return std::move(out_);
            const Nodes* itemset = violated(next.cut->first);
            if (itemset == nullptr) {
                out_.cut = nodes_of(next.cut->first);
                break;
            }
            for (std::int32_t node : *itemset) raise(next, node);
        }
        out_.stopped = Stopped::finished;
        return std::move(out_);
    }

    // All safe cuts of which no node can be replaced by its children, the cheapest first.
    MinimalCuts all_minimal(std::int64_t k, int m, Monitor& monitor) {
        MinimalCuts found;
        if (collect(k, m, monitor)) {
            reach_best_first(leaves(), 0);
            out_.stopped = Stopped::finished;
        }
        while (!open_.empty() && out_.stopped == Stopped::finished) {
            const Candidate next = open_.top();
            open_.pop();
            if (!examine(monitor)) break;
            const Nodes* itemset = violated(next.cut->first);
            if (itemset == nullptr) {
                if (minimal(next.cut->first)) found.cuts.push_back(nodes_of(next.cut->first));
                continue;
            }
            for (std::int32_t node : *itemset) raise(next, node);
        }
        found.stopped = out_.stopped;
        found.examined = out_.examined;
        return found;
    }

    // Algorithm 2. A cut that was queued is not queued again, which the paper leaves open.
    OptimalCut breadth_first(std::int64_t k, int m, Monitor& monitor) {
        if (!collect(k, m, monitor)) return std::move(out_);
        std::queue<const Known*> queue;
        std::int64_t cheapest = limits_.bound;
        if (const Known* first = remember(leaves(), 0)) queue.push(first);
        for (; !queue.empty(); queue.pop()) {
            const Known* cut = queue.front();
            if (cut->second.marked) continue;  // line 13: deleted from Q
            if (!examine(monitor)) return std::move(out_);
            if (violated(cut->first) == nullptr) {
                for_ancestors(*cut, [&](Bits bits, std::int64_t loss) { mark(std::move(bits), loss); });
                if (cut->second.loss < cheapest) {
                    cheapest = cut->second.loss;
                    out_.cut = nodes_of(cut->first);
                }
            } else {
                for_ancestors(*cut, [&](Bits bits, std::int64_t loss) {
                    if (const Known* ancestor = remember(std::move(bits), loss)) queue.push(ancestor);
                });
            }
            if (out_.stopped == Stopped::memory) return std::move(out_);
        }
        out_.stopped = Stopped::finished;
        return std::move(out_);
    }

  private:
    using Bits = std::string;  // one bit per node, set if it is published; hashes and compares out of the box

    struct Entry {
        std::int64_t loss;
        bool marked = false;  // in the paper's H
    };
    using Known = std::pair<const Bits, Entry>;

    struct Candidate {
        std::int64_t loss;
        std::int64_t number;  // the earlier one first among equals
        const Known* cut;
        bool operator<(const Candidate& other) const {
            return loss != other.loss ? loss > other.loss : number > other.number;
        }
    };

    static bool has(const Bits& bits, std::int32_t node) { return bits[node >> 3] >> (node & 7) & 1; }
    static void put(Bits& bits, std::int32_t node) { bits[node >> 3] |= static_cast<char>(1 << (node & 7)); }
    static void drop(Bits& bits, std::int32_t node) { bits[node >> 3] &= static_cast<char>(~(1 << (node & 7))); }

    // All rare itemsets over all nodes; those of one node first, since they leave no choice.
    bool collect(std::int64_t k, int m, Monitor& monitor) {
        const Cut nothing(db_.tree);
        Walker walker(db_, nothing, k, m, Report::shortest, monitor);
        out_.stopped = Stopped::finished;
        auto keep = [&](const Nodes& itemset, const std::int32_t*) {
            const bool known = itemset.size() > 1 && std::any_of(itemset.begin(), itemset.end(), [&](std::int32_t v) {
                                   return db_.tree.support[v] < k;
                               });
            if (known) return true;
            rare_.push_back(itemset);
            if (static_cast<std::int64_t>(rare_.size()) > limits_.rare) out_.stopped = Stopped::rare;
            return take(sizeof(Nodes) + 16 + itemset.size() * sizeof(std::int32_t)) && out_.stopped != Stopped::rare;
        };
        for (std::int32_t node = 1; node < db_.tree.count(); ++node)
            if (!walker.walk(node, keep)) return false;
        std::stable_sort(rare_.begin(), rare_.end(),
                         [](const Nodes& a, const Nodes& b) { return a.size() < b.size(); });
        out_.rare = static_cast<std::int64_t>(rare_.size());
        for (std::int32_t node = 0; node < db_.tree.count(); ++node) children_.push_back(children_of(db_.tree, node));
        return true;
    }

    bool take(std::size_t bytes) {
        bytes_ += static_cast<std::int64_t>(bytes);
        if (bytes_ <= limits_.bytes) return true;
        out_.stopped = Stopped::memory;
        return false;
    }

    bool examine(Monitor& monitor) {
        monitor.check();
        monitor.advance();
        if (out_.stopped == Stopped::memory) return false;
        if (++out_.examined <= limits_.cuts) return true;
        out_.stopped = Stopped::cuts;
        return false;
    }

    Bits leaves() const {
        Bits bits((db_.tree.count() + 7) / 8, 0);
        for (std::int32_t node = 0; node < db_.tree.count(); ++node)
            if (db_.tree.children[node] == 0) put(bits, node);
        return bits;
    }

    const Nodes* violated(const Bits& bits) const {
        for (const Nodes& itemset : rare_)
            if (std::all_of(itemset.begin(), itemset.end(), [&](std::int32_t node) { return has(bits, node); }))
                return &itemset;
        return nullptr;
    }

    // Whether no published node can be replaced by its children.
    bool minimal(const Bits& bits) const {
        for (std::int32_t node = 0; node < db_.tree.count(); ++node) {
            if (!has(bits, node) || children_[node].empty()) continue;
            Bits finer = bits;
            drop(finer, node);
            for (std::int32_t child : children_[node]) put(finer, child);
            if (violated(finer) == nullptr) return false;
        }
        return true;
    }

    void raise(const Candidate& from, std::int32_t node) {
        const std::int32_t upper = db_.tree.parent[node];
        if (upper < 0) return;
        Bits bits = from.cut->first;
        std::int64_t loss = from.loss + db_.tree.loss(upper);
        for (std::int32_t place = db_.tree.begin[upper] + 1; place < db_.tree.end[upper]; ++place) {
            const std::int32_t inside = db_.tree.at[place];
            if (has(bits, inside)) loss -= db_.tree.loss(inside);
            drop(bits, inside);
        }
        put(bits, upper);
        reach_best_first(std::move(bits), loss);
    }

    void reach_best_first(Bits bits, std::int64_t loss) {
        if (loss >= limits_.bound) return;
        if (const Known* cut = remember(std::move(bits), loss))
            open_.push({loss, static_cast<std::int64_t>(known_.size()), cut});
    }

    // Calls found(cut, loss) for each cut in which one node replaces all of its children.
    template <class Found>
    void for_ancestors(const Known& cut, Found&& found) const {
        for (std::int32_t node = 0; node < db_.tree.count(); ++node) {
            const Nodes& below = children_[node];
            if (below.empty()) continue;
            if (!std::all_of(below.begin(), below.end(), [&](std::int32_t v) { return has(cut.first, v); })) continue;
            Bits bits = cut.first;
            std::int64_t loss = cut.second.loss + db_.tree.loss(node);
            for (std::int32_t child : below) {
                drop(bits, child);
                loss -= db_.tree.loss(child);
            }
            put(bits, node);
            found(std::move(bits), loss);
        }
    }

    // The cut, if it was not known before.
    const Known* remember(Bits bits, std::int64_t loss) {
        const std::size_t size = sizeof(Known) + sizeof(Candidate) + 32 + bits.size();
        const auto [place, fresh] = known_.try_emplace(std::move(bits), Entry{loss});
        if (fresh) take(size);
        return fresh ? &*place : nullptr;
    }
    void mark(Bits bits, std::int64_t loss) {
        const auto place = known_.find(bits);
        if (place != known_.end()) {
            place->second.marked = true;
        } else if (remember(bits, loss)) {
            known_.find(bits)->second.marked = true;
        }
    }

    Nodes nodes_of(const Bits& bits) const {
        Nodes out;
        for (std::int32_t node = 0; node < db_.tree.count(); ++node)
            if (has(bits, node)) out.push_back(node);
        return out;
    }

    const Database& db_;
    const SearchLimits limits_;
    OptimalCut out_;
    std::int64_t bytes_ = 0;
    std::vector<Nodes> rare_;
    std::vector<Nodes> children_;
    std::priority_queue<Candidate> open_;
    std::unordered_map<Bits, Entry> known_;
};

Database sorted(const Csr& data, const Hierarchy& tree) {
    Database db = extend(data, tree);
    db.sort_rows();
    return db;
}

}  // namespace

OptimalCut search_optimal(const Database& db, std::int64_t k, int m, const SearchLimits& limits, Monitor& monitor) {
    return CutSearch(db, limits).best_first(k, m, monitor);
}

OptimalCut optimal_cut(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, bool breadth_first,
                       const SearchLimits& limits, Monitor& monitor) {
    const Database db = sorted(data, tree);
    CutSearch search(db, limits);
    OptimalCut found = breadth_first ? search.breadth_first(k, m, monitor) : search.best_first(k, m, monitor);
    found.cut = in_given_order(db.tree, found.cut);
    return found;
}

MinimalCuts minimal_cuts(const Csr& data, const Hierarchy& tree, std::int64_t k, int m, const SearchLimits& limits,
                         Monitor& monitor) {
    const Database db = sorted(data, tree);
    MinimalCuts found = CutSearch(db, limits).all_minimal(k, m, monitor);
    for (Nodes& cut : found.cuts) cut = in_given_order(db.tree, cut);
    return found;
}

std::int64_t count_tree_size(const Csr& data, const Hierarchy& tree, const std::int32_t* published, int m, bool exact,
                             Monitor& monitor) {
    const Database db = sorted(data, tree);
    Cut cut(db.tree);
    for (std::int32_t node = 0; node < db.tree.count(); ++node)
        if (published[db.tree.begin[node]] == db.tree.begin[node] && db.tree.children[node] > 0) cut.publish(node);
    Walker walker(db, cut, std::numeric_limits<std::int64_t>::max(), m, exact ? Report::exact : Report::longest_first,
                  monitor);
    std::int64_t size = 0;
    Nodes last;
    auto add = [&](const Nodes& itemset, const std::int32_t*) {
        const std::size_t both = std::min(itemset.size(), last.size());
        const auto apart =
            std::mismatch(itemset.begin(), itemset.begin() + static_cast<std::ptrdiff_t>(both), last.begin());
        size += itemset.end() - apart.first;
        last = itemset;
        return true;
    };
    for (std::int32_t node = 1; node < db.tree.count(); ++node) walker.walk(node, add);
    return size;
}

}  // namespace anonset::km
