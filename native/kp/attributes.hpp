// Rows of items as counts of attributes, in unary code: an attribute with count c is c items, "at least 1" to "at
// least c". Rows stay sets, and the Hamming distance of two rows is the L1 distance of their counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset {

struct Mapped {
    OwnedCsr rows;                    // the counts of what is not sensitive, in unary code
    OwnedCsr secret;                  // the attributes of which a row holds something sensitive
    std::vector<std::int32_t> first;  // attribute -> its code for "at least 1"; one more for the end
};

// What each code means: the attribute, and the count from which on a row has it.
struct Levels {
    std::vector<std::int32_t> attribute, value;

    Levels(const std::int32_t* first, std::int32_t attributes) {
        for (std::int32_t a = 0; a < attributes; ++a)
            for (std::int32_t code = first[a]; code < first[a + 1]; ++code) {
                attribute.push_back(a);
                value.push_back(code - first[a] + 1);
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

namespace attributes {

inline void add_sorted(std::vector<std::int32_t>& found, OwnedCsr& out) {
    if (!std::is_sorted(found.begin(), found.end())) std::sort(found.begin(), found.end());
    out.items.insert(out.items.end(), found.begin(), found.end());
    out.close_row();
}

// The attributes of each row, one for every item that is not sensitive, and those of its sensitive items once each.
inline void map_rows(const Csr& data, std::int64_t from, std::int64_t to, const std::uint8_t* secret,
                     const std::int32_t* attribute_of, OwnedCsr& plain, OwnedCsr& hidden) {
    std::vector<std::int32_t> open, shut;
    for (std::int64_t row = from; row < to; ++row) {
        open.clear(), shut.clear();
        for (std::int64_t at = data.offsets[row]; at < data.offsets[row + 1]; ++at)
            (secret[at] ? shut : open).push_back(attribute_of[data.items[at]]);
        add_sorted(open, plain);
        std::sort(shut.begin(), shut.end());
        shut.erase(std::unique(shut.begin(), shut.end()), shut.end());
        add_sorted(shut, hidden);
    }
}

// The largest number of times that a row repeats each attribute, as the first code of each.
inline std::vector<std::int32_t> first_codes(const Csr& rows, std::int32_t attributes) {
    std::vector<std::int32_t> first(attributes + 1, 0);
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        std::int32_t repeats = 0;
        for (const std::int32_t* a = rows.begin(row); a != rows.end(row); ++a) {
            repeats = a != rows.begin(row) && a[-1] == *a ? repeats + 1 : 1;
            first[*a + 1] = std::max(first[*a + 1], repeats);
        }
    }
    for (std::int32_t a = 0; a < attributes; ++a) first[a + 1] += first[a];
    return first;
}

}  // namespace attributes

// Into how many blocks rows are cut that threads share.
inline std::int64_t block_count(std::int64_t rows, int threads) {
    return std::max<std::int64_t>(1, std::min<std::int64_t>(rows / 1024, 8 * thread_count(threads)));
}

inline Mapped map_attributes(const Csr& data, const std::uint8_t* secret, const std::int32_t* attribute_of,
                             std::int32_t attributes, int threads, Monitor& monitor) {
    const std::int64_t blocks = block_count(data.rows, threads);
    std::vector<OwnedCsr> plain(blocks), hidden(blocks);
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int) {
        attributes::map_rows(data, data.rows * block / blocks, data.rows * (block + 1) / blocks, secret, attribute_of,
                             plain[block], hidden[block]);
    });
    Mapped out{joined(std::move(plain)), joined(std::move(hidden)), {}};
    out.first = attributes::first_codes(out.rows.view(), attributes);
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int) {
        for (std::int64_t row = data.rows * block / blocks; row < data.rows * (block + 1) / blocks; ++row) {
            std::int32_t last = -1, code = 0;
            for (std::int64_t at = out.rows.offsets[row]; at < out.rows.offsets[row + 1]; ++at) {
                std::int32_t& entry = out.rows.items[at];
                code = entry == last ? code + 1 : out.first[entry];
                last = std::exchange(entry, code);
            }
        }
    });
    return out;
}

// For each group the mean of its rows' counts, rounded half up, in unary code.
inline OwnedCsr mean_centers(const Csr& rows, const Levels& levels, const std::int32_t* first,
                             const std::vector<std::vector<std::int32_t>>& groups, int threads, Monitor& monitor) {
    const auto count = static_cast<std::int64_t>(groups.size());
    const std::int64_t blocks = std::min<std::int64_t>(count, 8 * thread_count(threads));
    const std::int32_t attributes = levels.size() ? levels.attribute.back() + 1 : 0;
    std::vector<std::vector<std::int64_t>> sums(thread_count(threads), std::vector<std::int64_t>(attributes, 0));
    std::vector<OwnedCsr> centers(blocks);
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int worker) {
        std::vector<std::int64_t>& sum = sums[worker];
        std::vector<std::int32_t> touched(attributes + 1);
        OwnedCsr& out = centers[block];
        for (std::int64_t g = count * block / blocks; g < count * (block + 1) / blocks; ++g) {
            std::int64_t found = 0;
            const auto size = static_cast<std::int64_t>(groups[g].size());
            for_rows(rows, groups[g].data(), size, [&](std::int32_t row) {
                for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code) {
                    const std::int32_t a = levels.attribute[*code];
                    touched[found] = a;  // kept if it is new; a branch would be guessed wrong too often
                    found += sum[a]++ == 0;
                }
            });
            std::int64_t kept = 0;  // most attributes are rounded to nothing, and need not be sorted
            for (std::int64_t i = 0; i < found; ++i) {
                touched[kept] = touched[i];
                if (2 * sum[touched[i]] >= size)
                    ++kept;
                else
                    sum[touched[i]] = 0;
            }
            std::sort(touched.begin(), touched.begin() + kept);
            for (std::int64_t i = 0; i < kept; ++i) {
                const std::int32_t a = touched[i];
                const auto mean = static_cast<std::int32_t>((2 * std::exchange(sum[a], 0) + size) / (2 * size));
                for (std::int32_t code = first[a]; code < first[a] + mean; ++code) out.items.push_back(code);
            }
            out.close_row();
        }
    });
    return joined(std::move(centers));
}

// What is published: the counts of a row's group as (attribute, count), then its own sensitive items, whose codes
// follow those of the attributes.
struct PublishedCounts {
    OwnedCsr rows;
    std::vector<std::int32_t> counts;
};

namespace attributes {

inline PublishedCounts publish_block(const Csr& centers, const Levels& levels, const std::int32_t* group,
                                     const Csr& data, const std::uint8_t* secret, std::int32_t attributes,
                                     std::int64_t from, std::int64_t to) {
    PublishedCounts out;
    for (std::int64_t row = from; row < to; ++row) {
        const std::int32_t g = group[row];
        levels.for_counts(centers.begin(g), centers.end(g), [&](std::int32_t a, std::int32_t value, auto) {
            out.rows.items.push_back(a);
            out.counts.push_back(value);
        });
        for (std::int64_t at = data.offsets[row]; at < data.offsets[row + 1]; ++at)
            if (secret[at]) {
                out.rows.items.push_back(attributes + data.items[at]);
                out.counts.push_back(1);
            }
        out.rows.close_row();
    }
    return out;
}

}  // namespace attributes

inline PublishedCounts publish_counts(const Csr& centers, const Levels& levels, const std::int32_t* group,
                                      const Csr& data, const std::uint8_t* secret, std::int32_t attributes, int threads,
                                      Monitor& monitor) {
    const std::int64_t blocks = block_count(data.rows, threads);
    std::vector<OwnedCsr> rows(blocks);
    std::vector<std::vector<std::int32_t>> counts(blocks);
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int) {
        PublishedCounts part = attributes::publish_block(centers, levels, group, data, secret, attributes,
                                                         data.rows * block / blocks, data.rows * (block + 1) / blocks);
        rows[block] = std::move(part.rows);
        counts[block] = std::move(part.counts);
    });
    PublishedCounts out{joined(std::move(rows)), {}};
    out.counts.reserve(out.rows.items.size());
    for (const auto& part : counts) out.counts.insert(out.counts.end(), part.begin(), part.end());
    return out;
}

}  // namespace anonset
