// Windows of k neighbours on a closed tour, and groups made of them (Lin et al., "PTA", Algorithms 2 and 3).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "csr.hpp"
#include "monitor.hpp"

namespace anonset {

struct WindowGroups {
    std::vector<std::int32_t> group;   // of each row
    std::vector<std::uint8_t> voters;  // 1 for the rows of the windows, 0 for the leftovers that joined them
    std::int32_t groups = 0;
};

// One per thread: the tables over the vocabulary are cleared only where they were touched.
class WindowGrouper {
  public:
    WindowGrouper(const Csr& data, std::int64_t vocabulary, std::int64_t k)
        : data_(data), k_(k), count_(vocabulary, 0), centers_(vocabulary) {}

    // Groups the rows of one tour; group[row] counts from 0. Returns the number of groups.
    std::int32_t solve(const std::int64_t* loop, std::int64_t size, std::int32_t* group, std::uint8_t* voters) {
        loop_ = loop;
        size_ = size;
        measure_losses();
        choose_windows();
        const std::int32_t groups = take_windows(group, voters);
        join_leftovers(groups, group, voters);
        return groups;
    }

  private:
    std::int64_t row(std::int64_t position) const { return loop_[(position % size_ + size_) % size_]; }

    // The loss of each window of k rows by its first position, in the gain form: the items of its rows, less
    // max(0, 2c − k) for every item that c of them hold. Moving on by one position changes two rows.
    void measure_losses() {
        losses_.resize(size_);
        loss_ = 0;
        for (std::int64_t i = 0; i < k_; ++i) enter(row(i));
        for (std::int64_t first = 0; first < size_; ++first) {
            losses_[first] = loss_;
            leave(row(first));
            enter(row(first + k_));
        }
        for (std::int64_t i = 0; i < k_; ++i) leave(row(i));
    }

    void enter(std::int64_t row) {
        for (const std::int32_t* item = data_.begin(row); item != data_.end(row); ++item)
            loss_ += 1 - gain_step(count_[*item]++);
    }
    void leave(std::int64_t row) {
        for (const std::int32_t* item = data_.begin(row); item != data_.end(row); ++item)
            loss_ -= 1 - gain_step(--count_[*item]);
    }
    // How much max(0, 2c − k) grows from c to c + 1.
    std::int64_t gain_step(std::int64_t c) const {
        return std::max<std::int64_t>(0, 2 * c + 2 - k_) - std::max<std::int64_t>(0, 2 * c - k_);
    }

    // Around each position the window of Algorithm 2: k // 2 rows to either side; for an even k one too many,
    // so the outermost row on the farther side stays out (on the left if both are as far).
    void choose_windows() {
        const std::int64_t range = k_ / 2;
        firsts_.resize(size_);
        if (k_ % 2 == 0) {
            ahead_.resize(size_);
            for (std::int64_t i = 0; i < size_; ++i) ahead_[i] = distance(row(i), row(i + range));
        }
        for (std::int64_t i = 0; i < size_; ++i) {
            const std::int64_t left = (i - range % size_ + size_) % size_;
            const bool shorten_left = k_ % 2 == 0 && !(ahead_[left] < ahead_[i]);
            firsts_[i] = (left + (shorten_left ? 1 : 0)) % size_;
        }
    }

    std::int64_t distance(std::int64_t a, std::int64_t b) const {
        const std::int32_t *x = data_.begin(a), *x_end = data_.end(a), *y = data_.begin(b), *y_end = data_.end(b);
        std::int64_t shared = 0;
        while (x != x_end && y != y_end) {
            const std::int32_t left = *x, right = *y;
            shared += left == right;
            x += left <= right;
            y += right <= left;
        }
        return data_.size(a) + data_.size(b) - 2 * shared;
    }

    // Disjoint windows by ascending loss, ties to the lowest position. All windows are k long, so one that
    // meets a taken window has its first or its last position in it.
    std::int32_t take_windows(std::int32_t* group, std::uint8_t* voters) {
        by_loss_.resize(size_);
        std::iota(by_loss_.begin(), by_loss_.end(), 0);
        std::stable_sort(by_loss_.begin(), by_loss_.end(),
                         [&](std::int64_t a, std::int64_t b) { return losses_[firsts_[a]] < losses_[firsts_[b]]; });
        for (std::int64_t i = 0; i < size_; ++i) voters[loop_[i]] = 0;
        chosen_.clear();
        for (const std::int64_t i : by_loss_) {
            if (voters[row(firsts_[i])] || voters[row(firsts_[i] + k_ - 1)]) continue;
            for (std::int64_t j = 0; j < k_; ++j) {
                voters[row(firsts_[i] + j)] = 1;
                group[row(firsts_[i] + j)] = static_cast<std::int32_t>(chosen_.size());
            }
            chosen_.push_back(firsts_[i]);
        }
        return static_cast<std::int32_t>(chosen_.size());
    }

    // Every row outside the windows joins the nearest center as the windows voted it, ties to the first
    // group.
    void join_leftovers(std::int32_t groups, std::int32_t* group, const std::uint8_t* voters) {
        vote_centers(groups);
        for (std::int64_t i = 0; i < size_; ++i) {
            const std::int64_t left = loop_[i];
            if (voters[left]) continue;
            shared_.assign(groups, 0);
            for (const std::int32_t* item = data_.begin(left); item != data_.end(left); ++item)
                for (const std::int32_t g : centers_[*item]) ++shared_[g];
            std::int64_t best = std::numeric_limits<std::int64_t>::max();
            for (std::int32_t g = 0; g < groups; ++g) {
                const std::int64_t far = center_size_[g] - 2 * shared_[g];  // + the row's own size
                if (far < best) best = far, group[left] = g;
            }
        }
        for (const std::int32_t item : touched_) centers_[item].clear();
    }

    // For every item the groups whose center holds it.
    void vote_centers(std::int32_t groups) {
        touched_.clear();
        center_size_.assign(groups, 0);
        for (std::int32_t g = 0; g < groups; ++g) {
            for (std::int64_t j = 0; j < k_; ++j) vote(row(chosen_[g] + j), 1);
            for (std::int64_t j = 0; j < k_; ++j) collect(row(chosen_[g] + j), g);
        }
    }
    void vote(std::int64_t row, std::int32_t weight) {
        for (const std::int32_t* item = data_.begin(row); item != data_.end(row); ++item) count_[*item] += weight;
    }
    // Counts are set back while they are read, so an item is collected once.
    void collect(std::int64_t row, std::int32_t g) {
        for (const std::int32_t* item = data_.begin(row); item != data_.end(row); ++item) {
            if (2 * std::int64_t{count_[*item]} > k_) {
                centers_[*item].push_back(g);
                touched_.push_back(*item);
                ++center_size_[g];
            }
            count_[*item] = 0;
        }
    }

    Csr data_;
    std::int64_t k_;
    const std::int64_t* loop_ = nullptr;
    std::int64_t size_ = 0, loss_ = 0;
    std::vector<std::int32_t> count_, touched_;
    std::vector<std::vector<std::int32_t>> centers_;
    std::vector<std::int64_t> losses_, firsts_, ahead_, by_loss_, chosen_, center_size_, shared_;
};

// Groups the tours loops[bounds[s] … bounds[s + 1]), each at least k long; groups are numbered through all of
// them.
inline WindowGroups window_groups(const Csr& data, const std::int64_t* loops, const std::int64_t* bounds,
                                  std::int64_t segments, std::int64_t vocabulary, std::int64_t k, int threads,
                                  Monitor& monitor) {
    WindowGroups out{std::vector<std::int32_t>(data.rows), std::vector<std::uint8_t>(data.rows), 0};
    std::vector<WindowGrouper> workers(thread_count(threads), WindowGrouper(data, vocabulary, k));
    std::vector<std::int32_t> first(segments + 1, 0);
    parallel_for(segments, threads, monitor, [&](std::int64_t segment, int worker) {
        const std::int64_t size = bounds[segment + 1] - bounds[segment];
        first[segment + 1] = workers[worker].solve(loops + bounds[segment], size, out.group.data(), out.voters.data());
    });
    for (std::int64_t segment = 0; segment < segments; ++segment) {
        first[segment + 1] += first[segment];
        for (std::int64_t i = bounds[segment]; i < bounds[segment + 1]; ++i) out.group[loops[i]] += first[segment];
    }
    out.groups = first[segments];
    return out;
}

}  // namespace anonset
