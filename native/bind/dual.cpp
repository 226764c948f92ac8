#include "bind/common.hpp"
#include "bound/api.hpp"

namespace anonset::bind {

namespace {

void bind_dual_values(nb::module_& m) {
    m.def(
        "pair_values",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> prices,
           std::int32_t n_items, std::int64_t k, In<std::int64_t> wanted, bool dense, PyMonitor& monitor, int threads) {
            bound::PairValues found;
            run(monitor, [&](Monitor& watched) {
                found =
                    bound::pair_values(to_csr(offsets, items), weights.data(), prices.data(), n_items, k, wanted.data(),
                                       static_cast<std::int64_t>(wanted.shape(0)), dense, threads, watched);
            });
            return std::pair(to_numpy(std::move(found.value)), to_numpy(std::move(found.dearest)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("n_items"), nb::arg("k"),
        nb::arg("wanted"), nb::arg("dense"), nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "anchor_values",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> prices,
           std::int32_t n_items, std::int64_t k, In<std::int64_t> wanted, std::int64_t budget, PyMonitor& monitor,
           int threads) {
            bound::AnchorValues found;
            run(monitor, [&](Monitor& watched) {
                found = bound::anchor_values(to_csr(offsets, items), weights.data(), prices.data(), n_items, k,
                                             wanted.data(), static_cast<std::int64_t>(wanted.shape(0)), budget, threads,
                                             watched);
            });
            return std::pair(to_numpy(std::move(found.value)), to_numpy(std::move(found.steps)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("n_items"), nb::arg("k"),
        nb::arg("wanted"), nb::arg("budget"), nb::arg("monitor"), nb::arg("threads"));
}

void bind_dual_cuts(nb::module_& m) {
    m.def(
        "restore_feasibility",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> target,
           In<double> increments, std::int32_t n_items, std::int64_t k, bool dense, std::int64_t nearest,
           std::int64_t widest, std::int64_t budget, std::int64_t cuts, PyMonitor& monitor, int threads) {
            bound::Restored found;
            run(monitor, [&](Monitor& watched) {
                found =
                    bound::restore_feasibility(to_csr(offsets, items), weights.data(), target.data(), increments.data(),
                                               n_items, k, dense, {nearest, widest, budget, cuts}, threads, watched);
            });
            return std::tuple(
                to_numpy(std::move(found.value)), to_numpy(std::move(found.steps)),
                std::tuple(to_numpy(std::move(found.cuts.key)), to_numpy(std::move(found.cuts.start)),
                           to_numpy(std::move(found.cuts.row)), to_numpy(std::move(found.cuts.distance))));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("target"), nb::arg("increments"),
        nb::arg("n_items"), nb::arg("k"), nb::arg("dense"), nb::arg("nearest"), nb::arg("widest"), nb::arg("budget"),
        nb::arg("cuts"), nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "dual_increments",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> weights, In<double> prices,
           In<double> target, In<double> increments, std::int32_t n_items, std::int64_t k, std::int64_t budget,
           PyMonitor& monitor, int threads) {
            std::vector<double> found;
            run(monitor, [&](Monitor& watched) {
                found = bound::dual_increments(to_csr(offsets, items), weights.data(), prices.data(), target.data(),
                                               increments.data(), n_items, k, budget, threads, watched);
            });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("weights"), nb::arg("prices"), nb::arg("target"),
        nb::arg("increments"), nb::arg("n_items"), nb::arg("k"), nb::arg("budget"), nb::arg("monitor"),
        nb::arg("threads"));
    m.def(
        "subgradient_steps",
        [](In<std::int64_t> start, In<std::int32_t> rows, In<std::int32_t> distances, In<std::int64_t> weights,
           std::int64_t k, In<double> values, In<double> most, In<double> rises, PyMonitor& monitor) {
            std::vector<double> target;
            run(monitor, [&](Monitor& watched) {
                target = bound::subgradient_steps(
                    {start.data(), rows.data(), distances.data(), static_cast<std::int64_t>(start.shape(0)) - 1},
                    weights.data(), k, {values.data(), values.data() + values.shape(0)}, most.data(), rises.data(),
                    static_cast<std::int64_t>(rises.shape(0)), watched);
            });
            return to_numpy(std::move(target));
        },
        nb::arg("start"), nb::arg("rows"), nb::arg("distances"), nb::arg("weights"), nb::arg("k"), nb::arg("values"),
        nb::arg("most"), nb::arg("rises"), nb::arg("monitor"));
}

}  // namespace

void bind_dual(nb::module_& m) {
    bind_dual_values(m);
    bind_dual_cuts(m);
}

}  // namespace anonset::bind
