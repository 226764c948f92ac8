#include "kernels/dual.hpp"

#include "bind/common.hpp"
#include "kernels/anchors.hpp"
#include "kernels/centers.hpp"

namespace anonset::bind {

void bind_dual(nb::module_& m) {
    m.def(
        "dual_pass",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> prices,
           std::int32_t n_items, std::int64_t k, In<std::int64_t> wanted, bool dense, PyMonitor& monitor, int threads) {
            DualPass pass;
            run(monitor, [&](Monitor& watched) {
                pass = dual_pass(to_csr(offsets, items), weights.data(), prices.data(), n_items, k, wanted.data(),
                                 static_cast<std::int64_t>(wanted.shape(0)), dense, threads, watched);
            });
            return std::pair(to_numpy(std::move(pass.value)), to_numpy(std::move(pass.dearest)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("n_items"), nb::arg("k"),
        nb::arg("wanted"), nb::arg("dense"), nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "anchor_pass",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> prices,
           std::int32_t n_items, std::int64_t k, In<std::int64_t> wanted, std::int64_t budget, PyMonitor& monitor,
           int threads) {
            std::vector<double> values;
            run(monitor, [&](Monitor& watched) {
                values = anchor_pass(to_csr(offsets, items), weights.data(), prices.data(), n_items, k, wanted.data(),
                                     static_cast<std::int64_t>(wanted.shape(0)), budget, threads, watched);
            });
            return to_numpy(std::move(values));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("n_items"), nb::arg("k"),
        nb::arg("wanted"), nb::arg("budget"), nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "center_pass",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> prices,
           In<double> lifts, std::int32_t n_items, std::int64_t k, bool dense, std::int64_t keep, std::int64_t widest,
           std::int64_t budget, PyMonitor& monitor, int threads) {
            CenterPass pass;
            run(monitor, [&](Monitor& watched) {
                pass = center_pass(to_csr(offsets, items), weights.data(), prices.data(), lifts.data(), n_items, k,
                                   dense, {keep, widest, budget}, threads, watched);
            });
            return std::pair(to_numpy(std::move(pass.price)), to_numpy(std::move(pass.gave_up)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("lifts"),
        nb::arg("n_items"), nb::arg("k"), nb::arg("dense"), nb::arg("keep"), nb::arg("widest"), nb::arg("budget"),
        nb::arg("monitor"), nb::arg("threads"));
}

}  // namespace anonset::bind
