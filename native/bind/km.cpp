#include <limits>
#include <optional>

#include "bind/common.hpp"
#include "km/api.hpp"

namespace anonset::bind {

namespace {

using Longs = In<std::int64_t>;
using Ints = In<std::int32_t>;

using Persons = std::optional<Ints>;

km::Hierarchy to_tree(const Ints& parent, const Longs& size, const Ints& leaf, const Persons& persons = {}) {
    return {parent.data(), size.data(), static_cast<std::int32_t>(parent.shape(0)), leaf.data(),
            persons ? persons->data() : nullptr};
}

void bind_km_cuts(nb::module_& m) {
    m.def(
        "km_greedy",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known, bool apriori,
           int threads, PyMonitor& monitor, Persons persons) {
            std::vector<std::int32_t> out;
            run(monitor, [&](Monitor& watched) {
                out = km::greedy_cut(to_csr(offsets, items), to_tree(parent, size, leaf, persons), k, known, apriori,
                                     threads, watched);
            });
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("apriori"), nb::arg("threads"), nb::arg("monitor"), nb::arg("persons") = nb::none());
    m.def(
        "km_refine",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known,
           std::int64_t budget, int form, int threads, PyMonitor& monitor, Persons persons) {
            km::RefinedCut out;
            run(monitor, [&](Monitor& watched) {
                out = km::refined_cut(to_csr(offsets, items), to_tree(parent, size, leaf, persons), k, known, budget,
                                      static_cast<km::Form>(form), threads, watched);
            });
            return std::pair(to_numpy(std::move(out.cut)), to_numpy(std::move(out.kept)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("budget"), nb::arg("form"), nb::arg("threads"), nb::arg("monitor"),
        nb::arg("persons") = nb::none());
}

void bind_km_searches(nb::module_& m) {
    m.def(
        "km_optimal",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known, bool breadth_first,
           std::int64_t bound, std::int64_t most_cuts, std::int64_t most_rare, std::int64_t most_bytes,
           PyMonitor& monitor, Persons persons) {
            km::OptimalCut out;
            run(monitor, [&](Monitor& watched) {
                out = km::optimal_cut(to_csr(offsets, items), to_tree(parent, size, leaf, persons), k, known,
                                      breadth_first, {bound, most_cuts, most_rare, most_bytes}, watched);
            });
            return std::tuple(static_cast<int>(out.stopped), to_numpy(std::move(out.cut)), out.examined, out.rare);
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("breadth_first"), nb::arg("bound"), nb::arg("most_cuts"), nb::arg("most_rare"),
        nb::arg("most_bytes"), nb::arg("monitor"), nb::arg("persons") = nb::none());
    m.def(
        "km_minimal",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known,
           std::int64_t most_cuts, std::int64_t most_rare, std::int64_t most_bytes, PyMonitor& monitor) {
            km::MinimalCuts out;
            run(monitor, [&](Monitor& watched) {
                constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
                out = km::minimal_cuts(to_csr(offsets, items), to_tree(parent, size, leaf), k, known,
                                       {any, most_cuts, most_rare, most_bytes}, watched);
            });
            std::vector<std::int32_t> cuts;  // one after the other, an entry for each node of the tree
            for (const auto& cut : out.cuts) cuts.insert(cuts.end(), cut.begin(), cut.end());
            return std::tuple(static_cast<int>(out.stopped), to_numpy(std::move(cuts)), out.examined);
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("most_cuts"), nb::arg("most_rare"), nb::arg("most_bytes"), nb::arg("monitor"));
}

void bind_km_counts(nb::module_& m) {
    m.def(
        "km_count_tree",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, Ints published, int known, bool exact,
           PyMonitor& monitor) {
            std::int64_t nodes = 0;
            run(monitor, [&](Monitor& watched) {
                nodes = km::count_tree_size(to_csr(offsets, items), to_tree(parent, size, leaf), published.data(),
                                            known, exact, watched);
            });
            return nodes;
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("published"),
        nb::arg("m"), nb::arg("exact"), nb::arg("monitor"));
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

}  // namespace

void bind_km(nb::module_& m) {
    bind_km_cuts(m);
    bind_km_searches(m);
    bind_km_counts(m);
}

}  // namespace anonset::bind
