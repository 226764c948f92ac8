#include "bind/common.hpp"
#include "km/api.hpp"

namespace anonset::bind {

namespace {

using Longs = In<std::int64_t>;
using Ints = In<std::int32_t>;

km::Hierarchy to_tree(const Ints& parent, const Longs& size, const Ints& leaf) {
    return {parent.data(), size.data(), static_cast<std::int32_t>(parent.shape(0)), leaf.data()};
}

}  // namespace

void bind_km(nb::module_& m) {
    m.def(
        "km_greedy",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known, bool apriori,
           int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> out;
            run(monitor, [&](Monitor& watched) {
                out = km::greedy_cut(to_csr(offsets, items), to_tree(parent, size, leaf), k, known, apriori, threads,
                                     watched);
            });
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("apriori"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "km_refine",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known,
           std::int64_t budget, int form, int threads, PyMonitor& monitor) {
            km::RefinedCut out;
            run(monitor, [&](Monitor& watched) {
                out = km::refined_cut(to_csr(offsets, items), to_tree(parent, size, leaf), k, known, budget,
                                      static_cast<km::Form>(form), threads, watched);
            });
            return std::pair(to_numpy(std::move(out.cut)), to_numpy(std::move(out.kept)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("budget"), nb::arg("form"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "km_optimal",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known, std::int64_t bound,
           std::int64_t most_cuts, std::int64_t most_rare, PyMonitor& monitor) {
            km::OptimalCut out;
            run(monitor, [&](Monitor& watched) {
                out = km::optimal_cut(to_csr(offsets, items), to_tree(parent, size, leaf), k, known, bound, most_cuts,
                                      most_rare, watched);
            });
            return std::tuple(out.finished, to_numpy(std::move(out.cut)), out.examined, out.rare);
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("bound"), nb::arg("most_cuts"), nb::arg("most_rare"), nb::arg("monitor"));
    m.def(
        "km_rare",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known, bool shortest,
           std::int64_t most, PyMonitor& monitor) {
            km::RareItemsets out;
            run(monitor, [&](Monitor& watched) {
                out = km::rare_itemsets(to_csr(offsets, items), to_tree(parent, size, leaf), k, known, shortest, most,
                                        watched);
            });
            auto rows = to_numpy(std::move(out.sets));
            return std::tuple(rows.first, rows.second, to_numpy(std::move(out.supports)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("shortest"), nb::arg("most"), nb::arg("monitor"));
}

}  // namespace anonset::bind
