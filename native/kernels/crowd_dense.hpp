// `crowd` for dense data: few hundred items, long rows (docs/methods/crowd.md).
//
// Rows lie in Gray order and are solved in blocks, each by itself. Further rounds put groups into other blocks, by
// other bits of their centers. Blocks run side by side; the answer depends on the seed and the options, never on the
// number of threads.
#pragma once

#include "crowd_anneal.hpp"
#include "crowd_result.hpp"
#include "csr.hpp"

namespace anonset {

namespace crowd {

// The whole of the data, round by round.
class DenseCrowd {
  public:
    DenseCrowd(const Csr& data, std::int32_t n_items, const CrowdDenseOptions& options, int threads, Monitor& monitor)
        : words_((n_items + 63) / 64), options_(options), threads_(thread_count(threads)), monitor_(monitor) {
        bits_.assign(data.rows * words_, 0);
        parallel_for(
            data.rows, threads_, monitor_,
            [&](std::int64_t row, int) {
                for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i)
                    bits_[row * words_ + (*i >> 6)] |= std::uint64_t{1} << (*i & 63);
            },
            4096);
        group_.assign(data.rows, 0);
        const std::int64_t size = std::max(options.block, 8 * options.k);
        blocks_ = std::max<std::int64_t>(1, (data.rows + size / 2) / size);
        blocks_ += blocks_ > 1 && blocks_ % 2;  // an even number, as most machines have of cores
    }

    CrowdResult solve() {
        const std::int64_t rows = static_cast<std::int64_t>(group_.size());
        rows_.resize(blocks_);
        for (std::int64_t b = 0; b < blocks_; ++b) {
            rows_[b].resize(rows * (b + 1) / blocks_ - rows * b / blocks_);
            std::iota(rows_[b].begin(), rows_[b].end(), static_cast<std::int32_t>(rows * b / blocks_));
        }
        run(0);
        for (int round = 1; round < options_.rounds; ++round) {
            regroup(round);
            run(round);
        }
        return result();
    }

  private:
    // Solves all blocks; groups are numbered through all of them, and their centers kept for the next round.
    void run(int round) {
        std::vector<std::vector<std::int32_t>> found(blocks_);
        std::vector<std::vector<std::uint64_t>> centers(blocks_);
        std::vector<DenseBlock> workers(threads_, DenseBlock(words_, options_, monitor_));
        parallel_for(blocks_, threads_, monitor_, [&](std::int64_t b, int worker) {
            DenseBlock& mine = workers[worker];
            std::vector<std::int32_t> given;
            if (round > 0)
                for (const std::int32_t row : rows_[b]) given.push_back(local_[group_[row]]);
            mine.solve(bits_, rows_[b], given, round > 0 ? counts_[b] : 0, round,
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

    // Other blocks: groups sorted by other bits of their centers. Rows keep their Gray order inside a block.
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
        for (auto& list : rows_) list.clear();
        for (std::size_t row = 0; row < group_.size(); ++row)
            rows_[block_of[group_[row]]].push_back(static_cast<std::int32_t>(row));
    }

    CrowdResult result() {
        CrowdResult out;
        for (std::size_t word = 0; word < centers_.size(); ++word) {
            for (std::uint64_t left = centers_[word]; left; left &= left - 1)
                out.items.push_back(static_cast<std::int32_t>(64 * (word % words_) + __builtin_ctzll(left)));
            if (word % words_ + 1 == static_cast<std::size_t>(words_))
                out.offsets.push_back(static_cast<std::int64_t>(out.items.size()));
        }
        out.group = std::move(group_);
        return out;
    }

    std::uint64_t key_from(const std::uint64_t* center, std::uint32_t start) const {
        const std::int64_t word = start / 64, next = (word + 1) % words_, shift = start % 64;
        return shift ? center[word] >> shift | center[next] << (64 - shift) : center[word];
    }

    std::int64_t words_;
    CrowdDenseOptions options_;
    int threads_;
    Monitor& monitor_;
    std::int64_t blocks_ = 1;
    std::vector<std::uint64_t> bits_, centers_;
    std::vector<std::int32_t> group_, local_, counts_;  // local_: the number of a group in its block
    std::vector<std::vector<std::int32_t>> rows_;       // of each block
};

}  // namespace crowd

// Groups of at least k for rows in Gray order.
inline CrowdResult crowd_dense(const Csr& data, std::int32_t n_items, const CrowdDenseOptions& options, int threads,
                               Monitor& monitor) {
    if (data.rows == 0) return {};
    return crowd::DenseCrowd(data, n_items, options, threads, monitor).solve();
}

}  // namespace anonset
