// One block of dense rows, solved: groups of k from a pool of waiting rows, then random moves and swaps between the
// groups of near neighbours that lose nothing, and now and then a group dissolved.
#pragma once

#include <cstdint>
#include <vector>

#include "core/monitor.hpp"
#include "core/random.hpp"
#include "crowd/api.hpp"
#include "crowd/block.hpp"
#include "crowd/near.hpp"

namespace anonset::crowd {

// Solves one block after the other; one object per thread.
class DenseBlock {
  public:
    DenseBlock(std::int64_t words, std::int32_t k, const DenseSettings& settings, Monitor& monitor);

    // Groups for some rows of `bits`: built anew, or improved from `groups` (numbered from 0 to `count` - 1). `near`
    // are the neighbours of each row inside the block.
    void solve(const std::uint64_t* bits, const std::vector<std::int32_t>& rows, std::vector<std::uint32_t> near,
               std::vector<std::int32_t> groups, std::int32_t count, const Random& random);

    const Block& result() const { return block_; }

  private:
    friend void improve(DenseBlock& block, std::int64_t visits);

    template <int W>
    void improve_body(std::int64_t visits);
    template <int W>
    std::int32_t distance(std::int32_t p, std::int32_t q) const;
    template <int W>
    void seed_groups();
    template <int W>
    std::size_t nearest(const std::vector<std::int32_t>& pool, std::int32_t chosen,
                        std::vector<std::int64_t>& sums) const;
    template <int W>
    void place_rest(const std::vector<std::int32_t>& rest);
    template <int W>
    void visit(std::int32_t t);
    template <int W>
    bool propose(std::int32_t t, std::int32_t h, std::int32_t moving);
    template <int W>
    void propose_dissolving(std::int32_t g);

    DenseSettings settings_;
    Monitor& monitor_;
    Block block_;
    Random random_;
    std::vector<std::int32_t> given_, targets_;
    std::vector<std::uint32_t> near_;
    std::vector<std::uint64_t> weights_;
};

}  // namespace anonset::crowd
