#include "bind/common.hpp"
#include "pta/api.hpp"

namespace anonset::bind {

void bind_pta(nb::module_& m) {
    m.def(
        "prim_tours",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> order, In<std::int64_t> bounds,
           std::int64_t n_items, int threads, PyMonitor& monitor) {
            pta::Tours tours;
            run(monitor, [&](Monitor& watched) {
                tours = pta::prim_tours(to_csr(offsets, items), order.data(), bounds.data(),
                                        static_cast<std::int64_t>(bounds.shape(0)) - 1, n_items, threads, watched);
            });
            return std::pair(to_numpy(std::move(tours.loops)), to_numpy(std::move(tours.lengths)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("order"), nb::arg("bounds"), nb::arg("n_items"),
        nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "genetic_tours",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> order, In<std::int64_t> bounds,
           std::int64_t n_items, std::int64_t population, std::int64_t generations, bool random_start,
           std::uint64_t seed, int threads, PyMonitor& monitor) {
            pta::Tours tours;
            run(monitor, [&](Monitor& watched) {
                tours = pta::genetic_tours(to_csr(offsets, items), order.data(), bounds.data(),
                                           static_cast<std::int64_t>(bounds.shape(0)) - 1, n_items,
                                           {population, generations, random_start, seed}, threads, watched);
            });
            return std::pair(to_numpy(std::move(tours.loops)), to_numpy(std::move(tours.lengths)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("order"), nb::arg("bounds"), nb::arg("n_items"),
        nb::arg("population"), nb::arg("generations"), nb::arg("random_start"), nb::arg("seed"), nb::arg("threads"),
        nb::arg("monitor"));
    m.def(
        "window_groups",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> loops, In<std::int64_t> bounds,
           std::int64_t n_items, std::int64_t k, int threads, PyMonitor& monitor) {
            pta::WindowGroups found;
            run(monitor, [&](Monitor& watched) {
                found =
                    pta::window_groups(to_csr(offsets, items), loops.data(), bounds.data(),
                                       static_cast<std::int64_t>(bounds.shape(0)) - 1, n_items, k, threads, watched);
            });
            return std::tuple(to_numpy(std::move(found.group)), to_numpy(std::move(found.voters)), found.groups);
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("loops"), nb::arg("bounds"), nb::arg("n_items"), nb::arg("k"),
        nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
