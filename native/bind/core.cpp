#include "bind/common.hpp"
#include "core/gray.hpp"
#include "core/rows.hpp"

namespace anonset::bind {

namespace {

void bind_core_rows(nb::module_& m) {
    m.def(
        "item_counts",
        [](In<std::int32_t> items, std::int64_t vocabulary, int threads) {
            std::vector<std::int64_t> counts;
            {
                nb::gil_scoped_release without_gil;
                Monitor unwatched;
                counts = item_counts(items.data(), static_cast<std::int64_t>(items.shape(0)), vocabulary, threads,
                                     unwatched);
            }
            return to_numpy(std::move(counts));
        },
        nb::arg("items"), nb::arg("vocabulary"), nb::arg("threads"));
    m.def(
        "take_rows",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> order, int threads) {
            OwnedCsr out;
            {
                nb::gil_scoped_release without_gil;
                Monitor unwatched;
                out = take_rows(to_csr(offsets, items), order.data(), static_cast<std::int64_t>(order.shape(0)),
                                threads, unwatched);
            }
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("order"), nb::arg("threads") = 1);
    m.def(
        "part_rows",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<bool> hidden, int threads) {
            std::pair<OwnedCsr, OwnedCsr> out;
            {
                nb::gil_scoped_release without_gil;
                Monitor unwatched;
                out = part_rows(to_csr(offsets, items), hidden.data(), threads, unwatched);
            }
            return std::pair(to_numpy(std::move(out.first)), to_numpy(std::move(out.second)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("hidden"), nb::arg("threads") = 1);
}

void bind_core_centers(nb::module_& m) {
    m.def(
        "majority_centers",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> group, std::optional<In<bool>> voters,
           std::int32_t groups, int threads) {
            OwnedCsr out;
            {
                nb::gil_scoped_release without_gil;
                Monitor unwatched;
                out = majority_centers(to_csr(offsets, items), group.data(), voters ? voters->data() : nullptr, groups,
                                       threads, unwatched);
            }
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("group"), nb::arg("voters").none(), nb::arg("groups"),
        nb::arg("threads") = 1);
    m.def(
        "center_distances",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> center_offsets,
           In<std::int32_t> center_items, In<std::int32_t> group, int threads) {
            std::vector<std::int64_t> distances;
            {
                nb::gil_scoped_release without_gil;
                Monitor unwatched;
                distances = center_distances(to_csr(offsets, items), to_csr(center_offsets, center_items), group.data(),
                                             threads, unwatched);
            }
            return to_numpy(std::move(distances));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("center_offsets"), nb::arg("center_items"), nb::arg("group"),
        nb::arg("threads") = 1);
    m.def(
        "item_changes",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> new_offsets, In<std::int32_t> new_items,
           In<std::int64_t> source, std::int64_t n_items) {
            std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> changes;
            {
                nb::gil_scoped_release without_gil;
                changes = item_changes(to_csr(offsets, items), to_csr(new_offsets, new_items), source.data(), n_items);
            }
            return std::pair(to_numpy(std::move(changes.first)), to_numpy(std::move(changes.second)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("new_offsets"), nb::arg("new_items"), nb::arg("source"),
        nb::arg("n_items"));
}

void bind_core_codes(nb::module_& m) {
    m.def(
        "recoded",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> code) {
            OwnedCsr out;
            {
                nb::gil_scoped_release without_gil;
                out = recoded(to_csr(offsets, items), code.data());
            }
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("code"));
    m.def(
        "gray_order",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> rank, int threads, PyMonitor& monitor) {
            Buffer<std::int64_t> order;
            run(monitor, [&](Monitor& watched) {
                order = gray_order(to_csr(offsets, items), rank.data(), static_cast<std::int64_t>(rank.shape(0)),
                                   threads, watched);
            });
            return to_numpy(std::move(order));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("rank"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "gray_keys",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> rank) {
            GrayKeys keys;
            {
                nb::gil_scoped_release without_gil;
                keys = gray_keys(to_csr(offsets, items), rank.data(), static_cast<std::int64_t>(rank.shape(0)));
            }
            return std::pair(to_numpy(std::move(keys.offsets)), to_numpy(std::move(keys.bytes)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("rank"));
}

}  // namespace

void bind_core(nb::module_& m) {
    bind_core_rows(m);
    bind_core_centers(m);
    bind_core_codes(m);
}

}  // namespace anonset::bind
