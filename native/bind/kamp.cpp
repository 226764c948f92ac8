#include "bind/common.hpp"
#include "kamp/joint.hpp"
#include "kamp/pattern_distance.hpp"
#include "kamp/rows.hpp"
#include "risk/similar.hpp"

namespace anonset::bind {

namespace {

using Offsets = In<std::int64_t>;
using Codes = In<std::int32_t>;

std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<std::int64_t>, Out<bool>> users_and_patterns(
    const Offsets& offsets, const Codes& items, const Codes& users, std::int64_t n_users, const Offsets& set_offsets,
    const Codes& set_items, PyMonitor& monitor) {
    UserPatterns found;
    std::vector<char> maximal;
    run(monitor, [&](Monitor&) {
        const PatternTree tree(to_csr(set_offsets, set_items));
        found = user_patterns(to_csr(offsets, items),
                              UserRows(users.data(), static_cast<std::int64_t>(users.shape(0)), n_users), tree);
        const Csr held = found.held.view();
        std::vector<char> covered(tree.size(), 0);
        std::vector<std::int32_t> own;
        for (std::int64_t u = 0; u < held.rows; ++u) {
            const std::vector<std::int32_t> mine(held.begin(u), held.end(u));
            maximal_of(tree, mine, covered, own);
            for (const std::int32_t p : mine) maximal.push_back(std::binary_search(own.begin(), own.end(), p));
        }
    });
    auto* flags = new bool[maximal.size()];
    std::copy(maximal.begin(), maximal.end(), flags);
    nb::capsule free(flags, [](void* p) noexcept { delete[] static_cast<bool*>(p); });
    return {to_numpy(std::move(found.held.offsets)), to_numpy(std::move(found.held.items)),
            to_numpy(std::move(found.counts)), Out<bool>(flags, {maximal.size()}, free)};
}

}  // namespace

void bind_kamp(nb::module_& m) {
    m.def("user_patterns", users_and_patterns, nb::arg("offsets"), nb::arg("items"), nb::arg("users"),
          nb::arg("n_users"), nb::arg("set_offsets"), nb::arg("set_items"), nb::arg("monitor"));
    m.def(
        "count_combinations",
        [](Offsets set_offsets, Codes set_items, Offsets held_offsets, Codes held_items, int most, std::int64_t k,
           int threads, PyMonitor& monitor) {
            CombinationCount count;
            run(monitor, [&](Monitor& watched) {
                const PatternTree tree(to_csr(set_offsets, set_items));
                const PatternTable table(tree, to_csr(held_offsets, held_items));
                count = count_combinations(table, most, k, threads, watched);
            });
            return std::tuple(to_numpy(std::move(count.all)), to_numpy(std::move(count.below)), count.lowest);
        },
        nb::arg("set_offsets"), nb::arg("set_items"), nb::arg("held_offsets"), nb::arg("held_items"), nb::arg("most"),
        nb::arg("k"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "kamp_table",
        [](Offsets offsets, Codes items, Codes users, std::int64_t n_users, Offsets set_offsets, Codes set_items,
           In<std::int64_t> support, std::int64_t least, std::int64_t k, int most, int repair, int threads,
           PyMonitor& monitor) {
            OwnedCsr out;
            run(monitor, [&](Monitor& watched) {
                const Csr data = to_csr(offsets, items);
                const PatternTree tree(to_csr(set_offsets, set_items));
                const UserRows rows(users.data(), data.rows, n_users);
                const UserPatterns found = user_patterns(data, rows, tree);
                const KampInput input{data, rows, tree, found, support.data(), least, k, most};
                out = kamp_table(input, static_cast<Repair>(repair), threads, watched);
            });
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("users"), nb::arg("n_users"), nb::arg("set_offsets"),
        nb::arg("set_items"), nb::arg("support"), nb::arg("least"), nb::arg("k"), nb::arg("most"), nb::arg("repair"),
        nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "kamp_rows",
        [](Offsets offsets, Codes items, Codes users, std::int64_t n_users, Offsets set_offsets, Codes set_items,
           Offsets target_offsets, Codes target_items, bool may_add, PyMonitor& monitor) {
            Rewritten out;
            run(monitor, [&](Monitor& watched) {
                const Csr data = to_csr(offsets, items);
                const PatternTree tree(to_csr(set_offsets, set_items));
                const UserRows rows(users.data(), data.rows, n_users);
                out = KampRows(data, rows, tree, may_add).run(to_csr(target_offsets, target_items), watched);
            });
            return std::tuple(to_numpy(std::move(out.rows.offsets)), to_numpy(std::move(out.rows.items)),
                              to_numpy(std::move(out.users)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("users"), nb::arg("n_users"), nb::arg("set_offsets"),
        nb::arg("set_items"), nb::arg("target_offsets"), nb::arg("target_items"), nb::arg("may_add"),
        nb::arg("monitor"));
    m.def(
        "pattern_distance",
        [](Offsets set_offsets, Codes set_items, Offsets owned_offsets, Codes owned, Offsets other_offsets,
           Codes other_items, Offsets others_owned_offsets, Codes others_owned) {
            const OwnedPatterns before{to_csr(set_offsets, set_items), to_csr(owned_offsets, owned)};
            const OwnedPatterns after{to_csr(other_offsets, other_items), to_csr(others_owned_offsets, others_owned)};
            if (before.owned.rows != after.owned.rows) throw nb::value_error("both must have the same users");
            return to_numpy(pattern_distance(before, after));
        },
        nb::arg("set_offsets"), nb::arg("set_items"), nb::arg("owned_offsets"), nb::arg("owned"),
        nb::arg("other_offsets"), nb::arg("other_items"), nb::arg("others_owned_offsets"), nb::arg("others_owned"));
    m.def(
        "similar_groups",
        [](Offsets offsets, Codes items, std::int64_t n_items, std::int64_t groups, PyMonitor& monitor) {
            std::vector<std::int32_t> group;
            run(monitor, [&](Monitor& watched) {
                const Csr data = to_csr(offsets, items);
                group = SimilarGroups(data, n_items).run(groups, watched);
            });
            return to_numpy(std::move(group));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("groups"), nb::arg("monitor"));
}

}  // namespace anonset::bind
