#include "bind/common.hpp"
#include "kp/api.hpp"

namespace anonset::bind {

namespace {

using Longs = In<std::int64_t>;
using Ints = In<std::int32_t>;

kp::Codes to_codes(const Ints& first) { return {first.data(), static_cast<std::int32_t>(first.shape(0)) - 1}; }

kp::Problem to_problem(const Longs& offsets, const Ints& codes, const Longs& secret_offsets, const Ints& secrets,
                       const Ints& first, std::int64_t k, const std::pair<std::int64_t, std::int64_t>& p) {
    return {to_csr(offsets, codes), to_csr(secret_offsets, secrets), to_codes(first), k, {p.first, p.second}};
}

void bind_kp_groups(nb::module_& m) {
    m.def(
        "map_attributes",
        [](Longs offsets, Ints items, In<std::uint8_t> secret, Ints attribute_of, std::int32_t attributes, int threads,
           PyMonitor& monitor) {
            kp::Mapped out;
            run(monitor, [&](Monitor& watched) {
                out = kp::map_attributes(to_csr(offsets, items), secret.data(), attribute_of.data(), attributes,
                                         threads, watched);
            });
            return std::tuple(to_numpy(std::move(out.rows)), to_numpy(std::move(out.secret)),
                              to_numpy(std::move(out.first)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("secret"), nb::arg("attribute_of"), nb::arg("attributes"),
        nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "k_means",
        [](Longs offsets, Ints codes, Ints first, Longs starts, std::int64_t clusters, std::int64_t iterations,
           std::uint64_t seed, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> cluster;
            const std::vector<std::int64_t> begin(starts.data(), starts.data() + starts.shape(0));
            run(monitor, [&](Monitor& watched) {
                cluster = kp::k_means(to_csr(offsets, codes), to_codes(first), begin, {clusters, iterations, seed},
                                      threads, watched);
            });
            return to_numpy(std::move(cluster));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("first"), nb::arg("starts"), nb::arg("clusters"),
        nb::arg("iterations"), nb::arg("seed"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "ant_groups",
        [](Longs offsets, Ints codes, Longs secret_offsets, Ints secrets, Ints first, Ints cluster, std::int64_t k,
           std::pair<std::int64_t, std::int64_t> p, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> group;
            const kp::Problem problem = to_problem(offsets, codes, secret_offsets, secrets, first, k, p);
            run(monitor, [&](Monitor& watched) { group = kp::ant_groups(problem, cluster.data(), threads, watched); });
            return to_numpy(std::move(group));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("first"),
        nb::arg("cluster"), nb::arg("k"), nb::arg("p"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "place_rows",
        [](Longs offsets, Ints codes, Longs secret_offsets, Ints secrets, Ints first, Ints group, std::int64_t k,
           std::pair<std::int64_t, std::int64_t> p, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            const kp::Problem problem = to_problem(offsets, codes, secret_offsets, secrets, first, k, p);
            run(monitor, [&](Monitor& watched) { found = kp::place_rows(problem, group.data(), threads, watched); });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("first"),
        nb::arg("group"), nb::arg("k"), nb::arg("p"), nb::arg("threads"), nb::arg("monitor"));
}

void bind_kp_rows(nb::module_& m) {
    m.def(
        "mean_centers",
        [](Longs offsets, Ints codes, Ints first, Ints group, std::int32_t groups, int threads, PyMonitor& monitor) {
            OwnedCsr centers;
            run(monitor, [&](Monitor& watched) {
                centers =
                    kp::mean_centers(to_csr(offsets, codes), to_codes(first), group.data(), groups, threads, watched);
            });
            return to_numpy(std::move(centers));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("first"), nb::arg("group"), nb::arg("groups"), nb::arg("threads"),
        nb::arg("monitor"));
    m.def(
        "publish_counts",
        [](Longs center_offsets, Ints center_codes, Ints first, Ints group, Longs offsets, Ints items,
           In<std::uint8_t> secret, int threads, PyMonitor& monitor) {
            kp::PublishedCounts out;
            run(monitor, [&](Monitor& watched) {
                out = kp::publish_counts(to_csr(center_offsets, center_codes), to_codes(first), group.data(),
                                         to_csr(offsets, items), secret.data(), threads, watched);
            });
            return std::pair(to_numpy(std::move(out.rows)), to_numpy(std::move(out.counts)));
        },
        nb::arg("center_offsets"), nb::arg("center_codes"), nb::arg("first"), nb::arg("group"), nb::arg("offsets"),
        nb::arg("items"), nb::arg("secret"), nb::arg("threads"), nb::arg("monitor"));
}

void bind_kp_improve(nb::module_& m) {
    m.def(
        "kp_improve",
        [](Longs offsets, Ints codes, Longs secret_offsets, Ints secrets, Ints group, std::int64_t k,
           std::pair<std::int64_t, std::int64_t> p, double proposals, std::int64_t partners, double hot, double cold,
           std::int64_t shard, bool build, bool dense, std::uint64_t seed, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            const kp::ImproveOptions options{
                k, {p.first, p.second}, proposals, partners, hot, cold, shard, build, dense, seed};
            run(monitor, [&](Monitor& watched) {
                found = kp::improve_groups(to_csr(offsets, codes), to_csr(secret_offsets, secrets), group.data(),
                                           options, threads, watched);
            });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("group"),
        nb::arg("k"), nb::arg("p"), nb::arg("proposals"), nb::arg("partners"), nb::arg("hot"), nb::arg("cold"),
        nb::arg("shard"), nb::arg("build"), nb::arg("dense"), nb::arg("seed"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace

void bind_kp(nb::module_& m) {
    bind_kp_groups(m);
    bind_kp_rows(m);
    bind_kp_improve(m);
}

}  // namespace anonset::bind
