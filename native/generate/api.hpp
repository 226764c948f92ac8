// Synthetic transactions. Everything follows from the seed: the same for any number of threads, block by block.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/monitor.hpp"

namespace anonset::generate {

struct QuestSettings {
    std::int64_t transactions;
    double mean_length;
    std::int32_t patterns;
    double pattern_length;
    std::int32_t items;
    double correlation;
    double corruption;
    double corruption_variance;
    bool equal_items;  // the paper's choice: every item is equally likely to enter a pattern
    std::uint64_t seed;
};

// Steps that `quest` and `supermarket` report to the monitor: blocks of so many transactions.
constexpr std::int64_t QUEST_BLOCK = 8192, SUPERMARKET_BLOCK = 4096;

// After Agrawal and Srikant: transactions filled with patterns that people tend to buy together. Items, patterns ≥ 1,
// lengths ≥ 1. Rows ascend and are not empty. Time: items of the rows.
OwnedCsr quest(const QuestSettings& settings, int threads, Monitor& monitor);

struct Assortment {
    std::vector<double> popularity;      // per product; 0: never bought on impulse
    std::vector<std::int32_t> category;  // per product
    std::vector<double> buyers;          // per category: the part of the households that buys there at all
    OwnedCsr meals;                      // products that are bought together, the most popular meal first
    std::vector<std::int32_t> sensitive;
    std::vector<double> need;  // per sensitive product: the part of the households that needs it
};

// Example shopping: transaction i belongs to household users[i] and has about lengths[i] products (a meal may make it a
// little longer). Time: products bought.
OwnedCsr supermarket(const Assortment& shop, const std::int32_t* users, const std::int32_t* lengths,
                     std::int64_t transactions, std::uint64_t seed, int threads, Monitor& monitor);

// For each occurrence the degree to which its household finds it sensitive, in hundredths. A household thinks the same
// of a product every time. `shape` (per product) is a of a Beta(a, 1) distribution: small a, mostly low degrees.
std::vector<double> sensitivity(const Assortment& shop, const Csr& data, const std::int32_t* users, const double* shape,
                                std::uint64_t seed, int threads, Monitor& monitor);

}  // namespace anonset::generate
