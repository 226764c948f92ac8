// Groups that break a promise in persons take in others until none does: at the latest with one group of all rows,
// which keeps it (the caller has made sure). Each step lowers the number of groups.
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "crowd/api.hpp"
#include "crowd/groups.hpp"

namespace anonset::crowd {

namespace {

class Merging {
  public:
    Merging(const Csr& rows, const Csr& secrets, const std::int32_t* person, std::int32_t n_items,
            const std::int32_t* group, const MergeSettings& settings, Monitor& monitor)
        : rows_(rows),
          secrets_(secrets),
          person_(person),
          settings_(settings),
          monitor_(monitor),
          groups_(rows, n_items) {
        std::vector<std::vector<std::int32_t>> members;
        for (std::int32_t row = 0; row < rows.rows; ++row) {
            if (group[row] >= static_cast<std::int32_t>(members.size())) members.resize(group[row] + 1);
            members[group[row]].push_back(row);
        }
        for (const auto& list : members) groups_.found(list);
    }

    std::vector<std::int32_t> solve() {
        for (std::int32_t g = 0; g < groups_.count(); ++g)
            while (groups_[g].size() > 0 && excess(groups_[g].members) > 0) {
                monitor_.check();
                if (!merge(g)) break;
            }
        return numbered();
    }

  private:
    static constexpr std::size_t PARTNERS = 12;

    // How much is missing: persons, and for each secret rows and persons without it.
    std::int64_t excess(const std::vector<std::int32_t>& members) {
        held_.clear();
        people_.clear();
        for (const std::int32_t row : members) {
            if (person_[row] >= 0) people_.push_back(person_[row]);
            for (const std::int32_t* s = secrets_.begin(row); s != secrets_.end(row); ++s)
                held_.emplace_back(*s, person_[row] >= 0 ? std::int64_t{person_[row]} : -1 - std::int64_t{row});
        }
        std::sort(people_.begin(), people_.end());
        const auto persons = std::unique(people_.begin(), people_.end()) - people_.begin();
        std::int64_t sum = std::max<std::int64_t>(0, settings_.k - persons);
        std::sort(held_.begin(), held_.end());
        for (std::size_t from = 0, to; from < held_.size(); from = to) {
            std::int64_t different = 0;
            for (to = from; to < held_.size() && held_[to].first == held_[from].first; ++to)
                different += to == from || held_[to].second != held_[to - 1].second;
            sum += beyond(static_cast<std::int64_t>(to - from), static_cast<std::int64_t>(members.size()));
            sum += beyond(different, persons);
        }
        return sum;
    }
    std::int64_t beyond(std::int64_t holders, std::int64_t all) const {
        return std::max<std::int64_t>(0, holders * settings_.denominator - all * settings_.numerator);
    }

    // g takes in one of the groups next to it in number: one that lessens what is missing, at the least loss.
    bool merge(std::int32_t g) {
        std::int32_t chosen = -1;
        std::tuple<bool, double, std::int64_t> least{};
        const std::int64_t mine = excess(groups_[g].members);
        std::size_t looked = 0;
        const auto look = [&](std::int32_t h) {
            if (h < 0 || h >= groups_.count() || groups_[h].size() == 0) return;
            ++looked;
            std::vector<std::int32_t> both = groups_[g].members;
            both.insert(both.end(), groups_[h].members.begin(), groups_[h].members.end());
            const std::int64_t left = excess(both), removed = mine + excess(groups_[h].members) - left;
            const std::int64_t lost = groups_[g].gain + groups_[h].gain - groups_.gain_together(g, h);
            const double price = static_cast<double>(lost) / static_cast<double>(std::max<std::int64_t>(1, removed));
            const std::tuple cost{removed <= 0, price, left};
            if (chosen < 0 || cost < least) chosen = h, least = cost;
        };
        for (std::int32_t step = 1; step < groups_.count() && looked < PARTNERS; ++step) look(g - step), look(g + step);
        if (chosen >= 0) groups_.merge(g, chosen);
        return chosen >= 0;
    }

    std::vector<std::int32_t> numbered() const {
        std::vector<std::int32_t> number(groups_.count(), -1), out(rows_.rows);
        std::int32_t next = 0;
        for (std::int32_t row = 0; row < rows_.rows; ++row) {
            std::int32_t& mine = number[groups_.of(row)];
            if (mine < 0) mine = next++;
            out[row] = mine;
        }
        return out;
    }

    Csr rows_, secrets_;
    const std::int32_t* person_;
    MergeSettings settings_;
    Monitor& monitor_;
    Groups groups_;
    std::vector<std::int32_t> people_;
    std::vector<std::pair<std::int32_t, std::int64_t>> held_;
};

}  // namespace

std::vector<std::int32_t> merged_for_persons(const Csr& rows, const Csr& secrets, const std::int32_t* person,
                                             std::int32_t n_items, const std::int32_t* group,
                                             const MergeSettings& settings, Monitor& monitor) {
    return Merging(rows, secrets, person, n_items, group, settings, monitor).solve();
}

}  // namespace anonset::crowd
