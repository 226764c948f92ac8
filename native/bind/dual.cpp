#include "bound/dual.hpp"

#include "bind/common.hpp"
#include "bound/anchors.hpp"
#include "bound/centers.hpp"
#include "bound/heuristic_separation.hpp"
#include "bound/increments.hpp"
#include "bound/subgradient.hpp"

namespace anonset::bind {

namespace {

auto to_python(NotedCenters&& noted) {
    return std::tuple(to_numpy(std::move(noted.key)), to_numpy(std::move(noted.start)), to_numpy(std::move(noted.row)),
                      to_numpy(std::move(noted.distance)));
}
auto to_python(CenterPass&& pass) {
    return std::tuple(to_numpy(std::move(pass.price)), to_numpy(std::move(pass.looks)),
                      to_python(std::move(pass.noted)));
}

}  // namespace

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
            AnchorPass pass;
            run(monitor, [&](Monitor& watched) {
                pass = anchor_pass(to_csr(offsets, items), weights.data(), prices.data(), n_items, k, wanted.data(),
                                   static_cast<std::int64_t>(wanted.shape(0)), budget, threads, watched);
            });
            return std::pair(to_numpy(std::move(pass.value)), to_numpy(std::move(pass.looks)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("n_items"), nb::arg("k"),
        nb::arg("wanted"), nb::arg("budget"), nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "center_pass",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> prices,
           In<double> lifts, std::int32_t n_items, std::int64_t k, bool dense, std::int64_t keep, std::int64_t widest,
           std::int64_t budget, std::int64_t notes, PyMonitor& monitor, int threads) {
            CenterPass pass;
            run(monitor, [&](Monitor& watched) {
                pass = center_pass(to_csr(offsets, items), weights.data(), prices.data(), lifts.data(), n_items, k,
                                   dense, {keep, widest, budget, notes}, threads, watched);
            });
            return to_python(std::move(pass));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("lifts"),
        nb::arg("n_items"), nb::arg("k"), nb::arg("dense"), nb::arg("keep"), nb::arg("widest"), nb::arg("budget"),
        nb::arg("notes"), nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "lift_pass",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> prices,
           In<double> values, In<double> lifts, In<double> safe, std::int32_t n_items, std::int64_t k,
           std::int64_t budget, std::int64_t notes, PyMonitor& monitor, int threads) {
            LiftPass pass;
            run(monitor, [&](Monitor& watched) {
                pass = lift_pass(to_csr(offsets, items), weights.data(), prices.data(), values.data(), lifts.data(),
                                 safe.data(), n_items, k, budget, notes, threads, watched);
            });
            return std::tuple(to_numpy(std::move(pass.value)), to_numpy(std::move(pass.reached)),
                              to_numpy(std::move(pass.stride)), to_numpy(std::move(pass.looks)),
                              to_python(std::move(pass.noted)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("values"),
        nb::arg("lifts"), nb::arg("safe"), nb::arg("n_items"), nb::arg("k"), nb::arg("budget"), nb::arg("notes"),
        nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "lift_probe",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> values,
           std::int32_t n_items, std::int64_t k, double least, PyMonitor& monitor, int threads) {
            NotedCenters noted;
            run(monitor, [&](Monitor& watched) {
                noted = lift_probe(to_csr(offsets, items), weights.data(), values.data(), n_items, k, least, threads,
                                   watched);
            });
            return to_python(std::move(noted));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("values"), nb::arg("n_items"), nb::arg("k"),
        nb::arg("least"), nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "trade",
        [](In<std::int64_t> start, In<std::int32_t> rows, In<std::int32_t> distances, In<std::int64_t> weights,
           std::int64_t k, In<double> values, In<double> most, In<double> rises, PyMonitor& monitor) {
            std::vector<double> traded;
            run(monitor, [&](Monitor& watched) {
                traded =
                    trade({start.data(), rows.data(), distances.data(), static_cast<std::int64_t>(start.shape(0)) - 1},
                          weights.data(), k, {values.data(), values.data() + values.shape(0)}, most.data(),
                          rises.data(), static_cast<std::int64_t>(rises.shape(0)), watched);
            });
            return to_numpy(std::move(traded));
        },
        nb::arg("start"), nb::arg("rows"), nb::arg("distances"), nb::arg("weights"), nb::arg("k"), nb::arg("values"),
        nb::arg("most"), nb::arg("rises"), nb::arg("monitor"));
}

}  // namespace anonset::bind
