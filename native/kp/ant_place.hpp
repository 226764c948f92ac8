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
#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "kp/shares.hpp"

namespace anonset {

// Finds the nearest groups among some that follow each other.
class NearestGroups {
  public:
    static constexpr std::size_t kFew = 8;
    using Near = std::pair<std::int32_t, std::int32_t>;  // distance, group

    NearestGroups(const Csr& rows, const Csr& centers, std::int64_t codes, std::int32_t from, std::int32_t to)
        : rows_(rows), centers_(centers), from_(from), to_(to), words_((codes + 63) / 64) {
        // A row meets as many entries of the lists below as centers share a code with it on average.
        const auto count = static_cast<double>(to - from);
        const double mean =
            static_cast<double>(rows.offsets[rows.rows]) / static_cast<double>(std::max<std::int64_t>(1, rows.rows));
        const double entries = mean * static_cast<double>(centers.offsets[to] - centers.offsets[from]) /
                               static_cast<double>(std::max<std::int64_t>(1, codes));
        dense_ = count * static_cast<double>(words_) < 2 * entries + count;
        for (std::int32_t g = from; g < to; ++g) length_.push_back(static_cast<std::int32_t>(centers.size(g)));
        dense_ ? load_bitmaps() : load_lists(codes);
    }

    std::int32_t from() const { return from_; }
    std::int32_t size() const { return to_ - from_; }

    // The nearest few groups, ties by number. One `room` per thread; it is left as it was.
    std::vector<Near> few(std::int32_t row, std::vector<std::int32_t>& room) const {
        if (!dense_) return few_by_lists(row, room);
        std::vector<Near> best;
        measure(row, room);
        for (std::int32_t g = from_; g < to_; ++g) insert(best, {room[g - from_], g});
        return best;
    }

    // The distance of a row to every center.
    void measure(std::int32_t row, std::vector<std::int32_t>& distance) const {
        std::vector<std::uint32_t> shared(size(), 0);
        if (dense_) {
            std::vector<std::uint64_t> bits(std::max<std::int64_t>(1, words_), 0);
            set_bits(rows_, row, bits.data());
            shared_bits(bits.data(), bits_.data(), words_, size(), shared.data());
        } else {
            for (const std::int32_t* code = rows_.begin(row); code != rows_.end(row); ++code)
                for (std::int64_t at = begin_[*code]; at < begin_[*code + 1]; ++at) ++shared[holders_[at]];
        }
        distance.resize(size());
        for (std::int32_t i = 0; i < size(); ++i)
            distance[i] = length(row) + length_[i] - 2 * static_cast<std::int32_t>(shared[i]);
    }

  private:
    std::int32_t length(std::int32_t row) const { return static_cast<std::int32_t>(rows_.size(row)); }

    void set_bits(const Csr& from, std::int64_t row, std::uint64_t* bits) const {
        for (const std::int32_t* code = from.begin(row); code != from.end(row); ++code)
            bits[*code >> 6] |= std::uint64_t{1} << (*code & 63);
    }

    void load_bitmaps() {
        bits_.assign(size() * words_, 0);
        for (std::int32_t i = 0; i < size(); ++i) set_bits(centers_, from_ + i, &bits_[i * words_]);
    }

    // For each code the centers that hold it, and all centers by their size.
    void load_lists(std::int64_t codes) {
        begin_.assign(codes + 1, 0);
        for (const std::int32_t* code = centers_.begin(from_); code != centers_.begin(to_); ++code) ++begin_[*code + 1];
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        holders_.resize(begin_.back());
        std::vector<std::int64_t> end(begin_.begin(), begin_.end() - 1);
        for (std::int32_t i = 0; i < size(); ++i)
            for (const std::int32_t* code = centers_.begin(from_ + i); code != centers_.end(from_ + i); ++code)
                holders_[end[*code]++] = i;
        by_size_.resize(size());
        std::iota(by_size_.begin(), by_size_.end(), 0);
        std::stable_sort(by_size_.begin(), by_size_.end(),
                         [&](std::int32_t a, std::int32_t b) { return length_[a] < length_[b]; });
    }

    static void insert(std::vector<Near>& best, Near entry) {
        if (best.size() == kFew && entry >= best.back()) return;
        if (best.size() == kFew) best.pop_back();
        best.insert(std::upper_bound(best.begin(), best.end(), entry), entry);
    }

    // Without looking at every group: those that share a code with the row, and of the others the smallest.
    std::vector<Near> few_by_lists(std::int32_t row, std::vector<std::int32_t>& shared) const {
        shared.resize(size(), 0);
        std::size_t most = 1, count = 0;
        for (const std::int32_t* code = rows_.begin(row); code != rows_.end(row); ++code)
            most += begin_[*code + 1] - begin_[*code];
        std::vector<std::int32_t> touched(most);
        for (const std::int32_t* code = rows_.begin(row); code != rows_.end(row); ++code)
            for (std::int64_t at = begin_[*code]; at < begin_[*code + 1]; ++at) {
                touched[count] = holders_[at];  // kept if it is new; a branch would be guessed wrong too often
                count += shared[holders_[at]]++ == 0;
            }
        touched.resize(count);
        std::vector<Near> best;
        std::int32_t limit = INT32_MAX;  // the distance of the last of them
        for (const std::int32_t i : touched) {
            const std::int32_t distance = length(row) + length_[i] - 2 * shared[i];
            if (distance > limit) continue;
            insert(best, {distance, from_ + i});
            if (best.size() == kFew) limit = best.back().first;
        }
        for (const std::int32_t i : by_size_) {
            const Near entry{length(row) + length_[i], from_ + i};
            if (best.size() == kFew && entry >= best.back()) break;  // and so are all that follow
            if (shared[i] == 0) insert(best, entry);
        }
        for (const std::int32_t i : touched) shared[i] = 0;
        return best;
    }

    const Csr rows_, centers_;
    std::int32_t from_, to_;
    std::int64_t words_;
    bool dense_ = false;
    std::vector<std::uint64_t> bits_;
    std::vector<std::int64_t> begin_;
    std::vector<std::int32_t> length_, holders_, by_size_;  // of the centers
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
    void place(std::vector<LeftPart> parts, int threads, Monitor& monitor) {
        std::vector<std::int32_t> stuck;
        for (LeftPart& part : parts) {
            sort(part.left);
            join_all(part, stuck, threads, monitor);
        }
        if (stuck.empty()) return;
        sort(stuck);
        const NearestGroups all(rows_, centers_, codes_, 0, static_cast<std::int32_t>(centers_.rows));
        std::vector<std::int32_t> distance;
        for (std::size_t i = 0; i < stuck.size(); ++i) {
            monitor.check();
            if (join_any(stuck[i], all, distance)) continue;
            if (!merge_around(stuck[i], distance)) return all_in_one(stuck, i);
        }
    }

  private:
    using Near = NearestGroups::Near;

    void sort(std::vector<std::int32_t>& rows) const {
        std::sort(rows.begin(), rows.end(),
                  [&](std::int32_t a, std::int32_t b) { return place_ ? place_[a] < place_[b] : a < b; });
    }

    void join_all(const LeftPart& part, std::vector<std::int32_t>& stuck, int threads, Monitor& monitor) {
        const NearestGroups groups(rows_, centers_, codes_, part.from, part.to);
        std::vector<std::vector<Near>> nearest(part.left.size());
        std::vector<std::vector<std::int32_t>> rooms(thread_count(threads));
        parallel_for(
            static_cast<std::int64_t>(part.left.size()), threads, monitor,
            [&](std::int64_t i, int worker) { nearest[i] = groups.few(part.left[i], rooms[worker]); }, 16);
        std::vector<std::int32_t> distance;
        for (std::size_t i = 0; i < part.left.size(); ++i) {
            monitor.check();
            if (!join_one_of(part.left[i], nearest[i]) && !join_any(part.left[i], groups, distance))
                stuck.push_back(part.left[i]);
        }
    }

    bool join_one_of(std::int32_t row, const std::vector<Near>& nearest) {
        for (const Near& near : nearest)
            if (groups_.alive(near.second) && groups_.admits(row, near.second))
                return groups_.join(row, near.second), true;
        return false;
    }

    bool join_any(std::int32_t row, const NearestGroups& groups, std::vector<std::int32_t>& distance) {
        groups.measure(row, distance);
        std::int32_t best = -1;
        for (std::int32_t i = 0; i < groups.size(); ++i)
            if ((best < 0 || distance[i] < distance[best]) && groups_.alive(groups.from() + i) &&
                groups_.admits(row, groups.from() + i))
                best = i;
        if (best >= 0) groups_.join(row, groups.from() + best);
        return best >= 0;
    }

    // The nearest group takes in others, nearest first, that lower what is too frequent, until it admits the row.
    bool merge_around(std::int32_t row, const std::vector<std::int32_t>& distance) {
        std::vector<Near> order;
        for (std::int32_t g = 0; g < centers_.rows; ++g)
            if (groups_.alive(g)) order.emplace_back(distance[g], g);
        std::sort(order.begin(), order.end());
        std::int32_t host = -1;
        for (const Near& near : order) {
            if (!relieves(row, near.second, host)) continue;
            if (host < 0)
                host = near.second;
            else
                groups_.merge(near.second, host);
            if (groups_.admits(row, host)) return groups_.join(row, host), true;
        }
        return false;
    }

    // Whether a group has room below the limit for a sensitive attribute of the row that the host lacks room for.
    bool relieves(std::int32_t row, std::int32_t g, std::int32_t host) {
        const Csr& secret = groups_.secret();
        for (const std::int32_t* a = secret.begin(row); a != secret.end(row); ++a) {
            const auto size = static_cast<std::int64_t>(groups_.members(g).size());
            const bool wanted =
                host < 0 || !groups_.limit().allows(groups_.holders_of(host, *a) + 1,
                                                    static_cast<std::int64_t>(groups_.members(host).size()) + 1);
            const std::int64_t room =
                groups_.limit().numerator * size - groups_.limit().denominator * groups_.holders_of(g, *a);
            if (wanted && room > 0) return true;
        }
        return false;
    }

    // No groups can be merged any more to take the row: everybody is in one group, which keeps the limit.
    void all_in_one(const std::vector<std::int32_t>& stuck, std::size_t from) {
        std::vector<std::int32_t> rest(stuck.begin() + static_cast<std::ptrdiff_t>(from), stuck.end());
        const std::int32_t host = groups_.found(std::move(rest));
        for (std::int32_t g = 0; g < host; ++g) groups_.merge(g, host);
    }

    const Csr rows_;
    const std::int64_t* place_;
    ShareGroups& groups_;
    const Csr centers_;
    std::int64_t codes_;
};

}  // namespace anonset
