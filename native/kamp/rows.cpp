// KAMP, phase 2: rewrite the transactions so that each user contains the patterns that the table gives the user and no
// others.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "core/monitor.hpp"
#include "kamp/api.hpp"
#include "kamp/pattern_tree.hpp"

namespace anonset::kamp {

namespace {

class RowWriter {
  public:
    RowWriter(const Csr& data, const Transposed<>& users, const PatternTree& tree, bool may_add)
        : data_(data),
          users_(users),
          tree_(tree),
          may_add_(may_add),
          changed_(data.rows, -1),
          wanted_(tree.size(), 0),
          times_(tree.size(), 0) {}

    OwnedCsr run(const Csr& target, const Monitor& monitor) {
        for (std::int64_t u = 0; u < target.rows; ++u) {
            monitor.check();
            std::vector<std::int32_t> wanted(target.begin(u), target.end(u));
            for (const std::int32_t p : wanted) wanted_[p] = 1;
            if (!fits(u, wanted)) rewrite(u, wanted);
            for (const std::int32_t p : wanted) wanted_[p] = 0;
        }
        return collect();
    }

  private:
    using Items = std::vector<std::int32_t>;

    Items row(std::int64_t at) const {
        if (changed_[at] >= 0) return edits_[changed_[at]];
        return Items(data_.begin(at), data_.end(at));
    }

    void put(std::int64_t at, Items items) {
        if (changed_[at] < 0) {
            changed_[at] = static_cast<std::int64_t>(edits_.size());
            edits_.emplace_back();
        }
        edits_[changed_[at]] = std::move(items);
    }

    // How many of the user's rows hold each pattern; the touched ones are kept to clear the table again.
    void count(std::int64_t u) {
        for (const std::int32_t* at = users_.begin(u); at != users_.end(u); ++at)
            each_in(row(*at), [&](std::int64_t p) {
                if (times_[p]++ == 0) touched_.push_back(static_cast<std::int32_t>(p));
            });
    }

    void clear() {
        for (const std::int32_t p : touched_) times_[p] = 0;
        touched_.clear();
    }

    bool fits(std::int64_t u, const Items& wanted) {
        count(u);
        const bool same = touched_.size() == wanted.size() &&
                          std::all_of(touched_.begin(), touched_.end(), [&](std::int32_t p) { return wanted_[p]; });
        clear();
        return same;
    }

    void rewrite(std::int64_t u, const Items& wanted) {
        count(u);
        for (const std::int32_t* at = users_.begin(u); at != users_.end(u); ++at) drop_unwanted(*at);
        if (may_add_) {
            Items maximal;
            std::vector<char>& covered = covered_;
            covered.resize(tree_.size(), 0);
            maximal_of(tree_, wanted, covered, maximal);
            for (const std::int32_t p : maximal)
                if (times_[p] == 0) give(u, p);
        }
        clear();
    }

    // While the row holds a pattern that the user is not to have, one item of it goes.
    void drop_unwanted(std::int64_t at) {
        Items items = row(at);
        bool dropped = false;
        for (std::int64_t p = unwanted(items); p >= 0; p = unwanted(items), dropped = true) drop(items, p);
        if (dropped) put(at, std::move(items));
    }

    std::int64_t unwanted(const Items& items) const {
        std::int64_t found = -1;
        each_in(items, [&](std::int64_t p) {
            if (!wanted_[p] && (found < 0 || p < found)) found = p;
        });
        return found;
    }

    // The item that costs the user the fewest wanted patterns; then the one that the fewest of them here need.
    void drop(Items& items, std::int64_t pattern) {
        const Csr& sets = tree_.sets();
        std::int32_t chosen = -1;
        std::pair<std::int64_t, std::int64_t> least{INT64_MAX, INT64_MAX};
        for (const std::int32_t* item = sets.begin(pattern); item != sets.end(pattern); ++item) {
            std::pair<std::int64_t, std::int64_t> price{0, 0};
            each_in(items, [&](std::int64_t p) {
                if (!wanted_[p] || !std::binary_search(sets.begin(p), sets.end(p), *item)) return;
                price.first += times_[p] == 1;
                ++price.second;
            });
            if (price < least) {
                least = price;
                chosen = *item;
            }
        }
        each_in(items, [&](std::int64_t p) {
            if (std::binary_search(sets.begin(p), sets.end(p), chosen)) --times_[p];
        });
        items.erase(std::find(items.begin(), items.end(), chosen));
    }

    // Into one of the user's rows, the one that has most of it first, so that nothing unwanted comes of it. Where there
    // is none the user does not get it: a row made of a pattern alone would be recognised as invented.
    void give(std::int64_t u, std::int32_t pattern) {
        const Csr& sets = tree_.sets();
        const Items alone(sets.begin(pattern), sets.end(pattern));
        std::vector<std::pair<std::int64_t, std::int32_t>> rows;  // items that are missing, row
        for (const std::int32_t* at = users_.begin(u); at != users_.end(u); ++at) {
            const Items items = row(*at);
            std::int64_t missing = 0;
            for (const std::int32_t item : alone) missing += !std::binary_search(items.begin(), items.end(), item);
            rows.emplace_back(missing, *at);
        }
        std::sort(rows.begin(), rows.end());
        for (const auto& [missing, at] : rows)
            if (extend(at, alone)) return;
    }

    bool extend(std::int64_t at, const Items& alone) {
        const Items before = row(at);
        Items both;
        std::set_union(before.begin(), before.end(), alone.begin(), alone.end(), std::back_inserter(both));
        if (unwanted(both) >= 0) return false;
        each_in(before, [&](std::int64_t p) { --times_[p]; });
        note(both);
        put(at, std::move(both));
        return true;
    }

    void note(const Items& items) {
        each_in(items, [&](std::int64_t p) {
            ++times_[p];
            touched_.push_back(static_cast<std::int32_t>(p));
        });
    }

    template <class Visit>
    void each_in(const Items& items, Visit&& visit) const {
        tree_.each_in(items.data(), items.data() + items.size(), visit);
    }

    OwnedCsr collect() const {
        OwnedCsr out;
        for (std::int64_t at = 0; at < data_.rows; ++at) {
            const Items items = row(at);
            out.items.insert(out.items.end(), items.begin(), items.end());
            out.close_row();
        }
        return out;
    }

    const Csr& data_;
    const Transposed<>& users_;
    const PatternTree& tree_;
    const bool may_add_;
    std::vector<std::int64_t> changed_;  // row → place among the edits, or −1
    std::vector<Items> edits_;
    std::vector<std::int32_t> touched_;
    std::vector<char> wanted_, covered_;
    std::vector<std::int64_t> times_;
};

}  // namespace

OwnedCsr rewritten_rows(const Csr& data, const Users& users, const Csr& sets, const Csr& target, bool may_add,
                        const Monitor& monitor) {
    const PatternTree tree(sets);
    const Transposed<> rows = rows_of_users(data, users);
    return RowWriter(data, rows, tree, may_add).run(target, monitor);
}

}  // namespace anonset::kamp
