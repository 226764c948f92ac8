#include "kp/ant.hpp"

#include "bind/common.hpp"
#include "kp/k_means.hpp"

namespace anonset::bind {

namespace {

using Longs = In<std::int64_t>;
using Ints = In<std::int32_t>;

std::int32_t size_of(const Ints& first) { return static_cast<std::int32_t>(first.shape(0)) - 1; }

std::vector<std::vector<std::int32_t>> members_of(const Ints& group, std::int32_t groups) {
    std::vector<std::int32_t> sizes(groups, 0);
    for (std::size_t row = 0; row < group.shape(0); ++row) {
        const std::int32_t g = group.data()[row];
        if (g >= groups) throw nb::value_error("a group has too large a number");
        if (g >= 0) ++sizes[g];
    }
    std::vector<std::vector<std::int32_t>> members(groups);
    for (std::int32_t g = 0; g < groups; ++g) members[g].reserve(sizes[g]);
    for (std::size_t row = 0; row < group.shape(0); ++row)
        if (const std::int32_t g = group.data()[row]; g >= 0) members[g].push_back(static_cast<std::int32_t>(row));
    return members;
}

}  // namespace

void bind_ant(nb::module_& m) {
    m.def(
        "map_attributes",
        [](Longs offsets, Ints items, In<std::uint8_t> secret, Ints attribute_of, std::int32_t attributes, int threads,
           PyMonitor& monitor) {
            Mapped out;
            run(monitor, [&](Monitor& watched) {
                out = map_attributes(to_csr(offsets, items), secret.data(), attribute_of.data(), attributes, threads,
                                     watched);
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
                cluster = k_means(to_csr(offsets, codes), first.data(), size_of(first), begin,
                                  {clusters, iterations, seed}, threads, watched);
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
            const AntProblem problem{
                to_csr(offsets, codes), to_csr(secret_offsets, secrets), first.data(), size_of(first), k,
                {p.first, p.second}};
            run(monitor, [&](Monitor& watched) { group = ant_groups(problem, cluster.data(), threads, watched); });
            return to_numpy(std::move(group));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("first"),
        nb::arg("cluster"), nb::arg("k"), nb::arg("p"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "place_rows",
        [](Longs offsets, Ints codes, Longs secret_offsets, Ints secrets, Ints first, Ints group, std::int64_t k,
           std::pair<std::int64_t, std::int64_t> p, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> found;
            const AntProblem problem{
                to_csr(offsets, codes), to_csr(secret_offsets, secrets), first.data(), size_of(first), k,
                {p.first, p.second}};
            run(monitor, [&](Monitor& watched) {
                std::int32_t groups = 0;
                std::vector<std::int32_t> left;
                for (std::size_t row = 0; row < group.shape(0); ++row) {
                    groups = std::max(groups, group.data()[row] + 1);
                    if (group.data()[row] < 0) left.push_back(static_cast<std::int32_t>(row));
                }
                auto full = members_of(group, groups);
                full.erase(std::remove_if(full.begin(), full.end(), [](const auto& rows) { return rows.empty(); }),
                           full.end());
                const auto count = static_cast<std::int32_t>(full.size());
                found = place_rest(problem, full, {{0, count, std::move(left)}}, threads, watched);
            });
            return to_numpy(std::move(found));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("secret_offsets"), nb::arg("secrets"), nb::arg("first"),
        nb::arg("group"), nb::arg("k"), nb::arg("p"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "mean_centers",
        [](Longs offsets, Ints codes, Ints first, Ints group, std::int32_t groups, int threads, PyMonitor& monitor) {
            OwnedCsr centers;
            run(monitor, [&](Monitor& watched) {
                centers = mean_centers(to_csr(offsets, codes), Levels(first.data(), size_of(first)), first.data(),
                                       members_of(group, groups), threads, watched);
            });
            return to_numpy(std::move(centers));
        },
        nb::arg("offsets"), nb::arg("codes"), nb::arg("first"), nb::arg("group"), nb::arg("groups"), nb::arg("threads"),
        nb::arg("monitor"));
    m.def(
        "publish_counts",
        [](Longs center_offsets, Ints center_codes, Ints first, Ints group, Longs offsets, Ints items,
           In<std::uint8_t> secret, int threads, PyMonitor& monitor) {
            PublishedCounts out;
            run(monitor, [&](Monitor& watched) {
                out = publish_counts(to_csr(center_offsets, center_codes), Levels(first.data(), size_of(first)),
                                     group.data(), to_csr(offsets, items), secret.data(), size_of(first), threads,
                                     watched);
            });
            return std::pair(to_numpy(std::move(out.rows)), to_numpy(std::move(out.counts)));
        },
        nb::arg("center_offsets"), nb::arg("center_codes"), nb::arg("first"), nb::arg("group"), nb::arg("offsets"),
        nb::arg("items"), nb::arg("secret"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
