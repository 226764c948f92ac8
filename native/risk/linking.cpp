// Which published sets lie nearest to what an attacker knows: Hamming or Jaccard distance, by inverted lists.
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "core/transpose.hpp"
#include "risk/api.hpp"

namespace anonset::risk {

namespace {

struct Link {
    double distance = 0;       // to the nearest published set
    std::int64_t nearest = 0;  // transactions that publish a set at that distance
    std::uint8_t found = 0;    // whether the query's own published set is among them
};

class Linker {
  public:
    Linker(const Csr& sets, const Transposed<>& lists, const std::int64_t* weight, bool jaccard)
        : sets_(sets), lists_(lists), weight_(weight), jaccard_(jaccard), shared_(sets.rows, 0) {
        for (std::int64_t set = 0; set < sets.rows; ++set) weight_of_size_[sets.size(set)] += weight[set];
    }

    Link of(const std::int32_t* begin, const std::int32_t* end, std::int64_t own) {
        touched_.clear();
        for (const std::int32_t* item = begin; item != end; ++item)
            for (const std::int32_t* set = lists_.begin(*item); set != lists_.end(*item); ++set)
                if (shared_[*set]++ == 0) touched_.push_back(*set);
        Link link{std::numeric_limits<double>::infinity(), 0, 0};
        const std::int64_t size = end - begin;
        for (std::int32_t set : touched_) consider(link, distance(shared_[set], size, sets_.size(set)), weight_[set]);
        consider_disjoint(link, size);
        link.found = own >= 0 && distance(shared_[own], size, sets_.size(own)) == link.distance;
        for (std::int32_t set : touched_) shared_[set] = 0;
        return link;
    }

  private:
    double distance(std::int64_t shared, std::int64_t a, std::int64_t b) const {
        if (!jaccard_) return static_cast<double>(a + b - 2 * shared);
        const std::int64_t both = a + b - shared;
        return both == 0 ? 0.0 : 1.0 - static_cast<double>(shared) / static_cast<double>(both);
    }

    static void consider(Link& link, double distance, std::int64_t weight) {
        if (distance < link.distance) link = {distance, 0, 0};
        if (distance == link.distance) link.nearest += weight;
    }

    // Sets that share nothing with the query differ only in size: how many there are of each is known beforehand.
    void consider_disjoint(Link& link, std::int64_t size) {
        touched_of_size_.clear();
        for (std::int32_t set : touched_) touched_of_size_[sets_.size(set)] += weight_[set];
        for (const auto& [other, weight] : weight_of_size_) {
            const double apart = distance(0, size, other);
            if (apart > link.distance) break;
            const auto touched = touched_of_size_.find(other);
            const std::int64_t left = weight - (touched == touched_of_size_.end() ? 0 : touched->second);
            if (left > 0) consider(link, apart, left);
        }
    }

    const Csr& sets_;
    const Transposed<>& lists_;
    const std::int64_t* weight_;
    const bool jaccard_;
    std::vector<std::int32_t> shared_, touched_;
    std::map<std::int64_t, std::int64_t> weight_of_size_, touched_of_size_;
};

}  // namespace

Links link_sets(const Csr& queries, const Csr& sets, const std::int64_t* weight, const std::int64_t* own,
                std::int64_t n_items, bool jaccard, int threads, Monitor& monitor) {
    const Transposed<> lists = transpose(sets, n_items);
    std::vector<Linker> linkers(thread_count(threads), Linker(sets, lists, weight, jaccard));
    Links out{std::vector<double>(queries.rows), std::vector<std::int64_t>(queries.rows),
              std::vector<std::uint8_t>(queries.rows)};
    const auto link = [&](std::int64_t query, int worker) {
        const Link found = linkers[worker].of(queries.begin(query), queries.end(query), own[query]);
        out.distance[query] = found.distance;
        out.nearest[query] = found.nearest;
        out.found[query] = found.found;
    };
    parallel_for(queries.rows, threads, monitor, link, 64);
    return out;
}

}  // namespace anonset::risk
