// Gray-TSP: a short closed tour through the rows of each segment, bred by a genetic algorithm.
//
// A tour is a permutation of the segment's rows; the first population is the order the rows come in (Gray order) and
// random ones, or only random ones. Each generation keeps the shortest tour as it is; every other place goes to the
// child of two parents, each the shorter of two tours drawn at random. A child takes a stretch of one parent and the
// rest in the order of the other (order crossover), and in half of all cases one random stretch of it is turned around.
// Every segment has its own stream of random numbers, so the answer does not depend on the threads.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "core/random.hpp"
#include "pta/api.hpp"

namespace anonset::pta {

namespace {

// Breeds the tours of segment after segment; one object per thread.
class TourBreeder {
  public:
    TourBreeder(std::int64_t vocabulary, const GeneticOptions& options) : options_(options), shared_(vocabulary) {}

    // Writes the best tour to `loop` and returns its length, the closing edge included.
    std::int64_t solve(const Csr& data, const std::int64_t* rows, std::int64_t count, std::uint64_t stream,
                       Monitor& monitor, std::int64_t* loop) {
        if (count == 0) return 0;
        measure_distances(data, rows, count);
        Random random(options_.seed, stream);
        populate(random);
        for (std::int64_t generation = 0; count > 3 && generation < options_.generations; ++generation) {
            monitor.check();
            breed(random);
        }
        const std::int64_t best = shortest();
        for (std::int64_t i = 0; i < count; ++i) loop[i] = rows[tour(best)[i]];
        return lengths_[best];
    }

  private:
    static constexpr double MUTATION = 0.5;

    std::int32_t* tour(std::int64_t place) { return tours_.data() + place * count_; }

    void measure_distances(const Csr& data, const std::int64_t* rows, std::int64_t count) {
        count_ = count;
        shared_.load(data, rows, count);
        distances_.assign(count * count, 0);
        std::vector<std::uint32_t> overlap(count);
        for (std::int64_t i = 0; i < count; ++i) {
            shared_.row(i, overlap.data());
            for (std::int64_t j = i + 1; j < count; ++j)
                distances_[i * count + j] = distances_[j * count + i] =
                    static_cast<std::uint32_t>(data.size(rows[i]) + data.size(rows[j]) - 2 * std::int64_t{overlap[j]});
        }
    }

    void populate(Random& random) {
        tours_.resize(options_.population * count_);
        next_.resize(tours_.size());
        lengths_.resize(options_.population);
        taken_.assign(count_, 0);
        for (std::int64_t place = 0; place < options_.population; ++place) {
            std::iota(tour(place), tour(place) + count_, 0);
            for (std::int64_t i = count_ - 1; (place > 0 || options_.random_start) && i > 0; --i)
                std::swap(tour(place)[i], tour(place)[random.below(static_cast<std::uint32_t>(i + 1))]);
            lengths_[place] = length(tour(place));
        }
    }

    std::int64_t length(const std::int32_t* nodes) const {
        std::int64_t sum = distances_[nodes[count_ - 1] * count_ + nodes[0]];
        for (std::int64_t i = 1; i < count_; ++i) sum += distances_[nodes[i - 1] * count_ + nodes[i]];
        return sum;
    }

    std::int64_t shortest() const { return std::min_element(lengths_.begin(), lengths_.end()) - lengths_.begin(); }

    void breed(Random& random) {
        const std::int64_t best = shortest();
        std::copy(tour(best), tour(best) + count_, next_.begin());
        const std::int64_t kept = lengths_[best];
        next_lengths_.assign(1, kept);
        for (std::int64_t place = 1; place < options_.population; ++place) {
            const std::int64_t mother = parent(random), father = parent(random);
            std::int32_t* child = next_.data() + place * count_;
            cross(tour(mother), tour(father), child, stretch(random));
            if (random.chance(MUTATION)) {
                const auto [from, to] = stretch(random);
                std::reverse(child + from, child + to + 1);
            }
            next_lengths_.push_back(length(child));
        }
        tours_.swap(next_);
        lengths_.swap(next_lengths_);
    }

    std::int64_t parent(Random& random) const {
        const auto count = static_cast<std::uint32_t>(options_.population);
        const std::int64_t one = random.below(count), two = random.below(count);
        return lengths_[two] < lengths_[one] ? two : one;
    }

    std::pair<std::int64_t, std::int64_t> stretch(Random& random) const {
        const std::int64_t one = random.below(static_cast<std::uint32_t>(count_));
        const std::int64_t two = random.below(static_cast<std::uint32_t>(count_));
        return std::minmax(one, two);
    }

    void cross(const std::int32_t* mother, const std::int32_t* father, std::int32_t* child,
               std::pair<std::int64_t, std::int64_t> inherited) {
        const auto [from, to] = inherited;
        ++round_;
        for (std::int64_t i = from; i <= to; ++i) {
            child[i] = mother[i];
            taken_[mother[i]] = round_;
        }
        std::int64_t place = to + 1;
        const auto take = [&](std::int32_t node) {
            if (taken_[node] == round_) return;
            if (place >= count_) place -= count_;
            child[place++] = node;
        };
        for (std::int64_t i = to + 1; i < count_; ++i) take(father[i]);
        for (std::int64_t i = 0; i <= to; ++i) take(father[i]);
    }

    GeneticOptions options_;
    SharedItems shared_;
    std::int64_t count_ = 0;
    std::uint64_t round_ = 0;
    std::vector<std::uint32_t> distances_;
    std::vector<std::int32_t> tours_, next_;
    std::vector<std::int64_t> lengths_, next_lengths_;
    std::vector<std::uint64_t> taken_;  // the round in which the child last got this node
};

}  // namespace

// Large ones are bred one after the other, so that there is
// never more than one large matrix of distances.
Tours genetic_tours(const Csr& data, const std::int64_t* order, const std::int64_t* bounds, std::int64_t segments,
                    std::int64_t vocabulary, const GeneticOptions& options, int threads, Monitor& monitor) {
    constexpr std::int64_t LARGE_SEGMENT = 4096;
    Tours tours{std::vector<std::int64_t>(data.rows), std::vector<std::int64_t>(segments)};
    const auto nodes = [&](std::int64_t s) { return bounds[s + 1] - bounds[s]; };
    const auto solve = [&](std::int64_t s, TourBreeder& breeder) {
        tours.lengths[s] = breeder.solve(data, order + bounds[s], nodes(s), static_cast<std::uint64_t>(s), monitor,
                                         tours.loops.data() + bounds[s]);
        monitor.advance(nodes(s) - 1);
    };
    std::vector<std::int64_t> small, large;
    for (std::int64_t s = 0; s < segments; ++s) (nodes(s) < LARGE_SEGMENT ? small : large).push_back(s);
    std::vector<TourBreeder> breeders(thread_count(threads), TourBreeder(vocabulary, options));
    parallel_for(static_cast<std::int64_t>(small.size()), threads, monitor,
                 [&](std::int64_t i, int worker) { solve(small[i], breeders[worker]); });
    for (const std::int64_t s : large) {
        solve(s, breeders[0]);
        monitor.advance();
    }
    return tours;
}

}  // namespace anonset::pta
