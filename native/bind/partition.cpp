#include <optional>

#include "bind/common.hpp"
#include "partition/api.hpp"

namespace anonset::bind {

void bind_partition(nb::module_& m) {
    m.def(
        "partition",
        [](In<std::int64_t> offsets, In<std::int32_t> leaves, In<std::int32_t> end, In<std::int64_t> loss,
           std::int64_t k, PyMonitor& monitor, std::optional<In<std::int32_t>> persons) {
            const partition::Tree tree{end.data(), loss.data(), static_cast<std::int32_t>(end.shape(0))};
            partition::Parts out;
            run(monitor, [&](Monitor& watched) {
                out = partition::local_generalisation(to_csr(offsets, leaves), tree,
                                                      persons ? persons->data() : nullptr, k, watched);
            });
            return std::tuple(to_numpy(std::move(out.part)), to_numpy(std::move(out.bounds)),
                              to_numpy(std::move(out.nodes)));
        },
        nb::arg("offsets"), nb::arg("leaves"), nb::arg("end"), nb::arg("loss"), nb::arg("k"), nb::arg("monitor"),
        nb::arg("persons") = nb::none());
}

}  // namespace anonset::bind
