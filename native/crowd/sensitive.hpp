// How many members of each group hold a secret, and by how much that is too many.
//
// The excess of a group is the sum of max(0, c * p - s) over its secrets, for c holders among s rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"

namespace anonset::crowd {

class Secrets {
    struct Held {
        std::int32_t secret, holders;
    };
    struct Part {
        std::int64_t size = 0;
        std::vector<Held> held;  // by ascending secret
    };

    template <class List>
    static auto place(List& held, std::int32_t secret) {
        return std::lower_bound(held.begin(), held.end(), secret,
                                [](const Held& one, std::int32_t what) { return one.secret < what; });
    }

  public:
    static constexpr std::int32_t NOBODY = -1;

    Secrets(const Csr& secrets, std::int64_t p, std::int32_t groups) : secrets_(secrets), p_(p), parts_(groups) {}

    bool holds(std::int32_t row, std::int32_t secret) const {
        return std::binary_search(secrets_.begin(row), secrets_.end(row), secret);
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
        const std::int32_t *a = out < 0 ? &none : secrets_.begin(out), *a_end = out < 0 ? &none : secrets_.end(out);
        const std::int32_t *b = in < 0 ? &none : secrets_.begin(in), *b_end = in < 0 ? &none : secrets_.end(in);
        std::int64_t sum = 0;
        for (const Held& one : part.held) {
            for (; b != b_end && *b < one.secret; ++b) sum += beyond(1, size);
            std::int64_t holders = one.holders;
            if (a != a_end && *a == one.secret) --holders, ++a;
            if (b != b_end && *b == one.secret) ++holders, ++b;
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

    // Whether the group has at least `room` rows more than its holders of the secret need.
    bool has_room(std::int32_t g, std::int32_t secret, std::int64_t room) const {
        const auto at = place(parts_[g].held, secret);
        const std::int64_t holders = at != parts_[g].held.end() && at->secret == secret ? at->holders : 0;
        return holders * p_ + room <= parts_[g].size;
    }
    std::int32_t most_held(std::int32_t g) const {
        const auto fewer = [](const Held& a, const Held& b) { return a.holders < b.holders; };
        return std::max_element(parts_[g].held.begin(), parts_[g].held.end(), fewer)->secret;
    }

  private:
    std::int64_t beyond(std::int64_t holders, std::int64_t size) const {
        return holders > 0 ? std::max<std::int64_t>(0, holders * p_ - size) : 0;
    }
    void count(Part& part, std::int32_t row, std::int32_t sign) const {
        for (const std::int32_t* i = secrets_.begin(row); i != secrets_.end(row); ++i) {
            const auto at = place(part.held, *i);
            if (at == part.held.end() || at->secret != *i)
                part.held.insert(at, {*i, sign});
            else if ((at->holders += sign) == 0)
                part.held.erase(at);
        }
    }
    Part united(std::int32_t g, std::int32_t h) const {
        Part both = parts_[g];
        both.size += parts_[h].size;
        for (const Held& one : parts_[h].held) {
            const auto at = place(both.held, one.secret);
            if (at == both.held.end() || at->secret != one.secret)
                both.held.insert(at, one);
            else
                at->holders += one.holders;
        }
        return both;
    }

    Csr secrets_;
    std::int64_t p_;
    std::vector<Part> parts_;
};

}  // namespace anonset::crowd
