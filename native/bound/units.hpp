// What dual values are counted in, so that nothing that a proof needs is lost to rounding.
#pragma once

#include <cstdint>

namespace anonset::bound {

constexpr std::int32_t UNIT = 1024;  // values are whole multiples of 1 / UNIT items

}  // namespace anonset::bound
