#include "bind/common.hpp"
#include "crowd/dense.hpp"
#include "crowd/sparse.hpp"

namespace anonset::bind {

namespace {

auto to_python(SegmentLosses beside) {
    return std::pair(to_numpy(std::move(beside.of_others)), to_numpy(std::move(beside.of_pta)));
}
auto to_python(CrowdResult found) {
    return std::pair(to_numpy(std::move(found.group)),
                     std::pair(to_numpy(std::move(found.offsets)), to_numpy(std::move(found.items))));
}

}  // namespace

void bind_crowd(nb::module_& m) {
    m.def("crowd_without", [](std::uint32_t mechanisms) { crowd::switched_off = mechanisms; }, nb::arg("mechanisms"));
    m.def(
        "draw_segments",
        [](std::int64_t segments, std::int64_t wanted, std::uint64_t seed) {
            return to_numpy(draw_segments(segments, wanted, seed));
        },
        nb::arg("segments"), nb::arg("wanted"), nb::arg("seed"));
    m.def(
        "crowd_dense",
        [](In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> rank, std::int64_t k, std::int64_t block,
           std::int64_t pool, std::int64_t near, std::int64_t sorts, std::int64_t rounds, double visits,
           std::int64_t partners, double hot, double cold, std::uint64_t seed, In<std::int64_t> bounds,
           In<std::int64_t> drawn, PyMonitor& monitor, int threads) {
            const PtaSample sample{bounds.data(), drawn.data(), static_cast<std::int64_t>(drawn.shape(0))};
            DenseResult done;
            const CrowdDenseOptions options{k, block, pool, {near, sorts}, rounds, visits, partners, hot, cold, seed};
            run(monitor, [&](Monitor& watched) {
                done = crowd_dense(to_csr(offsets, items), rank.data(), static_cast<std::int32_t>(rank.shape(0)),
                                   options, sample, threads, watched);
            });
            auto [group, centers] = to_python(std::move(done.found));
            return std::tuple(to_numpy(std::move(done.order)), std::move(group), std::move(centers),
                              to_python(std::move(done.beside)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("rank"), nb::arg("k"), nb::arg("block"), nb::arg("pool"),
        nb::arg("near"), nb::arg("sorts"), nb::arg("rounds"), nb::arg("visits"), nb::arg("partners"), nb::arg("hot"),
        nb::arg("cold"), nb::arg("seed"), nb::arg("bounds"), nb::arg("drawn"), nb::arg("monitor"), nb::arg("threads"));
    m.def(
        "crowd_sparse",
        [](In<std::int64_t> offsets, In<std::int32_t> items, std::int32_t n_items, std::int32_t k, std::int32_t reach,
           std::int32_t keep, std::int32_t again, std::int32_t every, std::int32_t turns, bool everywhere,
           std::int64_t part, std::int64_t rounds, bool open, bool recent, std::int64_t relays, std::int64_t after,
           std::int64_t passes, std::int64_t block, std::int64_t shards, In<std::int64_t> bounds,
           In<std::int64_t> drawn, PyMonitor& monitor, int threads) {
            const PtaSample sample{bounds.data(), drawn.data(), static_cast<std::int64_t>(drawn.shape(0))};
            SparseResult done;
            const CrowdSparseOptions options{{k, reach, keep, again, every, turns, everywhere},
                                             part,
                                             rounds,
                                             open,
                                             recent,
                                             relays,
                                             after,
                                             passes,
                                             block};
            run(monitor, [&](Monitor& watched) {
                done = crowd_sparse(to_csr(offsets, items), n_items, options, shards, sample, threads, watched);
            });
            auto [group, centers] = to_python(std::move(done.found));
            return std::tuple(std::move(group), std::move(centers), to_python(std::move(done.beside)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("n_items"), nb::arg("k"), nb::arg("reach"), nb::arg("keep"),
        nb::arg("again"), nb::arg("every"), nb::arg("turns"), nb::arg("everywhere"), nb::arg("part"), nb::arg("rounds"),
        nb::arg("open"), nb::arg("recent"), nb::arg("relays"), nb::arg("after"), nb::arg("passes"), nb::arg("block"),
        nb::arg("shards"), nb::arg("bounds"), nb::arg("drawn"), nb::arg("monitor"), nb::arg("threads"));
}

}  // namespace anonset::bind
