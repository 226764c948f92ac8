#include "core/gray.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/gray_bits.hpp"

namespace anonset {

namespace {

// The ranks of at most COUNTED items, ascending. Every rank goes where as many ranks are smaller: no branch to guess,
// and a vector unit counts for all at once.
constexpr std::int64_t COUNTED = 16;
ANONSET_CLONES void sort_few(const std::int32_t* items, std::int64_t size, const std::int32_t* rank,
                             std::uint32_t* out) {
    std::int32_t ranks[COUNTED] = {}, smaller[COUNTED] = {};
    for (std::int64_t i = 0; i < size; ++i) ranks[i] = rank[items[i]];
    for (std::int64_t j = 0; j < size; ++j)
        for (std::int64_t i = 0; i < COUNTED; ++i) smaller[i] += ranks[j] < ranks[i];
    for (std::int64_t i = 0; i < size; ++i) out[smaller[i]] = static_cast<std::uint32_t>(ranks[i]);
}

// The rows of `data` with their items replaced by Gray tokens; `rank` gives each item's position in [0,
// domain).
struct GrayTokens {
    Csr data;
    std::int64_t domain;
    Buffer<std::uint32_t> tokens;

    GrayTokens(const Csr& rows, const std::int32_t* rank, std::int64_t items)
        : data(rows), domain(items), tokens(rows.offsets[rows.rows]), rank_(rank) {}

    // Keeps the tokens of a row for `at`. `marks` is an empty bitmap of the domain, and is one again afterwards.
    void renumber(std::int64_t row, std::vector<std::uint64_t>& marks) {
        renumber(row, marks, tokens.data() + data.offsets[row]);
    }

    // Writes the tokens of a row elsewhere.
    void renumber(std::int64_t row, std::vector<std::uint64_t>& marks, std::uint32_t* out) const {
        const std::int64_t size = data.size(row);
        const std::int32_t* items = data.begin(row);
        if (size <= COUNTED) {
            sort_few(items, size, rank_, out);
        } else if (static_cast<std::int64_t>(marks.size()) <= 4 * size) {
            for (std::int64_t i = 0; i < size; ++i) mark(rank_[items[i]], marks);
            std::uint32_t* next = out;
            for (std::size_t word = 0; word < marks.size(); ++word)
                for (std::uint64_t bits = std::exchange(marks[word], 0); bits != 0; bits &= bits - 1)
                    *next++ = static_cast<std::uint32_t>(64 * word + __builtin_ctzll(bits));
        } else {
            for (std::int64_t i = 0; i < size; ++i) out[i] = static_cast<std::uint32_t>(rank_[items[i]]);
            std::sort(out, out + size);
        }
        const auto d = static_cast<std::uint32_t>(domain);
        for (std::int64_t i = 0; i < size; ++i) out[i] = i % 2 == 0 ? d - out[i] : out[i] + 1;
    }
    std::vector<std::uint64_t> marks() const { return std::vector<std::uint64_t>((domain + 63) / 64, 0); }

    // The token of a row at any depth; beyond the end, zeros.
    std::uint32_t at(std::int64_t row, std::int64_t depth) const {
        return at(tokens.data() + data.offsets[row], data.size(row), depth);
    }
    std::uint32_t at(const std::uint32_t* row, std::int64_t size, std::int64_t depth) const {
        if (depth < size) return row[depth];
        return depth == size && size % 2 == 1 ? static_cast<std::uint32_t>(domain + 1) : 0;
    }

  private:
    static void mark(std::int32_t rank, std::vector<std::uint64_t>& marks) {
        marks[rank / 64] |= std::uint64_t{1} << rank % 64;
    }

    const std::int32_t* rank_;
};

class GraySort {
  public:
    GraySort(const Csr& data, const std::int32_t* rank, std::int64_t domain, int threads, Monitor& monitor)
        : tokens_(data, rank, domain),
          threads_(thread_count(threads)),
          parts_(threads_ == 1 ? 1 : 8 * threads_),  // a thread that is held up does not keep the others waiting
          monitor_(monitor),
          keys_(data.rows) {
        while (bits_ < 32 && (std::uint64_t{1} << bits_) <= static_cast<std::uint64_t>(domain) + 1) ++bits_;
        per_key_ = 64 / bits_;
    }

    // The rows in Gray order; equal rows keep their order, so the answer is one for any number of threads.
    Buffer<std::int64_t> order() {
        const std::int64_t rows = tokens_.data.rows;
        std::vector<std::vector<std::uint64_t>> marks(threads_, tokens_.marks());
        for_blocks({0, rows, 0}, [&](std::int64_t row, int worker) { keys_[row] = first_key(row, marks[worker]); });
        std::vector<Run> large, small;
        const std::int64_t limit = std::max<std::int64_t>(4096, rows / (8 * threads_));
        const auto keep = [&](const Run& run) { (run.end - run.begin > limit ? large : small).push_back(run); };
        distribute(keep);
        while (!large.empty()) {
            const Run run = large.back();
            large.pop_back();
            if (run.depth > 0)
                for_blocks(run, [&](std::int64_t i, int) { entries_[i].key = key(entries_[i].row, run.depth); });
            sort_blocks(run);
            for_ties(run, keep);
        }
        const auto runs = static_cast<std::int64_t>(small.size());
        parallel_for(runs, threads_, monitor_, [&](std::int64_t i, int) { refine(small[i]); }, 16);
        Buffer<std::int64_t> order(rows);
        for_blocks({0, rows, 0}, [&](std::int64_t i, int) { order[i] = entries_[i].row; });
        return order;
    }

  private:
    struct Entry {
        std::uint64_t key;
        std::int64_t row;
        bool operator<(const Entry& other) const { return key != other.key ? key < other.key : row < other.row; }
    };
    struct Run {  // entries that agree on all tokens before `depth`
        std::int64_t begin, end, depth;
    };

    std::uint64_t key(std::int64_t row, std::int64_t depth) const {
        return packed([&](int i) { return tokens_.at(row, depth + i); });
    }

    // A row that the first key tells as a whole is never looked at again: its tokens are not kept.
    std::uint64_t first_key(std::int64_t row, std::vector<std::uint64_t>& marks) {
        const std::int64_t size = tokens_.data.size(row);
        if (size >= per_key_) {
            tokens_.renumber(row, marks);
            return key(row, 0);
        }
        std::uint32_t brief[64];
        tokens_.renumber(row, marks, brief);
        return packed([&](int i) { return tokens_.at(brief, size, i); });
    }

    template <class Token>
    std::uint64_t packed(Token&& token) const {
        std::uint64_t all = 0;
        for (int i = 0; i < per_key_; ++i) all = all << bits_ | token(i);
        return all;
    }

    // Calls found(run) for every run of equal keys whose rows may still differ further on.
    template <class Found>
    void for_ties(const Run& run, Found&& found) const {
        const std::int64_t depth = run.depth + per_key_;
        for (std::int64_t from = run.begin, to; from < run.end; from = to) {
            for (to = from + 1; to < run.end && entries_[to].key == entries_[from].key;) ++to;
            if (to - from > 1 && tokens_.data.size(entries_[from].row) >= depth) found(Run{from, to, depth});
        }
    }

    // The keys at the run's depth. Its rows lie anywhere, so the memory of all of them is asked for first.
    void look_deeper(const Run& run) {
#ifdef __GNUC__
        const std::int64_t* offsets = tokens_.data.offsets;
        for (std::int64_t i = run.begin; i < run.end; ++i) __builtin_prefetch(offsets + entries_[i].row);
        for (std::int64_t i = run.begin; i < run.end; ++i)
            __builtin_prefetch(tokens_.tokens.data() + offsets[entries_[i].row] + run.depth);
#endif
        for (std::int64_t i = run.begin; i < run.end; ++i) entries_[i].key = key(entries_[i].row, run.depth);
    }

    // Sorts a run; at depth 0 the keys are there already.
    void refine(const Run& first) {
        std::vector<Run> open{first};
        while (!open.empty()) {
            const Run run = open.back();
            open.pop_back();
            monitor_.check();
            if (run.depth > 0) look_deeper(run);
            const auto from = entries_.data() + run.begin, to = entries_.data() + run.end;
            if (!std::is_sorted(from, to)) std::sort(from, to);  // equal rows mostly are
            for_ties(run, [&](const Run& ties) { open.push_back(ties); });
        }
    }

    // Makes the entries, those whose keys begin with the same bits together, and calls found(run) for each such run.
    template <class Found>
    void distribute(Found&& found) {
        const std::int64_t rows = tokens_.data.rows;
        int leading = 1;  // bits that decide; about 16 entries that share them
        while (leading < 16 && (std::int64_t{16} << leading) < rows) ++leading;
        const int used = bits_ * per_key_, shift = std::max(0, used - leading);
        const std::int64_t buckets = std::int64_t{1} << std::min(used, leading);
        std::vector<std::vector<std::int64_t>> next(threads_, std::vector<std::int64_t>(buckets, 0));
        const auto for_part = [&](auto&& body) {
            parallel_for(threads_, threads_, monitor_, [&](std::int64_t part, int) {
                std::int64_t* const cursor = next[part].data();
                const std::int64_t end = block({0, rows, 0}, part + 1, threads_);
                for (std::int64_t row = block({0, rows, 0}, part, threads_); row < end; ++row)
                    body(row, cursor[keys_[row] >> shift]);
            });
        };
        for_part([](std::int64_t, std::int64_t& place) { ++place; });
        std::int64_t total = 0;
        for (std::int64_t bucket = 0; bucket < buckets; ++bucket) {
            const std::int64_t begin = total;
            for (auto& cursor : next) total += std::exchange(cursor[bucket], total);
            if (total > begin) found(Run{begin, total, 0});
        }
        entries_.resize(rows);
        for_part([&](std::int64_t row, std::int64_t& place) { entries_[place++] = {keys_[row], row}; });
        Buffer<std::uint64_t>().swap(keys_);
    }

    std::int64_t block(const Run& run, std::int64_t i, std::int64_t blocks) const {
        return run.begin + (run.end - run.begin) * i / blocks;
    }

    template <class Body>
    void for_blocks(const Run& run, Body&& body) {
        parallel_for(parts_, threads_, monitor_, [&](std::int64_t i, int worker) {
            for (std::int64_t j = block(run, i, parts_); j < block(run, i + 1, parts_); ++j) body(j, worker);
        });
    }

    void sort_blocks(const Run& run) {
        const auto start = entries_.data();
        const auto at = [&](std::int64_t i) { return block(run, i, threads_); };
        parallel_for(threads_, threads_, monitor_,
                     [&](std::int64_t i, int) { std::sort(start + at(i), start + at(i + 1)); });
        for (std::int64_t width = 1; width < threads_; width *= 2) {
            const std::int64_t pairs = (threads_ + 2 * width - 1) / (2 * width);
            parallel_for(pairs, threads_, monitor_, [&](std::int64_t i, int) {
                const std::int64_t left = 2 * width * i, middle = std::min<std::int64_t>(left + width, threads_),
                                   right = std::min<std::int64_t>(middle + width, threads_);
                std::inplace_merge(start + at(left), start + at(middle), start + at(right));
            });
        }
    }

    GrayTokens tokens_;
    int threads_;
    std::int64_t parts_;
    Monitor& monitor_;
    Buffer<std::uint64_t> keys_;  // by row
    Buffer<Entry> entries_;       // from `distribute` on
    int bits_ = 1;
    int per_key_;
};

}  // namespace

Buffer<std::int64_t> gray_order(const Csr& data, const std::int32_t* rank, std::int64_t domain, int threads,
                                Monitor& monitor) {
    if (RankedBits::pays(data, domain)) return RankedBits(data, rank, domain, threads, monitor).order();
    return GraySort(data, rank, domain, threads, monitor).order();
}

GrayKeys gray_keys(const Csr& data, const std::int32_t* rank, std::int64_t domain) {
    GrayTokens tokens(data, rank, domain);
    std::vector<std::uint64_t> marks = tokens.marks();
    int width = 1;
    while (width < 4 && (std::uint64_t{1} << 8 * width) <= static_cast<std::uint64_t>(domain) + 1) ++width;
    GrayKeys keys;
    keys.offsets.reserve(data.rows + 1);
    keys.bytes.reserve((data.offsets[data.rows] + data.rows) * width);
    keys.offsets.push_back(0);
    for (std::int64_t row = 0; row < data.rows; ++row) {
        tokens.renumber(row, marks);
        const std::int64_t size = data.size(row), written = size + size % 2;
        for (std::int64_t depth = 0; depth < written; ++depth)
            for (int byte = width - 1; byte >= 0; --byte)
                keys.bytes.push_back(static_cast<std::uint8_t>(tokens.at(row, depth) >> 8 * byte));
        keys.offsets.push_back(static_cast<std::int64_t>(keys.bytes.size()));
    }
    return keys;
}

}  // namespace anonset
