// The values that pairs of rows prove (docs/explanation/bound.md, "From pairs").
#include <algorithm>

#include "bound/api.hpp"
#include "bound/offers.hpp"

namespace anonset::bound {

namespace {

// The k - 1 cheapest offers: those of the other rows (ascending), those of the own copies where they belong, and as
// many at |u| as are still needed.
void take_offers(const Offers& all, std::int64_t u, const std::vector<Offer>& offers, double& value, double& dearest) {
    const double own = all.price[u], size = static_cast<double>(all.data.size(u));
    std::int64_t need = all.k - 1;
    double sum = 0;
    const auto take = [&](double price, std::int64_t available) {
        const std::int64_t taken = std::min(need, available);
        if (taken <= 0) return;
        need -= taken;
        sum += price * static_cast<double>(taken);
        dearest = price;
    };
    auto next = offers.begin();
    for (; next != offers.end() && next->price < -own; ++next) take(next->price, all.weight[next->row]);
    take(-own, all.weight[u] - 1);
    for (; next != offers.end(); ++next) take(next->price, all.weight[next->row]);
    take(size, need);
    value = (own + sum / static_cast<double>(all.k - 1)) / 2;
}

}  // namespace

PairValues pair_values(const Csr& data, const std::int64_t* weight, const double* price, std::int32_t n_items,
                       std::int64_t k, const std::int64_t* wanted, std::int64_t count, bool dense, int threads,
                       Monitor& monitor) {
    const Offers offers(data, weight, price, n_items, k, dense);
    PairValues out{std::vector<double>(count), std::vector<double>(count)};
    std::vector<Offers::Scratch> workers(thread_count(threads));
    parallel_for(count, threads, monitor, [&](std::int64_t task, int number) {
        offers.find(wanted[task], k - 1, workers[number]);
        take_offers(offers, wanted[task], workers[number].cheapest.sorted(), out.value[task], out.dearest[task]);
    });
    return out;
}

}  // namespace anonset::bound
