#include "kernels/beside_pta.hpp"

#include "bind/common.hpp"

namespace anonset::bind {

void bind_beside_pta(nb::module_& m) {
    m.def(
        "losses_beside_pta",
        [](In<std::int64_t> offsets, In<std::int32_t> items, std::int64_t n_items, In<std::int64_t> bounds,
           In<std::int64_t> drawn, std::int64_t k, In<std::int32_t> group, In<std::int64_t> center_offsets,
           In<std::int32_t> center_items, int threads, PyMonitor& monitor) {
            SegmentLosses found;
            run(monitor, [&](Monitor& watched) {
                found = losses_beside_pta({to_csr(offsets, items), nullptr, n_items, bounds.data()}, drawn.data(),
                                          static_cast<std::int64_t>(drawn.shape(0)), k, group.data(),
                                          to_csr(center_offsets, center_items), threads, watched);
            });
            return std::pair(to_numpy(std::move(found.of_pta)), to_numpy(std::move(found.of_others)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("bounds"), nb::arg("drawn"), nb::arg("k"),
        nb::arg("group"), nb::arg("center_offsets"), nb::arg("center_items"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
