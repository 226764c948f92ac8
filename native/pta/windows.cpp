// Windows of k neighbours on a closed tour, and groups made of them (Lin et al., "PTA", Algorithms 2 and 3).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "pta/api.hpp"

namespace anonset::pta {

namespace {

// Groups tour after tour, each at least k long; one object per thread. Positions run along the tour and, because it is
// closed, once more around: position i + size is position i.
class alignas(APART) WindowGrouper {
  public:
    WindowGrouper(const Csr& data, std::int64_t vocabulary, std::int64_t k)
        : data_(data), k_(k), places_(vocabulary, 0) {
        // What one more holder of an item adds to the loss of a window (see measure_losses).
        for (std::int64_t c = 0; c < k; ++c) {
            const auto gain = [&](std::int64_t holders) { return std::max<std::int64_t>(0, 2 * holders - k); };
            added_.push_back(1 - (gain(c + 1) - gain(c)));
        }
    }

    // Fills group[row] (counted from 0) and voters[row] for the rows of the tour; returns the number of groups.
    std::int32_t solve(const std::int64_t* loop, std::int64_t size, std::int32_t* group, std::uint8_t* voters) {
        copy_tour(loop, size);
        measure_losses();
        choose_windows();
        take_windows();
        vote_centers();
        for (std::int64_t i = 0; i < size; ++i) {
            voters[loop[i]] = taken_[i] >= 0;
            group[loop[i]] = taken_[i] >= 0 ? taken_[i] : nearest_center(i);
        }
        return static_cast<std::int32_t>(chosen_.size());
    }

  private:
    // The rows of the tour side by side. Their items are renumbered where the vocabulary is large compared with the
    // tour: everything that follows stays in the cache.
    void copy_tour(const std::int64_t* loop, std::int64_t size) {
        size_ = size;
        starts_.assign(1, 0);
        for (std::int64_t i = 0; i < size; ++i) starts_.push_back(starts_.back() + data_.size(loop[i]));
        items_.resize(starts_.back());
        const auto vocabulary = static_cast<std::int64_t>(places_.size());
        if (vocabulary <= 2 * starts_.back()) {
            std::int32_t* next = items_.data();
            for_rows(data_, loop, size,
                     [&](std::int64_t row) { next = std::copy(data_.begin(row), data_.end(row), next); });
            used_ = vocabulary;
        } else {
            used_ = renumber(loop, size);
        }
        holders_.assign(used_, 0);
    }

    // The items numbered as they come; returns how many there are.
    std::int64_t renumber(const std::int64_t* loop, std::int64_t size) {
        touched_.resize(starts_.back() + 1);
        std::int32_t* next = items_.data();
        std::int32_t known = 0;
        for_rows(data_, loop, size, [&](std::int64_t row) {
            for (const std::int32_t* item = data_.begin(row); item != data_.end(row); ++item) {
                touched_[known] = *item;  // kept if it is new; a branch would be guessed wrong too often
                const std::int32_t place = places_[*item];
                known += place == 0;
                *next++ = (places_[*item] = place == 0 ? known : place) - 1;
            }
        });
        for (std::int32_t i = 0; i < known; ++i) places_[touched_[i]] = 0;
        return known;
    }

    std::int64_t wrap(std::int64_t position) const { return position < size_ ? position : position - size_; }
    template <class Body>
    void for_items(std::int64_t position, Body&& body) const {
        for (std::int64_t at = starts_[position]; at < starts_[position + 1]; ++at) body(items_[at]);
    }

    // The loss of the window that begins at each position, in the gain form: the items of its rows, less
    // max(0, 2c − k) for every item that c of them hold. Moving on by one position changes two rows.
    void measure_losses() {
        losses_.resize(size_);
        std::int64_t loss = 0;
        const auto enter = [&](std::int32_t item) { loss += added_[holders_[item]++]; };
        const auto leave = [&](std::int32_t item) { loss -= added_[--holders_[item]]; };
        for (std::int64_t i = 0; i < k_; ++i) for_items(i, enter);
        for (std::int64_t first = 0; first < size_; ++first) {
            losses_[first] = loss;
            for_items(first, leave);
            for_items(wrap(first + k_), enter);
        }
        std::fill(holders_.begin(), holders_.end(), 0);
    }

    // Around each position the window of Algorithm 2: k // 2 rows to either side. For an even k that is one row too
    // many: the left outermost one stays out unless it is strictly nearer than the right one.
    void choose_windows() {
        const std::int64_t range = k_ / 2;
        const bool even = k_ % 2 == 0;
        ahead_.assign(size_, 0);
        seen_.assign(used_, -1);
        for (std::int64_t i = 0; even && i < size_; ++i) ahead_[i] = distance(i, wrap(i + range));
        firsts_.resize(size_);
        for (std::int64_t i = 0; i < size_; ++i) {
            const std::int64_t left = wrap(i + size_ - range);
            firsts_[i] = even && ahead_[left] >= ahead_[i] ? wrap(left + 1) : left;
        }
    }

    std::int64_t distance(std::int64_t a, std::int64_t b) {
        std::int64_t shared = 0;
        for_items(a, [&](std::int32_t item) { seen_[item] = a; });
        for_items(b, [&](std::int32_t item) { shared += seen_[item] == a; });
        return (starts_[a + 1] - starts_[a]) + (starts_[b + 1] - starts_[b]) - 2 * shared;
    }

    // Disjoint windows by ascending loss, ties to the lowest position. All windows are k long, so one that meets a
    // taken window has its first or its last position in it.
    void take_windows() {
        by_loss_.resize(size_);
        for (std::int64_t i = 0; i < size_; ++i) by_loss_[i] = {losses_[firsts_[i]], i};
        std::sort(by_loss_.begin(), by_loss_.end());
        taken_.assign(size_, -1);
        chosen_.clear();
        for (const auto& [loss, position] : by_loss_) {
            const std::int64_t first = firsts_[position];
            if (taken_[first] >= 0 || taken_[wrap(first + k_ - 1)] >= 0) continue;
            for (std::int64_t j = 0; j < k_; ++j) taken_[wrap(first + j)] = static_cast<std::int32_t>(chosen_.size());
            chosen_.push_back(first);
        }
    }

    // For every item the groups whose center holds it, as chains of entries (entry 0 ends a chain).
    void vote_centers() {
        chain_.assign(used_, 0);
        entries_.assign(1, {0, 0});
        center_sizes_.assign(chosen_.size(), 0);
        for (std::size_t g = 0; g < chosen_.size(); ++g) {
            const auto center = [&](std::int32_t item) {
                if (2 * std::int64_t{holders_[item]} > k_) {
                    entries_.push_back({static_cast<std::int32_t>(g), chain_[item]});
                    chain_[item] = static_cast<std::int32_t>(entries_.size()) - 1;
                    ++center_sizes_[g];
                }
                holders_[item] = 0;  // each item is looked at once
            };
            for (std::int64_t j = 0; j < k_; ++j)
                for_items(wrap(chosen_[g] + j), [&](std::int32_t item) { ++holders_[item]; });
            for (std::int64_t j = 0; j < k_; ++j) for_items(wrap(chosen_[g] + j), center);
        }
    }

    // The group whose center, as its window voted it, is nearest to a leftover; ties to the first group.
    std::int32_t nearest_center(std::int64_t position) {
        distances_ = center_sizes_;  // + the row's own size, the same for all
        for_items(position, [&](std::int32_t item) {
            for (std::int32_t at = chain_[item]; at != 0; at = entries_[at].next) distances_[entries_[at].group] -= 2;
        });
        return static_cast<std::int32_t>(std::min_element(distances_.begin(), distances_.end()) - distances_.begin());
    }

    struct Candidate {
        std::int64_t loss, position;
        bool operator<(const Candidate& other) const {
            return loss != other.loss ? loss < other.loss : position < other.position;
        }
    };
    struct Entry {
        std::int32_t group, next;
    };

    Csr data_;
    std::int64_t k_, size_ = 0, used_ = 0;  // rows of the tour; items in use are numbered below used_
    std::vector<std::int32_t> places_, touched_, items_, holders_, chain_, taken_;
    std::vector<std::int64_t> added_, seen_, starts_, losses_, firsts_, ahead_, chosen_, center_sizes_, distances_;
    std::vector<Candidate> by_loss_;
    std::vector<Entry> entries_;
};

}  // namespace

// Groups the tours loops[bounds[s] … bounds[s + 1]); groups are numbered through all of them.
WindowGroups window_groups(const Csr& data, const std::int64_t* loops, const std::int64_t* bounds,
                           std::int64_t segments, std::int64_t vocabulary, std::int64_t k, int threads,
                           Monitor& monitor) {
    WindowGroups out{std::vector<std::int32_t>(data.rows), std::vector<std::uint8_t>(data.rows), 0};
    std::vector<WindowGrouper> workers(thread_count(threads), WindowGrouper(data, vocabulary, k));
    std::vector<std::int32_t> first(segments + 1, 0);
    parallel_for(segments, threads, monitor, [&](std::int64_t segment, int worker) {
        const std::int64_t size = bounds[segment + 1] - bounds[segment];
        first[segment + 1] = workers[worker].solve(loops + bounds[segment], size, out.group.data(), out.voters.data());
        monitor.advance(size - 1);
    });
    for (std::int64_t segment = 0; segment < segments; ++segment) {
        first[segment + 1] += first[segment];
        for (std::int64_t i = bounds[segment]; i < bounds[segment + 1]; ++i) out.group[loops[i]] += first[segment];
    }
    out.groups = first[segments];
    return out;
}

}  // namespace anonset::pta
