#include "crowd/diverse.hpp"

#include "bind/common.hpp"

namespace anonset::bind {

void bind_diverse(nb::module_& m) {
    m.def(
        "diverse_groups",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int64_t> secret_offsets, In<std::int32_t> secrets,
           std::int32_t n_items, In<std::int32_t> groups, std::int64_t k, std::int64_t p, std::int64_t rounds,
           int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            run(monitor, [&](Monitor& watched) {
                found = DiverseGroups(to_csr(offsets, items), to_csr(secret_offsets, secrets), n_items, groups.data(),
                                      {k, p, rounds}, threads, watched)
                            .solve();
            });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("n_items"),
        nb::arg("groups"), nb::arg("k"), nb::arg("p"), nb::arg("rounds"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
