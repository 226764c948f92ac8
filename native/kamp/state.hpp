// What both repairs of KAMP's pattern table share: the table as it changes, what it costs, and who may get a pattern.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/monitor.hpp"
#include "kamp/pattern_table.hpp"

namespace anonset::kamp {

struct Input {
    const Csr& data;
    const Transposed<>& rows;  // of each user
    const PatternTree& tree;
    const UserPatterns& found;
    Goal goal;
};

class State {
  public:
    State(const Input& in, int threads, Monitor& monitor)
        : in_(in),
          table_(in.tree, in.found.held.view()),
          threads_(threads),
          monitor_(monitor),
          support_(in.goal.support, in.goal.support + in.tree.size()),
          users_(table_.users()) {}

    const PatternTable& table() const { return table_; }

    std::int64_t count_rare() { return static_cast<std::int64_t>(rare().size()); }

    // The pattern distance of all users to what they were; a virtual user's patterns count with all their items.
    std::int64_t loss() const;

  protected:
    static constexpr int PASSES = 4;  // before nothing but suppression is left, and of giving back

    std::vector<Degree> rare(int least = 1) {
        return too_rare(table_, least, in_.goal.most, in_.goal.k, threads_, monitor_);
    }

    std::int64_t times(std::int64_t u, std::int32_t p) const;

    void take(std::int64_t u, std::int32_t p);

    // Who may get a combination: `known` asks that each combination that arises is somebody's already, as the paper
    // does (its CP(D) read as the table as it is now); `safe`, that at least k users share it.
    enum class Rule { known, safe };

    // Who lacks something of the combination and may be a candidate, those who lack least first.
    std::vector<std::int64_t> by_lack(const Combination& members, Rule rule);

    // A user who lacks p and has a pattern that must not stand beside it can be no candidate. One look at all pairs
    // spares most users the full test.
    void exclude(std::int32_t p, const Combination& members, Rule rule, std::vector<Word>& excluded);

    // Gives the combination to u if the rule allows every combination that arises and is not part of it.
    bool try_to_add(std::int64_t u, const Combination& members, Rule rule);

    // Whether accept(combination, degree, owners) holds for every combination that u has beyond those of `before`.
    template <class Accept>
    bool each_new(std::int64_t u, const Combination& before, Accept&& accept) {
        Combination old, fresh;
        for (const std::int32_t p : table_.own(u))
            (std::binary_search(before.begin(), before.end(), p) ? old : fresh).push_back(p);
        old.insert(old.begin(), fresh.begin(), fresh.end());  // the first of them is always a fresh one
        if (fresh.empty()) return true;
        space_.resize(2 * (in_.goal.most + 2) * table_.words());
        std::fill_n(space_.begin(), 2 * table_.words(), ~Word{0});
        Combination members;
        for (std::size_t i = 0; i < fresh.size(); ++i)
            if (!grow(old, i, members, accept)) return false;
        return true;
    }

    template <class Accept>
    bool grow(const Combination& pool, std::size_t at, Combination& members, Accept&& accept) {
        const std::int64_t words = table_.words();
        Word* held = &space_[2 * members.size() * words];
        Word *both = held + 2 * words, *own = both + words;
        const std::int64_t degree = and_count(held, table_.held(pool[at]), words, both);
        and_any(held + words, table_.maximal(pool[at]), words, own);
        members.push_back(pool[at]);
        bool fine = accept(members, degree, own);
        for (std::size_t i = at + 1; fine && i < pool.size() && static_cast<int>(members.size()) < in_.goal.most; ++i)
            fine = grow(pool, i, members, accept);
        members.pop_back();
        return fine;
    }

    const Input& in_;
    PatternTable table_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::int64_t> support_;
    std::int64_t users_;  // without virtual ones

  private:
    // Patterns that too few transactions would hold after the change are lost to everybody.
    std::int64_t lost_by_rarity() const;

    std::vector<Word> space_;
};

}  // namespace anonset::kamp
