// Groups of exactly k sparse rows, grown around seeds from inverted lists.
#pragma once

#include <numeric>
#include <utility>

#include "bitmap.hpp"
#include "csr.hpp"
#include "monitor.hpp"

namespace anonset::crowd {

// The `keep` rows of `seen` whose masks have most bits; ties go to those seen first.
ANONSET_CLONES inline void most_bits(const std::int32_t* seen, std::int32_t count, const std::uint64_t* masks,
                                     std::size_t keep, std::vector<std::int32_t>& chosen) {
    std::size_t with[65] = {};
    for (std::int32_t i = 0; i < count; ++i) ++with[__builtin_popcountll(masks[seen[i]])];
    int least = 64;
    std::size_t above = 0;
    while (least > 1 && above + with[least] < keep) above += with[least--];
    std::size_t ties = keep - above;
    chosen.clear();
    for (std::int32_t i = 0; i < count; ++i) {
        const int bits = __builtin_popcountll(masks[seen[i]]);
        if (bits > least || (bits == least && ties > 0)) {
            chosen.push_back(seen[i]);
            ties -= bits == least;
        }
    }
}

// Works on `pool` (rows in Gray order), the longest rows as seeds first. Candidates come from the lists of the seed's
// items, nearest in Gray order first; the group takes those that share most with what it has.
class Grower {
  public:
    Grower(const Csr& rows, const std::int32_t* pool, std::int32_t count, std::int32_t n_items, std::int32_t k,
           std::int64_t visits)
        : rows_(rows), pool_(pool), count_(count), k_(k), per_seed_(std::max<std::int64_t>(4 * k, visits * k)) {
        list_rows(n_items);
    }

    // Calls take(members) for each group it finds; the group stands if that returns true. Seeds are the rows for which
    // eager(row) holds. Ends when so large a `share` of the pool has a group.
    template <class Eager, class Take>
    void run(double share, Monitor& monitor, Eager&& eager, Take&& take) {
        if (count_ < k_) return;
        auto wanted = static_cast<std::int64_t>(share * count_);
        std::vector<std::int32_t> seeds;
        for (std::int32_t p = 0; p < count_; ++p)
            if (eager(pool_[p])) seeds.push_back(p);
        std::stable_sort(seeds.begin(), seeds.end(),
                         [&](std::int32_t a, std::int32_t b) { return rows_.size(pool_[a]) > rows_.size(pool_[b]); });
        for (const std::int32_t seed : seeds) {
            if (mask_[seed] & GONE) continue;
            if (wanted <= 0) break;
            monitor.check();
            remove(seed);
            mark_candidates(seed);
            if (found_ >= k_ - 1) {
                most_bits(seen_.data(), found_, mask_.data(), static_cast<std::size_t>(std::max(32, 3 * k_)), chosen_);
                choose(seed);
                if (take(members_)) {
                    wanted -= k_;
                    for (const std::int32_t p : taken_) remove(p);
                }
            }
            for (std::int32_t i = 0; i < found_; ++i) mask_[seen_[i]] &= GONE;
        }
    }

  private:
    static constexpr std::uint64_t GONE = std::uint64_t{1} << 63;
    static constexpr std::size_t WANTED = 62;  // items of a seed that are looked up: one bit each

    struct List {
        std::int32_t first = 0, size = 0, gone = 0;
    };

    // For each item the rows of the pool that hold it. An item of at most k/2 rows is never in a center: no list.
    void list_rows(std::int32_t n_items) {
        lists_.resize(n_items);
        for (std::int32_t p = 0; p < count_; ++p)
            for (const std::int32_t* i = rows_.begin(pool_[p]); i != rows_.end(pool_[p]); ++i) ++lists_[*i].gone;
        std::int32_t total = 0;
        for (List& list : lists_) {
            list.first = total;
            if (2 * list.gone > k_) total += list.gone;
            list.gone = 2 * list.gone > k_ ? 0 : -1;
        }
        owner_.resize(total);
        for (std::int32_t p = 0; p < count_; ++p)
            for (const std::int32_t* i = rows_.begin(pool_[p]); i != rows_.end(pool_[p]); ++i)
                if (List& list = lists_[*i]; list.gone == 0) owner_[list.first + list.size++] = p;
        mask_.assign(count_, 0);
        seen_.resize(count_ + 1);
    }

    void remove(std::int32_t p) {
        mask_[p] |= GONE;
        for (const std::int32_t* i = rows_.begin(pool_[p]); i != rows_.end(pool_[p]); ++i)
            if (List& list = lists_[*i]; list.size > 0) ++list.gone;
    }

    // Lists of which half is gone are cleared of that, so that walking along them stays short.
    void tidy(List& list) {
        if (2 * list.gone <= list.size) return;
        std::int32_t* rows = owner_.data() + list.first;
        list.size = static_cast<std::int32_t>(
            std::remove_if(rows, rows + list.size, [&](std::int32_t p) { return (mask_[p] & GONE) != 0; }) - rows);
        list.gone = 0;
    }

    // The seed's items with a list; of very many the most frequent, which a center is likeliest to keep.
    void look_up(std::int32_t seed) {
        wanted_.clear();
        for (const std::int32_t* i = rows_.begin(pool_[seed]); i != rows_.end(pool_[seed]); ++i)
            if (lists_[*i].size > 0) wanted_.push_back(*i);
        if (wanted_.size() <= WANTED) return;
        std::nth_element(wanted_.begin(), wanted_.begin() + WANTED, wanted_.end(), [&](std::int32_t a, std::int32_t b) {
            return std::pair(-lists_[a].size, a) < std::pair(-lists_[b].size, b);
        });
        wanted_.resize(WANTED);
    }

    void mark_candidates(std::int32_t seed) {
        look_up(seed);
        found_ = 0;
        if (wanted_.empty()) return;
        const std::int64_t reach =
            std::max<std::int64_t>(k_, per_seed_ / (2 * static_cast<std::int64_t>(wanted_.size())));
        for (std::size_t bit = 0; bit < wanted_.size(); ++bit) {
            List& list = lists_[wanted_[bit]];
            tidy(list);
            const std::int32_t *from = owner_.data() + list.first, *to = from + list.size;
            const std::int32_t* at = std::lower_bound(from, to, seed);
            std::int64_t left = reach;
            for (const std::int32_t* p = at; p != from && left > 0;) left -= mark(*--p, std::uint64_t{1} << bit);
            left = reach;
            for (const std::int32_t* p = at; p != to && left > 0; ++p) left -= mark(*p, std::uint64_t{1} << bit);
        }
    }

    // Without branches: whether a row is gone or new is anybody's guess, and a wrong guess costs more than the work.
    bool mark(std::int32_t p, std::uint64_t bit) {
        const std::uint64_t mask = mask_[p];
        const bool live = (mask & GONE) == 0;
        seen_[found_] = p;
        found_ += mask == 0;
        mask_[p] = mask | (live ? bit : 0);
        return live;
    }

    // k - 1 times the candidate with the largest sum of c² over the items that it shares with the seed.
    void choose(std::int32_t seed) {
        std::int32_t counts[64], squares[64];
        std::fill(counts, counts + 64, 1);
        std::fill(squares, squares + 64, 1);
        members_.assign(1, pool_[seed]);
        taken_.clear();
        while (static_cast<std::int32_t>(members_.size()) < k_) {
            std::int32_t best_score = -1;
            std::size_t best = 0;
            for (std::size_t c = 0; c < chosen_.size(); ++c) {
                std::int32_t score = 0;
                for (std::uint64_t m = mask_[chosen_[c]]; m; m &= m - 1) score += squares[__builtin_ctzll(m)];
                if (score > best_score) best_score = score, best = c;
            }
            const std::int32_t p = chosen_[best];
            for (std::uint64_t m = mask_[p]; m; m &= m - 1) {
                const std::int32_t count = std::min(++counts[__builtin_ctzll(m)], 5'000);
                squares[__builtin_ctzll(m)] = count * count;
            }
            members_.push_back(pool_[p]);
            taken_.push_back(p);
            chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(best));
        }
    }

    const Csr& rows_;
    const std::int32_t* pool_;
    std::int32_t count_, k_, found_ = 0;
    std::int64_t per_seed_;
    std::vector<List> lists_;
    std::vector<std::uint64_t> mask_;  // which of the seed's items a row shares; GONE once it has a group
    std::vector<std::int32_t> owner_, seen_, wanted_, chosen_, members_, taken_;
};

}  // namespace anonset::crowd
