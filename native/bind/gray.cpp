#include "core/gray.hpp"

#include "bind/common.hpp"

namespace anonset::bind {

void bind_gray(nb::module_& m) {
    m.def(
        "gray_order",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> rank, int threads, PyMonitor& monitor) {
            Buffer<std::int64_t> order;
            run(monitor, [&](Monitor& watched) {
                order = GraySort(to_csr(offsets, items), rank.data(), static_cast<std::int64_t>(rank.shape(0)), threads,
                                 watched)
                            .order();
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

}  // namespace anonset::bind
