// How many members of each group hold a sensitive item, and by how much that is too many.
//
// The excess of a group is the sum of max(0, c * p - s) over its sensitive items, for c holders among s rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"

namespace anonset::crowd {

class Sensitive {
    struct Held {
        std::int32_t item, holders;
    };
    struct Part {
        std::int64_t size = 0;
        std::vector<Held> held;  // by ascending item
    };

    template <class List>
    static auto place(List& held, std::int32_t item) {
        return std::lower_bound(held.begin(), held.end(), item,
                                [](const Held& one, std::int32_t what) { return one.item < what; });
    }

  public:
    static constexpr std::int32_t NOBODY = -1;

    Sensitive(const Csr& rows, std::int64_t p, std::int32_t groups) : rows_(rows), p_(p), parts_(groups) {}

    bool holds(std::int32_t row, std::int32_t item) const {
        return std::binary_search(rows_.begin(row), rows_.end(row), item);
    }
    void put(std::int32_t row, std::int32_t g) {
        ++parts_[g].size;
        count(parts_[g], row, 1);
    }
    void take(std::int32_t row, std::int32_t g) {
        --parts_[g].size;
        count(parts_[g], row, -1);
    }
    void merge(std::int32_t g, std::int32_t h) {
        parts_[g] = united(g, h);
        parts_[h] = Part();
    }

    // The excess of a group, after `out` has left and `in` has come.
    std::int64_t excess(std::int32_t g, std::int32_t out = NOBODY, std::int32_t in = NOBODY) const {
        const Part& part = parts_[g];
        const std::int64_t size = part.size - (out >= 0) + (in >= 0);
        const std::int32_t none = 0;
        const std::int32_t *a = out < 0 ? &none : rows_.begin(out), *a_end = out < 0 ? &none : rows_.end(out);
        const std::int32_t *b = in < 0 ? &none : rows_.begin(in), *b_end = in < 0 ? &none : rows_.end(in);
        std::int64_t sum = 0;
        for (const Held& one : part.held) {
            for (; b != b_end && *b < one.item; ++b) sum += beyond(1, size);
            std::int64_t holders = one.holders;
            if (a != a_end && *a == one.item) --holders, ++a;
            if (b != b_end && *b == one.item) ++holders, ++b;
            sum += beyond(holders, size);
        }
        for (; b != b_end; ++b) sum += beyond(1, size);
        return sum;
    }
    std::int64_t excess_together(std::int32_t g, std::int32_t h) const {
        const Part both = united(g, h);
        std::int64_t sum = 0;
        for (const Held& one : both.held) sum += beyond(one.holders, both.size);
        return sum;
    }

    // Whether the group has at least `room` rows more than its holders of the item need.
    bool has_room(std::int32_t g, std::int32_t item, std::int64_t room) const {
        const auto at = place(parts_[g].held, item);
        const std::int64_t holders = at != parts_[g].held.end() && at->item == item ? at->holders : 0;
        return holders * p_ + room <= parts_[g].size;
    }
    std::int32_t most_held(std::int32_t g) const {
        const auto fewer = [](const Held& a, const Held& b) { return a.holders < b.holders; };
        return std::max_element(parts_[g].held.begin(), parts_[g].held.end(), fewer)->item;
    }

  private:
    std::int64_t beyond(std::int64_t holders, std::int64_t size) const {
        return holders > 0 ? std::max<std::int64_t>(0, holders * p_ - size) : 0;
    }
    void count(Part& part, std::int32_t row, std::int32_t sign) const {
        for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
            const auto at = place(part.held, *i);
            if (at == part.held.end() || at->item != *i)
                part.held.insert(at, {*i, sign});
            else if ((at->holders += sign) == 0)
                part.held.erase(at);
        }
    }
    Part united(std::int32_t g, std::int32_t h) const {
        Part both = parts_[g];
        both.size += parts_[h].size;
        for (const Held& one : parts_[h].held) {
            const auto at = place(both.held, one.item);
            if (at == both.held.end() || at->item != one.item)
                both.held.insert(at, one);
            else
                at->holders += one.holders;
        }
        return both;
    }

    Csr rows_;
    std::int64_t p_;
    std::vector<Part> parts_;
};

}  // namespace anonset::crowd
