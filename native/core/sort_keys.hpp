// The distances of a segment in the form in which the nearest node is found fastest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/bitmap.hpp"
#include "core/csr.hpp"

namespace anonset {

// How many keys a row has, and how many bits of a key name the node: known to the compiler for the segments that are
// usual (up to 128 nodes), which unrolls the innermost loop, and otherwise not.
template <int Width>
struct UsualShape {
    static constexpr std::int64_t width() { return Width; }
    static constexpr int shift() { return 7; }
};
struct AnyShape {
    std::int64_t wide;
    int bits;
    std::int64_t width() const { return wide; }
    int shift() const { return bits; }
};

// As many keys side by side as fit 32 bytes: what compilers turn into one operation where the processor has it, while
// wider ones fall apart into single keys. `bits` are those of the nodes j … j + count − 1, where count divides j.
template <class Key>
struct Vector;
template <>
struct Vector<std::uint16_t> {
    typedef std::uint16_t Keys __attribute__((vector_size(32)));
    static constexpr Keys ONE_BIT_EACH = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    static ANONSET_INLINE std::uint16_t bits(const std::uint64_t* taken, std::int64_t j) {
        return static_cast<std::uint16_t>(taken[j / 64] >> j % 64);
    }
};
template <>
struct Vector<std::uint32_t> {
    typedef std::uint32_t Keys __attribute__((vector_size(32)));
    static constexpr Keys ONE_BIT_EACH = {1, 2, 4, 8, 16, 32, 64, 128};
    static ANONSET_INLINE std::uint32_t bits(const std::uint64_t* taken, std::int64_t j) {
        return static_cast<std::uint32_t>(taken[j / 64] >> j % 64 & 255);
    }
};
template <>
struct Vector<std::uint64_t> {
    typedef std::uint64_t Keys __attribute__((vector_size(32)));
    static constexpr Keys ONE_BIT_EACH = {1, 2, 4, 8};
    static ANONSET_INLINE std::uint64_t bits(const std::uint64_t* taken, std::int64_t j) {
        return taken[j / 64] >> j % 64 & 15;
    }
};

// A bit for each of 128 nodes.
typedef std::uint64_t BitPair __attribute__((vector_size(16)));

// row[j] = distance << shift | j for first ≤ j < last, where the distance is between a row of `size` items and rows of
// sizes[j] items of which they share overlap[j].
#define ANONSET_DISTANCE_KEYS(Key, Wide)                                                                   \
    ANONSET_CLONES inline void distance_keys(Wide size, const Wide* sizes, const std::uint32_t* overlap,   \
                                             std::int64_t first, std::int64_t last, int shift, Key* row) { \
        for (std::int64_t j = first; j < last; ++j)                                                        \
            row[j] = static_cast<Key>((size + sizes[j] - 2 * static_cast<Wide>(overlap[j])) << shift |     \
                                      static_cast<Wide>(j));                                               \
    }
ANONSET_DISTANCE_KEYS(std::uint16_t, std::uint32_t)
ANONSET_DISTANCE_KEYS(std::uint32_t, std::uint32_t)
ANONSET_DISTANCE_KEYS(std::uint64_t, std::uint64_t)
#undef ANONSET_DISTANCE_KEYS

// The first keys of a row, named by their places.
#define ANONSET_NAME_KEYS(Key)                                                                            \
    ANONSET_CLONES inline void name_keys(std::int64_t count, int shift, Key* row) {                       \
        for (std::int64_t j = 0; j < count; ++j) row[j] = static_cast<Key>(row[j] >> shift << shift | j); \
    }
ANONSET_NAME_KEYS(std::uint16_t)
ANONSET_NAME_KEYS(std::uint32_t)
ANONSET_NAME_KEYS(std::uint64_t)
#undef ANONSET_NAME_KEYS

// Eight keys of eight rows, which lie `width` keys apart, with rows and columns exchanged.
template <class Key>
void turn(const Key* from, std::int64_t width, Key* to) {
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) to[i * width + j] = from[j * width + i];
}
#ifdef __SSE2__
inline void turn(const std::uint16_t* from, std::int64_t width, std::uint16_t* to) {
    __m128i rows[8], pairs[8], fours[8];
    for (int i = 0; i < 8; ++i) rows[i] = _mm_load_si128(reinterpret_cast<const __m128i*>(from + i * width));
    for (int i = 0; i < 4; ++i) {  // pairs of rows 2i and 2i + 1, columns 0–3 and 4–7
        pairs[i] = _mm_unpacklo_epi16(rows[2 * i], rows[2 * i + 1]);
        pairs[i + 4] = _mm_unpackhi_epi16(rows[2 * i], rows[2 * i + 1]);
    }
    for (int i = 0; i < 4; ++i) {  // of rows 4 (i % 2) on, two columns each
        const int at = i % 2 * 2 + i / 2 * 4;
        fours[i] = _mm_unpacklo_epi32(pairs[at], pairs[at + 1]);
        fours[i + 4] = _mm_unpackhi_epi32(pairs[at], pairs[at + 1]);
    }
    for (int i = 0; i < 8; ++i) {
        const __m128i upper = fours[i / 4 * 2 + i / 2 % 2 * 4], lower = fours[i / 4 * 2 + i / 2 % 2 * 4 + 1];
        const __m128i column = i % 2 == 0 ? _mm_unpacklo_epi64(upper, lower) : _mm_unpackhi_epi64(upper, lower);
        _mm_store_si128(reinterpret_cast<__m128i*>(to + i * width), column);
    }
}
#endif

// Distances as keys `distance << shift | node`: the least key of a row is its nearest node, ties to the lowest index.
// Key is as narrow as the distances allow.
template <class Key>
class KeyMatrix {
  public:
    static constexpr Key NONE = std::numeric_limits<Key>::max();

    static bool fits(std::int64_t nodes, std::int64_t longest) {
        return std::uint64_t{NONE} >> shift_for(nodes) > static_cast<std::uint64_t>(longest);
    }

    void load(const Csr& data, const std::int64_t* rows, std::int64_t nodes, SharedItems& shared) {
        nodes_ = nodes;
        shift_ = shift_for(nodes);
        blocks_ = (nodes + 15) / 16;
        keys_.resize(16 * blocks_ * blocks_);
        sizes_.resize(nodes);
        for (std::int64_t i = 0; i < nodes; ++i) sizes_[i] = static_cast<Wide>(data.size(rows[i]));
        shared.load(data, rows, nodes);
    }

    // Fills row i from its diagonal on; `overlap` is room for one row.
    void fill(std::int64_t i, const SharedItems& shared, std::vector<std::uint32_t>& overlap) {
        overlap.resize(nodes_);
        shared.row(i, overlap.data());
        Key* row = keys_[i * blocks_].key;
        row[i] = NONE;
        distance_keys(sizes_[i], sizes_.data(), overlap.data(), i + 1, nodes_, shift_, row);
        std::fill(row + nodes_, row + 16 * blocks_, NONE);
    }

    std::int64_t blocks() const { return blocks_; }

    // Once all rows are filled: the sixteen rows of a block up to their diagonal, which are columns of the rows above.
    void mirror(std::int64_t block) {
        const std::int64_t width = 16 * blocks_, first = 16 * block, last = std::min(first + 16, nodes_);
        Key* const keys = keys_.data()->key;
        for (std::int64_t i = first; i < last; i += 8)
            for (std::int64_t j = 0; j < first; j += 8) turn(keys + j * width + i, width, keys + i * width + j);
        for (std::int64_t i = first; i < last; ++i) {
            for (std::int64_t j = first; j < i; ++j) keys[i * width + j] = keys[j * width + i];
            name_keys(i, shift_, keys + i * width);
        }
    }

    std::int64_t nodes() const { return nodes_; }
    AnyShape shape() const { return {16 * blocks_, shift_}; }
    const Key* row(std::int64_t i) const { return keys_[i * blocks_].key; }
    std::int64_t between(std::int64_t a, std::int64_t b) const { return a == b ? 0 : distance(row(a)[b], shape()); }

    template <class Shape>
    static ANONSET_INLINE std::int64_t distance(Key key, Shape shape) {
        return static_cast<std::int64_t>(std::uint64_t{key} >> shape.shift());
    }
    template <class Shape>
    static ANONSET_INLINE std::uint32_t node(Key key, Shape shape) {
        return static_cast<std::uint32_t>(key & ((std::uint64_t{1} << shape.shift()) - 1));
    }

    // The least key of a row among the nodes whose bits are not set in `taken`; NONE if all are.
    template <class Shape>
    static ANONSET_INLINE Key least(const Key* row, const std::uint64_t* taken, Shape shape) {
        using Keys = typename Vector<Key>::Keys;
        constexpr std::int64_t COUNT = sizeof(Keys) / sizeof(Key);
        const Keys one_bit_each = Vector<Key>::ONE_BIT_EACH;
        Keys least = ~Keys{};
        for (std::int64_t j = 0; j < shape.width(); j += COUNT) {
            const Keys keys =
                *reinterpret_cast<const Keys*>(row + j) |
                static_cast<Keys>(((Keys{} + Vector<Key>::bits(taken, j)) & one_bit_each) == one_bit_each);
            least = keys < least ? keys : least;
        }
        return least_of(least);
    }

    // The same for at most 128 narrow keys, with the bits where a vector unit wants them: see `bit`.
    template <int Width>
    static ANONSET_INLINE Key least(const Key* row, const BitPair& taken, UsualShape<Width>) {
        using Keys = typename Vector<Key>::Keys;
        typedef std::uint64_t Four __attribute__((vector_size(32)));
        Keys least = ~Keys{};
        for (int block = 0; block < Width / 16; ++block) {
            const Keys asked = (Keys{1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8}) << 4 * (block % 4);
            const Keys bits = reinterpret_cast<Keys>(Four{} + taken[block / 4]);
            const Keys keys =
                *reinterpret_cast<const Keys*>(row + 16 * block) | static_cast<Keys>((bits & asked) == asked);
            least = keys < least ? keys : least;
        }
        return least_of(least);
    }
    // Where a node has its bit: block 4 a + b of sixteen nodes in word a, and its node 4 c + d in bit 16 d + 4 b + c.
    // So one word, four times side by side, holds the bits of four blocks, each where its key lies.
    static BitPair bit(std::int64_t node) {
        const std::int64_t block = node / 16, place = node % 16;
        BitPair bits{};
        bits[block / 4] = std::uint64_t{1} << (16 * (place % 4) + 4 * (block % 4) + place / 4);
        return bits;
    }

  private:
    using Wide = std::conditional_t<sizeof(Key) == 8, std::uint64_t, std::uint32_t>;
    struct alignas(16 * sizeof(Key)) Block {
        Key key[16];
    };

    static ANONSET_INLINE Key least_of(const typename Vector<Key>::Keys& keys) {
        Key best = NONE;
        for (std::size_t i = 0; i < sizeof keys / sizeof(Key); ++i) best = std::min<Key>(best, keys[i]);
        return best;
    }

    static int shift_for(std::int64_t nodes) {
        int shift = UsualShape<0>::shift();
        while ((std::int64_t{1} << shift) < nodes) ++shift;
        return shift;
    }

    std::int64_t nodes_ = 0, blocks_ = 0;
    int shift_ = 0;
    std::vector<Block> keys_;
    std::vector<Wide> sizes_;
};

// Calls body with the shape of the keys, as a constant where it is usual.
template <class Key, class Body>
ANONSET_INLINE void with_shape(const KeyMatrix<Key>& keys, Body&& body) {
    const AnyShape shape = keys.shape();
    if constexpr (sizeof(Key) == 2) {
        if (shape.shift() != UsualShape<0>::shift()) return body(shape);
        switch (shape.width()) {
            case 16:
                return body(UsualShape<16>());
            case 32:
                return body(UsualShape<32>());
            case 48:
                return body(UsualShape<48>());
            case 64:
                return body(UsualShape<64>());
            case 80:
                return body(UsualShape<80>());
            case 96:
                return body(UsualShape<96>());
            case 112:
                return body(UsualShape<112>());
            default:
                return body(UsualShape<128>());
        }
    } else {
        body(shape);
    }
}

}  // namespace anonset
