// The exact search on a database that is there already.
#pragma once

#include "km/database.hpp"

namespace anonset::km {

// As optimal_cut, but with the published nodes by rank; none if nothing costs less than the bound. The rows are sorted.
OptimalCut search_optimal(const Database& db, std::int64_t k, int m, const SearchLimits& limits, Monitor& monitor);

}  // namespace anonset::km
