#include <nanobind/stl/string.h>

#include "bind/common.hpp"
#include "io/api.hpp"

namespace anonset::bind {

namespace {

using Bytes = In<std::uint8_t>;
using Texts = std::pair<Out<std::int32_t>, Out<std::uint8_t>>;

std::string_view to_view(const Bytes& data) { return {reinterpret_cast<const char*>(data.data()), data.shape(0)}; }

// Texts as Arrow keeps them: where each one starts, and all of them one after the other.
struct Joined {
    std::vector<std::int32_t> offsets{0};
    std::vector<std::uint8_t> bytes;

    explicit Joined(const std::vector<std::string_view>& texts) {
        std::size_t total = 0;
        for (std::string_view text : texts) total += text.size();
        if (total > 0x7FFFFFFF) throw std::length_error("the item names take more than 2 GB");
        bytes.reserve(total);
        offsets.reserve(texts.size() + 1);
        for (std::string_view text : texts) {
            bytes.insert(bytes.end(), text.begin(), text.end());
            offsets.push_back(static_cast<std::int32_t>(bytes.size()));
        }
    }
    Texts to_numpy() && { return {bind::to_numpy(std::move(offsets)), bind::to_numpy(std::move(bytes))}; }
};

using Place = std::pair<std::int64_t, std::int64_t>;
using Rows = std::tuple<Out<std::int64_t>, Out<std::int32_t>, Texts, Texts, std::int64_t, Place, Place>;

template <class Parse>
Rows parsed(PyMonitor& watched, Parse&& parse) {
    io::Parsed out;
    std::optional<Joined> words, remarks;
    run(watched, [&](Monitor& monitor) {
        out = parse(monitor);
        words.emplace(out.words.texts());
        remarks.emplace(out.remarks);
    });
    return {to_numpy(std::move(out.rows.offsets)),
            to_numpy(std::move(out.rows.items)),
            std::move(*words).to_numpy(),
            std::move(*remarks).to_numpy(),
            out.first_end,
            {out.nulls, out.null_line},
            {static_cast<std::int64_t>(out.problem), out.problem_line}};
}

}  // namespace

void bind_io(nb::module_& m) {
    m.def(
        "parse_spaced",
        [](PyMonitor& watched, Bytes data, bool comments, int threads) {
            return parsed(
                watched, [&](Monitor& monitor) { return io::parse_spaced(to_view(data), comments, threads, monitor); });
        },
        nb::arg("monitor"), nb::arg("data"), nb::arg("comments"), nb::arg("threads"));
    m.def(
        "parse_separated",
        [](PyMonitor& watched, Bytes data, const std::string& separator) {
            if (separator.empty()) throw nb::value_error("separator must not be empty");
            return parsed(watched,
                          [&](Monitor& monitor) { return io::parse_separated(to_view(data), separator, monitor); });
        },
        nb::arg("monitor"), nb::arg("data"), nb::arg("separator"));
    m.def(
        "line_of_row",
        [](Bytes data, const std::string& separator, std::int64_t row, bool blanks) {
            if (separator.empty()) throw nb::value_error("separator must not be empty");
            nb::gil_scoped_release without_gil;
            return io::line_of_row(to_view(data), separator, row, blanks);
        },
        nb::arg("data"), nb::arg("separator"), nb::arg("row"), nb::arg("blanks"));
    m.def(
        "sort_rows",
        [](PyMonitor& watched, In<std::int64_t> offsets, In<std::int32_t> codes, In<std::int32_t> place, int threads) {
            OwnedCsr out;
            const Csr rows = to_csr(offsets, codes);
            run(watched, [&](Monitor& monitor) { out = io::sort_rows(rows, place.data(), threads, monitor); });
            return to_numpy(std::move(out));
        },
        nb::arg("monitor"), nb::arg("offsets"), nb::arg("codes"), nb::arg("place"), nb::arg("threads"));
    m.def(
        "first_bad_byte",
        [](Bytes data) {
            nb::gil_scoped_release without_gil;
            return io::first_bad_byte(to_view(data));
        },
        nb::arg("data"));
}

}  // namespace anonset::bind
