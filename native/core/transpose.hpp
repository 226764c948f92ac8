// The counting transpose: (key, value) pairs gathered by key. Of rows of items it makes, for each item, the rows that
// hold it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/buffer.hpp"
#include "core/csr.hpp"

namespace anonset {

// The values of each key, one key after the other, in the order in which they came.
template <class Value = std::int32_t, class Place = std::int64_t>
struct Transposed {
    std::vector<Place> start{0};  // keys + 1
    Buffer<Value> values;

    Place size(std::int64_t key) const { return start[key + 1] - start[key]; }
    const Value* begin(std::int64_t key) const { return values.data() + start[key]; }
    const Value* end(std::int64_t key) const { return values.data() + start[key + 1]; }
    Value* begin(std::int64_t key) { return values.data() + start[key]; }
    Value* end(std::int64_t key) { return values.data() + start[key + 1]; }
};

// each_key(visit) calls visit(key), and each_pair(visit) calls visit(key, value), for the same keys in [0, keys).
// Time and memory: keys + pairs.
template <class Value, class Place, class EachKey, class EachPair>
Transposed<Value, Place> counting_transpose(std::int64_t keys, EachKey&& each_key, EachPair&& each_pair) {
    Transposed<Value, Place> out;
    out.start.assign(keys + 1, 0);
    each_key([&](std::int64_t key) { ++out.start[key + 1]; });
    for (std::int64_t key = 0; key < keys; ++key) out.start[key + 1] += out.start[key];
    out.values.resize(out.start[keys]);
    std::vector<Place> cursor(out.start.begin(), out.start.end() - 1);
    each_pair([&](std::int64_t key, const Value& value) { out.values[cursor[key]++] = value; });
    return out;
}

// The same where the pairs are visited twice: each_pair must give the same ones both times.
template <class Value, class Place = std::int64_t, class EachPair>
Transposed<Value, Place> transpose_pairs(std::int64_t keys, EachPair&& each_pair) {
    const auto each_key = [&](auto&& visit) { each_pair([&](std::int64_t key, const Value&) { visit(key); }); };
    return counting_transpose<Value, Place>(keys, each_key, each_pair);
}

// For each of `items` items the rows that hold it, ascending.
inline Transposed<> transpose(const Csr& data, std::int64_t items) {
    const auto each_item = [&](auto&& visit) {
        for (const std::int32_t *item = data.begin(0), *last = data.begin(data.rows); item != last; ++item)
            visit(*item);
    };
    const auto each_pair = [&](auto&& visit) {
        for (std::int64_t row = 0; row < data.rows; ++row)
            for (const std::int32_t* item = data.begin(row); item != data.end(row); ++item)
                visit(*item, static_cast<std::int32_t>(row));
    };
    return counting_transpose<std::int32_t, std::int64_t>(items, each_item, each_pair);
}

// The same with the place of the item inside the row: make(row, place) is what is kept.
template <class Value, class Make>
Transposed<Value> transpose_places(const Csr& data, std::int64_t items, Make&& make) {
    return transpose_pairs<Value>(items, [&](auto&& visit) {
        for (std::int64_t row = 0; row < data.rows; ++row)
            for (std::int64_t place = 0; place < data.size(row); ++place)
                visit(data.begin(row)[place], make(static_cast<std::int32_t>(row), static_cast<std::int32_t>(place)));
    });
}

// The rows of each of `keys` keys, ascending, where row r has key[r].
template <class Place = std::int64_t, class Key>
Transposed<std::int32_t, Place> rows_by_key(const Key* key, std::int64_t rows, std::int64_t keys) {
    return transpose_pairs<std::int32_t, Place>(keys, [&](auto&& visit) {
        for (std::int64_t row = 0; row < rows; ++row) visit(key[row], static_cast<std::int32_t>(row));
    });
}

}  // namespace anonset
