// `crowd` with diversity: groups of at least k rows in which every secret occurs in at most one of p rows.
//
// The start are groups of at least k without regard to secrets. First those are repaired that hold a secret too often:
// by exchanging a holder against a row of another group, or by merging two groups. The excess of a group is the sum of
// max(0, c * p - s) over its secrets, for c holders among s rows; an exchange must lower the sum over both groups and
// raise none, a merge lowers the number of groups, so the repair ends: at the latest with one group of all rows, which
// has no excess (the caller has made sure). From then on rows move and swap only if both groups keep at least k rows
// and no excess, and only if that gains (see docs/methods/crowd.md for the gain).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "monitor.hpp"

namespace anonset {

struct DiverseOptions {
    std::int64_t k, p, rounds;
};

class DiverseGroups {
  public:
    // `group` numbers the group of each row from 0 without gaps.
    DiverseGroups(const Csr& rows, const Csr& secrets, std::int32_t n_items, const std::int32_t* group,
                  const DiverseOptions& options, Monitor& monitor)
        : rows_(rows), secrets_(secrets), options_(options), monitor_(monitor), group_(group, group + rows.rows) {
        index_rows(n_items);
        for (std::int32_t row = 0; row < rows.rows; ++row) {
            if (group_[row] >= static_cast<std::int32_t>(parts_.size())) parts_.resize(group_[row] + 1);
            put(row, group_[row]);
        }
        for (Part& part : parts_) part.gain = gain(part);
        score_.assign(parts_.size(), 0);
    }

    std::vector<std::int32_t> solve() {
        for (std::int32_t g = 0; g < static_cast<std::int32_t>(parts_.size()); ++g)
            while (!parts_[g].members.empty() && excess(parts_[g]) > 0) {
                monitor_.check();
                if (!expel(g)) merge(g);
            }
        for (std::int64_t round = 0; round < options_.rounds && improve(); ++round) {
        }
        return numbered();
    }

  private:
    struct Held {  // how many members hold an item or a secret
        std::int32_t what, count;
    };
    struct Part {
        std::vector<std::int32_t> members;
        std::vector<Held> items, secrets;  // ascending
        std::int64_t gain = 0;
        bool changed = false;
        std::int64_t size() const { return static_cast<std::int64_t>(members.size()); }
    };
    struct Change {  // row leaves its group for `to`, and `back` comes in exchange (-1: nobody does)
        std::int64_t gain = INT64_MIN;
        std::int32_t row = -1, to = -1, back = -1;
    };

    static constexpr std::int32_t NOBODY = -1;
    static constexpr std::size_t FEW = 6, MANY = 12;          // groups looked at, to improve and to repair
    static constexpr std::size_t PARTNERS = 16, HOLDERS = 4;  // rows looked at in a group
    static constexpr std::int64_t LIST = 64;                  // rows looked at in an item's list, to either side

    void index_rows(std::int32_t n_items) {
        first_.assign(n_items + 1, 0);
        for (std::int64_t i = 0; i < rows_.offsets[rows_.rows]; ++i) ++first_[rows_.items[i] + 1];
        for (std::int32_t i = 0; i < n_items; ++i) first_[i + 1] += first_[i];
        holders_.resize(rows_.offsets[rows_.rows]);
        std::vector<std::int64_t> cursor(first_.begin(), first_.end() - 1);
        for (std::int32_t row = 0; row < rows_.rows; ++row)
            for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) holders_[cursor[*i]++] = row;
    }

    static void count(std::vector<Held>& held, const Csr& data, std::int32_t row, std::int32_t sign) {
        for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i) {
            const auto at = std::lower_bound(held.begin(), held.end(), *i,
                                             [](const Held& one, std::int32_t what) { return one.what < what; });
            if (at == held.end() || at->what != *i)
                held.insert(at, {*i, sign});
            else if ((at->count += sign) == 0)
                held.erase(at);
        }
    }
    void put(std::int32_t row, std::int32_t g) {
        group_[row] = g;
        parts_[g].members.push_back(row);
        count(parts_[g].items, rows_, row, 1);
        count(parts_[g].secrets, secrets_, row, 1);
    }
    void take(std::int32_t row) {
        Part& part = parts_[group_[row]];
        part.members.erase(std::find(part.members.begin(), part.members.end(), row));
        count(part.items, rows_, row, -1);
        count(part.secrets, secrets_, row, -1);
    }

    // Calls body(count) for everything that a group holds after `out` has left and `in` has come.
    template <class Body>
    static void for_counts(const std::vector<Held>& held, const Csr& data, std::int32_t out, std::int32_t in,
                           Body&& body) {
        const std::int32_t none = 0;
        const std::int32_t *a = out < 0 ? &none : data.begin(out), *a_end = out < 0 ? &none : data.end(out);
        const std::int32_t *b = in < 0 ? &none : data.begin(in), *b_end = in < 0 ? &none : data.end(in);
        for (const Held& one : held) {
            for (; b != b_end && *b < one.what; ++b) body(1);
            std::int64_t count = one.count;
            if (a != a_end && *a == one.what) --count, ++a;
            if (b != b_end && *b == one.what) ++count, ++b;
            body(count);
        }
        for (; b != b_end; ++b) body(1);
    }
    std::int64_t gain(const Part& part, std::int32_t out = NOBODY, std::int32_t in = NOBODY) const {
        const std::int64_t size = part.size() - (out >= 0) + (in >= 0);
        std::int64_t sum = 0;
        for_counts(part.items, rows_, out, in, [&](std::int64_t c) { sum += std::max<std::int64_t>(0, 2 * c - size); });
        return sum;
    }
    std::int64_t excess(const Part& part, std::int32_t out = NOBODY, std::int32_t in = NOBODY) const {
        const std::int64_t size = part.size() - (out >= 0) + (in >= 0);
        std::int64_t sum = 0;
        for_counts(part.secrets, secrets_, out, in, [&](std::int64_t c) {
            if (c > 0) sum += std::max<std::int64_t>(0, c * options_.p - size);
        });
        return sum;
    }

    // The groups that rows like this one are in, those with most items in common first; only rows near it in the order
    // of the data are looked at. If there are none, the groups of its neighbours.
    const std::vector<std::int32_t>& nearby(std::int32_t row, std::size_t most) {
        found_.clear();
        const auto meet = [&](std::int32_t other) {
            const std::int32_t g = group_[other];
            if (g == group_[row]) return;
            if (score_[g]++ == 0) found_.push_back(g);
        };
        for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
            const auto begin = holders_.begin() + first_[*i], end = holders_.begin() + first_[*i + 1];
            const auto here = std::lower_bound(begin, end, row);
            std::for_each(here - std::min<std::int64_t>(LIST, here - begin),
                          here + std::min<std::int64_t>(LIST, end - here), meet);
        }
        for (std::int32_t step = 1; found_.size() < 2 && step < rows_.rows; ++step) {
            if (row >= step) meet(row - step);
            if (row + step < rows_.rows) meet(row + step);
        }
        std::sort(found_.begin(), found_.end(),
                  [&](std::int32_t a, std::int32_t b) { return std::pair(-score_[a], a) < std::pair(-score_[b], b); });
        for (const std::int32_t g : found_) score_[g] = 0;
        if (found_.size() > most) found_.resize(most);
        return found_;
    }

    // Groups anywhere that have room for the secret (`room` rows more than its holders need), those next to g in number
    // first: their rows come first at about the same place of the data.
    std::vector<std::int32_t> roomy(std::int32_t g, std::int32_t secret, std::int64_t room) const {
        std::vector<std::int32_t> found;
        const auto look = [&](std::int64_t h) {
            if (h < 0 || h >= static_cast<std::int64_t>(parts_.size()) || parts_[h].members.empty()) return;
            const auto& held = parts_[h].secrets;
            const auto at = std::lower_bound(held.begin(), held.end(), secret,
                                             [](const Held& one, std::int32_t what) { return one.what < what; });
            const std::int64_t count = at != held.end() && at->what == secret ? at->count : 0;
            if (count * options_.p + room <= parts_[h].size()) found.push_back(static_cast<std::int32_t>(h));
        };
        for (std::int64_t step = 1; step < static_cast<std::int64_t>(parts_.size()) && found.size() < FEW; ++step) {
            look(g - step);
            look(g + step);
        }
        return found;
    }

    // The best way for a row to get to h: alone, if its group can spare it, or in exchange for a row of h. Neither
    // group gets an excess, or one that it had grows; with `mend`, the excess of both together must fall.
    void consider(std::int32_t row, std::int32_t h, bool mend, Change& best, std::size_t partners = PARTNERS) const {
        const Part &from = parts_[group_[row]], &to = parts_[h];
        const std::int64_t had = excess(from), others = excess(to), before = from.gain + to.gain;
        const auto allowed = [&](std::int32_t back) {
            const std::int64_t mine = excess(from, row, back), theirs = excess(to, back, row);
            return mine <= had && theirs <= others && (!mend || mine + theirs < had + others);
        };
        const auto weigh = [&](std::int32_t back) {
            if (!allowed(back)) return;
            const std::int64_t change = gain(from, row, back) + gain(to, back, row) - before;
            if (change > best.gain) best = {change, row, h, back};
        };
        if (from.size() > options_.k) weigh(NOBODY);
        for (std::size_t i = 0; i < std::min(to.members.size(), partners); ++i) weigh(to.members[i]);
    }

    void apply(const Change& change) {
        const std::int32_t g = group_[change.row], h = change.to;
        const std::int64_t before = parts_[g].gain + parts_[h].gain;
        take(change.row);
        if (change.back >= 0) take(change.back), put(change.back, g);
        put(change.row, h);
        for (const std::int32_t one : {g, h}) parts_[one].gain = gain(parts_[one]), parts_[one].changed = true;
        confirm(g, h, before + change.gain);
    }

    // In a debug build: the change gained what it was made for, and no group is too small.
    void confirm([[maybe_unused]] std::int32_t g, [[maybe_unused]] std::int32_t h,
                 [[maybe_unused]] std::int64_t expected) const {
#ifdef ANONSET_DEBUG_CHECKS
        if (parts_[g].gain + parts_[h].gain != expected) throw std::logic_error("diverse: another gain than foretold");
        if (std::min(parts_[g].size(), parts_[h].size()) < options_.k) throw std::logic_error("diverse: below k");
#endif
    }

    static std::int32_t most_held(const Part& part) {
        const auto fewer = [](const Held& a, const Held& b) { return a.count < b.count; };
        return std::max_element(part.secrets.begin(), part.secrets.end(), fewer)->what;
    }

    // Some holder of the secret that is most in excess changes places with a row elsewhere.
    bool expel(std::int32_t g) {
        const Part& part = parts_[g];
        const std::int32_t secret = most_held(part);
        Change best;
        std::size_t looked = 0;
        for (const std::int32_t row : part.members) {
            if (!std::binary_search(secrets_.begin(row), secrets_.end(row), secret)) continue;
            if (++looked > HOLDERS) break;
            for (const std::int32_t h : nearby(row, MANY)) consider(row, h, true, best);
            if (best.row < 0)
                for (const std::int32_t h : roomy(g, secret, options_.p))
                    consider(row, h, true, best, parts_[h].members.size());
        }
        if (best.row < 0) return false;
        apply(best);
        return true;
    }

    // The group takes in another one: of those nearby the one that costs least for the excess that it removes.
    void merge(std::int32_t g) {
        std::vector<std::int32_t> others = roomy(g, most_held(parts_[g]), 1);
        for (std::size_t i = 0; i < std::min(parts_[g].members.size(), HOLDERS); ++i)
            for (const std::int32_t h : nearby(parts_[g].members[i], FEW)) others.push_back(h);
        std::int32_t chosen = -1;
        std::tuple<bool, double, std::int64_t> least{};
        for (const std::int32_t h : others) {
            const Part both = united(g, h);
            const std::int64_t removed = excess(parts_[g]) + excess(parts_[h]) - excess(both);
            const std::int64_t lost = parts_[g].gain + parts_[h].gain - both.gain;
            const double price = static_cast<double>(lost) / static_cast<double>(std::max<std::int64_t>(1, removed));
            const std::tuple cost{removed <= 0, price, excess(both)};
            if (chosen < 0 || cost < least) chosen = h, least = cost;
        }
        parts_[g] = united(g, chosen);
        parts_[chosen] = Part();
        for (const std::int32_t row : parts_[g].members) group_[row] = g;
    }

    Part united(std::int32_t g, std::int32_t h) const {
        Part both = parts_[g];
        for (const std::int32_t row : parts_[h].members) {
            both.members.push_back(row);
            count(both.items, rows_, row, 1);
            count(both.secrets, secrets_, row, 1);
        }
        both.gain = gain(both);
        both.changed = true;
        return both;
    }

    // The rows of groups that changed, one after the other: each moves or swaps to where it gains most, if it gains.
    // (Those of very large groups are where they are because nobody is like them.)
    bool improve() {
        std::vector<std::int32_t> waiting;
        for (std::int32_t row = 0; row < rows_.rows; ++row)
            if (parts_[group_[row]].changed && parts_[group_[row]].size() <= 8 * std::max(options_.k, options_.p))
                waiting.push_back(row);
        for (Part& part : parts_) part.changed = false;
        bool any = false;
        for (const std::int32_t row : waiting) {
            monitor_.check();
            Change best;
            best.gain = 0;
            for (const std::int32_t h : nearby(row, FEW)) consider(row, h, false, best);
            if (best.row < 0) continue;
            apply(best);
            any = true;
        }
        return any;
    }

    std::vector<std::int32_t> numbered() const {
        std::vector<std::int32_t> number(parts_.size(), -1), out(group_.size());
        std::int32_t next = 0;
        for (std::size_t row = 0; row < group_.size(); ++row) {
            if (number[group_[row]] < 0) number[group_[row]] = next++;
            out[row] = number[group_[row]];
        }
        return out;
    }

    Csr rows_, secrets_;
    DiverseOptions options_;
    Monitor& monitor_;
    std::vector<std::int32_t> group_;
    std::vector<Part> parts_;
    std::vector<std::int64_t> first_;
    std::vector<std::int32_t> holders_, found_, score_;
};

}  // namespace anonset
