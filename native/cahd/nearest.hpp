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
#include "core/distinct.hpp"
#include "core/transpose.hpp"

namespace anonset::cahd {

// Rows filed under keys, ascending inside a key, of which some get removed.
class LiveRows {
  public:
    LiveRows() = default;
    LiveRows(const std::vector<std::int32_t>& key, std::int32_t keys);

    std::int32_t first(std::int32_t key) { return alive(rows_.start[key]); }
    std::int32_t after(std::int32_t place) { return alive(place + 1); }
    bool within(std::int32_t place, std::int32_t key) const { return place < rows_.start[key + 1]; }
    std::int32_t row(std::int32_t place) const { return rows_.values[place]; }
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

    Transposed<std::int32_t, std::int32_t> rows_;
    std::vector<std::int32_t> place_, alive_from_;
};

// Distinct sets at known distances from t; one that is not met here is disjoint from t.
class SetScan {
  public:
    SetScan(const Problem& problem, const Distinct& sets);

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
    void append_holders(std::int32_t item, std::vector<std::int32_t>& sets) const;

    // The same for these sets only; they must be distinct.
    void scan_only(std::int64_t t, const std::vector<std::int32_t>& sets);

  private:
    void forget() {
        for (const std::int32_t u : met_) shared_[u] = 0;
        met_.clear();
    }

    // Compares the two scans' steps: posting entries visited, against words compared (about a quarter of an entry's
    // cost).
    bool choose_bitmaps(const Problem& problem) const;

    void build_postings(std::int32_t items);
    void scan_postings(std::int64_t t);

    void build_bitmaps(std::int32_t items);

    void pack(std::int64_t row, std::uint64_t* words) const {
        for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) words[*i / 64] |= 1ULL << (*i % 64);
    }

    void scan_bitmaps(std::int64_t t);

    Csr data_;
    const Distinct& sets_;
    bool dense_ = false;
    std::int32_t items_;
    std::vector<std::int32_t> length_, met_;
    std::vector<std::uint32_t> shared_;
    std::vector<std::uint8_t> mine_;
    Transposed<> holders_;  // the sets that hold each item, unless dense
    std::int32_t words_ = 0;
    std::vector<std::uint64_t> bits_, query_;
};

class NearestFinder {
  public:
    explicit NearestFinder(const Problem& problem);

    void find(std::int64_t t, std::vector<std::int32_t>& members) {
        scan_.scan(t);
        choose(t, members, scan_.met(), true);
    }

    void remove(const std::vector<std::int32_t>& members);

  protected:
    // Takes the nearest of the sets met (their shared items are known to the scan), level by level of distance; with
    // `others`, also the rows of sets that share nothing with t.
    void choose(std::int64_t t, std::vector<std::int32_t>& members, const std::vector<std::int32_t>& met, bool others);

    bool alive(std::int32_t set) const { return alive_[set] > 0; }

    bool complete(const std::vector<std::int32_t>& members) const {
        return static_cast<std::int64_t>(members.size()) >= problem_.p;
    }

    const Problem& problem_;
    Distinct sets_;
    SetScan scan_;

  private:
    // Files the sets met by their distance, up to the level where harmless transactions alone fill the group.
    std::int32_t sort_into_levels(std::int32_t mine, const std::vector<std::int32_t>& met);

    std::int32_t distance(std::int32_t mine, std::int32_t set) const {
        return mine + scan_.length(set) - 2 * scan_.shared(set);
    }

    // All rows at one distance, lowest first: those of the sets met, and (disjoint ones) those of the right length.
    void take_level(std::int64_t t, std::int32_t distance, std::int32_t length, std::vector<std::int32_t>& members);

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
    void push_disjoint(std::int32_t length, std::int32_t place);

    Conflicts conflicts_;
    LiveRows of_set_, of_length_;
    std::int32_t longest_ = 0;
    std::vector<std::int32_t> alive_, harmless_;  // per set: rows left, and those among them without sensitive items
    std::vector<std::vector<std::int32_t>> levels_;
    std::vector<std::int64_t> harmless_at_;
    std::vector<Head> heads_;
};

}  // namespace anonset::cahd
