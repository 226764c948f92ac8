#include <algorithm>
#include <cstring>
#include <utility>

#include "io/api.hpp"

namespace anonset::io {

namespace {

bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Reads the item that starts at `p` and gives its code; `p` moves behind it.
std::int32_t spaced_item(const char*& p, const char* end, Vocabulary& words) {
    const char* start = p;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (end - p >= 8) {
        // The lowest byte below 0x21 in eight at once; mostly the blank or line end behind a short item.
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        const std::uint64_t low = (word - 0x2121212121212121ull) & ~word & 0x8080808080808080ull;
        if (low) {
            const int size = __builtin_ctzll(low) / 8;
            if (is_white(p[size])) {
                p += size;
                const std::uint64_t packed = word & ((1ull << 8 * size) - 1);
                return words.code_of_short({start, static_cast<std::size_t>(size)}, packed);
            }
        }
    }
#endif
    while (p < end && !is_white(*p)) ++p;
    return words.code_of({start, static_cast<std::size_t>(p - start)});
}

// One row per line, items separated by white space; with `comments`, lines that start with @, # or % are none.
void parse_spaced(std::string_view text, bool comments, const Monitor& monitor, Parsed& out) {
    const char *p = text.data(), *end = p + text.size();
    for (std::int64_t line = 0; p < end; ++line) {
        if (line % 8192 == 0) monitor.check();
        if (comments && (*p == '@' || *p == '#' || *p == '%')) {
            const auto* stop = static_cast<const char*>(std::memchr(p, '\n', end - p));
            if (!stop) stop = end;
            out.remarks.emplace_back(p, stop - p);
            p = std::min(stop + 1, end);
            continue;
        }
        while (true) {
            while (p < end && *p != '\n' && is_white(*p)) ++p;
            if (p == end || *p == '\n') break;
            out.rows.items.push_back(spaced_item(p, end, out.words));
        }
        if (p < end) ++p;
        out.rows.close_row();
        if (!out.first_end) out.first_end = p - text.data();
    }
}

// Cuts a text into about `count` pieces that end with a line.
std::vector<std::string_view> whole_lines(std::string_view text, std::int64_t count) {
    std::vector<std::string_view> pieces;
    const std::size_t size = text.size() / count + 1;
    while (!text.empty()) {
        std::size_t cut = text.size() <= size ? std::string_view::npos : text.find('\n', size - 1);
        cut = cut == std::string_view::npos ? text.size() : cut + 1;
        pieces.push_back(text.substr(0, cut));
        text.remove_prefix(cut);
    }
    return pieces;
}

// Several parts of one text as if it had been parsed at once: codes by first appearance in the whole.
Parsed join(std::vector<Parsed>& parts, int threads, Monitor& monitor) {
    Parsed all;
    std::vector<std::vector<std::int32_t>> codes(parts.size());
    std::vector<std::int64_t> row_start{0}, item_start{0};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        for (std::string_view word : parts[i].words.texts()) codes[i].push_back(all.words.code_of(word));
        all.remarks.insert(all.remarks.end(), parts[i].remarks.begin(), parts[i].remarks.end());
        row_start.push_back(row_start.back() + static_cast<std::int64_t>(parts[i].rows.offsets.size()) - 1);
        item_start.push_back(item_start.back() + static_cast<std::int64_t>(parts[i].rows.items.size()));
    }
    all.rows.offsets.resize(row_start.back() + 1);
    all.rows.items.resize(item_start.back());
    parallel_for(static_cast<std::int64_t>(parts.size()), threads, monitor, [&](std::int64_t i, int) {
        const OwnedCsr& rows = parts[i].rows;
        std::int32_t* items = all.rows.items.data() + item_start[i];
        for (std::size_t at = 0; at < rows.items.size(); ++at) items[at] = codes[i][rows.items[at]];
        for (std::size_t at = 1; at < rows.offsets.size(); ++at)
            all.rows.offsets[row_start[i] + at] = rows.offsets[at] + item_start[i];
    });
    return all;
}

}  // namespace

Parsed parse_spaced(std::string_view text, bool comments, int threads, Monitor& monitor) {
    constexpr std::int64_t PIECE = 1 << 18;
    const auto size = static_cast<std::int64_t>(text.size());
    const std::int64_t count = std::min<std::int64_t>(4 * thread_count(threads), size / PIECE + 1);
    Parsed only;
    if (count == 1 || thread_count(threads) == 1) {
        parse_spaced(text, comments, monitor, only);
        return only;
    }
    const std::vector<std::string_view> pieces = whole_lines(text, count);
    std::vector<Parsed> parts(pieces.size());
    parallel_for(static_cast<std::int64_t>(pieces.size()), threads, monitor,
                 [&](std::int64_t i, int) { parse_spaced(pieces[i], comments, monitor, parts[i]); });
    Parsed all = join(parts, threads, monitor);
    for (std::size_t i = 0, before = 0; i < parts.size() && !all.first_end; before += pieces[i++].size())
        if (parts[i].first_end) all.first_end = static_cast<std::int64_t>(before) + parts[i].first_end;
    return all;
}

namespace {

// Reads fields between separators, quoted as in RFC 4180. Blanks around a field are not part of it, unless quoted.
class FieldReader {
  public:
    FieldReader(std::string_view text, std::string_view separator)
        : text_(text), p_(text.data()), end_(text.data() + text.size()), separator_(separator) {}

    bool at_end() const { return p_ == end_; }
    std::int64_t position() const { return p_ - text_.data(); }
    std::int64_t line() const { return line_; }
    Parsed::Problem problem() const { return problem_; }

    // The next field, and whether it lives in the text itself (not in a scratch that the next one overwrites).
    std::pair<std::string_view, Vocabulary::Keep> next() {
        while (p_ < end_ && is_blank(*p_)) ++p_;
        if (p_ < end_ && *p_ == '"') return {quoted(), Vocabulary::Keep::copy};
        const char* start = p_;
        while (!at_stop()) ++p_;
        const char* stop = p_;
        while (stop > start && is_blank(stop[-1])) --stop;
        return {{start, static_cast<std::size_t>(stop - start)}, Vocabulary::Keep::borrow};
    }

    // Steps over what ends a field; false at the end of the row.
    bool more() {
        if (p_ == end_) return false;
        if (*p_ != '\n') return p_ += separator_.size(), true;
        ++p_, ++line_;
        return false;
    }

  private:
    bool is_blank(char c) const { return (c == ' ' || c == '\t' || c == '\r') && c != separator_[0]; }
    bool at_stop() const {
        if (p_ == end_ || *p_ == '\n') return true;
        return *p_ == separator_[0] && static_cast<std::size_t>(end_ - p_) >= separator_.size() &&
               std::string_view(p_, separator_.size()) == separator_;
    }
    std::string_view quoted() {
        const std::int64_t opened = line_;
        scratch_.clear();
        for (++p_; p_ < end_; ++p_) {
            if (*p_ == '"' && (p_ + 1 == end_ || p_[1] != '"')) break;
            if (*p_ == '"') ++p_;
            if (*p_ == '\n') ++line_;
            scratch_.push_back(*p_);
        }
        if (p_ == end_) return fail(Parsed::open_quote, opened);
        for (++p_; p_ < end_ && is_blank(*p_);) ++p_;
        return at_stop() ? std::string_view(scratch_) : fail(Parsed::text_after_quote, line_);
    }
    std::string_view fail(Parsed::Problem problem, std::int64_t line) {
        problem_ = problem, line_ = line, p_ = end_;
        return {};
    }

    std::string_view text_;
    const char *p_, *end_;
    std::string_view separator_;
    std::string scratch_;
    std::int64_t line_ = 1;
    Parsed::Problem problem_ = Parsed::none;
};

}  // namespace

Parsed parse_separated(std::string_view text, std::string_view separator, const Monitor& monitor) {
    Parsed out;
    FieldReader reader(text, separator);
    for (std::int64_t row = 0; !reader.at_end(); ++row) {
        if (row % 8192 == 0) monitor.check();
        std::int64_t empty = 0;
        std::int64_t empty_line = 0;
        do {
            const std::int64_t line = reader.line();
            const auto [field, keep] = reader.next();
            if (field.empty()) {
                if (empty++ == 0) empty_line = line;
                continue;
            }
            if (empty && !out.nulls) out.null_line = empty_line;
            out.nulls += std::exchange(empty, 0);
            out.rows.items.push_back(out.words.code_of(field, keep));
        } while (reader.more());
        out.rows.close_row();
        if (!out.first_end) out.first_end = reader.position();
    }
    out.problem = reader.problem();
    out.problem_line = reader.line();
    return out;
}

std::int64_t line_of_row(std::string_view text, std::string_view separator, std::int64_t row, bool blanks) {
    FieldReader reader(text, separator);
    std::int64_t line = 1;
    while (!reader.at_end()) {
        line = reader.line();
        bool blank = reader.next().first.empty();
        while (reader.more()) {
            blank = false;
            reader.next();
        }
        if ((!blank || blanks) && row-- == 0) break;
    }
    return line;
}

OwnedCsr sort_rows(const Csr& data, const std::int32_t* place, int threads, Monitor& monitor) {
    constexpr std::int64_t BLOCK = 4096;
    Buffer<std::int32_t> sorted(data.offsets[data.rows]);
    OwnedCsr out;
    out.offsets.assign(data.rows + 1, 0);
    parallel_for((data.rows + BLOCK - 1) / BLOCK, threads, monitor, [&](std::int64_t task, int) {
        for (std::int64_t row = task * BLOCK; row < std::min(data.rows, (task + 1) * BLOCK); ++row) {
            std::int32_t* begin = sorted.data() + data.offsets[row];
            std::int32_t* end =
                std::transform(data.begin(row), data.end(row), begin, [&](std::int32_t code) { return place[code]; });
            if (!std::is_sorted(begin, end)) std::sort(begin, end);
            out.offsets[row + 1] = std::unique(begin, end) - begin;
        }
    });
    for (std::int64_t row = 0; row < data.rows; ++row) out.offsets[row + 1] += out.offsets[row];
    if (out.offsets[data.rows] == static_cast<std::int64_t>(sorted.size())) {
        out.items = std::move(sorted);
        return out;
    }
    out.items.reserve(out.offsets[data.rows]);
    for (std::int64_t row = 0; row < data.rows; ++row) {
        const auto begin = sorted.begin() + data.offsets[row];
        out.items.insert(out.items.end(), begin, begin + (out.offsets[row + 1] - out.offsets[row]));
    }
    return out;
}

}  // namespace anonset::io
