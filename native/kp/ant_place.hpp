// Rows without a group: each joins the nearest group that can take it; where none can, groups are merged around it.
//
// To find the nearest group a row meets all that share a code with it, so the time would grow with the square of the
// number of groups. Where there are very many, a row therefore looks among those of its own part of the clusters first,
// and among all only if none of these can take it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/transpose.hpp"
#include "kp/shares.hpp"

namespace anonset::kp {

// Finds the nearest groups among some that follow each other.
class NearestGroups {
  public:
    static constexpr std::size_t NEAREST_KEPT = 8;
    using Near = std::pair<std::int32_t, std::int32_t>;  // distance, group

    NearestGroups(const Csr& rows, const Csr& centers, std::int64_t codes, std::int32_t from, std::int32_t to);

    std::int32_t from() const { return from_; }
    std::int32_t size() const { return to_ - from_; }

    // The nearest few groups, ties by number. One `room` per thread; it is left as it was.
    std::vector<Near> few(std::int32_t row, std::vector<std::int32_t>& room) const;

    // The distance of a row to every center.
    void measure(std::int32_t row, std::vector<std::int32_t>& distance) const;

  private:
    std::int32_t length(std::int32_t row) const { return static_cast<std::int32_t>(rows_.size(row)); }

    void set_bits(const Csr& from, std::int64_t row, std::uint64_t* bits) const;

    void load_bitmaps();

    // For each code the centers that hold it, and all centers by their size.
    void load_lists(std::int64_t codes);

    static void insert(std::vector<Near>& best, Near entry);

    // Without looking at every group: those that share a code with the row, and of the others the smallest.
    std::vector<Near> few_by_lists(std::int32_t row, std::vector<std::int32_t>& shared) const;

    const Csr rows_, centers_;
    std::int32_t from_, to_;
    std::int64_t words_;
    bool dense_ = false;
    std::vector<std::uint64_t> bits_;
    Transposed<> holders_;                        // of each code: the centers that hold it
    std::vector<std::int32_t> length_, by_size_;  // of the centers
};

// Groups that follow each other, and rows that look among them first.
struct LeftPart {
    std::int32_t from, to;
    std::vector<std::int32_t> left;
};

class LeftoverPlacer {
  public:
    // `place` is that of each row in the order in which rows get their turn; none: they come as they are numbered.
    LeftoverPlacer(const Csr& rows, const std::int64_t* place, ShareGroups& groups, const Csr& centers,
                   std::int64_t codes)
        : rows_(rows), place_(place), groups_(groups), centers_(centers), codes_(codes) {}

    // Each joins the nearest group that admits it, or groups are merged around it.
    void place(std::vector<LeftPart> parts, int threads, Monitor& monitor);

  private:
    using Near = NearestGroups::Near;

    void sort(std::vector<std::int32_t>& rows) const;

    void join_all(const LeftPart& part, std::vector<std::int32_t>& stuck, int threads, Monitor& monitor);

    bool join_one_of(std::int32_t row, const std::vector<Near>& nearest);

    bool join_any(std::int32_t row, const NearestGroups& groups, std::vector<std::int32_t>& distance);

    // The nearest group takes in others, nearest first, that lower what is too frequent, until it admits the row.
    bool merge_around(std::int32_t row, const std::vector<std::int32_t>& distance);

    // Whether a group has room below the limit for a sensitive attribute of the row that the host lacks room for.
    bool relieves(std::int32_t row, std::int32_t g, std::int32_t host);

    // No groups can be merged any more to take the row: everybody is in one group, which keeps the limit.
    void all_in_one(const std::vector<std::int32_t>& stuck, std::size_t from);

    const Csr rows_;
    const std::int64_t* place_;
    ShareGroups& groups_;
    const Csr centers_;
    std::int64_t codes_;
};

}  // namespace anonset::kp
