// Example shopping: households with tastes, habits, favourite meals and now and then something they would rather
// keep to themselves. Everything about a household follows from the seed and its number alone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "generate/api.hpp"

namespace anonset::generate {

namespace {

class Households {
  public:
    Households(const Assortment& shop, std::uint64_t seed)
        : shop_(shop), seed_(seed), product_(shop.popularity), meal_(zipf(shop.meals.offsets.size() - 1)) {}

    // How gladly a household buys from a product's category: 0 (never) or between a quarter and 1.
    double affinity(std::int32_t household, std::int32_t product) const {
        const std::int32_t category = shop_.category[product];
        Random taste = about(household, TASTE, category);
        return taste.chance(shop_.buyers[category]) ? 0.25 + 0.75 * taste.uniform() : 0.0;
    }

    bool needs(std::int32_t household, std::size_t sensitive) const {
        return about(household, NEED, sensitive).chance(shop_.need[sensitive]);
    }

    // A product that the household may like, by popularity; after many refusals whatever is popular.
    std::int32_t product(std::int32_t household, Random& random) const {
        std::int32_t found = 0;
        for (int tries = 0; tries < 64; ++tries) {
            found = static_cast<std::int32_t>(product_.draw(random));
            if (random.chance(affinity(household, found))) break;
        }
        return found;
    }

    // One of the household's favourites; the first ones come up most often.
    std::int32_t favourite(std::int32_t household, Random& random) const {
        int rank = 0;
        while (rank < FAVOURITES - 1 && random.chance(0.82)) ++rank;
        Random liking = about(household, FAVOURITE, rank);
        return product(household, liking);
    }

    // One of the household's three favourite meals, or any.
    std::size_t meal(std::int32_t household, Random& random) const {
        if (random.chance(0.3)) return meal_.draw(random);
        Random liking = about(household, MEAL, random.below(3));
        return meal_.draw(liking);
    }

    // How easily the household calls something sensitive: 1 on average (median), log-normal.
    double caution(std::int32_t household) const { return std::exp(0.5 * about(household, CAUTION, 0).normal()); }

    // A number in [0, 1) that says what this household thinks of this product, always the same.
    double opinion(std::int32_t household, std::int32_t product) const {
        return about(household, OPINION, product).uniform();
    }

  private:
    static constexpr int FAVOURITES = 14;
    enum Topic : std::uint64_t { TASTE = 1, NEED, FAVOURITE, MEAL, CAUTION, OPINION };

    Random about(std::int32_t household, Topic topic, std::uint64_t what) const {
        return Random(seed_ ^ (topic << 56), (static_cast<std::uint64_t>(household) << 32) | what);
    }

    static Alias zipf(std::size_t size) {
        std::vector<double> weights;
        for (std::size_t rank = 0; rank < size; ++rank) weights.push_back(1.0 / static_cast<double>(rank + 3));
        return Alias(weights);
    }

    const Assortment& shop_;
    std::uint64_t seed_;
    Alias product_, meal_;
};

// One transaction after the other; nothing is bought twice in the same one.
class Shopping {
  public:
    Shopping(const Assortment& shop, const Households& households)
        : shop_(shop), households_(households), seen_(shop.popularity.size(), 0) {}

    void buy(std::int32_t household, std::int32_t length, Random& random, OwnedCsr& out) {
        ++mark_;
        const std::size_t start = out.items.size(), full = start + length;
        for (int tries = 4 * length + 16; out.items.size() < full && tries > 0; --tries) {
            const double mood = random.uniform();
            if (mood < 0.45) {
                add(households_.favourite(household, random), out.items);
            } else if (mood < 0.60) {
                add_meal(household, households_.meal(household, random), random, out.items);
            } else {
                add(households_.product(household, random), out.items);
            }
        }
        for (std::size_t i = 0; i < shop_.sensitive.size(); ++i)
            if (households_.needs(household, i) && random.chance(0.1)) add(shop_.sensitive[i], out.items);
        std::sort(out.items.begin() + static_cast<std::ptrdiff_t>(start), out.items.end());
        out.close_row();
    }

  private:
    void add(std::int32_t product, Buffer<std::int32_t>& items) {
        if (seen_[product] == mark_) return;
        seen_[product] = mark_;
        items.push_back(product);
    }

    // Some of it is still at home, and what the household does not eat is left out.
    void add_meal(std::int32_t household, std::size_t meal, Random& random, Buffer<std::int32_t>& items) {
        const Csr meals = shop_.meals.view();
        for (const std::int32_t* product = meals.begin(meal); product != meals.end(meal); ++product)
            if (random.chance(0.85) && households_.affinity(household, *product) > 0) add(*product, items);
    }

    const Assortment& shop_;
    const Households& households_;
    std::vector<std::int64_t> seen_;  // the mark of the last transaction that holds the product
    std::int64_t mark_ = 0;
};

}  // namespace

OwnedCsr supermarket(const Assortment& shop, const std::int32_t* users, const std::int32_t* lengths,
                     std::int64_t transactions, std::uint64_t seed, int threads, Monitor& monitor) {
    const Households households(shop, seed);
    const std::int64_t blocks = (transactions + SUPERMARKET_BLOCK - 1) / SUPERMARKET_BLOCK;
    std::vector<OwnedCsr> parts(blocks);
    std::vector<Shopping> workers(thread_count(threads), Shopping(shop, households));
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int worker) {
        Random random(seed, block);
        const std::int64_t end = std::min(transactions, (block + 1) * SUPERMARKET_BLOCK);
        for (std::int64_t i = block * SUPERMARKET_BLOCK; i < end; ++i)
            workers[worker].buy(users[i], lengths[i], random, parts[block]);
    });
    return joined(std::move(parts));
}

std::vector<double> sensitivity(const Assortment& shop, const Csr& data, const std::int32_t* users, const double* shape,
                                std::uint64_t seed, int threads, Monitor& monitor) {
    const Households households(shop, seed);
    std::vector<double> degrees(data.offsets[data.rows]);
    const auto block = [&](std::int64_t number, int) {
        const std::int64_t end = std::min(data.rows, (number + 1) * SUPERMARKET_BLOCK);
        for (std::int64_t row = number * SUPERMARKET_BLOCK; row < end; ++row) {
            const double caution = households.caution(users[row]);
            for (std::int64_t at = data.offsets[row]; at < data.offsets[row + 1]; ++at) {
                const std::int32_t product = data.items[at];
                const double opinion = households.opinion(users[row], product);
                degrees[at] = std::round(100 * std::pow(opinion, 1 / (caution * shape[product]))) / 100;
            }
        }
    };
    parallel_for((data.rows + SUPERMARKET_BLOCK - 1) / SUPERMARKET_BLOCK, threads, monitor, block);
    return degrees;
}

}  // namespace anonset::generate
