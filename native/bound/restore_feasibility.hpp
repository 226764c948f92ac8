// Lowers values until no group is violated at any of some centers (docs/explanation/bound.md, "Dual increments").
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "bound/increment_problem.hpp"
#include "core/monitor.hpp"

namespace anonset::bound {

using Items = std::vector<std::int32_t>;  // of a center, ascending
using Centers = std::set<Items>;

class RestoreFeasibility {
  public:
    // `decrease`: by how much the value of each row is lowered already.
    RestoreFeasibility(const IncrementProblem& problem, std::vector<std::int64_t>& decrease);

    // The centers with the largest violations come first: others may not be violated any more after that.
    void run(const Centers& centers, Monitor& monitor);

  private:
    struct Member {
        std::int64_t contribution;
        std::int32_t id, copies;
        bool operator<(const Member& other) const {
            return contribution != other.contribution ? contribution > other.contribution : id < other.id;
        }
    };

    std::int64_t contribution(std::int32_t row, const Items& center) const;
    void gather(const Items& center);
    std::int64_t choose();
    void lower();

    const IncrementProblem& p_;
    std::vector<std::int64_t>& decrease_;
    std::vector<std::int32_t> by_demand_;  // rows
    std::vector<std::int32_t> held_;       // by each row; 0 in between
    std::vector<std::int32_t> touched_;
    std::vector<Member> rows_;  // that may be in a violated group
    std::size_t chosen_ = 0;    // the first of these make the most violated one
    LargestRanked best_;
};

}  // namespace anonset::bound
