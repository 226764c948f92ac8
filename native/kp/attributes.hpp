// What codes mean (see api.hpp), and what the files of this folder share about them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kp/api.hpp"

namespace anonset::kp {

// What each code means: the attribute, and the count from which on a row has it.
struct Levels {
    std::vector<std::int32_t> attribute, value;

    explicit Levels(const Codes& codes) {
        for (std::int32_t a = 0; a < codes.attributes; ++a)
            for (std::int32_t code = codes.first[a]; code < codes.first[a + 1]; ++code) {
                attribute.push_back(a);
                value.push_back(code - codes.first[a] + 1);
            }
    }
    std::int32_t size() const { return static_cast<std::int32_t>(attribute.size()); }

    // Calls body(attribute, count, code of that count) for every attribute of a row.
    template <class Body>
    void for_counts(const std::int32_t* begin, const std::int32_t* end, Body&& body) const {
        for (const std::int32_t* code = begin; code != end; ++code)
            if (code + 1 == end || attribute[code[1]] != attribute[*code]) body(attribute[*code], value[*code], *code);
    }
};

// As in api.hpp, for groups given by their members.
OwnedCsr mean_centers(const Csr& rows, const Codes& codes, const std::vector<std::vector<std::int32_t>>& groups,
                      int threads, Monitor& monitor);

// The rows of each group; those with a negative group are in none.
std::vector<std::vector<std::int32_t>> members_of(const std::int32_t* group, std::int64_t rows, std::int32_t groups);

}  // namespace anonset::kp
