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
    static constexpr std::int64_t VIRTUAL = 10;

    void greedy_pass();

    void repair(const Combination& members, int m);

    // |T(U, p)|: how many transactions of these users hold p.
    std::int64_t cost(std::int32_t p, const std::vector<Word>& users) const;

    bool suppressible(std::int32_t p, const std::vector<Word>& users, int m);

    // Rule 1: every combination of at most m patterns that these users lose with p, and that k users share now, is
    // shared by k users who are not among them.
    bool harms_none(std::int32_t p, const std::vector<Word>& users, int m);

    bool harms_none_from(const std::vector<Word>& held, const std::vector<Word>& owners, const std::vector<Word>& users,
                         const Combination& pool, std::size_t from, int more);

    // Rule 2: whatever else those transactions hold stays frequent even if all of them lost it.
    bool keeps_other_patterns(std::int32_t p, const std::vector<Word>& users);

    // Rule 3: without p, every part of those transactions is a pattern. (Patterns are downward closed, so that it is
    // enough to look at the whole of what is left.)
    bool leaves_patterns(std::int32_t p, const std::vector<Word>& users) const;

    // Calls visit(row) for the rows of these users that hold p.
    template <class Visit>
    void each_row(std::int32_t p, const std::vector<Word>& users, Visit&& visit) const {
        const Csr& sets = in_.tree.sets();
        each_bit(users.data(), table_.words(), [&](std::int64_t u) {
            if (u >= users_) return;
            for (const std::int32_t* row = in_.rows.begin(u); row != in_.rows.end(u); ++row)
                if (std::includes(in_.data.begin(*row), in_.data.end(*row), sets.begin(p), sets.end(p))) visit(*row);
        });
    }

    void suppress(std::int32_t p, const std::vector<Word>& users);

    // Gives the combination to as many users as it lacks: those who lack least, then virtual ones, of which there are
    // never more than VIRTUAL for each real one. What is rare then is suppressed in the end.
    void generalize(const Combination& members, std::int64_t degree);
};

}  // namespace anonset::kamp
