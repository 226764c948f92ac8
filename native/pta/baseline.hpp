// The PTA baseline: what PTA's groups and others lose in some segments of rows in Gray order. For methods that promise
// never to be worse than PTA (`crowd`).
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::pta {

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

// A random sample of so many segments, in ascending order; all of them if there are no more. Time: segments.
std::vector<std::int64_t> draw_segments(std::int64_t segments, std::int64_t wanted, std::uint64_t seed);

// Some segments, side by side.
class SegmentSample {
  public:
    SegmentSample(const Segments& all, const std::int64_t* drawn, std::int64_t count, Monitor& monitor);

    // What the groups lose that PTA forms in each segment.
    void losses_of_pta(std::int64_t k, std::int64_t* out) const;

    // What other groups lose there; `group` is that of every row of the database, in Gray order.
    void losses(const std::int32_t* group, const Csr& centers, std::int64_t* out) const;

  private:
    void sum(const std::vector<std::int64_t>& losses, std::int64_t* out) const;

    std::int64_t n_items_;
    Monitor& monitor_;
    std::vector<std::int64_t> places_, starts_{0};
    OwnedCsr rows_;
};

// What PTA's groups lose in a sample of segments, in a few tasks for threads that have nothing else to do.
class BesidePta {
  public:
    BesidePta(const Segments& all, const PtaSample& sample, std::int64_t k, int threads, Monitor& monitor);

    std::int64_t tasks() const { return tasks_; }
    void run(std::int64_t task);

    // Beside what other groups lose there, once all tasks are done.
    SegmentLosses losses(const std::int32_t* group, const Csr& centers);

  private:
    const Segments all_;
    const PtaSample sample_;
    const std::int64_t k_;
    Monitor& monitor_;
    const std::int64_t tasks_;
    std::vector<std::int64_t> of_pta_;
};

}  // namespace anonset::pta

namespace anonset {
using pta::BesidePta, pta::draw_segments, pta::PtaSample, pta::SegmentLosses, pta::Segments, pta::SegmentSample;
}  // namespace anonset
