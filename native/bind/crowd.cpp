#include "bind/common.hpp"
#include "crowd/api.hpp"

namespace anonset::bind {

namespace {

auto to_python(crowd::Result found) {
    return std::pair(to_numpy(std::move(found.group)),
                     std::pair(to_numpy(std::move(found.offsets)), to_numpy(std::move(found.items))));
}

void bind_settings(nb::module_& m) {
    using crowd::DenseSettings;
    using crowd::SparseSettings;
    nb::class_<SparseSettings>(m, "CrowdSparse")
        .def(
            "__init__",
            [](SparseSettings* self, std::int64_t shards, std::int32_t every, std::int32_t reach, std::int32_t keep,
               std::int64_t rounds, std::int64_t augment,
               std::int64_t block) { new (self) SparseSettings{shards, every, reach, keep, rounds, augment, block}; },
            nb::kw_only(), nb::arg("shards"), nb::arg("every"), nb::arg("reach"), nb::arg("keep"), nb::arg("rounds"),
            nb::arg("augment"), nb::arg("block"));
    nb::class_<DenseSettings>(m, "CrowdDense")
        .def(
            "__init__",
            [](DenseSettings* self, std::int64_t block, std::int64_t pool, std::int64_t near, std::int64_t sorts,
               std::int64_t rounds,
               double visits) { new (self) DenseSettings{block, pool, near, sorts, rounds, visits}; },
            nb::kw_only(), nb::arg("block"), nb::arg("pool"), nb::arg("near"), nb::arg("sorts"), nb::arg("rounds"),
            nb::arg("visits"));
}

void bind_crowd_groups(nb::module_& m) {
    m.def(
        "crowd_sparse",
        [](In<std::int64_t> offsets, In<std::int32_t> items, std::int32_t n_items, std::int32_t k,
           const crowd::SparseSettings& settings, PyMonitor& monitor, int threads,
           std::optional<In<std::int32_t>> persons) {
            crowd::Result found;
            run(monitor, [&](Monitor& watched) {
                found = crowd::sparse_groups(to_csr(offsets, items), n_items, k, settings, threads, watched,
                                             persons ? persons->data() : nullptr);
            });
            return to_python(std::move(found));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("k"), nb::arg("settings"), nb::arg("monitor"),
        nb::arg("threads"), nb::arg("persons") = nb::none());
    m.def(
        "crowd_dense",
        [](In<std::int64_t> offsets, In<std::int32_t> items, std::int32_t n_items, std::int32_t k,
           const crowd::DenseSettings& settings, std::uint64_t seed, PyMonitor& monitor, int threads) {
            crowd::Result found;
            run(monitor, [&](Monitor& watched) {
                found = crowd::dense_groups(to_csr(offsets, items), n_items, k, settings, seed, threads, watched);
            });
            return to_python(std::move(found));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("k"), nb::arg("settings"), nb::arg("seed"),
        nb::arg("monitor"), nb::arg("threads"));
}

void bind_crowd_repairs(nb::module_& m) {
    m.def(
        "diverse_groups",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> sensitive_offsets,
           In<std::int32_t> sensitive, std::int32_t n_items, In<std::int32_t> groups, std::int64_t k, std::int64_t p,
           std::int64_t rounds, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            run(monitor, [&](Monitor& watched) {
                found = crowd::diverse_groups(to_csr(offsets, items), to_csr(sensitive_offsets, sensitive), n_items,
                                              groups.data(), {k, p, rounds}, threads, watched);
            });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("sensitive_offsets"), nb::arg("sensitive"), nb::arg("n_items"),
        nb::arg("groups"), nb::arg("k"), nb::arg("p"), nb::arg("rounds"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "merged_for_persons",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> secret_offsets, In<std::int32_t> secrets,
           In<std::int32_t> persons, std::int32_t n_items, In<std::int32_t> groups, std::int64_t k,
           std::pair<std::int64_t, std::int64_t> p, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            run(monitor, [&](Monitor& watched) {
                found =
                    crowd::merged_for_persons(to_csr(offsets, items), to_csr(secret_offsets, secrets), persons.data(),
                                              n_items, groups.data(), {k, p.first, p.second}, watched);
            });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("persons"),
        nb::arg("n_items"), nb::arg("groups"), nb::arg("k"), nb::arg("p"), nb::arg("monitor"));
    m.def(
        "person_groups",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> persons, std::int32_t n_items,
           In<std::int32_t> groups, std::int64_t k, std::int64_t rounds, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            run(monitor, [&](Monitor& watched) {
                found = crowd::person_groups(to_csr(offsets, items), persons.data(), n_items, groups.data(),
                                             {k, rounds}, threads, watched);
            });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("persons"), nb::arg("n_items"), nb::arg("groups"), nb::arg("k"),
        nb::arg("rounds"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace

void bind_crowd(nb::module_& m) {
    bind_settings(m);
    bind_crowd_groups(m);
    bind_crowd_repairs(m);
}

}  // namespace anonset::bind
