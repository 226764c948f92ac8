#include <cstring>

#include "io/api.hpp"

namespace anonset::io {

namespace {

// The length of the well-formed UTF-8 character at `p` (Unicode, table 3-7), 0 where there is none.
int utf8_length(const unsigned char* p, const unsigned char* end) {
    const unsigned char first = p[0];
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    const int length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (end - p < length) return 0;
    const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < low || p[1] > high) return 0;
    for (int i = 2; i < length; ++i)
        if ((p[i] & 0xC0) != 0x80) return 0;
    return length;
}

}  // namespace

std::int64_t first_bad_byte(std::string_view text) {
    const auto* begin = reinterpret_cast<const unsigned char*>(text.data());
    const unsigned char *p = begin, *end = begin + text.size();
    while (p < end) {
        std::uint64_t word;
        while (end - p >= 8) {
            std::memcpy(&word, p, 8);
            // Eight ASCII characters, none of them NUL: no byte has its top bit, before or after subtracting one.
            if ((word | (word - 0x0101010101010101ull)) & 0x8080808080808080ull) break;
            p += 8;
        }
        if (p == end) break;
        const int length = *p == 0 ? 0 : utf8_length(p, end);
        if (length == 0) return p - begin;
        p += length;
    }
    return -1;
}

}  // namespace anonset::io
