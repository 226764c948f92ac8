#include "bind/common.hpp"
#include "kamp/api.hpp"

namespace anonset::bind {

namespace {

using Offsets = In<std::int64_t>;
using Codes = In<std::int32_t>;

void bind_kamp_patterns(nb::module_& m) {
    m.def(
        "user_patterns",
        [](Offsets offsets, Codes items, Codes users, std::int64_t n_users, Offsets set_offsets, Codes set_items,
           PyMonitor& monitor) {
            kamp::UserPatterns found;
            run(monitor, [&](Monitor&) {
                found = kamp::user_patterns(to_csr(offsets, items), {users.data(), n_users},
                                            to_csr(set_offsets, set_items));
            });
            return std::tuple(to_numpy(std::move(found.held.offsets)), to_numpy(std::move(found.held.items)),
                              to_numpy(std::move(found.counts)), to_mask(std::move(found.maximal)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("users"), nb::arg("n_users"), nb::arg("set_offsets"),
        nb::arg("set_items"), nb::arg("monitor"));
    m.def(
        "count_combinations",
        [](Offsets set_offsets, Codes set_items, Offsets held_offsets, Codes held_items, int most, std::int64_t k,
           int threads, PyMonitor& monitor) {
            kamp::CombinationCount count;
            run(monitor, [&](Monitor& watched) {
                count = kamp::count_combinations(to_csr(set_offsets, set_items), to_csr(held_offsets, held_items), most,
                                                 k, threads, watched);
            });
            return std::tuple(to_numpy(std::move(count.all)), to_numpy(std::move(count.below)), count.lowest);
        },
        nb::arg("set_offsets"), nb::arg("set_items"), nb::arg("held_offsets"), nb::arg("held_items"), nb::arg("most"),
        nb::arg("k"), nb::arg("threads"), nb::arg("monitor"));
}

void bind_kamp_steps(nb::module_& m) {
    m.def(
        "kamp_table",
        [](Offsets offsets, Codes items, Codes users, std::int64_t n_users, Offsets set_offsets, Codes set_items,
           In<std::int64_t> support, std::int64_t least, std::int64_t k, int most, int repair, int threads,
           PyMonitor& monitor) {
            kamp::RepairedTable out;
            run(monitor, [&](Monitor& watched) {
                out = kamp::repaired_table(to_csr(offsets, items), {users.data(), n_users},
                                           to_csr(set_offsets, set_items), {support.data(), least, k, most},
                                           static_cast<kamp::Repair>(repair), threads, watched);
            });
            return std::tuple(to_numpy(std::move(out.printed)), to_numpy(std::move(out.target)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("users"), nb::arg("n_users"), nb::arg("set_offsets"),
        nb::arg("set_items"), nb::arg("support"), nb::arg("least"), nb::arg("k"), nb::arg("most"), nb::arg("repair"),
        nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "kamp_rows",
        [](Offsets offsets, Codes items, Codes users, std::int64_t n_users, Offsets set_offsets, Codes set_items,
           Offsets target_offsets, Codes target_items, bool may_add, PyMonitor& monitor) {
            OwnedCsr out;
            run(monitor, [&](Monitor& watched) {
                out = kamp::rewritten_rows(to_csr(offsets, items), {users.data(), n_users},
                                           to_csr(set_offsets, set_items), to_csr(target_offsets, target_items),
                                           may_add, watched);
            });
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("users"), nb::arg("n_users"), nb::arg("set_offsets"),
        nb::arg("set_items"), nb::arg("target_offsets"), nb::arg("target_items"), nb::arg("may_add"),
        nb::arg("monitor"));
}

void bind_kamp_measures(nb::module_& m) {
    m.def(
        "pattern_distance",
        [](Offsets set_offsets, Codes set_items, Offsets owned_offsets, Codes owned, Offsets other_offsets,
           Codes other_items, Offsets others_owned_offsets, Codes others_owned) {
            const kamp::OwnedPatterns before{to_csr(set_offsets, set_items), to_csr(owned_offsets, owned)};
            const kamp::OwnedPatterns after{to_csr(other_offsets, other_items),
                                            to_csr(others_owned_offsets, others_owned)};
            if (before.owned.rows != after.owned.rows) throw nb::value_error("both must have the same users");
            return to_numpy(kamp::pattern_distance(before, after));
        },
        nb::arg("set_offsets"), nb::arg("set_items"), nb::arg("owned_offsets"), nb::arg("owned"),
        nb::arg("other_offsets"), nb::arg("other_items"), nb::arg("others_owned_offsets"), nb::arg("others_owned"));
    m.def(
        "similar_groups",
        [](Offsets offsets, Codes items, std::int64_t n_items, std::int64_t groups, PyMonitor& monitor) {
            std::vector<std::int32_t> group;
            run(monitor, [&](Monitor& watched) {
                group = kamp::similar_groups(to_csr(offsets, items), n_items, groups, watched);
            });
            return to_numpy(std::move(group));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("groups"), nb::arg("monitor"));
}

}  // namespace

void bind_kamp(nb::module_& m) {
    bind_kamp_patterns(m);
    bind_kamp_steps(m);
    bind_kamp_measures(m);
}

}  // namespace anonset::bind
