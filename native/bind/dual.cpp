#include "kernels/dual.hpp"

#include "bind/common.hpp"

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
}

}  // namespace anonset::bind
