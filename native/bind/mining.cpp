#include "bind/common.hpp"
#include "mining/api.hpp"

namespace anonset::bind {

void bind_mining(nb::module_& m) {
    m.def(
        "frequent_patterns",
        [](In<std::int64_t> offsets, In<std::int32_t> items, std::int64_t n_items, std::int64_t support, int kind,
           int longest, std::int64_t most, int threads, PyMonitor& monitor) {
            if (support < 1) throw nb::value_error("support must be at least 1");
            mining::Patterns found;
            run(monitor, [&](Monitor& watched) {
                found = mining::frequent_patterns(to_csr(offsets, items), n_items, support,
                                                  static_cast<mining::Kind>(kind), longest, most, threads, watched);
            });
            return std::tuple(to_numpy(std::move(found.sets.offsets)), to_numpy(std::move(found.sets.items)),
                              to_numpy(std::move(found.counts)), found.complete);
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("support"), nb::arg("kind"),
        nb::arg("longest"), nb::arg("most"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
