#include "bind/common.hpp"
#include "generate/api.hpp"

namespace anonset::bind {

namespace {
template <class T>
std::vector<T> to_vector(const In<T>& values) {
    return {values.data(), values.data() + values.shape(0)};
}
OwnedCsr to_owned(const In<std::int64_t>& offsets, const In<std::int32_t>& items) {
    return {{offsets.data(), offsets.data() + offsets.shape(0)}, {items.data(), items.data() + items.shape(0)}};
}
}  // namespace

void bind_generate(nb::module_& m) {
    m.attr("QUEST_BLOCK") = generate::QUEST_BLOCK;
    m.def(
        "quest",
        [](std::int64_t transactions, double mean_length, std::int32_t patterns, double pattern_length,
           std::int32_t items, double correlation, double corruption, double corruption_variance, bool equal_items,
           std::uint64_t seed, int threads, PyMonitor& monitor) {
            const generate::QuestSettings settings{transactions, mean_length, patterns,   pattern_length,
                                                   items,        correlation, corruption, corruption_variance,
                                                   equal_items,  seed};
            OwnedCsr out;
            run(monitor, [&](Monitor& watch) { out = generate::quest(settings, threads, watch); });
            return to_numpy(std::move(out));
        },
        nb::arg("transactions"), nb::arg("mean_length"), nb::arg("patterns"), nb::arg("pattern_length"),
        nb::arg("items"), nb::arg("correlation"), nb::arg("corruption"), nb::arg("corruption_variance"),
        nb::arg("equal_items"), nb::arg("seed"), nb::arg("threads"), nb::arg("monitor"));
    m.attr("SUPERMARKET_BLOCK") = generate::SUPERMARKET_BLOCK;
    nb::class_<generate::Assortment>(m, "Assortment")
        .def(
            "__init__",
            [](generate::Assortment* self, In<double> popularity, In<std::int32_t> category, In<double> buyers,
               In<std::int64_t> meal_offsets, In<std::int32_t> meals, In<std::int32_t> sensitive, In<double> need) {
                new (self) generate::Assortment{to_vector(popularity),         to_vector(category),  to_vector(buyers),
                                                to_owned(meal_offsets, meals), to_vector(sensitive), to_vector(need)};
            },
            nb::arg("popularity"), nb::arg("category"), nb::arg("buyers"), nb::arg("meal_offsets"), nb::arg("meals"),
            nb::arg("sensitive"), nb::arg("need"));
    m.def(
        "supermarket",
        [](const generate::Assortment& shop, In<std::int32_t> users, In<std::int32_t> lengths, std::uint64_t seed,
           int threads, PyMonitor& monitor) {
            if (users.shape(0) != lengths.shape(0))
                throw nb::value_error("every transaction needs a user and a length");
            OwnedCsr out;
            run(monitor, [&](Monitor& watch) {
                out = generate::supermarket(shop, users.data(), lengths.data(),
                                            static_cast<std::int64_t>(users.shape(0)), seed, threads, watch);
            });
            return to_numpy(std::move(out));
        },
        nb::arg("shop"), nb::arg("users"), nb::arg("lengths"), nb::arg("seed"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "sensitivity",
        [](const generate::Assortment& shop, In<std::int64_t> offsets, In<std::int32_t> items, In<std::int32_t> users,
           In<double> shape, std::uint64_t seed, int threads, PyMonitor& monitor) {
            const Csr data = to_csr(offsets, items);
            std::vector<double> out;
            run(monitor, [&](Monitor& watch) {
                out = generate::sensitivity(shop, data, users.data(), shape.data(), seed, threads, watch);
            });
            return to_numpy(std::move(out));
        },
        nb::arg("shop"), nb::arg("offsets"), nb::arg("items"), nb::arg("users"), nb::arg("shape"), nb::arg("seed"),
        nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
