#include "bind/common.hpp"
#include "risk/api.hpp"

namespace anonset::bind {

namespace {

using Words = std::optional<In<std::uint64_t>>;

risk::Absence to_absence(const Words& held, const Words& absent) {
    return {held ? held->data() : nullptr, absent ? absent->data() : nullptr};
}

}  // namespace

void bind_risk(nb::module_& m) {
    m.def(
        "count_candidates",
        [](In<std::int64_t> offsets, In<std::int32_t> items, std::int64_t n_items, In<std::int32_t> queries, int known,
           Words held, Words absent, int threads, PyMonitor& monitor) {
            if (known < 1 || known > 64) throw nb::value_error("a query must have 1 to 64 items");
            std::vector<std::int64_t> sizes;
            run(monitor, [&](Monitor& watched) {
                sizes = risk::count_candidates(to_csr(offsets, items), n_items, queries.data(),
                                               static_cast<std::int64_t>(queries.shape(0)) / known, known,
                                               to_absence(held, absent), threads, watched);
            });
            return to_numpy(std::move(sizes));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("queries"), nb::arg("known"),
        nb::arg("held").none(), nb::arg("absent").none(), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "count_persons",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> person, std::int64_t n_items,
           In<std::int32_t> queries, In<std::int32_t> own, int known, int threads, PyMonitor& monitor) {
            risk::Companions out;
            run(monitor, [&](Monitor& watched) {
                out = risk::count_persons(to_csr(offsets, items), person.data(), n_items, queries.data(), own.data(),
                                          static_cast<std::int64_t>(own.shape(0)), known, threads, watched);
            });
            return std::tuple(to_numpy(std::move(out.persons)), to_numpy(std::move(out.found)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("person"), nb::arg("n_items"), nb::arg("queries"), nb::arg("own"),
        nb::arg("known"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "subset_tally",
        [](In<std::int64_t> offsets, In<std::int32_t> items, std::int64_t n_items, In<std::int64_t> weight,
           In<bool> target, int known, int threads, PyMonitor& monitor) {
            risk::SubsetTally tally;
            run(monitor, [&](Monitor& watched) {
                tally = risk::subset_tally(to_csr(offsets, items), n_items, weight.data(), target.data(), known,
                                           threads, watched);
            });
            return std::tuple(to_numpy(std::move(tally.singled)), to_numpy(std::move(tally.sizes)),
                              to_numpy(std::move(tally.success)), to_numpy(std::move(tally.smallest)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("weight"), nb::arg("target"),
        nb::arg("known"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "link_sets",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> set_offsets, In<std::int32_t> set_items,
           In<std::int64_t> weight, In<std::int64_t> own, std::int64_t n_items, bool jaccard, int threads,
           PyMonitor& monitor) {
            risk::Links out;
            run(monitor, [&](Monitor& watched) {
                out = risk::link_sets(to_csr(offsets, items), to_csr(set_offsets, set_items), weight.data(), own.data(),
                                      n_items, jaccard, threads, watched);
            });
            return std::tuple(to_numpy(std::move(out.distance)), to_numpy(std::move(out.nearest)),
                              to_numpy(std::move(out.found)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("set_offsets"), nb::arg("set_items"), nb::arg("weight"),
        nb::arg("own"), nb::arg("n_items"), nb::arg("jaccard"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
