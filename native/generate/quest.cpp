// Synthetic transactions after R. Agrawal, R. Srikant, "Fast Algorithms for Mining Association Rules", VLDB
// 1994, section 2.4.3: transactions are filled with patterns ("potentially maximal large itemsets") that
// people tend to buy together, each of them often incomplete.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "generate/api.hpp"

namespace anonset::generate {

namespace {

class QuestPatterns {
  public:
    explicit QuestPatterns(const QuestSettings& settings, Monitor& monitor) : taken_(settings.items, -1) {
        Random random(settings.seed, STREAM);
        const Alias popularity = item_popularity(settings, random);
        const Alias more_items = poisson(settings.pattern_length - 1);
        std::vector<double> weights;
        for (std::int32_t i = 0; i < settings.patterns; ++i) {
            if (i % 1024 == 0) monitor.check();
            add_pattern(i, 1 + more_items.draw(random), settings, popularity, random);
            weights.push_back(random.exponential());
            const double level = settings.corruption + std::sqrt(settings.corruption_variance) * random.normal();
            corruption_.push_back(std::clamp(level, 0.0, 1.0));
        }
        choice_ = Alias(weights);
    }

    std::int32_t draw(Random& random) const { return static_cast<std::int32_t>(choice_.draw(random)); }

    // The pattern as it is bought this time: items drop out as long as a coin of its corruption level says
    // so.
    void bought(std::int32_t pattern, Random& random, std::vector<std::int32_t>& out) const {
        const Csr all = patterns_.view();
        out.assign(all.begin(pattern), all.end(pattern));
        while (!out.empty() && random.chance(corruption_[pattern])) {
            std::swap(out[random.below(static_cast<std::uint32_t>(out.size()))], out.back());
            out.pop_back();
        }
    }

  private:
    static constexpr std::uint64_t STREAM = ~0ULL;  // no block of transactions has this number

    static Alias item_popularity(const QuestSettings& settings, Random& random) {
        std::vector<double> weights(settings.items, 1.0);
        if (!settings.equal_items)
            for (double& weight : weights) weight = random.exponential();
        return Alias(weights);
    }

    // A part of the items comes from the pattern before, the rest is drawn afresh.
    void add_pattern(std::int32_t number, std::uint32_t size, const QuestSettings& settings, const Alias& popularity,
                     Random& random) {
        const std::size_t wanted = std::min<std::size_t>(size, settings.items);
        std::vector<std::int32_t> chosen;
        if (number > 0) {
            const double part = std::min(1.0, settings.correlation * random.exponential());
            const std::size_t start = static_cast<std::size_t>(patterns_.offsets[number - 1]);
            std::vector<std::int32_t> previous(patterns_.items.begin() + start, patterns_.items.end());
            const auto common = static_cast<std::size_t>(part * static_cast<double>(wanted) + 0.5);
            while (chosen.size() < common && !previous.empty()) {
                std::swap(previous[random.below(static_cast<std::uint32_t>(previous.size()))], previous.back());
                taken_[previous.back()] = number;
                chosen.push_back(previous.back());
                previous.pop_back();
            }
        }
        // Very rare items would keep a pattern of nearly all items waiting: it may stay a little smaller
        // instead.
        for (std::size_t tries = 32 * wanted; chosen.size() < wanted && tries > 0; --tries) {
            const auto item = static_cast<std::int32_t>(popularity.draw(random));
            if (taken_[item] == number) continue;
            taken_[item] = number;
            chosen.push_back(item);
        }
        patterns_.items.insert(patterns_.items.end(), chosen.begin(), chosen.end());
        patterns_.close_row();
    }

    OwnedCsr patterns_;
    std::vector<double> corruption_;
    std::vector<std::int32_t> taken_;
    Alias choice_;
};

// One block of transactions: a pattern that does not fit is carried to the next transaction of the same
// block.
class QuestBlock {
  public:
    QuestBlock(const QuestPatterns& patterns, const Alias& lengths, std::int32_t items)
        : patterns_(patterns), lengths_(lengths), seen_(items, 0) {}

    OwnedCsr fill(std::int64_t rows, Random random) {
        OwnedCsr out;
        out.offsets.reserve(rows + 1);
        std::int32_t carried = NONE;
        for (std::int64_t row = 0; row < rows; ++row) {
            ++mark_;
            const std::size_t start = out.items.size();
            carried = fill_one(out.items, start + 1 + lengths_.draw(random), carried, random);
            std::sort(out.items.begin() + static_cast<std::ptrdiff_t>(start), out.items.end());
            out.close_row();
        }
        return out;
    }

  private:
    static constexpr std::int32_t NONE = -1;
    static constexpr int PATIENCE = 64;  // patterns in a row that bring nothing new: nothing is left to add

    // Adds patterns until the transaction is full; gives back the pattern that the next one starts with.
    std::int32_t fill_one(Buffer<std::int32_t>& items, std::size_t full, std::int32_t carried, Random& random) {
        const std::size_t start = items.size();
        for (int idle = 0; items.size() < full && idle < PATIENCE;) {
            const std::int32_t pattern = carried != NONE ? carried : patterns_.draw(random);
            carried = NONE;
            patterns_.bought(pattern, random, bought_);
            bought_.erase(
                std::remove_if(bought_.begin(), bought_.end(), [&](auto item) { return seen_[item] == mark_; }),
                bought_.end());
            idle = bought_.empty() ? idle + 1 : 0;
            const bool fits = items.size() + bought_.size() <= full;
            if (!fits && items.size() > start && random.chance(0.5)) return pattern;
            for (const std::int32_t item : bought_) seen_[item] = mark_;
            items.insert(items.end(), bought_.begin(), bought_.end());
        }
        return carried;
    }

    const QuestPatterns& patterns_;
    const Alias& lengths_;
    std::vector<std::int64_t> seen_;  // the mark of the last transaction that took the item
    std::int64_t mark_ = 0;
    std::vector<std::int32_t> bought_;
};

}  // namespace

OwnedCsr quest(const QuestSettings& settings, int threads, Monitor& monitor) {
    const QuestPatterns patterns(settings, monitor);
    const Alias lengths = poisson(settings.mean_length - 1);
    const std::int64_t blocks = (settings.transactions + QUEST_BLOCK - 1) / QUEST_BLOCK;
    std::vector<OwnedCsr> parts(blocks);
    std::vector<QuestBlock> workers(thread_count(threads), QuestBlock(patterns, lengths, settings.items));
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int worker) {
        const std::int64_t rows = std::min(QUEST_BLOCK, settings.transactions - block * QUEST_BLOCK);
        parts[block] = workers[worker].fill(rows, Random(settings.seed, block));
    });
    return joined(std::move(parts));
}

}  // namespace anonset::generate
