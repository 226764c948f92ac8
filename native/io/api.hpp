// From the bytes of a text file to rows of codes: the two line dialects, rows put in order, and what is no text.
//
// Texts stay where they are: what a vocabulary says is valid as long as the text that was parsed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "io/vocabulary.hpp"

namespace anonset::io {

// What a text file holds: its rows in codes by first appearance, in the order of the text, repeats included.
struct Parsed {
    enum Problem : std::int64_t { none, open_quote, text_after_quote };

    OwnedCsr rows;
    Vocabulary words;
    std::vector<std::string_view> remarks;  // the lines that are no transactions, where there are such
    std::int64_t first_end = 0;             // the position after the first row
    std::int64_t nulls = 0;                 // empty fields that are followed by an item
    std::int64_t null_line = 0;             // the line of the first one, counted from 1
    Problem problem = none;
    std::int64_t problem_line = 0;
};

// One row per line, items separated by white space; with `comments`, lines that start with @, # or % are none. The same
// for any number of threads. Time: bytes.
Parsed parse_spaced(std::string_view text, bool comments, int threads, Monitor& monitor);

// One row per line, items separated by `separator`, which is not empty, and quoted as in RFC 4180. Empty fields at the
// end of a row are padding; others are nulls. Time: bytes.
Parsed parse_separated(std::string_view text, std::string_view separator, const Monitor& monitor);

// The line, counted from 1, on which row number `row` (from 0) begins; blank lines are rows only with `blanks`.
std::int64_t line_of_row(std::string_view text, std::string_view separator, std::int64_t row, bool blanks);

// Renumbers the items (code → place[code]), sorts them inside each row and leaves repeats out. Time: items, sorted
// inside each row.
OwnedCsr sort_rows(const Csr& data, const std::int32_t* place, int threads, Monitor& monitor);

// The position of the first byte that plain text cannot hold (a NUL, or no UTF-8), −1 where there is none. Time: bytes.
std::int64_t first_bad_byte(std::string_view text);

}  // namespace anonset::io
