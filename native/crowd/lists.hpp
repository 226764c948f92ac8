// Which classes of equal rows share items with one of them: inverted lists in Gray order, and what is found there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/buffer.hpp"
#include "core/csr.hpp"
#include "crowd/without.hpp"

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

// Counts the items that classes share with an anchor, without branches: whether a class is gone or new is anybody's
// guess, and a wrong guess costs more than the work.
struct Marker {
    const std::int32_t* left;  // rows of each class that are not gone
    std::uint8_t* shared;      // of each class
    std::int32_t* seen;        // classes that share something
    std::int32_t found = 0;

    void mark(std::int32_t c) {
        const std::uint8_t before = shared[c];
        seen[found] = c;
        found += before == 0;
        shared[c] = static_cast<std::uint8_t>(before + 1);
    }
    bool mark_live(std::int32_t c) {
        const std::uint8_t before = shared[c];
        const bool live = left[c] > 0;
        seen[found] = c;
        found += live && before == 0;
        shared[c] = static_cast<std::uint8_t>(before + live);
        return live;
    }
};

// For each item the classes that hold it, in Gray order. An item of at most k/2 rows is never in a center: no list.
class ClassLists {
  public:
    // Class c are copies[c] rows from first[c] on; it is listed if some of them are left. Calls note(c, places) with
    // the places of every class in the lists of its items, except for items without a list.
    template <class Note>
    void build(const Csr& rows, const std::vector<std::int32_t>& first, const std::vector<std::int32_t>& copies,
               const std::vector<std::int32_t>& left, std::int32_t n_items, std::int32_t k, Note&& note) {
        std::vector<std::int32_t> next(n_items, 0);  // the rows that hold an item; then where the next class goes
        for (std::size_t c = 0; c < first.size(); ++c)
            for (const std::int32_t* i = rows.begin(first[c]); i != rows.end(first[c]); ++i) next[*i] += copies[c];
        lists_.resize(n_items);
        std::int32_t total = 0;
        for (std::int32_t item = 0; item < n_items; ++item) {
            const bool useful = 2 * next[item] > k;
            lists_[item] = {total, 0, useful ? 0 : -1};
            total += useful ? std::exchange(next[item], total) : 0;
            if (!useful) next[item] = -1;
        }
        owner_.resize(total);
        std::vector<std::int32_t> places;
        for (std::size_t c = 0; c < first.size(); ++c) {
            places.clear();
            for (const std::int32_t* i = rows.begin(first[c]); i != rows.end(first[c]); ++i) {
                if (next[*i] < 0) continue;
                places.push_back(next[*i]);
                if (left[c] > 0) owner_[next[*i]++] = static_cast<std::int32_t>(c);
            }
            note(c, places);
        }
        for (std::int32_t item = 0; item < n_items; ++item)
            if (next[item] >= 0) lists_[item].size = next[item] - lists_[item].first;
    }

    bool has(std::int32_t item) const { return lists_[item].gone >= 0; }
    std::int32_t size(std::int32_t item) const { return lists_[item].size; }

    // Marks the `reach` classes before the anchor, which must be in the list, and as many after it. It stands at that
    // place unless the list was cleared since.
    void mark(std::int32_t item, std::int32_t anchor, std::int32_t place, std::int32_t reach, Marker& out) const {
        const List& list = lists_[item];
        const std::int32_t *from = owner_.data() + list.first, *to = from + list.size, *at = owner_.data() + place;
        if (at >= to || *at != anchor) at = std::lower_bound(from, to, anchor);
        Marker marker = out;
        if (list.gone == 0) {
            const std::int32_t* c = at - std::min<std::ptrdiff_t>(at - from, reach);
            const std::int32_t* end = at + std::min<std::ptrdiff_t>(to - at, reach + 1);
            for (; c != end; ++c) marker.mark(*c);
        } else {
            std::int32_t left = reach;
            for (const std::int32_t* c = at; c != from && left > 0;) left -= marker.mark_live(*--c);
            left = reach;
            for (const std::int32_t* c = at + 1; c != to && left > 0; ++c) left -= marker.mark_live(*c);
        }
        out.found = marker.found;
    }

    // Fetches what mark() will read there, most of it: it lies anywhere, and to wait for one list after the other costs
    // more than to count.
    void prefetch(std::int32_t place, std::int32_t reach) const {
        const auto last = static_cast<std::int32_t>(owner_.size()) - 1;
        for (const std::int32_t at : {std::max(0, place - reach), place, std::min(last, place + reach)})
            __builtin_prefetch(owner_.data() + at);
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
    Buffer<std::int32_t> owner_;
};

}  // namespace anonset::crowd
