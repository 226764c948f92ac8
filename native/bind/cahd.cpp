#include "bind/common.hpp"
#include "cahd/api.hpp"

namespace anonset::bind {

namespace {

using Offsets = In<std::int64_t>;
using Items = In<std::int32_t>;

cahd::Problem to_problem(const Offsets& offsets, const Items& items, const Offsets& secret_offsets,
                         const Items& secrets, std::int32_t n_items, std::int32_t n_sensitive, std::int64_t p) {
    return {to_csr(offsets, items), to_csr(secret_offsets, secrets), n_items, n_sensitive, p};
}

void bind_cahd_formations(nb::module_& m) {
    m.def(
        "band_order",
        [](Offsets offsets, Items items, std::int32_t n_items, int threads, PyMonitor& monitor) {
            std::vector<std::int64_t> ordering;
            run(monitor,
                [&](Monitor& watch) { ordering = cahd::band_order(to_csr(offsets, items), n_items, threads, watch); });
            return to_numpy(std::move(ordering));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "cahd_groups",
        [](Offsets offsets, Items items, Offsets secret_offsets, Items secrets, std::int32_t n_items,
           std::int32_t n_sensitive, std::int64_t p, std::int64_t alpha, PyMonitor& monitor) {
            const auto problem = to_problem(offsets, items, secret_offsets, secrets, n_items, n_sensitive, p);
            std::vector<std::int32_t> groups;
            run(monitor, [&](Monitor& watch) { groups = cahd::cahd_groups(problem, alpha, watch); });
            return to_numpy(std::move(groups));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("n_items"),
        nb::arg("n_sensitive"), nb::arg("p"), nb::arg("alpha"), nb::arg("monitor"));
    m.def(
        "balanced_groups",
        [](Offsets offsets, Items items, Offsets secret_offsets, Items secrets, std::int32_t n_items,
           std::int32_t n_sensitive, std::int64_t p, std::int64_t alpha, PyMonitor& monitor) {
            const auto problem = to_problem(offsets, items, secret_offsets, secrets, n_items, n_sensitive, p);
            std::vector<std::int32_t> groups;
            run(monitor, [&](Monitor& watch) { groups = cahd::balanced_groups(problem, alpha, watch); });
            return to_numpy(std::move(groups));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("n_items"),
        nb::arg("n_sensitive"), nb::arg("p"), nb::arg("alpha"), nb::arg("monitor"));
    m.def(
        "blind_groups",
        [](Offsets secret_offsets, Items secrets, Items lengths, In<double> keys, std::int32_t n_sensitive,
           std::int64_t p, std::int64_t block, std::int64_t cells, PyMonitor& monitor) {
            const cahd::Blind problem{
                to_csr(secret_offsets, secrets), lengths.data(), keys.data(), n_sensitive, p, block, cells};
            cahd::BlindGroups found;
            run(monitor, [&](Monitor& watch) { found = cahd::blind_groups(problem, watch); });
            return std::make_tuple(to_numpy(std::move(found.group)), to_numpy(std::move(found.cell)));
        },
        nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("lengths"), nb::arg("keys"), nb::arg("n_sensitive"),
        nb::arg("p"), nb::arg("block"), nb::arg("cells"), nb::arg("monitor"));
}

void bind_cahd_neighbours(nb::module_& m) {
    m.def(
        "nearest_groups",
        [](Offsets offsets, Items items, Offsets secret_offsets, Items secrets, std::int32_t n_items,
           std::int32_t n_sensitive, std::int64_t p, PyMonitor& monitor) {
            const auto problem = to_problem(offsets, items, secret_offsets, secrets, n_items, n_sensitive, p);
            std::vector<std::int32_t> groups;
            run(monitor, [&](Monitor& watch) { groups = cahd::nearest_groups(problem, watch); });
            return to_numpy(std::move(groups));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("n_items"),
        nb::arg("n_sensitive"), nb::arg("p"), nb::arg("monitor"));
    m.def(
        "lsh_groups",
        [](Offsets offsets, Items items, Offsets secret_offsets, Items secrets, std::int32_t n_items,
           std::int32_t n_sensitive, std::int64_t p, Items dims, std::int32_t tables, std::int64_t most, int threads,
           PyMonitor& monitor) {
            const auto problem = to_problem(offsets, items, secret_offsets, secrets, n_items, n_sensitive, p);
            const auto width = tables > 0 ? static_cast<std::int32_t>(dims.shape(0)) / tables : 0;
            cahd::LshGroups found;
            run(monitor, [&](Monitor& watch) {
                found = cahd::lsh_groups(problem, {dims.data(), width, tables, most}, threads, watch);
            });
            return std::pair(to_numpy(std::move(found.group)), found.exact);
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("n_items"),
        nb::arg("n_sensitive"), nb::arg("p"), nb::arg("dims"), nb::arg("tables"), nb::arg("most"), nb::arg("threads"),
        nb::arg("monitor"));
    m.def(
        "lsh_signatures",
        [](Offsets offsets, Items items, std::int32_t n_items, Items dims) {
            return to_numpy(cahd::lsh_signatures(to_csr(offsets, items), n_items, dims.data(),
                                                 static_cast<std::int32_t>(dims.shape(0))));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("dims"));
}

void bind_cahd_parts(nb::module_& m) {
    m.def(
        "mondrian_groups",
        [](Offsets offsets, Items items, Offsets secret_offsets, Items secrets, std::int32_t n_items,
           std::int32_t n_sensitive, std::int64_t p, PyMonitor& monitor) {
            const auto problem = to_problem(offsets, items, secret_offsets, secrets, n_items, n_sensitive, p);
            std::vector<std::int32_t> groups;
            run(monitor, [&](Monitor& watch) { groups = cahd::mondrian_groups(problem, watch); });
            return to_numpy(std::move(groups));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("n_items"),
        nb::arg("n_sensitive"), nb::arg("p"), nb::arg("monitor"));
    m.def(
        "spread_for_persons",
        [](In<std::int64_t> secret_offsets, In<std::int32_t> secrets, In<std::int32_t> persons, In<std::int32_t> groups,
           std::int32_t p, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            run(monitor, [&](Monitor& watched) {
                found = cahd::spread_for_persons(to_csr(secret_offsets, secrets), persons.data(), groups.data(), p,
                                                 watched);
            });
            return to_numpy(std::move(found));
        },
        nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("persons"), nb::arg("groups"), nb::arg("p"),
        nb::arg("monitor"));
}

}  // namespace

void bind_cahd(nb::module_& m) {
    bind_cahd_formations(m);
    bind_cahd_neighbours(m);
    bind_cahd_parts(m);
}

}  // namespace anonset::bind
