#include "kp/attributes.hpp"

#include <stdexcept>
#include <utility>

namespace anonset::kp {

namespace {

void add_sorted(std::vector<std::int32_t>& found, OwnedCsr& out) {
    if (!std::is_sorted(found.begin(), found.end())) std::sort(found.begin(), found.end());
    out.items.insert(out.items.end(), found.begin(), found.end());
    out.close_row();
}

// The attributes of each row, one for every item that is not sensitive, and those of its sensitive items once each.
void map_rows(const Csr& data, std::int64_t from, std::int64_t to, const std::uint8_t* secret,
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
std::vector<std::int32_t> first_codes(const Csr& rows, std::int32_t attributes) {
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

// Into how many blocks rows are cut that threads share.
std::int64_t block_count(std::int64_t rows, int threads) {
    return std::max<std::int64_t>(1, std::min<std::int64_t>(rows / 1024, 8 * thread_count(threads)));
}

}  // namespace

Mapped map_attributes(const Csr& data, const std::uint8_t* secret, const std::int32_t* attribute_of,
                      std::int32_t attributes, int threads, Monitor& monitor) {
    const std::int64_t blocks = block_count(data.rows, threads);
    std::vector<OwnedCsr> plain(blocks), hidden(blocks);
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int) {
        map_rows(data, data.rows * block / blocks, data.rows * (block + 1) / blocks, secret, attribute_of, plain[block],
                 hidden[block]);
    });
    Mapped out{joined(std::move(plain)), joined(std::move(hidden)), {}};
    out.first = first_codes(out.rows.view(), attributes);
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

OwnedCsr mean_centers(const Csr& rows, const Codes& codes, const std::vector<std::vector<std::int32_t>>& groups,
                      int threads, Monitor& monitor) {
    const Levels levels(codes);
    const std::int32_t* first = codes.first;
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

namespace {

PublishedCounts publish_block(const Csr& centers, const Levels& levels, const std::int32_t* group, const Csr& data,
                              const std::uint8_t* secret, std::int32_t attributes, std::int64_t from, std::int64_t to) {
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

}  // namespace

PublishedCounts publish_counts(const Csr& centers, const Codes& codes, const std::int32_t* group, const Csr& data,
                               const std::uint8_t* secret, int threads, Monitor& monitor) {
    const Levels levels(codes);
    const std::int64_t blocks = block_count(data.rows, threads);
    std::vector<OwnedCsr> rows(blocks);
    std::vector<std::vector<std::int32_t>> counts(blocks);
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int) {
        PublishedCounts part = publish_block(centers, levels, group, data, secret, codes.attributes,
                                             data.rows * block / blocks, data.rows * (block + 1) / blocks);
        rows[block] = std::move(part.rows);
        counts[block] = std::move(part.counts);
    });
    PublishedCounts out{joined(std::move(rows)), {}};
    out.counts.reserve(out.rows.items.size());
    for (const auto& part : counts) out.counts.insert(out.counts.end(), part.begin(), part.end());
    return out;
}

std::vector<std::vector<std::int32_t>> members_of(const std::int32_t* group, std::int64_t rows, std::int32_t groups) {
    std::vector<std::int32_t> sizes(groups, 0);
    for (std::int64_t row = 0; row < rows; ++row) {
        if (group[row] >= groups) throw std::invalid_argument("a group has too large a number");
        if (group[row] >= 0) ++sizes[group[row]];
    }
    std::vector<std::vector<std::int32_t>> members(groups);
    for (std::int32_t g = 0; g < groups; ++g) members[g].reserve(sizes[g]);
    for (std::int64_t row = 0; row < rows; ++row)
        if (group[row] >= 0) members[group[row]].push_back(static_cast<std::int32_t>(row));
    return members;
}

OwnedCsr mean_centers(const Csr& rows, const Codes& codes, const std::int32_t* group, std::int32_t groups, int threads,
                      Monitor& monitor) {
    return mean_centers(rows, codes, members_of(group, rows.rows, groups), threads, monitor);
}

}  // namespace anonset::kp
