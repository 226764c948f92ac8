#include <string>

#include "check.hpp"
#include "data.hpp"
#include "io/api.hpp"

using namespace anonset;

namespace {

std::vector<std::vector<std::string>> texts(const io::Parsed& parsed) {
    std::vector<std::vector<std::string>> out;
    const Csr rows = parsed.rows.view();
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        out.emplace_back();
        for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code)
            out.back().emplace_back(parsed.words.texts()[*code]);
    }
    return out;
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST(spaced_lines_become_rows) {
    Monitor monitor;
    const auto plain = io::parse_spaced("a bb\t a\n\n  long-item-name a", false, 1, monitor);
    CHECK(texts(plain) == (Rows{{"a", "bb", "a"}, {}, {"long-item-name", "a"}}));
    CHECK(plain.first_end == 8);
    const auto comments = io::parse_spaced("@NAME x\n# no\n1 2\n% no\n3\n", true, 1, monitor);
    CHECK(texts(comments) == (Rows{{"1", "2"}, {"3"}}));
    CHECK(comments.remarks.size() == 3 && comments.remarks[0] == "@NAME x");
}

TEST(pieces_of_a_text_are_read_like_the_whole) {
    std::string text;
    Random random(91, 0);
    while (text.size() < 1 << 20)
        text += "item-" + std::to_string(random.below(3000)) + (random.chance(0.2) ? "\n" : " ");
    Monitor monitor;
    const auto one = io::parse_spaced(text, false, 1, monitor), many = io::parse_spaced(text, false, 3, monitor);
    CHECK(sample::equal(one.rows, many.rows) && one.words.texts() == many.words.texts());
    CHECK(one.first_end == many.first_end);
}

TEST(separated_fields_are_quoted_as_in_rfc_4180) {
    Monitor monitor;
    const auto parsed = io::parse_separated("a, b ,\"c, \"\"d\"\"\"\nx,,y,,\n\"two\nlines\"\n", ",", monitor);
    CHECK(texts(parsed) == (Rows{{"a", "b", "c, \"d\""}, {"x", "y"}, {"two\nlines"}}));
    CHECK(parsed.nulls == 1 && parsed.null_line == 2 && parsed.problem == io::Parsed::none);
    const auto open = io::parse_separated("a\n\"b\nc", ",", monitor);
    CHECK(open.problem == io::Parsed::open_quote && open.problem_line == 2);
    CHECK(io::parse_separated("\"a\"b,c", ",", monitor).problem == io::Parsed::text_after_quote);
    CHECK(io::line_of_row("a\n\"b\nb\"\n\nc\n", ",", 2, false) == 5);
    CHECK(io::line_of_row("a\n\"b\nb\"\n\nc\n", ",", 2, true) == 4);
}

TEST(rows_are_sorted_by_place_without_repeats) {
    const OwnedCsr data = sample::from({{2, 0, 2, 1}, {}, {1, 1}});
    const std::int32_t place[] = {5, 3, 4};
    Monitor monitor;
    CHECK(sample::equal(io::sort_rows(data.view(), place, 2, monitor), sample::from({{3, 4, 5}, {}, {3}})));
}

TEST(bytes_that_are_no_text_are_found) {
    CHECK(io::first_bad_byte("plain text, longer than eight bytes") == -1);
    CHECK(io::first_bad_byte("Äpfel und Öl €5 \xF0\x9F\x8D\x8E") == -1);
    CHECK(io::first_bad_byte(std::string("eight or more\0then", 18)) == 13);
    CHECK(io::first_bad_byte("latin \xE4pfel") == 6);
    CHECK(io::first_bad_byte("\xED\xA0\x80") == 0);  // a surrogate
    CHECK(io::first_bad_byte("ab\xC0\xAF") == 2);    // overlong
    CHECK(io::first_bad_byte("cut off \xE2\x82") == 8);
}
