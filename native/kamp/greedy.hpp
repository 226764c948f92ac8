// KAMP's greedy repair, as Hsu and Tsai describe it: one combination at a time is generalised or suppressed, whichever
// changes fewer transactions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kamp/state.hpp"

namespace anonset::kamp {

class GreedyRepair : public State {
  public:
    using State::State;

  protected:
    void greedy_pass();

    void repair(const Combination& members, int m);

    // |T(U, p)|: how many transactions of these users hold p.
    std::int64_t cost(std::int32_t p, const std::vector<Word>& users) const;

    bool suppressible(std::int32_t p, const std::vector<Word>& users, int m);

    // Rule 1: every combination of these users that enough users share now is shared by enough others.
    bool harms_none(std::int32_t p, const std::vector<Word>& users, int m);

    bool harms_none_from(const std::vector<Word>& held, const std::vector<Word>& owners, const std::vector<Word>& users,
                         const Combination& pool, std::size_t from, int more);

    // Rule 2: whatever else those transactions hold stays frequent even if all of them lost it.
    bool keeps_other_patterns(std::int32_t p, const std::vector<Word>& users);

    // Rule 3: what becomes maximal for these users is maximal for somebody already.
    bool makes_no_pattern(std::int32_t p, const std::vector<Word>& users);

    void suppress(std::int32_t p, const std::vector<Word>& users);

    // Gives the combination to as many users as it lacks: those who lack least, then virtual ones.
    void generalize(const Combination& members, int m, std::int64_t degree);
};

}  // namespace anonset::kamp
