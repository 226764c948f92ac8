// Every item replaced by what it is published as.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/csr.hpp"

namespace anonset {

// Each row's items through `code` (−1: left out), in order and without repetitions.
inline OwnedCsr recoded(const Csr& data, const std::int32_t* code) {
    OwnedCsr out;
    out.items.resize(data.offsets[data.rows]);
    out.offsets.reserve(data.rows + 1);
    std::int32_t* next = out.items.data();
    for (std::int64_t r = 0; r < data.rows; ++r) {
        std::int32_t* const begin = next;
        bool ordered = true;
        for (const std::int32_t* item = data.begin(r); item != data.end(r); ++item) {
            const std::int32_t published = code[*item];
            if (published < 0 || (next != begin && published == next[-1])) continue;
            ordered &= next == begin || published > next[-1];
            *next++ = published;
        }
        if (!ordered) {
            std::sort(begin, next);
            next = std::unique(begin, next);
        }
        out.offsets.push_back(next - out.items.data());
    }
    out.items.resize(next - out.items.data());
    return out;
}

}  // namespace anonset
