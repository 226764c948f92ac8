// Random numbers that depend on nothing but a seed and the number of a stream: give every block of work its
// own stream and the result is the same for any number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace anonset {

// SplitMix64: the n-th number of a stream is a strong mix of start + n * odd constant.
class Random {
  public:
    Random(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed ^ mix(stream + kStep))) {}

    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    std::uint64_t next() { return mix(state_ += kStep); }

    // In [0, 1), on 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    // In [0, bound), bound < 2^32. The bias is below bound / 2^32.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
    }

    bool chance(double probability) { return uniform() < probability; }

    double exponential() { return -std::log1p(-uniform()); }

    double normal() {  // Box-Muller; the second number is not kept, so that a draw never depends on the one before
        const double radius = std::sqrt(2.0 * exponential());
        return radius * std::cos(6.283185307179586 * uniform());
    }

  private:
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
    std::uint64_t state_;
};

// Draws an index with probability proportional to its weight, in constant time (Walker's alias method).
class Alias {
  public:
    Alias() = default;
    explicit Alias(const std::vector<double>& weights) : share_(weights.size()), other_(weights.size()) {
        double total = 0;
        for (double weight : weights) total += weight;
        std::vector<std::uint32_t> small, large;
        for (std::uint32_t i = 0; i < weights.size(); ++i) {
            share_[i] = weights[i] * static_cast<double>(weights.size()) / total;
            other_[i] = i;
            (share_[i] < 1 ? small : large).push_back(i);
        }
        while (!small.empty() && !large.empty()) {
            const std::uint32_t poor = small.back(), rich = large.back();
            small.pop_back();
            other_[poor] = rich;
            share_[rich] -= 1 - share_[poor];
            if (share_[rich] < 1) {
                large.pop_back();
                small.push_back(rich);
            }
        }
        for (std::uint32_t i : small) share_[i] = 1;  // left over by rounding
        for (std::uint32_t i : large) share_[i] = 1;
    }

    std::uint32_t draw(Random& random) const {
        const std::uint32_t i = random.below(static_cast<std::uint32_t>(share_.size()));
        return random.uniform() < share_[i] ? i : other_[i];
    }

  private:
    std::vector<double> share_;
    std::vector<std::uint32_t> other_;
};

// The Poisson distribution as a table, cut off where less than about 1e-18 of it is left.
inline Alias poisson(double mean) {
    const auto last = static_cast<std::int64_t>(mean + 9 * std::sqrt(mean) + 30);
    std::vector<double> weights(last + 1);
    for (std::int64_t n = 0; n <= last; ++n)
        weights[n] = mean > 0 ? std::exp(n * std::log(mean) - mean - std::lgamma(n + 1.0)) : (n == 0);
    return Alias(weights);
}

}  // namespace anonset
