// ANT: inside a cluster groups of k are filled nearest first, as long as no sensitive attribute becomes too frequent.
// What that leaves over is placed in the nearest group that can take it; where none can, groups are merged.
//
// B. Zhang et al., "A (k, p)-anonymity framework to sanitize transactional database with personalized sensitivity",
// Algorithm 1. Precondition: over all rows every sensitive attribute keeps the limit, and there are at least k rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "bitmap.hpp"
#include "csr.hpp"
#include "monitor.hpp"
#include "shares.hpp"

namespace anonset {

struct Filled {
    std::vector<std::vector<std::int32_t>> groups;
    std::vector<std::int32_t> left;
};

// Fills the groups of one cluster after the other; one object per thread.
class ClusterFiller {
  public:
    ClusterFiller(const Csr& rows, const Csr& secret, std::int64_t codes, std::int32_t attributes, std::int64_t k,
                  ShareLimit limit)
        : rows_(rows), secret_(secret), k_(k), limit_(limit), shared_items_(codes), held_(attributes, 0) {}

    // `members` ascending, `center` in unary code.
    void fill(const std::vector<std::int32_t>& members, const std::int32_t* center, const std::int32_t* center_end,
              Filled& out, Monitor& monitor) {
        order_by_distance(members, center, center_end);
        load();
        std::size_t first = 0;  // where in live_ the next seed is
        std::int64_t gone = 0;  // how many of live_ are taken
        while (static_cast<std::int64_t>(live_.size()) - gone >= k_) {
            monitor.check();
            const std::int32_t seed = live_[first];
            const std::size_t before = out.groups.size();
            if (may_join(segment_[seed]) && gather(seed)) {
                out.groups.push_back(group_);
            } else {
                out.left.push_back(static_cast<std::int32_t>(segment_[seed]));
                taken_[seed] = 1;
            }
            gone += out.groups.size() > before ? k_ : 1;
            while (first < live_.size() && taken_[live_[first]]) ++first;
            if (4 * gone > static_cast<std::int64_t>(live_.size())) {
                forget_taken(live_);
                forget_taken(by_row_);
                first = 0, gone = 0;
            }
            if (gone == 0 && 2 * live_.size() < segment_.size() && static_cast<std::int64_t>(live_.size()) >= k_)
                reload();
        }
        forget_taken(live_);
        for (const std::int32_t p : live_) out.left.push_back(static_cast<std::int32_t>(segment_[p]));
    }

  private:
    void order_by_distance(const std::vector<std::int32_t>& members, const std::int32_t* center,
                           const std::int32_t* center_end) {
        std::vector<std::pair<std::int64_t, std::int32_t>> keys;
        for (const std::int32_t row : members) {
            std::int64_t shared = 0;
            const std::int32_t *a = rows_.begin(row), *b = center;
            while (a != rows_.end(row) && b != center_end) {
                shared += *a == *b;
                const bool step_a = *a <= *b, step_b = *b <= *a;
                a += step_a, b += step_b;
            }
            keys.emplace_back(rows_.size(row) + (center_end - center) - 2 * shared, row);
        }
        std::sort(keys.begin(), keys.end());
        segment_.clear();
        for (const auto& key : keys) segment_.push_back(key.second);
    }

    void load() {
        const auto size = static_cast<std::int64_t>(segment_.size());
        if (size >= k_) shared_items_.load(rows_, segment_.data(), size);
        shared_.resize(size), length_.resize(size);
        std::int32_t longest = 0;
        for (std::int64_t p = 0; p < size; ++p) {
            length_[p] = static_cast<std::int32_t>(rows_.size(segment_[p]));
            longest = std::max(longest, length_[p]);
        }
        at_distance_.resize(2 * std::size_t(longest) + 2);
        taken_.assign(size, 0);
        live_.resize(size);
        std::iota(live_.begin(), live_.end(), 0);
        by_row_ = live_;
        std::sort(by_row_.begin(), by_row_.end(),
                  [&](std::int32_t a, std::int32_t b) { return segment_[a] < segment_[b]; });
    }

    void forget_taken(std::vector<std::int32_t>& places) const {
        places.erase(std::remove_if(places.begin(), places.end(), [&](std::int32_t p) { return taken_[p]; }),
                     places.end());
    }

    // Half of the rows are gone: look at the others only.
    void reload() {
        std::vector<std::int64_t> rest;
        for (const std::int32_t p : live_) rest.push_back(segment_[p]);
        segment_.swap(rest);
        load();
    }

    bool may_join(std::int64_t row) const {
        for (const std::int32_t* a = secret_.begin(row); a != secret_.end(row); ++a)
            if (!limit_.allows(held_[*a] + 1, k_)) return false;
        return true;
    }

    void add(std::int32_t p, std::int32_t sign) {
        for (const std::int32_t* a = secret_.begin(segment_[p]); a != secret_.end(segment_[p]); ++a) held_[*a] += sign;
    }

    // The seed and the k - 1 nearest rows that may join; false where there are not so many.
    bool gather(std::int32_t seed) {
        shared_items_.row(seed, shared_.data());
        measure(seed);
        chosen_.assign(1, seed);
        add(seed, 1);
        std::int32_t beyond = -1;  // rows up to this distance were looked at
        for (std::size_t some = 2 * k_; static_cast<std::int64_t>(chosen_.size()) < k_; some *= 4) {
            if (!next_candidates(some, beyond)) break;
            for (const std::int32_t p : candidates_) {
                if (!may_join(segment_[p])) continue;
                chosen_.push_back(p);
                add(p, 1);
                if (static_cast<std::int64_t>(chosen_.size()) == k_) break;
            }
        }
        for (const std::int32_t p : chosen_) add(p, -1);
        if (static_cast<std::int64_t>(chosen_.size()) < k_) return false;
        group_.clear();
        for (const std::int32_t p : chosen_) {
            taken_[p] = 1;
            group_.push_back(static_cast<std::int32_t>(segment_[p]));
        }
        return true;
    }

    // The distance of every other row to the seed, and how many there are at each.
    void measure(std::int32_t seed) {
        const auto own = length_[seed];
        std::fill(at_distance_.begin(), at_distance_.end(), 0);
        distance_.resize(by_row_.size());
        for (std::size_t i = 0; i < by_row_.size(); ++i) {
            const std::int32_t p = by_row_[i];
            distance_[i] = own + length_[p] - 2 * static_cast<std::int32_t>(shared_[p]);
            if (taken_[p] || p == seed) distance_[i] = static_cast<std::int32_t>(at_distance_.size()) - 1;
            ++at_distance_[distance_[i]];
        }
    }

    // The next nearest rows, at least `some` of them if there are so many, by distance and then by row: a counting
    // sort.
    bool next_candidates(std::size_t some, std::int32_t& beyond) {
        const auto last = static_cast<std::int32_t>(at_distance_.size()) - 2;  // behind it are those that are gone
        start_.assign(1, 0);
        std::int32_t limit = beyond;
        while (limit < last && static_cast<std::size_t>(start_.back()) < some)
            start_.push_back(start_.back() + at_distance_[++limit]);
        candidates_.resize(start_.back());
        if (candidates_.empty()) return false;
        for (std::size_t i = 0; i < by_row_.size(); ++i)
            if (distance_[i] > beyond && distance_[i] <= limit)
                candidates_[start_[distance_[i] - beyond - 1]++] = by_row_[i];
        beyond = limit;
        return true;
    }

    const Csr rows_, secret_;
    std::int64_t k_;
    ShareLimit limit_;
    SharedItems shared_items_;
    std::vector<std::int32_t> held_;           // how many rows of the present group hold each sensitive attribute
    std::vector<std::int64_t> segment_;        // rows, nearest to the center first; what follows are places in it
    std::vector<std::int32_t> live_, by_row_;  // those without a group: in this order, and in that of their rows
    std::vector<std::int32_t> length_, distance_, at_distance_, start_, candidates_, chosen_, group_;
    std::vector<std::uint32_t> shared_;
    std::vector<char> taken_;
};

// Places rows without a group.
class LeftoverPlacer {
  public:
    LeftoverPlacer(const Csr& rows, ShareGroups& groups, const OwnedCsr& centers, std::int64_t codes)
        : rows_(rows), groups_(groups), centers_(centers.view()), words_((codes + 63) / 64) {
        // A row meets as many entries of the lists below as centers share a code with it on average.
        const double mean =
            static_cast<double>(rows.offsets[rows.rows]) / static_cast<double>(std::max<std::int64_t>(1, rows.rows));
        const double entries =
            mean * static_cast<double>(centers.items.size()) / static_cast<double>(std::max<std::int64_t>(1, codes));
        dense_ = static_cast<double>(centers_.rows * words_) < 2 * entries + static_cast<double>(centers_.rows);
        if (dense_) {
            bits_.assign(centers_.rows * words_, 0);
            for (std::int64_t g = 0; g < centers_.rows; ++g) set_bits(centers_, g, &bits_[g * words_]);
            return;
        }
        holders_.resize(codes);
        for (std::int64_t g = 0; g < centers_.rows; ++g)
            for (const std::int32_t* code = centers_.begin(g); code != centers_.end(g); ++code)
                holders_[*code].push_back(static_cast<std::int32_t>(g));
        by_size_.resize(centers_.rows);
        std::iota(by_size_.begin(), by_size_.end(), 0);
        std::stable_sort(by_size_.begin(), by_size_.end(),
                         [&](std::int32_t a, std::int32_t b) { return centers_.size(a) < centers_.size(b); });
    }

    // Rows in ascending order: each joins the nearest group that admits it, or groups are merged around it.
    void place(std::vector<std::int32_t> left, int threads, Monitor& monitor) {
        std::sort(left.begin(), left.end());
        std::vector<std::vector<Near>> nearest(left.size());
        std::vector<std::vector<std::int32_t>> distances(thread_count(threads)), shared(distances.size());
        parallel_for(
            static_cast<std::int64_t>(left.size()), threads, monitor,
            [&](std::int64_t i, int worker) {
                if (dense_) {
                    measure(left[i], distances[worker]);
                    nearest[i] = few(distances[worker]);
                } else {
                    nearest[i] = few_by_lists(left[i], shared[worker]);
                }
            },
            16);
        std::vector<std::int32_t> stuck;
        for (std::size_t i = 0; i < left.size(); ++i) {
            monitor.check();
            if (!join(left[i], nearest[i], distances[0])) stuck.push_back(left[i]);
        }
        for (std::size_t i = 0; i < stuck.size(); ++i) {
            monitor.check();
            measure(stuck[i], distances[0]);
            if (join(stuck[i], few(distances[0]), distances[0])) continue;
            if (!merge_around(stuck[i], distances[0])) return all_in_one(stuck, i);
        }
    }

  private:
    static constexpr std::size_t kNear = 16;
    using Near = std::pair<std::int32_t, std::int32_t>;  // distance, group

    void set_bits(const Csr& from, std::int64_t row, std::uint64_t* bits) const {
        for (const std::int32_t* code = from.begin(row); code != from.end(row); ++code)
            bits[*code >> 6] |= std::uint64_t{1} << (*code & 63);
    }

    // The distance of a row to every center; those of groups founded later are not known and count as far away.
    void measure(std::int32_t row, std::vector<std::int32_t>& distance) const {
        const std::int64_t count = centers_.rows;
        distance.resize(count);
        std::vector<std::uint32_t> shared(count, 0);
        if (dense_) {
            std::vector<std::uint64_t> bits(std::max<std::int64_t>(1, words_), 0);
            set_bits(rows_, row, bits.data());
            shared_bits(bits.data(), bits_.data(), words_, count, shared.data());
        } else {
            for (const std::int32_t* code = rows_.begin(row); code != rows_.end(row); ++code)
                for (const std::int32_t g : holders_[*code]) ++shared[g];
        }
        for (std::int64_t g = 0; g < count; ++g)
            distance[g] = static_cast<std::int32_t>(rows_.size(row) + centers_.size(g)) -
                          2 * static_cast<std::int32_t>(shared[g]);
    }

    // The nearest groups, ties by number.
    static std::vector<Near> few(const std::vector<std::int32_t>& distance) {
        std::vector<Near> best;
        for (std::size_t g = 0; g < distance.size(); ++g) {
            if (best.size() < kNear || distance[g] < best.back().first)
                insert(best, {distance[g], static_cast<std::int32_t>(g)});
        }
        return best;
    }

    static void insert(std::vector<Near>& best, Near entry) {
        if (best.size() == kNear && entry >= best.back()) return;
        if (best.size() == kNear) best.pop_back();
        best.insert(std::upper_bound(best.begin(), best.end(), entry), entry);
    }

    // The same without looking at every group: those that share a code with the row, and of the others the smallest.
    std::vector<Near> few_by_lists(std::int32_t row, std::vector<std::int32_t>& shared) const {
        shared.resize(centers_.rows, 0);
        std::vector<std::int32_t> touched;
        for (const std::int32_t* code = rows_.begin(row); code != rows_.end(row); ++code)
            for (const std::int32_t g : holders_[*code])
                if (shared[g]++ == 0) touched.push_back(g);
        std::vector<Near> best;
        const auto own = static_cast<std::int32_t>(rows_.size(row));
        for (const std::int32_t g : touched)
            insert(best, {own + static_cast<std::int32_t>(centers_.size(g)) - 2 * shared[g], g});
        for (const std::int32_t g : by_size_) {
            const Near entry{own + static_cast<std::int32_t>(centers_.size(g)), g};
            if (best.size() == kNear && entry.first > best.back().first) break;
            if (shared[g] == 0) insert(best, entry);
        }
        for (const std::int32_t g : touched) shared[g] = 0;
        return best;
    }

    bool join(std::int32_t row, const std::vector<Near>& nearest, std::vector<std::int32_t>& distance) {
        for (const Near& near : nearest)
            if (groups_.alive(near.second) && groups_.admits(row, near.second))
                return groups_.join(row, near.second), true;
        if (static_cast<std::int64_t>(nearest.size()) == centers_.rows) return false;
        measure(row, distance);
        std::int32_t best = -1;
        for (std::int32_t g = 0; g < centers_.rows; ++g)
            if ((best < 0 || distance[g] < distance[best]) && groups_.alive(g) && groups_.admits(row, g)) best = g;
        if (best >= 0) groups_.join(row, best);
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
    bool relieves(std::int32_t row, std::int32_t g, std::int32_t host) const {
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
    ShareGroups& groups_;
    const Csr centers_;
    std::int64_t words_;
    bool dense_ = false;
    std::vector<std::uint64_t> bits_;
    std::vector<std::vector<std::int32_t>> holders_;
    std::vector<std::int32_t> by_size_;
};

// The group of each row, numbered by first appearance.
inline std::vector<std::int32_t> numbered(const ShareGroups& groups, std::int64_t rows) {
    std::vector<std::int32_t> group(rows, -1), number(groups.count(), -1);
    for (std::int32_t g = 0; g < groups.count(); ++g)
        for (const std::int32_t row : groups.members(g)) group[row] = g;
    std::int32_t next = 0;
    for (std::int32_t& g : group) {
        if (number[g] < 0) number[g] = next++;
        g = number[g];
    }
    return group;
}

struct AntProblem {
    Csr rows, secret;
    const std::int32_t* first;
    std::int32_t attributes;
    std::int64_t k;
    ShareLimit limit;

    std::int64_t codes() const { return first[attributes]; }
};

// Rows without a group (-1) are placed; the others stay together.
inline std::vector<std::int32_t> place_rest(const AntProblem& problem,
                                            const std::vector<std::vector<std::int32_t>>& full,
                                            std::vector<std::int32_t> left, int threads, Monitor& monitor) {
    const Levels levels(problem.first, problem.attributes);
    ShareGroups groups(problem.secret, problem.limit);
    for (const auto& members : full) groups.found(members);
    const OwnedCsr centers = mean_centers(problem.rows, levels, problem.first, full, threads, monitor);
    LeftoverPlacer(problem.rows, groups, centers, problem.codes()).place(std::move(left), threads, monitor);
    return numbered(groups, problem.rows.rows);
}

inline std::vector<std::int32_t> ant_groups(const AntProblem& problem, const std::int32_t* cluster, int threads,
                                            Monitor& monitor) {
    const Levels levels(problem.first, problem.attributes);
    std::vector<std::vector<std::int32_t>> clusters;
    for (std::int64_t row = 0; row < problem.rows.rows; ++row) {
        if (cluster[row] >= static_cast<std::int32_t>(clusters.size())) clusters.resize(cluster[row] + 1);
        clusters[cluster[row]].push_back(static_cast<std::int32_t>(row));
    }
    clusters.erase(std::remove_if(clusters.begin(), clusters.end(), [](const auto& rows) { return rows.empty(); }),
                   clusters.end());
    const OwnedCsr centers = mean_centers(problem.rows, levels, problem.first, clusters, threads, monitor);
    std::vector<Filled> filled(clusters.size());
    std::vector<ClusterFiller> fillers(
        thread_count(threads),
        ClusterFiller(problem.rows, problem.secret, problem.codes(), problem.attributes, problem.k, problem.limit));
    const Csr center = centers.view();
    parallel_for(static_cast<std::int64_t>(clusters.size()), threads, monitor, [&](std::int64_t c, int worker) {
        fillers[worker].fill(clusters[c], center.begin(c), center.end(c), filled[c], monitor);
    });
    std::vector<std::vector<std::int32_t>> full;
    std::vector<std::int32_t> left;
    for (Filled& part : filled) {
        for (auto& members : part.groups) full.push_back(std::move(members));
        left.insert(left.end(), part.left.begin(), part.left.end());
    }
    return place_rest(problem, full, std::move(left), threads, monitor);
}

}  // namespace anonset
