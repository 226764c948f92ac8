// Which classes of equal rows share items with one of them: inverted lists in Gray order, and what is found there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bitmap.hpp"
#include "csr.hpp"

namespace anonset::crowd {

inline bool equal(const Csr& rows, std::int32_t one, std::int32_t other) {
    return rows.size(one) == rows.size(other) && std::equal(rows.begin(one), rows.end(one), rows.begin(other));
}

// The first row after `from` that differs from it; equal rows lie side by side in Gray order.
inline std::int32_t end_of_equals(const Csr& rows, std::int32_t from) {
    std::int32_t to = from + 1;
    while (to < rows.rows && equal(rows, from, to)) ++to;
    return to;
}

// Classes that hold items of an anchor, and which of them: bit i of the mask is the anchor's i-th item.
struct Sharers {
    std::vector<std::int32_t> rows;
    std::vector<std::uint64_t> masks;
    std::int32_t count = 0;

    void resize(std::size_t most) {
        rows.resize(most);
        masks.resize(most);
    }
};

// Writes one after the other, without branches: all are written, and those that do not count are written over.
struct Writer {
    std::int32_t* rows;
    std::uint64_t* masks;
    std::int32_t count = 0;

    explicit Writer(Sharers& to) : rows(to.rows.data()), masks(to.masks.data()) {}
    void put(std::int32_t row, std::uint64_t mask, bool counts) {
        rows[count] = row;
        masks[count] = mask;
        count += counts;
    }
};

// The `keep` that share most items; ties go to the first.
ANONSET_CLONES inline void keep_most_bits(Sharers& all, std::int32_t keep) {
    std::int32_t with[65] = {};
    for (std::int32_t i = 0; i < all.count; ++i) ++with[__builtin_popcountll(all.masks[i])];
    int least = 64;
    std::int32_t above = 0;
    while (least > 1 && above + with[least] < keep) above += with[least--];
    std::int32_t ties = keep - above;
    Writer kept(all);
    for (std::int32_t i = 0; i < all.count; ++i) {
        const int bits = __builtin_popcountll(all.masks[i]);
        kept.put(all.rows[i], all.masks[i], bits > least || (bits == least && ties > 0));
        ties -= bits == least;
    }
    all.count = kept.count;
}

// Notes which classes hold an item, without branches: whether a class is gone or new is anybody's guess, and a wrong
// guess costs more than the work.
struct Marker {
    const std::int32_t* left;  // rows of each class that are not gone
    std::uint64_t* masks;      // of each class
    std::int32_t* seen;        // classes with a mask
    std::int32_t found = 0;

    void mark(std::int32_t c, std::uint64_t bit) {
        const std::uint64_t mask = masks[c];
        seen[found] = c;
        found += mask == 0;
        masks[c] = mask | bit;
    }
    bool mark_live(std::int32_t c, std::uint64_t bit) {
        const std::uint64_t mask = masks[c];
        const bool live = left[c] > 0;
        seen[found] = c;
        found += live && mask == 0;
        masks[c] = mask | (live ? bit : 0);
        return live;
    }
};

// For each item the classes that hold it, in Gray order. An item of at most k/2 rows is never in a center: no list.
class ClassLists {
  public:
    // Class c are copies[c] rows from first[c] on; it is listed if some of them are left.
    void build(const Csr& rows, const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& copies,
               const std::vector<std::int32_t>& left, std::int32_t n_items, std::int32_t k) {
        lists_.resize(n_items);
        const auto each_item = [&](auto&& body) {
            for (std::size_t c = 0; c < first.size(); ++c)
                for (const std::int32_t* i = rows.begin(first[c]); i != rows.end(first[c]); ++i) body(c, lists_[*i]);
        };
        each_item([&](std::size_t c, List& list) {
            list.gone += copies[c];
            ++list.size;
        });
        std::int32_t total = 0;
        for (List& list : lists_) {
            const bool useful = 2 * list.gone > k;
            list.first = total;
            total += useful ? list.size : 0;
            list.gone = useful ? 0 : -1;
            list.size = 0;
        }
        owner_.resize(total);
        each_item([&](std::size_t c, List& list) {
            if (list.gone == 0 && left[c] > 0) owner_[list.first + list.size++] = static_cast<std::int32_t>(c);
        });
    }

    std::int32_t size(std::int32_t item) const { return lists_[item].size; }

    // Marks the `reach` classes before the anchor, which must be in the list, and as many after it.
    void mark(std::int32_t item, std::int32_t anchor, std::uint64_t bit, std::int32_t reach, Marker& out) const {
        const List& list = lists_[item];
        const std::int32_t *from = owner_.data() + list.first, *to = from + list.size;
        const std::int32_t* at = std::lower_bound(from, to, anchor);
        Marker marker = out;
        if (list.gone == 0) {
            for (const std::int32_t* c = at - std::min<std::ptrdiff_t>(at - from, reach); c != at; ++c)
                marker.mark(*c, bit);
            const std::int32_t* end = at + 1 + std::min<std::ptrdiff_t>(to - at - 1, reach);
            for (const std::int32_t* c = at + 1; c != end; ++c) marker.mark(*c, bit);
        } else {
            std::int32_t left = reach;
            for (const std::int32_t* c = at; c != from && left > 0;) left -= marker.mark_live(*--c, bit);
            left = reach;
            for (const std::int32_t* c = at + 1; c != to && left > 0; ++c) left -= marker.mark_live(*c, bit);
        }
        out.found = marker.found;
    }

    // A class that holds the item is gone. Once half of a list is, it can be cleared of them, so that walks stay short.
    void lose(std::int32_t item) { lists_[item].gone += lists_[item].size > 0; }
    void tidy(std::int32_t item, const std::vector<std::int32_t>& left) {
        List& list = lists_[item];
        if (2 * list.gone <= list.size) return;
        std::int32_t* at = owner_.data() + list.first;
        list.size = static_cast<std::int32_t>(
            std::remove_if(at, at + list.size, [&](std::int32_t c) { return left[c] == 0; }) - at);
        list.gone = 0;
    }

  private:
    struct List {
        std::int32_t first = 0, size = 0, gone = 0;
    };
    std::vector<List> lists_;
    std::vector<std::int32_t> owner_;
};

}  // namespace anonset::crowd
