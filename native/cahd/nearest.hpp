// Exact nearest neighbours (section 4.1): for each sensitive transaction the p - 1 transactions with the smallest
// Hamming distance that conflict neither with it nor with each other; ties go to the lower row.
//
// Equal sets are looked at once. Sparse data: only sets that share an item are met (inverted lists); all others have
// distance |t| + |x|, so their order is known beforehand. Dense data: packed bitmaps and a scan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cahd/degree.hpp"
#include "core/bitmap.hpp"
#include "core/distinct.hpp"

namespace anonset {

// Rows filed under keys, ascending inside a key, of which some get removed.
class LiveRows {
  public:
    LiveRows() = default;
    LiveRows(const std::vector<std::int32_t>& key, std::int32_t keys) : start_(keys + 1, 0), place_(key.size()) {
        for (const std::int32_t k : key) ++start_[k + 1];
        for (std::int32_t k = 0; k < keys; ++k) start_[k + 1] += start_[k];
        rows_.resize(key.size());
        std::vector<std::int32_t> cursor(start_.begin(), start_.end() - 1);
        for (std::size_t row = 0; row < key.size(); ++row) {
            place_[row] = cursor[key[row]]++;
            rows_[place_[row]] = static_cast<std::int32_t>(row);
        }
        alive_from_.resize(key.size() + 1);
        for (std::size_t i = 0; i <= key.size(); ++i) alive_from_[i] = static_cast<std::int32_t>(i);
    }

    std::int32_t first(std::int32_t key) { return alive(start_[key]); }
    std::int32_t after(std::int32_t place) { return alive(place + 1); }
    bool within(std::int32_t place, std::int32_t key) const { return place < start_[key + 1]; }
    std::int32_t row(std::int32_t place) const { return rows_[place]; }
    void remove(std::int32_t row) { alive_from_[place_[row]] = place_[row] + 1; }

  private:
    // The first place from `place` on that is not removed (union-find with path halving).
    std::int32_t alive(std::int32_t place) {
        while (alive_from_[place] != place) {
            alive_from_[place] = alive_from_[alive_from_[place]];
            place = alive_from_[place];
        }
        return place;
    }

    std::vector<std::int32_t> start_, place_, rows_, alive_from_;
};

// Distinct sets at known distances from t; whoever is not met here is disjoint from t.
class SetScan {
  public:
    SetScan(const DegreeProblem& problem, const Distinct& sets)
        : data_(problem.quasi), sets_(sets), items_(problem.items) {
        const std::int32_t count = sets.size();
        length_.resize(count);
        for (std::int32_t u = 0; u < count; ++u) length_[u] = static_cast<std::int32_t>(data_.size(sets.first[u]));
        dense_ = choose_bitmaps(problem);
        dense_ ? build_bitmaps(problem.items) : build_postings(problem.items);
        shared_.resize(count, 0);
    }

    bool dense() const { return dense_; }
    std::int32_t length(std::int32_t set) const { return length_[set]; }

    // The items that `t` shares with each set it meets: shared(u), valid until the next scan.
    void scan(std::int64_t t) {
        forget();
        dense_ ? scan_bitmaps(t) : scan_postings(t);
    }
    const std::vector<std::int32_t>& met() const { return met_; }
    std::int32_t shared(std::int32_t set) const { return static_cast<std::int32_t>(shared_[set]); }

    // The sets that hold an item.
    void append_holders(std::int32_t item, std::vector<std::int32_t>& sets) const {
        if (!dense_) {
            sets.insert(sets.end(), postings_.begin() + start_[item], postings_.begin() + start_[item + 1]);
            return;
        }
        for (std::int32_t u = 0; u < sets_.size(); ++u)
            if (bits_[static_cast<std::size_t>(u) * words_ + item / 64] >> (item % 64) & 1) sets.push_back(u);
    }

    // The same for these sets only; they must be distinct.
    void scan_only(std::int64_t t, const std::vector<std::int32_t>& sets) {
        forget();
        mine_.resize(items_, 0);
        for (const std::int32_t* i = data_.begin(t); i != data_.end(t); ++i) mine_[*i] = 1;
        for (const std::int32_t u : sets) {
            std::uint32_t shared = 0;
            for (const std::int32_t *i = data_.begin(sets_.first[u]), *end = i + length_[u]; i != end; ++i)
                shared += mine_[*i];
            shared_[u] = shared;
        }
        for (const std::int32_t* i = data_.begin(t); i != data_.end(t); ++i) mine_[*i] = 0;
        met_ = sets;
    }

  private:
    void forget() {
        for (const std::int32_t u : met_) shared_[u] = 0;
        met_.clear();
    }

    // Compares the two scans' steps: posting entries visited, against words compared (about a quarter of an entry's
    // cost).
    bool choose_bitmaps(const DegreeProblem& problem) const {
        std::vector<std::int64_t> posting(problem.items, 0);
        for (const std::int32_t row : sets_.first)
            for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) ++posting[*i];
        double entries = 0, words = 0;
        for (std::int64_t row = 0; row < data_.rows; ++row) {
            if (!problem.is_sensitive(row)) continue;
            for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) entries += posting[*i];
            words += static_cast<double>(sets_.size()) * ((problem.items + 63) / 64);
        }
        return words < 4 * entries;
    }

    void build_postings(std::int32_t items) {
        start_.assign(items + 1, 0);
        for (const std::int32_t row : sets_.first)
            for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) ++start_[*i + 1];
        for (std::int32_t i = 0; i < items; ++i) start_[i + 1] += start_[i];
        postings_.resize(start_[items]);
        std::vector<std::int64_t> cursor(start_.begin(), start_.end() - 1);
        for (std::int32_t u = 0; u < sets_.size(); ++u)
            for (const std::int32_t* i = data_.begin(sets_.first[u]); i != data_.end(sets_.first[u]); ++i)
                postings_[cursor[*i]++] = u;
    }

    void scan_postings(std::int64_t t) {
        for (const std::int32_t* i = data_.begin(t); i != data_.end(t); ++i) {
            for (std::int64_t at = start_[*i]; at < start_[*i + 1]; ++at) {
                const std::int32_t u = postings_[at];
                if (shared_[u]++ == 0) met_.push_back(u);
            }
        }
    }

    void build_bitmaps(std::int32_t items) {
        words_ = (items + 63) / 64;
        bits_.assign(static_cast<std::size_t>(sets_.size()) * words_, 0);
        for (std::int32_t u = 0; u < sets_.size(); ++u)
            pack(sets_.first[u], &bits_[static_cast<std::size_t>(u) * words_]);
        query_.resize(words_);
    }

    void pack(std::int64_t row, std::uint64_t* words) const {
        for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) words[*i / 64] |= 1ULL << (*i % 64);
    }

    void scan_bitmaps(std::int64_t t) {
        std::fill(query_.begin(), query_.end(), 0);
        pack(t, query_.data());
        shared_bits(query_.data(), bits_.data(), words_, sets_.size(), shared_.data());
        for (std::int32_t u = 0; u < sets_.size(); ++u)
            if (shared_[u] > 0) met_.push_back(u);
    }

    Csr data_;
    const Distinct& sets_;
    bool dense_ = false;
    std::int32_t items_;
    std::vector<std::int32_t> length_, met_;
    std::vector<std::uint32_t> shared_;
    std::vector<std::uint8_t> mine_;
    std::vector<std::int64_t> start_;
    std::vector<std::int32_t> postings_;
    std::int32_t words_ = 0;
    std::vector<std::uint64_t> bits_, query_;
};

class NearestFinder {
  public:
    explicit NearestFinder(const DegreeProblem& problem)
        : problem_(problem), sets_(distinct_rows(problem.quasi)), scan_(problem, sets_), conflicts_(problem) {
        std::vector<std::int32_t> length(problem.rows());
        std::int32_t longest = 0;
        for (std::int64_t row = 0; row < problem.rows(); ++row) {
            length[row] = static_cast<std::int32_t>(problem.quasi.size(row));
            longest = std::max(longest, length[row]);
        }
        of_set_ = LiveRows(sets_.of_row, sets_.size());
        of_length_ = LiveRows(length, longest + 1);
        longest_ = longest;
        alive_.assign(sets_.size(), 0);
        harmless_.assign(sets_.size(), 0);
        for (std::int64_t row = 0; row < problem.rows(); ++row) {
            ++alive_[sets_.of_row[row]];
            harmless_[sets_.of_row[row]] += !problem.is_sensitive(row);
        }
        levels_.resize(2 * static_cast<std::size_t>(longest) + 1);
        harmless_at_.resize(levels_.size());
    }

    void find(std::int64_t t, std::vector<std::int32_t>& members) {
        scan_.scan(t);
        choose(t, members, scan_.met(), true);
    }

    void remove(const std::vector<std::int32_t>& members) {
        for (const std::int32_t row : members) {
            const std::int32_t set = sets_.of_row[row];
            of_set_.remove(row);
            of_length_.remove(row);
            --alive_[set];
            harmless_[set] -= !problem_.is_sensitive(row);
        }
    }

  protected:
    // Takes the nearest of the sets met (their shared items are known to the scan), level by level of distance; with
    // `others`, also the rows of sets that share nothing with t.
    void choose(std::int64_t t, std::vector<std::int32_t>& members, const std::vector<std::int32_t>& met, bool others) {
        conflicts_.start(t);
        const std::int32_t mine = static_cast<std::int32_t>(problem_.quasi.size(t));
        const std::int32_t last = sort_into_levels(mine, met);
        const std::int32_t farthest = others ? std::max(last, mine + longest_) : last;
        for (std::int32_t distance = 0; distance <= farthest; ++distance) {
            if (complete(members)) break;
            take_level(t, distance, others ? distance - mine : -1, members);
        }
        for (std::int32_t distance = 0; distance <= last; ++distance) levels_[distance].clear();
    }

    bool alive(std::int32_t set) const { return alive_[set] > 0; }

    bool complete(const std::vector<std::int32_t>& members) const {
        return static_cast<std::int64_t>(members.size()) >= problem_.p;
    }

    const DegreeProblem& problem_;
    Distinct sets_;
    SetScan scan_;

  private:
    // Files the sets met by their distance, up to the level where harmless transactions alone fill the group.
    std::int32_t sort_into_levels(std::int32_t mine, const std::vector<std::int32_t>& met) {
        std::int32_t last = 0, top = 0;
        for (const std::int32_t u : met) {
            harmless_at_[distance(mine, u)] += harmless_[u];
            top = std::max(top, distance(mine, u));
        }
        for (std::int64_t seen = harmless_at_[0]; seen < problem_.p - 1 && last < top;) seen += harmless_at_[++last];
        for (const std::int32_t u : met) harmless_at_[distance(mine, u)] = 0;
        for (const std::int32_t u : met)
            if (alive_[u] > 0 && distance(mine, u) <= last) levels_[distance(mine, u)].push_back(u);
        return last;
    }

    std::int32_t distance(std::int32_t mine, std::int32_t set) const {
        return mine + scan_.length(set) - 2 * scan_.shared(set);
    }

    // All rows at one distance, lowest first: those of the sets met, and (disjoint ones) those of the right length.
    void take_level(std::int64_t t, std::int32_t distance, std::int32_t length, std::vector<std::int32_t>& members) {
        heads_.clear();
        if (distance < static_cast<std::int32_t>(levels_.size()))
            for (const std::int32_t u : levels_[distance]) push_set(u, of_set_.first(u));
        if (length >= 0 && length <= longest_) push_disjoint(length, of_length_.first(length));
        while (!heads_.empty() && !complete(members)) {
            std::pop_heap(heads_.begin(), heads_.end(), later);
            const Head head = heads_.back();
            heads_.pop_back();
            if (head.row != t && !conflicts_.clash(head.row)) {
                conflicts_.add(head.row);
                members.push_back(head.row);
            }
            if (head.set >= 0) {
                push_set(head.set, of_set_.after(head.place));
            } else {
                push_disjoint(length, of_length_.after(head.place));
            }
        }
    }

    struct Head {
        std::int32_t row, place, set;  // set < 0: from the list of a length
    };
    static bool later(const Head& a, const Head& b) { return a.row > b.row; }

    void push(Head head) {
        heads_.push_back(head);
        std::push_heap(heads_.begin(), heads_.end(), later);
    }
    void push_set(std::int32_t set, std::int32_t place) {
        if (of_set_.within(place, set)) push({of_set_.row(place), place, set});
    }
    void push_disjoint(std::int32_t length, std::int32_t place) {
        while (of_length_.within(place, length) && scan_.shared(sets_.of_row[of_length_.row(place)]) > 0)
            place = of_length_.after(place);
        if (of_length_.within(place, length)) push({of_length_.row(place), place, -1});
    }

    Conflicts conflicts_;
    LiveRows of_set_, of_length_;
    std::int32_t longest_ = 0;
    std::vector<std::int32_t> alive_, harmless_;  // per set: rows left, and those among them without sensitive items
    std::vector<std::vector<std::int32_t>> levels_;
    std::vector<std::int64_t> harmless_at_;
    std::vector<Head> heads_;
};

inline std::vector<std::int32_t> nearest_groups(const DegreeProblem& problem, Monitor& monitor) {
    NearestFinder finder(problem);
    return form_groups(problem, finder, monitor);
}

}  // namespace anonset
