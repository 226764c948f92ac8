// `crowd` for dense data: few hundred items, long rows (docs/methods/crowd.md).
//
// Rows are put into Gray order (and from then on named by their place there) and solved in blocks, each by itself.
// Further rounds put groups into other blocks, by other bits of their centers. Blocks run side by side; the answer
// depends on the seed and the options, never on the number of threads.
#pragma once

#include "core/csr.hpp"
#include "core/gray_bits.hpp"
#include "crowd/anneal.hpp"
#include "crowd/result.hpp"
#include "pta/baseline.hpp"

namespace anonset {

struct DenseResult {
    std::vector<std::int64_t> order;  // Gray order of the rows
    CrowdResult found;                // with the rows in that order
    SegmentLosses beside;             // of the sample
};

namespace crowd {

// The whole of the data, round by round.
class DenseCrowd {
  public:
    DenseCrowd(const Csr& data, const std::int32_t* rank, std::int32_t n_items, const CrowdDenseOptions& options,
               const PtaSample& sample, int threads, Monitor& monitor)
        : bits_(data, rank, n_items, threads, monitor),
          words_(bits_.words()),
          options_(options),
          threads_(thread_count(threads)),
          monitor_(monitor),
          order_(bits_.order()),
          segments_{data, order_.data(), n_items, sample.bounds},
          sample_(sample),
          of_pta_(sample.count),
          group_(data.rows, 0),
          seats_(data.rows) {
        bits_.line_up(order_);
        const std::int64_t half = std::max(LEAST_BLOCK, data.rows / 2);  // so that two cores have work
        const std::int64_t size = std::max(std::min(options.block, half), 8 * options.k);
        blocks_ = std::max<std::int64_t>(1, (data.rows + size / 2) / size);
        blocks_ += blocks_ > 1 && blocks_ % 2;  // an even number, as most machines have of cores
    }

    DenseResult solve() {
        const std::int64_t rows = static_cast<std::int64_t>(group_.size());
        std::vector<std::int32_t> block_of(rows);
        for (std::int64_t b = 0; b < blocks_; ++b)
            std::fill(block_of.begin() + rows * b / blocks_, block_of.begin() + rows * (b + 1) / blocks_,
                      static_cast<std::int32_t>(b));
        seat(block_of);
        if (options_.rounds > 1) {  // otherwise blocks look for neighbours themselves: they need none outside
            Random random(options_.seed, UINT64_MAX);
            near_ = NearSearch(bits_.row(0), rows, words_, options_.near).find(random, threads_, monitor_);
        }
        run(0);
        for (int round = 1; round < options_.rounds; ++round) {
            regroup(round);
            run(round);
        }
        return result();
    }

  private:
    struct Seat {
        std::int32_t block, place;
    };
    static constexpr std::int64_t LEAST_BLOCK = 1024;

    // Rows keep their Gray order inside a block.
    void seat(const std::vector<std::int32_t>& block_of) {
        rows_.assign(blocks_, {});
        for (std::size_t row = 0; row < block_of.size(); ++row) {
            std::vector<std::int32_t>& list = rows_[block_of[row]];
            seats_[row] = {block_of[row], static_cast<std::int32_t>(list.size())};
            list.push_back(static_cast<std::int32_t>(row));
        }
    }

    // The neighbours of the rows of a block that are in the block as well.
    std::vector<std::uint32_t> near_inside(std::int64_t block) const {
        const std::int64_t near = options_.near.near;
        std::vector<std::uint32_t> inside(near_.empty() ? 0 : rows_[block].size() * near, NOBODY);
        for (std::size_t i = 0; i < inside.size() / near; ++i) {
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
        std::vector<DenseBlock> workers(threads_, DenseBlock(words_, options_, monitor_));
        const std::int64_t parts = round == 0 ? std::min<std::int64_t>(sample_.count, 2 * threads_) : 0;
        parallel_for(blocks_ + parts, threads_, monitor_, [&](std::int64_t b, int worker) {
            if (b >= blocks_) return form_ptas_groups(b - blocks_, parts);
            DenseBlock& mine = workers[worker];
            std::vector<std::int32_t> given;
            if (round > 0)
                for (const std::int32_t row : rows_[b]) given.push_back(local_[group_[row]]);
            mine.solve(bits_, rows_[b], near_inside(b), std::move(given), round > 0 ? counts_[b] : 0, round,
                       static_cast<std::uint64_t>(round * blocks_ + b));
            collect(mine.result(), found[b], centers[b]);
        });
        centers_.clear();
        std::int32_t before = 0;
        for (std::int64_t b = 0; b < blocks_; ++b) {
            for (std::size_t i = 0; i < found[b].size(); ++i) group_[rows_[b][i]] = before + found[b][i];
            before += static_cast<std::int32_t>(centers[b].size() / words_);
            centers_.insert(centers_.end(), centers[b].begin(), centers[b].end());
        }
    }

    void form_ptas_groups(std::int64_t part, std::int64_t parts) {
        const std::int64_t from = sample_.count * part / parts, to = sample_.count * (part + 1) / parts;
        SegmentSample(segments_, sample_.drawn + from, to - from, monitor_)
            .losses_of_pta(options_.k, of_pta_.data() + from);
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
        Random random(options_.seed, UINT64_MAX - static_cast<std::uint64_t>(round));
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

    DenseResult result() {
        DenseResult out;
        const auto groups = static_cast<std::int64_t>(centers_.size()) / words_;
        std::vector<std::uint64_t> held(words_, 0);  // by item, so that they come out ascending
        for (std::int64_t g = 0; g < groups; ++g) {
            for (std::int64_t w = 0; w < words_; ++w)
                for (std::uint64_t left = centers_[g * words_ + w]; left; left &= left - 1) {
                    const std::int32_t item = bits_.item(64 * w + __builtin_ctzll(left));
                    held[item / 64] |= std::uint64_t{1} << item % 64;
                }
            for (std::int64_t w = 0; w < words_; ++w)
                for (std::uint64_t left = std::exchange(held[w], 0); left; left &= left - 1)
                    out.found.items.push_back(static_cast<std::int32_t>(64 * w + __builtin_ctzll(left)));
            out.found.offsets.push_back(static_cast<std::int64_t>(out.found.items.size()));
        }
        for (std::int64_t i = 0; i < sample_.count; ++i) out.beside.of_others.push_back(loss(sample_.drawn[i]));
        out.beside.of_pta = std::move(of_pta_);
        out.found.group = std::move(group_);
        out.order = std::move(order_);
        return out;
    }

    std::int64_t loss(std::int64_t segment) const {
        std::int64_t sum = 0;
        for (std::int64_t i = sample_.bounds[segment]; i < sample_.bounds[segment + 1]; ++i)
            for (std::int64_t w = 0; w < words_; ++w)
                sum += __builtin_popcountll(bits_.row(i)[w] ^ centers_[group_[i] * words_ + w]);
        return sum;
    }

    std::uint64_t key_from(const std::uint64_t* center, std::uint32_t start) const {
        const std::int64_t word = start / 64, next = (word + 1) % words_, shift = start % 64;
        return shift ? center[word] >> shift | center[next] << (64 - shift) : center[word];
    }

    RankedBits bits_;
    std::int64_t words_;
    CrowdDenseOptions options_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::int64_t> order_;
    Segments segments_;
    PtaSample sample_;
    std::vector<std::int64_t> of_pta_;
    std::vector<std::int32_t> group_;
    std::vector<Seat> seats_;
    std::vector<std::uint32_t> near_;  // of all rows, if there are several rounds
    std::int64_t blocks_ = 1;
    std::vector<std::uint64_t> centers_;
    std::vector<std::int32_t> local_, counts_;     // local_: the number of a group in its block
    std::vector<std::vector<std::int32_t>> rows_;  // of each block
};

}  // namespace crowd

// Groups of at least k, and the Gray order: `rank` gives each item's position, the most significant first.
inline DenseResult crowd_dense(const Csr& data, const std::int32_t* rank, std::int32_t n_items,
                               const CrowdDenseOptions& options, const PtaSample& sample, int threads,
                               Monitor& monitor) {
    if (data.rows == 0) return {};
    return crowd::DenseCrowd(data, rank, n_items, options, sample, threads, monitor).solve();
}

}  // namespace anonset
