#include <cmath>

#include "check.hpp"
#include "data.hpp"
#include "generate/api.hpp"

using namespace anonset;

TEST(quest_has_the_lengths_asked_for_on_any_number_of_threads) {
    const generate::QuestSettings settings{20000, 10, 200, 4, 500, 0.5, 0.5, 0.1, false, 7};
    Monitor monitor;
    const OwnedCsr one = generate::quest(settings, 1, monitor), many = generate::quest(settings, 3, monitor);
    CHECK(sample::equal(one, many));
    CHECK(std::abs(static_cast<double>(one.items.size()) / 20000 - 10) < 1);
    for (std::int64_t row = 0; row < 20000; ++row) {
        const auto *begin = one.view().begin(row), *end = one.view().end(row);
        CHECK(begin != end && begin[0] >= 0 && end[-1] < 500);
        CHECK(std::adjacent_find(begin, end, [](auto a, auto b) { return a >= b; }) == end);
    }
}

TEST(households_shop_within_their_assortment) {
    const generate::Assortment shop{
        {5, 3, 2, 1, 0}, {0, 0, 1, 1, 2}, {1, 0.5, 1}, sample::from({{0, 1}, {2, 3}}), {4}, {0.5}};
    std::vector<std::int32_t> users, lengths;
    for (int i = 0; i < 6000; ++i) users.push_back(i % 100), lengths.push_back(2);
    Monitor monitor;
    const OwnedCsr one = generate::supermarket(shop, users.data(), lengths.data(), 6000, 3, 1, monitor);
    CHECK(sample::equal(one, generate::supermarket(shop, users.data(), lengths.data(), 6000, 3, 3, monitor)));
    std::vector<std::set<std::int32_t>> buyers(5);
    for (std::int64_t row = 0; row < 6000; ++row)
        for (const std::int32_t product : sample::set(one.view(), row)) buyers[product].insert(users[row]);
    // The sensitive product is bought by those who need it alone: about half of the households, and the popular by all.
    CHECK(buyers[0].size() == 100 && buyers[4].size() > 30 && buyers[4].size() < 70);
    const std::vector<double> shape(5, 1.0);
    const auto degrees = generate::sensitivity(shop, one.view(), users.data(), shape.data(), 3, 2, monitor);
    for (const double degree : degrees) CHECK(degree >= 0 && degree <= 1);
    CHECK(degrees == generate::sensitivity(shop, one.view(), users.data(), shape.data(), 3, 1, monitor));
}
