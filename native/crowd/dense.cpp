// Rows are solved in blocks of the Gray order, each by itself. Further rounds put groups into other blocks, by other
// bits of their centers. Blocks run side by side.
#include <algorithm>
#include <utility>

#include "crowd/api.hpp"
#include "crowd/local_search.hpp"

namespace anonset::crowd {

namespace {

constexpr std::int64_t LEAST_BLOCK = 1024;  // rows; smaller blocks lose more than a second thread saves

// The whole of the data, round by round.
class DenseCrowd {
  public:
    DenseCrowd(const Csr& data, std::int32_t n_items, std::int32_t k, const DenseSettings& settings, std::uint64_t seed,
               int threads, Monitor& monitor)
        : words_((n_items + 63) / 64),
          k_(k),
          settings_(settings),
          seed_(seed),
          threads_(thread_count(threads)),
          monitor_(monitor),
          bits_(data.rows * words_, 0),
          group_(data.rows, 0),
          seats_(data.rows) {
        for (std::int64_t row = 0; row < data.rows; ++row)
            for (const std::int32_t* item = data.begin(row); item != data.end(row); ++item)
                bits_[row * words_ + *item / 64] |= std::uint64_t{1} << *item % 64;
        const std::int64_t half = std::max(LEAST_BLOCK, data.rows / 2);  // so that two cores have work
        const std::int64_t size = std::max<std::int64_t>(std::min(settings.block, half), 8 * k);
        blocks_ = std::max<std::int64_t>(1, (data.rows + size / 2) / size);
    }

    Result solve() {
        const auto rows = static_cast<std::int64_t>(group_.size());
        std::vector<std::int32_t> block_of(rows);
        for (std::int64_t row = 0; row < rows; ++row)
            block_of[row] = static_cast<std::int32_t>(((row + 1) * blocks_ - 1) / rows);
        seat(block_of);
        if (settings_.rounds > 1) {
            Random random(seed_, UINT64_MAX);
            near_ =
                near_rows({bits_.data(), rows, words_}, settings_.near, settings_.sorts, random, threads_, monitor_);
        }
        run(0);
        for (int round = 1; round < settings_.rounds; ++round) {
            regroup(round);
            run(round);
        }
        return result();
    }

  private:
    struct Seat {
        std::int32_t block, place;
    };

    // Rows keep their Gray order inside a block.
    void seat(const std::vector<std::int32_t>& block_of) {
        rows_.assign(blocks_, {});
        for (std::size_t row = 0; row < block_of.size(); ++row) {
            std::vector<std::int32_t>& list = rows_[block_of[row]];
            seats_[row] = {block_of[row], static_cast<std::int32_t>(list.size())};
            list.push_back(static_cast<std::int32_t>(row));
        }
    }

    // The neighbours of the rows of a block that are in the block as well. With a single round they are searched for
    // there: rows need none outside.
    std::vector<std::uint32_t> near_inside(std::int64_t block) const {
        const std::int64_t near = settings_.near;
        if (near_.empty()) {
            Random random(seed_, UINT64_MAX - static_cast<std::uint64_t>(block));
            const Bitmaps rows{bits_.data() + rows_[block][0] * words_, static_cast<std::int64_t>(rows_[block].size()),
                               words_};
            return near_rows(rows, near, settings_.sorts, random, 1, monitor_);
        }
        std::vector<std::uint32_t> inside(rows_[block].size() * near, NOBODY);
        for (std::size_t i = 0; i < rows_[block].size(); ++i) {
            std::uint32_t* list = inside.data() + i * near;
            for (std::int64_t j = rows_[block][i] * near; j < (rows_[block][i] + 1) * near; ++j)
                if (near_[j] != NOBODY && seats_[near_[j]].block == block)
                    *list++ = static_cast<std::uint32_t>(seats_[near_[j]].place);
        }
        return inside;
    }

    // Solves all blocks; groups are numbered through all of them, and their centers kept for the next round.
    void run(int round) {
        std::vector<std::vector<std::int32_t>> found(blocks_);
        std::vector<std::vector<std::uint64_t>> centers(blocks_);
        std::vector<DenseBlock> workers(threads_, DenseBlock(words_, k_, settings_, monitor_));
        parallel_for(blocks_, threads_, monitor_, [&](std::int64_t b, int worker) {
            std::vector<std::int32_t> given;
            if (round > 0)
                for (const std::int32_t row : rows_[b]) given.push_back(local_[group_[row]]);
            workers[worker].solve(bits_.data(), rows_[b], near_inside(b), std::move(given), round > 0 ? counts_[b] : 0,
                                  Random(seed_, static_cast<std::uint64_t>(round * blocks_ + b)));
            collect(workers[worker].result(), found[b], centers[b]);
        });
        centers_.clear();
        std::int32_t before = 0;
        for (std::int64_t b = 0; b < blocks_; ++b) {
            for (std::size_t i = 0; i < found[b].size(); ++i) group_[rows_[b][i]] = before + found[b][i];
            before += static_cast<std::int32_t>(centers[b].size() / words_);
            centers_.insert(centers_.end(), centers[b].begin(), centers[b].end());
        }
    }

    static void collect(const Block& block, std::vector<std::int32_t>& found, std::vector<std::uint64_t>& centers) {
        std::vector<std::int32_t> number(block.groups(), -1);
        std::int32_t live = 0;
        for (std::int32_t g = 0; g < block.groups(); ++g)
            if (block.size(g) > 0) {
                number[g] = live++;
                centers.insert(centers.end(), block.center(g), block.center(g) + block.words());
            }
        found.resize(block.rows());
        for (std::int32_t r = 0; r < block.rows(); ++r) found[r] = number[block.group(r)];
    }

    // Other blocks: groups sorted by other bits of their centers.
    void regroup(int round) {
        const auto groups = static_cast<std::int32_t>(centers_.size() / words_);
        Random random(seed_, UINT64_MAX - static_cast<std::uint64_t>(round));
        std::vector<std::pair<std::uint64_t, std::int32_t>> keys(groups);
        std::vector<std::int32_t> size(groups, 0), block_of(groups);
        for (const std::int32_t g : group_) ++size[g];
        const auto start = random.below(static_cast<std::uint32_t>(64 * words_));
        for (std::int32_t g = 0; g < groups; ++g) keys[g] = {key_from(centers_.data() + g * words_, start), g};
        std::sort(keys.begin(), keys.end());
        local_.assign(groups, 0);
        counts_.assign(blocks_, 0);
        std::int64_t seen = 0, block = 0;
        for (const auto& [key, g] : keys) {
            while (block + 1 < blocks_ && seen * blocks_ >= static_cast<std::int64_t>(group_.size()) * (block + 1))
                ++block;
            block_of[g] = static_cast<std::int32_t>(block);
            local_[g] = counts_[block]++;
            seen += size[g];
        }
        std::vector<std::int32_t> block_of_row(group_.size());
        for (std::size_t row = 0; row < group_.size(); ++row) block_of_row[row] = block_of[group_[row]];
        seat(block_of_row);
    }
    std::uint64_t key_from(const std::uint64_t* center, std::uint32_t start) const {
        const std::int64_t word = start / 64, next = (word + 1) % words_, shift = start % 64;
        return shift ? center[word] >> shift | center[next] << (64 - shift) : center[word];
    }

    Result result() {
        Result out;
        for (std::size_t at = 0; at < centers_.size(); at += words_) {
            for (std::int64_t w = 0; w < words_; ++w)
                for (std::uint64_t left = centers_[at + w]; left; left &= left - 1)
                    out.items.push_back(static_cast<std::int32_t>(64 * w + __builtin_ctzll(left)));
            out.offsets.push_back(static_cast<std::int64_t>(out.items.size()));
        }
        out.group = std::move(group_);
        return out;
    }

    const std::int64_t words_;
    const std::int32_t k_;
    const DenseSettings settings_;
    const std::uint64_t seed_;
    const int threads_;
    Monitor& monitor_;
    std::vector<std::uint64_t> bits_;
    std::vector<std::int32_t> group_;
    std::vector<Seat> seats_;
    std::vector<std::uint32_t> near_;  // of all rows, if there are several rounds
    std::int64_t blocks_ = 1;
    std::vector<std::uint64_t> centers_;
    std::vector<std::int32_t> local_, counts_;     // local_: the number of a group in its block
    std::vector<std::vector<std::int32_t>> rows_;  // of each block
};

}  // namespace

Result dense_groups(const Csr& rows, std::int32_t n_items, std::int32_t k, const DenseSettings& settings,
                    std::uint64_t seed, int threads, Monitor& monitor) {
    if (rows.rows == 0) return {};
    return DenseCrowd(rows, n_items, k, settings, seed, threads, monitor).solve();
}

}  // namespace anonset::crowd
