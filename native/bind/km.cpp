#include <limits>

#include "bind/common.hpp"
#include "core/centers.hpp"
#include "km/optimal.hpp"
#include "km/refine.hpp"
#include "km/search.hpp"

namespace anonset::bind {

namespace {

using Longs = In<std::int64_t>;
using Ints = In<std::int32_t>;

// The tree as Python gives it: depth-first order, each item's leaf, each node's number of items.
struct Given {
    Longs offsets;
    Ints items;
    Ints parent;
    Longs size;
    Ints leaf;

    km::Database extend() const {
        return km::extend(to_csr(offsets, items), parent.data(), size.data(),
                          static_cast<std::int32_t>(parent.shape(0)), leaf.data());
    }
    km::Database sorted() const {
        km::Database db = extend();
        db.sort_rows();
        return db;
    }
};

// Published nodes (by rank) as the published node of each node in depth-first order; −1 above the cut.
std::vector<std::int32_t> in_given_order(const km::Database& db, const km::Nodes& cut) {
    std::vector<std::int32_t> out(db.tree.count(), -1);
    for (std::int32_t node : cut)
        for (std::int32_t place = db.tree.begin[node]; place < db.tree.end[node]; ++place)
            out[place] = db.tree.begin[node];
    return out;
}

km::Nodes published(const km::Database& db, const km::Cut& cut) {
    km::Nodes out;
    for (std::int32_t node = 0; node < db.tree.count(); ++node) {
        if (db.tree.children[node] > 0) continue;
        out.push_back(cut.published(node));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

// Which item occurrences are published: all but those below a node that is left out of their row.
std::vector<std::uint8_t> kept_items(const km::Database& db, const Csr& data, const std::int32_t* leaf,
                                     const std::vector<km::LeftOut>& left_out) {
    std::vector<std::uint8_t> kept(data.offsets[data.rows], 1);
    std::vector<km::Nodes> out_of(db.rows());
    for (const auto& [row, node] : left_out) out_of[row].push_back(node);
    for (std::int64_t t = 0; t < data.rows; ++t) {
        if (db.row_of[t] < 0) continue;
        for (std::int32_t node : out_of[db.row_of[t]])
            for (std::int64_t i = data.offsets[t]; i < data.offsets[t + 1]; ++i)
                if (leaf[data.items[i]] >= db.tree.begin[node] && leaf[data.items[i]] < db.tree.end[node]) kept[i] = 0;
    }
    return kept;
}

}  // namespace

void bind_km(nb::module_& m) {
    m.def(
        "recoded",
        [](Longs offsets, Ints items, Ints code) {
            OwnedCsr out;
            {
                nb::gil_scoped_release without_gil;
                out = recoded(to_csr(offsets, items), code.data());
            }
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("code"));
    m.def(
        "km_greedy",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known, bool apriori,
           int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> out;
            const Given given{offsets, items, parent, size, leaf};
            run(monitor, [&](Monitor& watched) {
                km::Database db = given.extend();
                km::Cut cut(db.tree);
                if (apriori) {
                    km::apriori(db, cut, k, known, threads, watched);
                } else {
                    km::direct(db, cut, k, known, threads, watched);
                }
                out = in_given_order(db, published(db, cut));
            });
            return to_numpy(std::move(out));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("apriori"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "km_refine",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known,
           std::int64_t budget, int form, int threads, PyMonitor& monitor) {
            std::vector<std::int32_t> out;
            std::vector<std::uint8_t> kept;
            const Given given{offsets, items, parent, size, leaf};
            run(monitor, [&](Monitor& watched) {
                const km::Database db = given.extend();
                const km::Refined found = km::refine(db, k, known, budget, form, threads, watched);
                out = in_given_order(db, found.cut);
                kept = kept_items(db, to_csr(offsets, items), leaf.data(), found.left_out);
            });
            return std::pair(to_numpy(std::move(out)), to_numpy(std::move(kept)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("budget"), nb::arg("form"), nb::arg("threads"), nb::arg("monitor"));
    m.def(
        "km_optimal",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known, std::int64_t bound,
           std::int64_t most_cuts, std::int64_t most_rare, PyMonitor& monitor) {
            km::OptimalResult result;
            std::vector<std::int32_t> out;
            const Given given{offsets, items, parent, size, leaf};
            run(monitor, [&](Monitor& watched) {
                const km::Database db = given.sorted();
                result = km::OptimalSearch(db, bound, most_cuts, most_rare).run(k, known, watched);
                out = in_given_order(db, result.cut);
            });
            return std::tuple(result.finished, to_numpy(std::move(out)), result.examined, result.rare);
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("bound"), nb::arg("most_cuts"), nb::arg("most_rare"), nb::arg("monitor"));
    m.def(
        "km_rare",
        [](Longs offsets, Ints items, Ints parent, Longs size, Ints leaf, std::int64_t k, int known, bool shortest,
           std::int64_t most, PyMonitor& monitor) {
            OwnedCsr out;
            std::vector<std::int64_t> supports;
            const Given given{offsets, items, parent, size, leaf};
            run(monitor, [&](Monitor& watched) {
                const km::Database db = given.sorted();
                const km::Cut nothing(db.tree);
                const auto report = shortest ? km::Report::shortest : km::Report::longest_first;
                km::Walker walker(db, nothing, k, known, report, watched);
                auto keep = [&](const km::Nodes& itemset, const std::int32_t*) {
                    for (std::int32_t node : itemset) out.items.push_back(db.tree.begin[node]);
                    out.close_row();
                    supports.push_back(db.support(itemset, std::numeric_limits<std::int64_t>::max()));
                    return static_cast<std::int64_t>(supports.size()) < most;
                };
                for (std::int32_t node = 1; node < db.tree.count(); ++node)
                    if (!walker.walk(node, keep)) break;
            });
            auto rows = to_numpy(std::move(out));
            return std::tuple(rows.first, rows.second, to_numpy(std::move(supports)));
        },
        nb::arg("offsets"), nb::arg("items"), nb::arg("parent"), nb::arg("size"), nb::arg("leaf"), nb::arg("k"),
        nb::arg("m"), nb::arg("shortest"), nb::arg("most"), nb::arg("monitor"));
}

}  // namespace anonset::bind
