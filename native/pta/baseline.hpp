// What PTA's groups and others lose in some segments of rows in Gray order.
#pragma once

#include <numeric>

#include "core/random.hpp"
#include "core/rows.hpp"
#include "pta/tour.hpp"
#include "pta/windows.hpp"

namespace anonset {

struct SegmentLosses {
    std::vector<std::int64_t> of_pta, of_others;
};

// Segment s of a database: the rows from bounds[s] on, in Gray order: `order`, or as they lie if that is null.
struct Segments {
    const Csr data;
    const std::int64_t* order;
    std::int64_t n_items;
    const std::int64_t* bounds;
};

// Segments in which PTA's losses are wanted as well; none if `count` is 0.
struct PtaSample {
    const std::int64_t *bounds, *drawn;
    std::int64_t count;
};

// A random sample of so many segments, in ascending order (selection sampling, Knuth's algorithm S).
inline std::vector<std::int64_t> draw_segments(std::int64_t segments, std::int64_t wanted, std::uint64_t seed) {
    Random random(seed, 0);
    std::vector<std::int64_t> drawn;
    for (std::int64_t s = 0; s < segments && wanted > 0; ++s)
        if (random.below(static_cast<std::uint32_t>(segments - s)) < wanted) drawn.push_back(s), --wanted;
    return drawn;
}

// Some segments, side by side.
class SegmentSample {
  public:
    SegmentSample(const Segments& all, const std::int64_t* drawn, std::int64_t count, Monitor& monitor)
        : n_items_(all.n_items), monitor_(monitor) {
        for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t at = all.bounds[drawn[i]]; at < all.bounds[drawn[i] + 1]; ++at) places_.push_back(at);
            starts_.push_back(static_cast<std::int64_t>(places_.size()));
        }
        std::vector<std::int64_t> rows(places_);
        if (all.order)
            for (std::int64_t& row : rows) row = all.order[row];
        rows_ = take_rows(all.data, rows.data(), starts_.back(), 1, monitor);
    }

    // What the groups lose that PTA forms in each segment.
    void losses_of_pta(std::int64_t k, std::int64_t* out) const {
        const Csr rows = rows_.view();
        const std::int64_t* starts = starts_.data();
        const auto count = static_cast<std::int64_t>(starts_.size()) - 1;
        std::vector<std::int64_t> all(rows.rows);
        std::iota(all.begin(), all.end(), 0);
        const Tours tours = SegmentTours(rows, all.data(), starts, count, n_items_, 1, monitor_).solve();
        const WindowGroups found = window_groups(rows, tours.loops.data(), starts, count, n_items_, k, 1, monitor_);
        const OwnedCsr centers = majority_centers(rows, found.group.data(), nullptr, found.groups, 1, monitor_);
        sum(center_distances(rows, centers.view(), found.group.data(), 1, monitor_), out);
    }

    // What other groups lose there; `group` is that of every row of the database, in Gray order.
    void losses(const std::int32_t* group, const Csr& centers, std::int64_t* out) const {
        std::vector<std::int32_t> own;
        for (const std::int64_t at : places_) own.push_back(group[at]);
        sum(center_distances(rows_.view(), centers, own.data(), 1, monitor_), out);
    }

  private:
    void sum(const std::vector<std::int64_t>& losses, std::int64_t* out) const {
        for (std::size_t i = 0; i + 1 < starts_.size(); ++i)
            out[i] = std::accumulate(losses.begin() + starts_[i], losses.begin() + starts_[i + 1], std::int64_t{0});
    }

    std::int64_t n_items_;
    Monitor& monitor_;
    std::vector<std::int64_t> places_, starts_{0};
    OwnedCsr rows_;
};

// What PTA's groups lose in a sample of segments, in a few tasks for threads that have nothing else to do.
class BesidePta {
  public:
    BesidePta(const Segments& all, const PtaSample& sample, std::int64_t k, int threads, Monitor& monitor)
        : all_(all),
          sample_(sample),
          k_(k),
          monitor_(monitor),
          tasks_(std::min<std::int64_t>(sample.count, 4 * thread_count(threads))),
          of_pta_(sample.count) {}

    std::int64_t tasks() const { return tasks_; }
    void run(std::int64_t task) {
        const std::int64_t from = sample_.count * task / tasks_, to = sample_.count * (task + 1) / tasks_;
        SegmentSample(all_, sample_.drawn + from, to - from, monitor_).losses_of_pta(k_, of_pta_.data() + from);
    }

    // Beside what other groups lose there, once all tasks are done.
    SegmentLosses losses(const std::int32_t* group, const Csr& centers) {
        SegmentLosses out{std::move(of_pta_), std::vector<std::int64_t>(sample_.count)};
        const SegmentSample drawn(all_, sample_.drawn, sample_.count, monitor_);
        drawn.losses(group, centers, out.of_others.data());
        return out;
    }

  private:
    const Segments all_;
    const PtaSample sample_;
    const std::int64_t k_;
    Monitor& monitor_;
    const std::int64_t tasks_;
    std::vector<std::int64_t> of_pta_;
};

}  // namespace anonset
