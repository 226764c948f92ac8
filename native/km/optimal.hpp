// The exact search on a database, for whoever has one already.
#pragma once

#include "km/database.hpp"

namespace anonset::km {

// As optimal_cut, but with the published nodes by rank; none if nothing costs less than `bound`. The rows are sorted.
OptimalCut search_optimal(const Database& db, std::int64_t k, int m, std::int64_t bound, std::int64_t most_cuts,
                          std::int64_t most_rare, Monitor& monitor);

}  // namespace anonset::km
