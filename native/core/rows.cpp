#include "core/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/transpose.hpp"

namespace anonset {

std::vector<std::int64_t> item_counts(const std::int32_t* items, std::int64_t size, std::int64_t vocabulary,
                                      int threads, Monitor& monitor) {
    const std::int64_t blocks = std::clamp<std::int64_t>(size / 65536, 1, thread_count(threads));
    std::vector<std::vector<std::int64_t>> counts(blocks);
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int) {
        std::vector<std::int64_t> here(vocabulary, 0),
            beside(vocabulary, 0);  // neighbours need not wait for each other
        std::int64_t i = size * block / blocks;
        const std::int64_t end = size * (block + 1) / blocks;
        for (; i + 1 < end; i += 2) ++here[items[i]], ++beside[items[i + 1]];
        if (i < end) ++here[items[i]];
        for (std::int64_t item = 0; item < vocabulary; ++item) here[item] += beside[item];
        counts[block] = std::move(here);
    });
    for (std::int64_t block = 1; block < blocks; ++block)
        for (std::int64_t item = 0; item < vocabulary; ++item) counts[0][item] += counts[block][item];
    return std::move(counts[0]);
}

namespace {

constexpr std::int64_t AHEAD = 16;  // rows that are fetched before they are needed
constexpr std::int64_t LINE = 16;   // items of a cache line

void fetch([[maybe_unused]] const void* place) {
#ifdef __GNUC__
    __builtin_prefetch(place);
#endif
}

// Rows in blocks that threads work on side by side; what a block writes begins where the blocks before it end.
class RowBlocks {
  public:
    RowBlocks(std::int64_t rows, int threads, Monitor& monitor)
        : rows_(rows),
          blocks_(std::min<std::int64_t>(rows, 8 * thread_count(threads))),
          threads_(threads),
          monitor_(monitor),
          before_(blocks_ + 1, 0) {}

    // Calls size(first, last) for the rows of each block: how much it will write. Returns how much all will.
    template <class Size>
    std::int64_t measure(Size&& size) {
        run([&](std::int64_t block) { before_[block + 1] = size(first(block), first(block + 1)); });
        for (std::int64_t block = 0; block < blocks_; ++block) before_[block + 1] += before_[block];
        return before_[blocks_];
    }

    // Calls write(first, last, before, all) for the rows of each block, where `before` is what the blocks before it
    // write, and `all` what it writes itself.
    template <class Write>
    void write(Write&& write) {
        run([&](std::int64_t block) {
            write(first(block), first(block + 1), before_[block], before_[block + 1] - before_[block]);
        });
    }

  private:
    std::int64_t first(std::int64_t block) const { return rows_ * block / blocks_; }
    template <class Body>
    void run(Body&& body) {
        parallel_for(blocks_, threads_, monitor_, [&](std::int64_t block, int) { body(block); });
    }

    std::int64_t rows_, blocks_;
    int threads_;
    Monitor& monitor_;
    std::vector<std::int64_t> before_;
};

}  // namespace

// Rows lie far apart: where they begin is looked up only once, and what comes next is fetched meanwhile.
OwnedCsr take_rows(const Csr& data, const std::int64_t* order, std::int64_t count, int threads, Monitor& monitor) {
    OwnedCsr out;
    out.offsets.resize(count + 1);
    Buffer<const std::int32_t*> begin(count);
    RowBlocks blocks(count, threads, monitor);
    out.offsets[count] = blocks.measure([&](std::int64_t first, std::int64_t last) {
        std::int64_t size = 0;
        for (std::int64_t i = first; i < last; ++i) {
            if (i + AHEAD < last) fetch(data.offsets + order[i + AHEAD]);
            out.offsets[i] = size;
            begin[i] = data.begin(order[i]);
            size += data.size(order[i]);
        }
        return size;
    });
    out.items.resize(out.offsets[count]);
    blocks.write([&](std::int64_t first, std::int64_t last, std::int64_t before, std::int64_t all) {
        std::int32_t* const items = out.items.data() + before;
        for (std::int64_t i = first; i < last; ++i) {
            if (i + AHEAD < last) fetch(begin[i + AHEAD]), fetch(begin[i + AHEAD] + LINE);
            const std::int64_t here = out.offsets[i], next = i + 1 < last ? out.offsets[i + 1] : all;
            std::copy_n(begin[i], next - here, items + here);
            out.offsets[i] += before;
        }
    });
    return out;
}

std::pair<OwnedCsr, OwnedCsr> part_rows(const Csr& data, const bool* hidden, int threads, Monitor& monitor) {
    std::pair<OwnedCsr, OwnedCsr> out;
    auto& plain = out.first;
    auto& secret = out.second;
    plain.offsets.resize(data.rows + 1);
    secret.offsets.resize(data.rows + 1);
    RowBlocks blocks(data.rows, threads, monitor);
    secret.offsets[data.rows] = blocks.measure([&](std::int64_t first, std::int64_t last) {
        std::int64_t size = 0;
        for (std::int64_t row = first; row < last; ++row) {
            secret.offsets[row] = size;
            for (const std::int32_t* item = data.begin(row); item != data.end(row); ++item) size += hidden[*item];
        }
        return size;
    });
    plain.offsets[data.rows] = data.offsets[data.rows] - secret.offsets[data.rows];
    secret.items.resize(secret.offsets[data.rows]);
    plain.items.resize(plain.offsets[data.rows]);
    blocks.write([&](std::int64_t first, std::int64_t last, std::int64_t before, std::int64_t) {
        for (std::int64_t row = first; row < last; ++row) {
            secret.offsets[row] += before;
            plain.offsets[row] = data.offsets[row] - secret.offsets[row];
        }
        std::int32_t *to = plain.items.data() + plain.offsets[first], *aside = secret.items.data() + before;
        for (const std::int32_t* item = data.begin(first); item != data.items + data.offsets[last]; ++item)
            *(hidden[*item] ? aside : to)++ = *item;
    });
    return out;
}

OwnedCsr recoded(const Csr& data, const std::int32_t* code) {
    OwnedCsr out;
    out.items.resize(data.offsets[data.rows]);
    out.offsets.reserve(data.rows + 1);
    std::int32_t* next = out.items.data();
    for (std::int64_t r = 0; r < data.rows; ++r) {
        std::int32_t* const begin = next;
        bool ordered = true;
        for (const std::int32_t* item = data.begin(r); item != data.end(r); ++item) {
            const std::int32_t published = code[*item];
            if (published < 0 || (next != begin && published == next[-1])) continue;
            ordered &= next == begin || published > next[-1];
            *next++ = published;
        }
        if (!ordered) {
            std::sort(begin, next);
            next = std::unique(begin, next);
        }
        out.offsets.push_back(next - out.items.data());
    }
    out.items.resize(next - out.items.data());
    return out;
}

OwnedCsr majority_centers(const Csr& data, const std::int32_t* group, const bool* voters, std::int32_t groups,
                          int threads, Monitor& monitor) {
    const auto members = transpose_pairs<std::int32_t>(groups, [&](auto&& visit) {
        for (std::int64_t row = 0; row < data.rows; ++row)
            if (!voters || voters[row]) visit(group[row], static_cast<std::int32_t>(row));
    });
    const std::int32_t* last = data.items + data.offsets[data.rows];
    const std::int64_t vocabulary = last == data.items ? 0 : std::int64_t{*std::max_element(data.items, last)} + 1;
    const std::int64_t blocks = std::min<std::int64_t>(groups, 8 * thread_count(threads));
    std::vector<std::vector<std::int32_t>> holders(thread_count(threads), std::vector<std::int32_t>(vocabulary, 0));
    std::vector<OwnedCsr> centers(blocks);
    parallel_for(blocks, threads, monitor, [&](std::int64_t block, int worker) {
        std::vector<std::int32_t>& count = holders[worker];
        OwnedCsr out;
        for (std::int64_t g = groups * block / blocks; g < groups * (block + 1) / blocks; ++g) {
            const std::int32_t* rows = members.begin(g);
            const std::int64_t size = members.size(g);
            for_rows(data, rows, size, [&](std::int64_t row) {
                for (const std::int32_t* item = data.begin(row); item != data.end(row); ++item) ++count[*item];
            });
            for_rows(data, rows, size, [&](std::int64_t row) {
                for (const std::int32_t* item = data.begin(row); item != data.end(row); ++item)
                    if (2 * std::int64_t{std::exchange(count[*item], 0)} > size) out.items.push_back(*item);
            });
            std::sort(out.items.begin() + out.offsets.back(), out.items.end());
            out.close_row();
        }
        centers[block] = std::move(out);
    });
    return joined(std::move(centers));
}

std::vector<std::int64_t> center_distances(const Csr& data, const Csr& centers, const std::int32_t* group, int threads,
                                           Monitor& monitor) {
    std::vector<std::int64_t> out(data.rows);
    parallel_for(
        data.rows, threads, monitor,
        [&](std::int64_t row, int) {
            const std::int32_t *a = data.begin(row), *a_end = data.end(row);
            const std::int32_t *b = centers.begin(group[row]), *b_end = centers.end(group[row]);
            std::int64_t shared = 0;
            while (a != a_end && b != b_end) {
                const std::int32_t left = *a, right = *b;
                shared += left == right;
                a += left <= right;
                b += right <= left;
            }
            out[row] = data.size(row) + centers.size(group[row]) - 2 * shared;
        },
        4096);
    return out;
}

std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> item_changes(const Csr& before, const Csr& after,
                                                                             const std::int64_t* origin,
                                                                             std::int64_t n_items) {
    std::vector<std::int64_t> added(n_items, 0), removed(n_items, 0);
    for (std::int64_t row = 0; row < after.rows; ++row) {
        if (origin[row] < 0) continue;
        const std::int32_t *a = before.begin(origin[row]), *a_end = before.end(origin[row]);
        const std::int32_t *b = after.begin(row), *b_end = after.end(row);
        while (a != a_end || b != b_end) {
            if (b == b_end || (a != a_end && *a < *b)) {
                ++removed[*a++];
            } else if (a == a_end || *b < *a) {
                ++added[*b++];
            } else {
                ++a, ++b;
            }
        }
    }
    return {std::move(added), std::move(removed)};
}

}  // namespace anonset
