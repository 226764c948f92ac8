#include "bind/common.hpp"
#include "kp/improve.hpp"

namespace anonset::bind {

namespace {

using Longs = In<std::int64_t>;
using Ints = In<std::int32_t>;

}  // namespace

void bind_kp(nb::module_& m) {
    m.def(
        "kp_improve",
        [](Longs offsets, Ints codes, Longs secret_offsets, Ints secrets, Ints group, std::int64_t k,
           std::pair<std::int64_t, std::int64_t> p, double proposals, std::int64_t partners, double hot, double cold,
           std::int64_t shard, bool build, bool dense, std::uint64_t seed, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            const KpImproveOptions options{k, {p.first, p.second}, proposals, partners, hot, cold, dense, seed};
            const auto rows = static_cast<std::int64_t>(group.shape(0));
            run(monitor, [&](Monitor& watched) {
                auto parts =
                    build ? parts_of_clusters(group.data(), rows, shard) : parts_of_groups(group.data(), rows, shard);
                found = kp_improve(to_csr(offsets, codes), to_csr(secret_offsets, secrets), std::move(parts), options,
                                   threads, watched);
            });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("group"),
        nb::arg("k"), nb::arg("p"), nb::arg("proposals"), nb::arg("partners"), nb::arg("hot"), nb::arg("cold"),
        nb::arg("shard"), nb::arg("build"), nb::arg("dense"), nb::arg("seed"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
