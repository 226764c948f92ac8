#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "partition/api.hpp"

namespace anonset::partition {

namespace {

using Rows = std::vector<std::int32_t>;
using Nodes = std::vector<std::int32_t>;

// Transactions that publish the same nodes; `hopeless` are those of them that can never be specialised here.
struct Part {
    Rows rows;
    Nodes nodes;
    Nodes hopeless;
};

// Transactions of a part, by their places there, that hold the same children of a node.
struct Group {
    Nodes children;
    Rows places;
};

enum class Outcome { split, hopeless, unbalanced };

class Generaliser {
  public:
    Generaliser(const Csr& data, const Tree& tree, const std::int32_t* person, std::int64_t k, Monitor& monitor)
        : data_(data), tree_(tree), k_(k), monitor_(monitor), gain_(tree.count, 0) {
        person_.resize(data.rows);
        if (person != nullptr) std::copy(person, person + data.rows, person_.begin());
        if (person == nullptr) std::iota(person_.begin(), person_.end(), 0);
        seen_.assign(person_.empty() ? 0 : std::max(0, *std::max_element(person_.begin(), person_.end()) + 1), 0);
        first_child_.reserve(tree.count + 1);
        for (std::int32_t node = 0; node < tree.count; ++node) {
            first_child_.push_back(static_cast<std::int64_t>(children_.size()));
            for (std::int32_t child = node + 1; child < tree.end[node]; child = tree.end[child])
                children_.push_back(child);
        }
        first_child_.push_back(static_cast<std::int64_t>(children_.size()));
    }

    Parts run() {
        Parts out;
        out.part.assign(data_.rows, 0);
        out.bounds.push_back(0);
        Rows all(data_.rows);
        for (std::size_t row = 0; row < all.size(); ++row) all[row] = static_cast<std::int32_t>(row);
        if (!all.empty()) waiting_.push_back({std::move(all), {0}, {}});
        while (!waiting_.empty()) {
            monitor_.check();
            Part part = std::move(waiting_.back());
            waiting_.pop_back();
            if (!specialise(part)) emit(part, out);
        }
        return out;
    }

  private:
    void emit(const Part& part, Parts& out) {
        const auto number = static_cast<std::int32_t>(out.bounds.size()) - 1;
        for (const auto row : part.rows) out.part[row] = number;
        out.nodes.insert(out.nodes.end(), part.nodes.begin(), part.nodes.end());
        out.bounds.push_back(static_cast<std::int64_t>(out.nodes.size()));
        monitor_.advance(static_cast<std::int64_t>(part.rows.size()));
    }

    // The node right below `node` that a leaf lies in.
    std::int32_t child_above(std::int32_t node, std::int32_t leaf) const {
        const auto begin = children_.begin() + first_child_[node], end = children_.begin() + first_child_[node + 1];
        return *(std::upper_bound(begin, end, leaf) - 1);
    }

    bool is_leaf(std::int32_t node) const { return tree_.end[node] == node + 1; }

    // Specialises the node that saves most among those that can be; false where none can.
    bool specialise(Part& part) {
        for (const auto node : candidates(part)) {
            switch (attempt(part, node)) {
                case Outcome::split:
                    return true;
                case Outcome::hopeless:
                    part.hopeless.push_back(node);
                    break;
                case Outcome::unbalanced:
                    break;
            }
        }
        return false;
    }

    // The nodes of a part that have children, those whose children save most first.
    Nodes candidates(const Part& part) {
        Nodes open;
        for (const auto node : part.nodes) {
            const bool given_up = std::find(part.hopeless.begin(), part.hopeless.end(), node) != part.hopeless.end();
            if (!is_leaf(node) && !given_up) open.push_back(node);
        }
        for (const auto node : open) gain_[node] = 0;
        for (const auto row : part.rows) {
            auto node = open.begin();
            for (auto place = data_.begin(row); place != data_.end(row); ++place) {
                const auto leaf = *place;
                while (node != open.end() && tree_.end[*node] <= leaf) ++node;
                if (node == open.end()) break;
                if (leaf > *node) gain_[*node] += tree_.loss[*node] - tree_.loss[child_above(*node, leaf)];
            }
        }
        std::stable_sort(open.begin(), open.end(), [&](auto one, auto other) { return gain_[one] > gain_[other]; });
        return open;
    }

    // Sends each transaction to those that hold the same children of the node, if enough of them stay together.
    Outcome attempt(const Part& part, std::int32_t node) {
        std::map<Nodes, Rows> holders;
        std::vector<std::int64_t> saved(part.rows.size(), 0);
        Nodes held;
        for (std::size_t place = 0; place < part.rows.size(); ++place) {
            held.clear();
            const auto *leaf = data_.begin(part.rows[place]), *last = data_.end(part.rows[place]);
            for (leaf = std::lower_bound(leaf, last, node + 1); leaf != last && *leaf < tree_.end[node]; ++leaf) {
                const auto child = child_above(node, *leaf);
                if (held.empty() || held.back() != child) held.push_back(child);
                saved[place] += tree_.loss[node] - tree_.loss[child];
            }
            holders[held].push_back(static_cast<std::int32_t>(place));
        }
        Rows left;
        std::vector<Group> kept;
        for (auto& [children, places] : holders) {
            if (support(part, places) >= k_) {
                kept.push_back({children, std::move(places)});
            } else {
                left.insert(left.end(), places.begin(), places.end());
            }
        }
        if (kept.empty()) return Outcome::hopeless;
        if (!left.empty() && !balance(part, left, kept, saved)) return Outcome::unbalanced;
        for (auto& [children, places] : kept) push(part, node, children, std::move(places));
        if (!left.empty()) {
            waiting_.push_back({taken(part, std::move(left)), part.nodes, part.hopeless});
            waiting_.back().hopeless.push_back(node);
        }
        return Outcome::split;
    }

    // How many different known persons these transactions of a part belong to.
    std::int64_t support(const Part& part, const Rows& places) {
        ++epoch_;
        std::int64_t found = 0;
        for (const auto place : places) found += is_new(person_[part.rows[place]]);
        return found;
    }

    bool is_new(std::int32_t person) {
        if (person < 0 || seen_[person] == epoch_) return false;
        seen_[person] = epoch_;
        return true;
    }

    // Fills the left-over part with transactions that others can spare, those first that save least.
    bool balance(const Part& part, Rows& left, std::vector<Group>& kept, const std::vector<std::int64_t>& saved) {
        std::int64_t lacking = k_ - support(part, left);
        if (lacking <= 0) return true;
        const auto whose = [&](std::int32_t place) { return person_[part.rows[place]]; };
        std::vector<std::pair<std::int32_t, std::size_t>> order;  // a transaction, and where it is now
        std::vector<std::map<std::int32_t, std::int64_t>> held(kept.size());
        for (std::size_t from = 0; from < kept.size(); ++from) {
            for (const auto place : kept[from].places) {
                if (whose(place) < 0) continue;
                order.emplace_back(place, from);
                ++held[from][whose(place)];
            }
        }
        std::sort(order.begin(), order.end(), [&](const auto& one, const auto& other) {
            return std::pair(saved[one.first], one.first) < std::pair(saved[other.first], other.first);
        });
        for (const auto& [place, from] : order) {
            if (lacking == 0) return true;
            auto& persons = held[from];
            const auto here = persons.find(whose(place));
            if (here->second == 1 && static_cast<std::int64_t>(persons.size()) == k_) continue;
            if (!is_new(here->first)) continue;  // the left-over part has this person
            if (--here->second == 0) persons.erase(here);
            auto& places = kept[from].places;
            places.erase(std::lower_bound(places.begin(), places.end(), place));
            left.push_back(place);
            --lacking;
        }
        return lacking == 0;
    }

    void push(const Part& part, std::int32_t node, const Nodes& children, Rows places) {
        Part smaller{taken(part, std::move(places)), {}, part.hopeless};
        for (const auto other : part.nodes) {
            if (other != node) smaller.nodes.push_back(other);
        }
        smaller.nodes.insert(std::upper_bound(smaller.nodes.begin(), smaller.nodes.end(), node), children.begin(),
                             children.end());
        waiting_.push_back(std::move(smaller));
    }

    Rows taken(const Part& part, Rows places) const {
        std::sort(places.begin(), places.end());
        for (auto& place : places) place = part.rows[place];
        return places;
    }

    const Csr& data_;
    const Tree& tree_;
    const std::int64_t k_;
    Monitor& monitor_;
    std::vector<std::int32_t> person_;  // of each transaction; without persons each has one of its own
    std::vector<std::int64_t> seen_;    // the epoch in which each person was counted last
    std::int64_t epoch_ = 0;
    std::vector<std::int64_t> gain_;
    std::vector<std::int64_t> first_child_;
    Nodes children_;
    std::vector<Part> waiting_;
};

}  // namespace

Parts local_generalisation(const Csr& data, const Tree& tree, const std::int32_t* person, std::int64_t k,
                           Monitor& monitor) {
    return Generaliser(data, tree, person, k, monitor).run();
}

}  // namespace anonset::partition
