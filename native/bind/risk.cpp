#include "bind/common.hpp"
#include "risk/linking.hpp"
#include "risk/singled_out.hpp"
#include "risk/subsets.hpp"

namespace anonset::bind {

namespace {

using Words = std::optional<In<std::uint64_t>>;

Absence to_absence(const Words& held, const Words& absent) {
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
                sizes = count_candidates(to_csr(offsets, items), n_items, queries.data(),
                                         static_cast<std::int64_t>(queries.shape(0)) / known, known,
                                         to_absence(held, absent), threads, watched);
            });
            return to_numpy(std::move(sizes));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("queries"), nb::arg("known"),
        nb::arg("held").none(), nb::arg("absent").none(), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "subset_tally",
        [](In<std::int64_t> offsets, In<std::int32_t> items, std::int64_t n_items, In<std::int64_t> weight,
           In<bool> target, int known, int threads, PyMonitor& monitor) {
            std::optional<SubsetTally> tally;
            run(monitor, [&](Monitor& watched) {
                tally = subset_tally(to_csr(offsets, items), n_items, weight.data(), target.data(), known, threads,
                                     watched);
            });
            return std::tuple(to_numpy(std::move(tally->singled)), to_numpy(std::move(tally->sizes)),
                              to_numpy(std::move(tally->success)), to_numpy(std::move(tally->smallest)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("weight"), nb::arg("target"),
        nb::arg("known"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "link_sets",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> set_offsets, In<std::int32_t> set_items,
           In<std::int64_t> weight, In<std::int64_t> own, std::int64_t n_items, bool jaccard, int threads,
           PyMonitor& monitor) {
            std::vector<Link> links;
            run(monitor, [&](Monitor& watched) {
                links = link_sets(to_csr(offsets, items), to_csr(set_offsets, set_items), weight.data(), own.data(),
                                  n_items, jaccard, threads, watched);
            });
            std::vector<double> distance;
            std::vector<std::int64_t> nearest;
            std::vector<std::uint8_t> found;
            for (const Link& link : links) {
                distance.push_back(link.distance);
                nearest.push_back(link.nearest);
                found.push_back(link.found);
            }
            return std::tuple(to_numpy(std::move(distance)), to_numpy(std::move(nearest)), to_numpy(std::move(found)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("set_offsets"), nb::arg("set_items"), nb::arg("weight"),
        nb::arg("own"), nb::arg("n_items"), nb::arg("jaccard"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
