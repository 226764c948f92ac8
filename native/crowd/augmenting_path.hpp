// Rows change groups along *augmenting paths*: one goes where it gains, another one takes its place, a third one takes
// the place of that one, and so on; the last one comes from a group of more than k, or from the one to which the first
// one went. With given centers the best groups are a flow of least cost with lower bounds, and these are the paths and
// cycles on which it is improved. Centers stand still meanwhile; when groups vote anew, they can only gain.
#pragma once

#include <cstdint>
#include <vector>

#include "crowd/groups.hpp"

namespace anonset::crowd {

constexpr std::int32_t LARGEST_CENTER = 5'000;  // items; so that scores fit. Longer rows stay where they are.

struct Augmented {
    std::vector<Move> moves;
    std::int64_t gain;  // before groups vote anew
};

// Paths among some groups, whose centers have at most LARGEST_CENTER items; each keeps at least k rows and, with the
// `person` of each row (negative: unknown), as many different persons as it had or k. Time: a pass scores the rows of
// groups that changed in all groups that share an item with them.
Augmented augment(const Groups& groups, const std::vector<std::int32_t>& numbers, std::int32_t k, int threads,
                  Monitor& monitor, const std::int32_t* person = nullptr);

}  // namespace anonset::crowd
