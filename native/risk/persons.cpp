// How many different persons fit what an attacker knows of one transaction of a person.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/transpose.hpp"
#include "risk/api.hpp"

namespace anonset::risk {

namespace {

// Rows of one person lie side by side, so a person is counted where the first row that fits is met.
class PersonCounter {
  public:
    PersonCounter(const Csr& data, const std::int32_t* person, std::int64_t n_items)
        : data_(data), person_(person), lists_(transpose(data, n_items)) {}

    void count(const std::int32_t* query, int m, std::int32_t own, std::int64_t& persons, std::uint8_t& found) const {
        const std::int32_t* rarest = std::min_element(
            query, query + m, [&](std::int32_t a, std::int32_t b) { return lists_.size(a) < lists_.size(b); });
        std::int32_t last = -1;
        for (const std::int32_t* row = lists_.begin(*rarest); row != lists_.end(*rarest); ++row) {
            if (person_[*row] == last) continue;
            if (!std::all_of(query, query + m, [&](std::int32_t item) { return holds(*row, item); })) continue;
            last = person_[*row];
            ++persons;
            found |= last == own;
        }
    }

  private:
    bool holds(std::int32_t row, std::int32_t item) const {
        return std::binary_search(data_.begin(row), data_.end(row), item);
    }

    Csr data_;
    const std::int32_t* person_;
    Transposed<> lists_;
};

}  // namespace

Companions count_persons(const Csr& data, const std::int32_t* person, std::int64_t n_items, const std::int32_t* queries,
                         const std::int32_t* own, std::int64_t n_queries, int m, int threads, Monitor& monitor) {
    const PersonCounter counter(data, person, n_items);
    Companions out{std::vector<std::int64_t>(n_queries), std::vector<std::uint8_t>(n_queries)};
    parallel_for(
        n_queries, threads, monitor,
        [&](std::int64_t q, int) { counter.count(queries + q * m, m, own[q], out.persons[q], out.found[q]); }, 256);
    return out;
}

}  // namespace anonset::risk
