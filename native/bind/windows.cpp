#include "pta/windows.hpp"

#include "bind/common.hpp"

namespace anonset::bind {

void bind_windows(nb::module_& m) {
    m.def(
        "window_groups",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> loops, In<std::int64_t> bounds,
           std::int64_t n_items, std::int64_t k, int threads, PyMonitor& monitor) {
            WindowGroups found;
            run(monitor, [&](Monitor& watched) {
                found = window_groups(to_csr(offsets, items), loops.data(), bounds.data(),
                                      static_cast<std::int64_t>(bounds.shape(0)) - 1, n_items, k, threads, watched);
            });
            return std::tuple(to_numpy(std::move(found.group)), to_numpy(std::move(found.voters)), found.groups);
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("loops"), nb::arg("bounds"), nb::arg("n_items"), nb::arg("k"),
        nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
