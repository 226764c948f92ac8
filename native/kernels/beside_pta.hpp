// What PTA's groups and others lose in some segments of rows in Gray order: `order`, or as they are if that is null.
// The groups belong to the rows in that order.
#pragma once

#include <numeric>

#include "rows.hpp"
#include "tour.hpp"
#include "windows.hpp"

namespace anonset {

struct SegmentLosses {
    std::vector<std::int64_t> of_pta, of_others;
};

class BesidePta {
  public:
    BesidePta(const Csr& data, const std::int64_t* order, std::int64_t n_items, const std::int64_t* bounds,
              std::int64_t k, const std::int32_t* group, const Csr& centers, Monitor& monitor)
        : data_(data),
          order_(order),
          n_items_(n_items),
          bounds_(bounds),
          k_(k),
          group_(group),
          centers_(centers),
          monitor_(monitor) {}

    // Segment `drawn[i]` holds the rows from bounds[drawn[i]] on.
    SegmentLosses losses(const std::int64_t* drawn, std::int64_t count, int threads) {
        SegmentLosses out{std::vector<std::int64_t>(count), std::vector<std::int64_t>(count)};
        const std::int64_t tasks = std::min<std::int64_t>(count, 2 * thread_count(threads));
        parallel_for(tasks, threads, monitor_, [&](std::int64_t task, int) {
            const std::int64_t from = count * task / tasks, to = count * (task + 1) / tasks;
            compare(drawn + from, to - from, out.of_pta.data() + from, out.of_others.data() + from);
        });
        return out;
    }

  private:
    void compare(const std::int64_t* drawn, std::int64_t count, std::int64_t* of_pta, std::int64_t* of_others) const {
        std::vector<std::int64_t> rows, starts{0};
        std::vector<std::int32_t> own;
        for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t row = bounds_[drawn[i]]; row < bounds_[drawn[i] + 1]; ++row) {
                rows.push_back(order_ ? order_[row] : row);
                own.push_back(group_[row]);
            }
            starts.push_back(static_cast<std::int64_t>(rows.size()));
        }
        const OwnedCsr taken = take_rows(data_, rows.data(), starts.back(), 1, monitor_);
        const Csr part = taken.view();
        std::iota(rows.begin(), rows.end(), 0);
        const Tours tours = SegmentTours(part, rows.data(), starts.data(), count, n_items_, 1, monitor_).solve();
        const WindowGroups found =
            window_groups(part, tours.loops.data(), starts.data(), count, n_items_, k_, 1, monitor_);
        const OwnedCsr published = majority_centers(part, found.group.data(), nullptr, found.groups, 1, monitor_);
        sum(center_distances(part, published.view(), found.group.data(), 1, monitor_), starts, of_pta);
        sum(center_distances(part, centers_, own.data(), 1, monitor_), starts, of_others);
    }

    static void sum(const std::vector<std::int64_t>& losses, const std::vector<std::int64_t>& starts,
                    std::int64_t* out) {
        for (std::size_t i = 0; i + 1 < starts.size(); ++i)
            out[i] = std::accumulate(losses.begin() + starts[i], losses.begin() + starts[i + 1], std::int64_t{0});
    }

    const Csr data_;
    const std::int64_t* order_;
    std::int64_t n_items_;
    const std::int64_t* bounds_;
    std::int64_t k_;
    const std::int32_t* group_;
    const Csr centers_;
    Monitor& monitor_;
};

}  // namespace anonset
