#include "pta/baseline.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/random.hpp"
#include "core/rows.hpp"
#include "pta/api.hpp"

namespace anonset::pta {

// Selection sampling, Knuth's algorithm S.
std::vector<std::int64_t> draw_segments(std::int64_t segments, std::int64_t wanted, std::uint64_t seed) {
    Random random(seed, 0);
    std::vector<std::int64_t> drawn;
    for (std::int64_t s = 0; s < segments && wanted > 0; ++s)
        if (random.below(static_cast<std::uint32_t>(segments - s)) < wanted) drawn.push_back(s), --wanted;
    return drawn;
}

SegmentSample::SegmentSample(const Segments& all, const std::int64_t* drawn, std::int64_t count, Monitor& monitor)
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

void SegmentSample::losses_of_pta(std::int64_t k, std::int64_t* out) const {
    const Csr rows = rows_.view();
    const std::int64_t* starts = starts_.data();
    const auto count = static_cast<std::int64_t>(starts_.size()) - 1;
    std::vector<std::int64_t> all(rows.rows);
    std::iota(all.begin(), all.end(), 0);
    const Tours tours = prim_tours(rows, all.data(), starts, count, n_items_, 1, monitor_);
    const WindowGroups found = window_groups(rows, tours.loops.data(), starts, count, n_items_, k, 1, monitor_);
    const OwnedCsr centers = majority_centers(rows, found.group.data(), nullptr, found.groups, 1, monitor_);
    sum(center_distances(rows, centers.view(), found.group.data(), 1, monitor_), out);
}

void SegmentSample::losses(const std::int32_t* group, const Csr& centers, std::int64_t* out) const {
    std::vector<std::int32_t> own;
    for (const std::int64_t at : places_) own.push_back(group[at]);
    sum(center_distances(rows_.view(), centers, own.data(), 1, monitor_), out);
}

void SegmentSample::sum(const std::vector<std::int64_t>& losses, std::int64_t* out) const {
    for (std::size_t i = 0; i + 1 < starts_.size(); ++i)
        out[i] = std::accumulate(losses.begin() + starts_[i], losses.begin() + starts_[i + 1], std::int64_t{0});
}

BesidePta::BesidePta(const Segments& all, const PtaSample& sample, std::int64_t k, int threads, Monitor& monitor)
    : all_(all),
      sample_(sample),
      k_(k),
      monitor_(monitor),
      tasks_(std::min<std::int64_t>(sample.count, 4 * thread_count(threads))),
      of_pta_(sample.count) {}

void BesidePta::run(std::int64_t task) {
    const std::int64_t from = sample_.count * task / tasks_, to = sample_.count * (task + 1) / tasks_;
    SegmentSample(all_, sample_.drawn + from, to - from, monitor_).losses_of_pta(k_, of_pta_.data() + from);
}

SegmentLosses BesidePta::losses(const std::int32_t* group, const Csr& centers) {
    SegmentLosses out{std::move(of_pta_), std::vector<std::int64_t>(sample_.count)};
    const SegmentSample drawn(all_, sample_.drawn, sample_.count, monitor_);
    drawn.losses(group, centers, out.of_others.data());
    return out;
}

}  // namespace anonset::pta
