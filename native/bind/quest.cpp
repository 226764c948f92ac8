#include "generate/quest.hpp"

#include "bind/common.hpp"

namespace anonset::bind {

void bind_quest(nb::module_& m) {
    m.attr("QUEST_BLOCK") = kQuestBlock;
    m.def(
        "quest",
        [](std::int64_t transactions, double mean_length, std::int32_t patterns, double pattern_length,
           std::int32_t items, double correlation, double corruption, double corruption_variance, bool equal_items,
           std::uint64_t seed, int threads, PyMonitor& monitor) {
            const QuestSettings settings{transactions, mean_length, patterns,   pattern_length,
                                         items,        correlation, corruption, corruption_variance,
                                         equal_items,  seed};
            OwnedCsr out;
            run(monitor, [&](Monitor& watch) { out = quest(settings, threads, watch); });
            return to_numpy(std::move(out));
        },
        nb::arg("transactions"), nb::arg("mean_length"), nb::arg("patterns"), nb::arg("pattern_length"),
        nb::arg("items"), nb::arg("correlation"), nb::arg("corruption"), nb::arg("corruption_variance"),
        nb::arg("equal_items"), nb::arg("seed"), nb::arg("threads"), nb::arg("monitor"));
}

}  // namespace anonset::bind
