// How many different persons the rows of each group belong to, and by how much that is too few.
//
// The excess of a group is max(0, k - d) for the d different persons whose rows it holds. Rows of an unknown person
// (a negative code) count for nobody.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"

namespace anonset::crowd {

class Persons {
    struct Held {
        std::int32_t person, rows;
    };
    using Part = std::vector<Held>;  // by ascending person

    template <class List>
    static auto place(List& held, std::int32_t person) {
        return std::lower_bound(held.begin(), held.end(), person,
                                [](const Held& one, std::int32_t whom) { return one.person < whom; });
    }

  public:
    static constexpr std::int32_t NOBODY = -1;

    Persons(const std::int32_t* person, std::int64_t k, std::int32_t groups) : person_(person), k_(k), parts_(groups) {}

    std::int64_t rows_of(std::int32_t g, std::int32_t person) const {
        const auto at = place(parts_[g], person);
        return at != parts_[g].end() && at->person == person ? at->rows : 0;
    }
    std::int64_t different(std::int32_t g) const { return static_cast<std::int64_t>(parts_[g].size()); }
    // Whether the group has as many persons without this row.
    bool superfluous(std::int32_t row, std::int32_t g) const {
        return person_[row] < 0 || rows_of(g, person_[row]) > 1;
    }
    bool is_new(std::int32_t row, std::int32_t g) const { return person_[row] >= 0 && rows_of(g, person_[row]) == 0; }

    void put(std::int32_t row, std::int32_t g) { count(parts_[g], person_[row], 1); }
    void take(std::int32_t row, std::int32_t g) { count(parts_[g], person_[row], -1); }
    void merge(std::int32_t g, std::int32_t h) {
        for (const Held& one : parts_[h]) count(parts_[g], one.person, one.rows);
        parts_[h] = Part();
    }

    // The excess of a group, after `out` has left and `in` has come.
    std::int64_t excess(std::int32_t g, std::int32_t out = NOBODY, std::int32_t in = NOBODY) const {
        const std::int32_t gone = out < 0 ? NOBODY : person_[out], come = in < 0 ? NOBODY : person_[in];
        std::int64_t persons = different(g);
        if (gone != come) {
            if (gone >= 0) persons -= rows_of(g, gone) == 1;
            if (come >= 0) persons += rows_of(g, come) == 0;
        }
        return std::max<std::int64_t>(0, k_ - persons);
    }
    std::int64_t excess_together(std::int32_t g, std::int32_t h) const {
        const Part &a = parts_[g], &b = parts_[h];
        auto persons = static_cast<std::int64_t>(a.size() + b.size());
        for (auto one = a.begin(), other = b.begin(); one != a.end() && other != b.end();) {
            persons -= one->person == other->person;
            one->person < other->person ? ++one : ++other;
        }
        return std::max<std::int64_t>(0, k_ - persons);
    }

  private:
    static void count(Part& part, std::int32_t person, std::int32_t rows) {
        if (person < 0) return;
        const auto at = place(part, person);
        if (at == part.end() || at->person != person)
            part.insert(at, {person, rows});
        else if ((at->rows += rows) == 0)
            part.erase(at);
    }

    const std::int32_t* person_;
    std::int64_t k_;
    std::vector<Part> parts_;
};

}  // namespace anonset::crowd
