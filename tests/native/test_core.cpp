#include <map>
#include <numeric>

#include "check.hpp"
#include "core/bitmap.hpp"
#include "core/buffer.hpp"
#include "core/distinct.hpp"
#include "core/gain_planes.hpp"
#include "core/gray.hpp"
#include "core/gray_bits.hpp"
#include "core/rows.hpp"
#include "core/sort_keys.hpp"
#include "core/transpose.hpp"
#include "data.hpp"

using namespace anonset;

TEST(transpose_lists_the_rows_of_each_item) {
    const OwnedCsr data = sample::rows(1, 200, 30);
    const Transposed<> found = transpose(data.view(), 31);
    std::vector<std::vector<std::int32_t>> holders(31);
    for (std::int32_t row = 0; row < 200; ++row)
        for (const std::int32_t item : sample::set(data.view(), row)) holders[item].push_back(row);
    for (std::int32_t item = 0; item < 31; ++item)
        CHECK(std::vector<std::int32_t>(found.begin(item), found.end(item)) == holders[item]);
}

TEST(transpose_back_and_forth_is_the_same) {
    const OwnedCsr data = sample::rows(2, 100, 20);
    const Transposed<> once = transpose(data.view(), 20);
    const Transposed<> twice = transpose({once.start.data(), once.values.data(), 20}, 100);
    CHECK(std::equal(twice.start.begin(), twice.start.end(), data.offsets.begin(), data.offsets.end()));
    CHECK(twice.values == data.items);
}

TEST(transpose_of_nothing_has_no_values) {
    const OwnedCsr nothing;
    CHECK(transpose(nothing.view(), 0).values.empty());
    CHECK(transpose(nothing.view(), 5).start == std::vector<std::int64_t>(6, 0));
}

TEST(transpose_keeps_places_and_keys) {
    struct Place {
        std::int32_t row, at;
    };
    const OwnedCsr data = sample::rows(3, 50, 10);
    const Csr view = data.view();
    const auto places =
        transpose_places<Place>(view, 10, [](std::int32_t row, std::int32_t at) { return Place{row, at}; });
    for (std::int32_t item = 0; item < 10; ++item)
        for (const Place* place = places.begin(item); place != places.end(item); ++place)
            CHECK(view.begin(place->row)[place->at] == item);
    const std::vector<std::int32_t> key{2, 0, 2, 1, 2};
    const auto rows = rows_by_key(key.data(), 5, 4);
    CHECK(std::vector<std::int32_t>(rows.begin(2), rows.end(2)) == (std::vector<std::int32_t>{0, 2, 4}));
    CHECK(rows.size(3) == 0);
}

TEST(shared_bits_counts_common_bits_of_any_width) {
    Random random(4, 0);
    for (std::int64_t words = 1; words <= 9; ++words) {
        std::vector<std::uint64_t> one(words), others(7 * words);
        for (std::uint64_t& word : one) word = random.next();
        for (std::uint64_t& word : others) word = random.next();
        std::vector<std::uint32_t> shared(7);
        shared_bits(one.data(), others.data(), words, 7, shared.data());
        for (int j = 0; j < 7; ++j) {
            std::uint32_t bits = 0;
            for (std::int64_t bit = 0; bit < 64 * words; ++bit)
                bits += one[bit / 64] >> bit % 64 & others[j * words + bit / 64] >> bit % 64 & 1;
            CHECK(shared[j] == bits);
        }
    }
}

// Dense rows are compared as bitmaps, sparse ones by posting lists.
TEST(shared_items_agrees_with_sets_whether_dense_or_sparse) {
    for (const double density : {0.8, 0.02}) {
        const OwnedCsr data = sample::rows(5, 60, 300, density);
        std::vector<std::int64_t> rows(40);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(59 - i);
        SharedItems shared(300);
        for (int again = 0; again < 2; ++again) shared.load(data.view(), rows.data(), 40);
        std::vector<std::uint32_t> found(40);
        for (std::int64_t i = 0; i < 40; ++i) {
            shared.row(i, found.data());
            const sample::Set a = sample::set(data.view(), rows[i]);
            for (std::int64_t j = i + 1; j < 40; ++j) {
                const sample::Set b = sample::set(data.view(), rows[j]);
                CHECK(2 * std::int64_t{found[j]} == std::int64_t(a.size() + b.size()) - sample::distance(a, b));
            }
        }
    }
}

template <class Key>
void check_keys(std::int64_t nodes) {
    const OwnedCsr data = sample::rows(6, nodes, 50);
    std::vector<std::int64_t> rows(nodes);
    std::iota(rows.begin(), rows.end(), 0);
    SharedItems shared(50);
    KeyMatrix<Key> keys;
    CHECK(KeyMatrix<Key>::fits(nodes, 100));
    keys.load(data.view(), rows.data(), nodes, shared);
    std::vector<std::uint32_t> overlap;
    for (std::int64_t i = 0; i < nodes; ++i) keys.fill(i, shared, overlap);
    for (std::int64_t block = 0; block < keys.blocks(); ++block) keys.mirror(block);
    Random random(7, 0);
    for (std::int64_t i = 0; i < nodes; ++i) {
        std::vector<std::uint64_t> taken(64, 0);
        std::pair<std::int64_t, std::int64_t> nearest{INT64_MAX, -1};
        for (std::int64_t j = 0; j < nodes; ++j) {
            const std::int64_t apart = sample::distance(sample::set(data.view(), i), sample::set(data.view(), j));
            CHECK(keys.between(i, j) == apart);
            if (random.chance(0.5))
                taken[j / 64] |= std::uint64_t{1} << j % 64;
            else if (j != i)
                nearest = std::min(nearest, {apart, j});
        }
        const Key least = KeyMatrix<Key>::least(keys.row(i), taken.data(), keys.shape());
        if (nearest.second < 0) continue;
        CHECK(KeyMatrix<Key>::node(least, keys.shape()) == nearest.second);
        CHECK(KeyMatrix<Key>::distance(least, keys.shape()) == nearest.first);
    }
}

TEST(sort_keys_find_the_nearest_node_for_every_width) {
    for (const std::int64_t nodes : {1, 15, 16, 100, 129}) {
        check_keys<std::uint16_t>(nodes);
        check_keys<std::uint32_t>(nodes);
        check_keys<std::uint64_t>(nodes);
    }
}

// The rank of a Gray code word is the XOR of its leading bits: an order that can be computed for a small domain.
std::vector<std::int64_t> gray_by_rank(const Csr& data, const std::vector<std::int32_t>& rank) {
    std::vector<std::int64_t> order(data.rows);
    std::vector<std::uint64_t> value(data.rows, 0);
    for (std::int64_t row = 0; row < data.rows; ++row) {
        std::uint64_t word = 0, parity = 0;
        for (const std::int32_t item : sample::set(data, row)) word |= std::uint64_t{1} << rank[item];
        for (std::size_t i = 0; i < rank.size(); ++i) {
            parity ^= word >> i & 1;
            value[row] = value[row] << 1 | parity;
        }
        order[row] = row;
    }
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return value[a] < value[b]; });
    return order;
}

TEST(gray_order_is_that_of_gray_code_words) {
    std::vector<std::int32_t> rank(20);
    std::iota(rank.rbegin(), rank.rend(), 0);
    for (const double density : {0.1, 0.9}) {
        const OwnedCsr data = sample::rows(8, 9000, 20, density);
        const std::vector<std::int64_t> expected = gray_by_rank(data.view(), rank);
        for (const int threads : {1, 4}) {
            Monitor monitor;
            const auto found = gray_order(data.view(), rank.data(), 20, threads, monitor);
            CHECK(std::equal(found.begin(), found.end(), expected.begin(), expected.end()));
            const auto by_bits = RankedBits(data.view(), rank.data(), 20, threads, monitor).order();
            CHECK(std::equal(by_bits.begin(), by_bits.end(), expected.begin(), expected.end()));
        }
        const GrayKeys keys = gray_keys(data.view(), rank.data(), 20);
        const auto bytes = [&](std::int64_t row) {
            return std::string(keys.bytes.begin() + keys.offsets[row], keys.bytes.begin() + keys.offsets[row + 1]);
        };
        for (std::size_t i = 1; i < expected.size(); ++i) CHECK(bytes(expected[i - 1]) <= bytes(expected[i]));
    }
}

TEST(distinct_rows_are_numbered_by_first_appearance) {
    const OwnedCsr data = sample::rows(9, 300, 5);
    const Distinct found = distinct_rows(data.view());
    std::map<sample::Set, std::int32_t> known;
    for (std::int64_t row = 0; row < 300; ++row) {
        const auto [entry, fresh] =
            known.emplace(sample::set(data.view(), row), static_cast<std::int32_t>(known.size()));
        CHECK(found.of_row[row] == entry->second);
        if (fresh) CHECK(found.first[entry->second] == row);
    }
    CHECK(found.size() == static_cast<std::int32_t>(known.size()));
}

TEST(majority_centers_and_distances_agree_with_counting) {
    const OwnedCsr data = sample::rows(10, 120, 25);
    const Csr view = data.view();
    std::vector<std::int32_t> group(120);
    bool voters[120];
    for (int row = 0; row < 120; ++row) group[row] = row % 7, voters[row] = row % 5 != 0;
    for (const int threads : {1, 3}) {
        Monitor monitor;
        const OwnedCsr centers = majority_centers(view, group.data(), voters, 7, threads, monitor);
        const auto distances = center_distances(view, centers.view(), group.data(), threads, monitor);
        for (std::int32_t g = 0; g < 7; ++g) {
            std::map<std::int32_t, int> votes;
            int size = 0;
            for (int row = g; row < 120; row += 7) {
                if (!voters[row]) continue;
                ++size;
                for (const std::int32_t item : sample::set(view, row)) ++votes[item];
            }
            sample::Set center;
            for (const auto& [item, count] : votes)
                if (2 * count > size) center.insert(item);
            CHECK(sample::set(centers.view(), g) == center);
            for (int row = g; row < 120; row += 7)
                CHECK(distances[row] == sample::distance(sample::set(view, row), center));
        }
    }
}

TEST(rows_are_taken_parted_recoded_and_compared) {
    const OwnedCsr data = sample::rows(11, 90, 12);
    const Csr view = data.view();
    Monitor monitor;
    std::vector<std::int64_t> order;
    for (std::int64_t row = 89; row >= 0; row -= 2) order.push_back(row);
    const OwnedCsr taken = take_rows(view, order.data(), static_cast<std::int64_t>(order.size()), 3, monitor);
    for (std::size_t i = 0; i < order.size(); ++i)
        CHECK(sample::set(taken.view(), static_cast<std::int64_t>(i)) == sample::set(view, order[i]));
    bool hidden[12];
    std::int32_t code[12];
    for (int item = 0; item < 12; ++item) hidden[item] = item % 3 == 0, code[item] = item % 4 == 3 ? -1 : 11 - item / 2;
    const auto [plain, secret] = part_rows(view, hidden, 3, monitor);
    const OwnedCsr mapped = recoded(view, code);
    std::vector<std::int64_t> added(12, 0), removed(12, 0), origin(90);
    std::iota(origin.begin(), origin.end(), 0);
    origin[4] = -1;
    for (std::int64_t row = 0; row < 90; ++row) {
        const sample::Set all = sample::set(view, row), now = sample::set(mapped.view(), row);
        sample::Set open, shut, expected;
        for (const std::int32_t item : all) {
            (hidden[item] ? shut : open).insert(item);
            if (code[item] >= 0) expected.insert(code[item]);
        }
        CHECK(sample::set(plain.view(), row) == open && sample::set(secret.view(), row) == shut);
        CHECK(now == expected && std::is_sorted(mapped.view().begin(row), mapped.view().end(row)));
        for (std::int32_t item = 0; item < 12 && row != 4; ++item) {
            added[item] += now.count(item) > all.count(item);
            removed[item] += all.count(item) > now.count(item);
        }
    }
    CHECK(item_changes(view, mapped.view(), origin.data(), 12) == std::pair(added, removed));
    const auto counts = item_counts(view.items, view.offsets[90], 12, 2, monitor);
    CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == view.offsets[90]);
}

TEST(buffers_are_filled_only_where_asked_and_hold_large_arrays) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1000}, std::size_t{3} << 20}) {
        Buffer<std::int32_t> numbers(count, 7);
        CHECK(numbers.size() == count && std::count(numbers.begin(), numbers.end(), 7) == std::int64_t(count));
        numbers.resize(2 * count);
        std::fill(numbers.begin() + std::int64_t(count), numbers.end(), 8);
        CHECK(std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0}) == 15 * std::int64_t(count));
        numbers.assign(count / 2, 9);
        const Buffer<std::int32_t> copy = numbers;
        CHECK(copy == numbers && copy.size() == count / 2);
    }
}

namespace {

// A group of rows of 150 items, counted by hand, with its planes and what it gains.
struct Counted {
    static constexpr std::int64_t WORDS = 3;
    std::vector<std::vector<std::uint64_t>> rows;

    std::vector<std::int64_t> votes() const {
        std::vector<std::int64_t> v(64 * WORDS, -static_cast<std::int64_t>(rows.size()));
        for (const auto& row : rows)
            for (std::int64_t item = 0; item < 64 * WORDS; ++item) v[item] += 2 * (row[item / 64] >> item % 64 & 1);
        return v;
    }
    std::int32_t gain() const {
        std::int64_t sum = 0;
        for (const std::int64_t v : votes()) sum += std::max<std::int64_t>(0, v);
        return static_cast<std::int32_t>(sum);
    }
    std::vector<std::uint64_t> planes() const {
        std::vector<std::uint64_t> out(4 * WORDS, 0);
        const std::vector<std::int64_t> v = votes();
        for (std::int64_t item = 0; item < 64 * WORDS; ++item)
            for (std::int64_t plane = 0; plane < 4; ++plane)
                if (v[item] >= plane - 1) out[plane * WORDS + item / 64] |= std::uint64_t{1} << item % 64;
        return out;
    }
};

}  // namespace

TEST(planes_say_what_moves_and_swaps_gain) {
    Random random(9, 0);
    const auto draw = [&](std::size_t size) {
        Counted group;
        for (std::size_t i = 0; i < size; ++i) {
            std::vector<std::uint64_t> row(Counted::WORDS);
            for (std::uint64_t& word : row) word = random.next() & (i % 2 ? random.next() : ~std::uint64_t{0});
            group.rows.push_back(row);
        }
        return group;
    };
    for (std::size_t size = 2; size < 9; ++size) {
        const Counted one = draw(size), other = draw(size / 2 + 1);
        const auto g = one.planes(), h = other.planes();
        const std::uint64_t *t = one.rows[0].data(), *u = other.rows[0].data();
        Counted less = one, more = other, mine = one, theirs = other;
        less.rows.erase(less.rows.begin());
        more.rows.push_back(one.rows[0]);
        std::swap(mine.rows[0], theirs.rows[0]);
        CHECK(gain::leaving<3>(t, g.data(), 0) == less.gain() - one.gain());
        CHECK(gain::joining<0>(t, h.data(), 3) == more.gain() - other.gain());
        const std::int32_t swapped = mine.gain() + theirs.gain() - one.gain() - other.gain();
        CHECK(gain::swapping<3>(t, u, g.data(), h.data(), 0) == swapped);
        std::vector<std::uint64_t> weights(3 * Counted::WORDS);
        gain::weigh<0>(t, g.data(), h.data(), 3, weights.data());
        CHECK(gain::weight<0>(u, weights.data(), 3) - gain::weight<0>(t, weights.data(), 3) == swapped);
    }
}
