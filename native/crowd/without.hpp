// Mechanisms that an ablation switches off (benchmarks/ablation.py).
#pragma once

#include <cstdint>

namespace anonset::crowd {

enum class Mechanism {
    swaps,
    dissolving,
    circles,
    dice,
    tries,
    refill_turns,
    sampled_members,
    waiting,
    silent,
    forgetful,
    bytes,
    expectation,
    infrequent,
    dense_dissolving,
    filter,
    prefetch,
    telling,
    frozen
};

inline std::uint32_t switched_off = 0;
inline bool without(Mechanism one) { return switched_off >> static_cast<int>(one) & 1; }

}  // namespace anonset::crowd
