#include "kp/ant_fill.hpp"

namespace anonset::kp {

void ClusterFiller::fill(const std::vector<std::int32_t>& members, const std::int32_t* center,
                         const std::int32_t* center_end, Filled& out, Monitor& monitor) {
    auto waiting = static_cast<std::int64_t>(members.size());
    if (waiting >= k_) {
        order_by_distance(members, center, center_end);
        nearest_.load(members);
    }
    taken_.assign(members.size(), 0);
    for (std::size_t i = 0; waiting >= k_; ++i) {
        if (taken_[order_[i]]) continue;
        monitor.check();
        const bool full = gather(members, order_[i]);
        waiting -= full ? k_ : 1;
        if (!full) {
            out.left.push_back(members[order_[i]]);
            if (hopeless(members, waiting)) break;
            continue;
        }
        out.groups.emplace_back();
        for (const std::int32_t p : chosen_) out.groups.back().push_back(members[p]);
    }
    for (std::size_t p = 0; p < members.size(); ++p)
        if (!taken_[p]) out.left.push_back(members[p]);
}

void ClusterFiller::order_by_distance(const std::vector<std::int32_t>& members, const std::int32_t* center,
                                      const std::int32_t* center_end) {
    for (const std::int32_t* code = center; code != center_end; ++code) central_[*code] = 1;
    keys_.clear();
    for (std::size_t p = 0; p < members.size(); ++p) {
        std::int64_t shared = 0;
        for (const std::int32_t* code = rows_.begin(members[p]); code != rows_.end(members[p]); ++code)
            shared += central_[*code];
        keys_.emplace_back(rows_.size(members[p]) - 2 * shared, static_cast<std::int32_t>(p));
    }
    for (const std::int32_t* code = center; code != center_end; ++code) central_[*code] = 0;
    std::sort(keys_.begin(), keys_.end());
    order_.clear();
    for (const auto& key : keys_) order_.push_back(key.second);
}

bool ClusterFiller::hopeless(const std::vector<std::int32_t>& members, std::int64_t waiting) {
    std::int64_t most = 0;
    for (std::size_t p = 0; p < members.size(); ++p)
        if (!taken_[p]) hold(members[p], 1);
    for (std::size_t p = 0; p < members.size(); ++p) {
        if (taken_[p]) continue;
        for (const std::int32_t* a = secret_.begin(members[p]); a != secret_.end(members[p]); ++a)
            most = std::max<std::int64_t>(most, std::exchange(held_[*a], 0));
    }
    return waiting - most < k_ - most_;
}

bool ClusterFiller::gather(const std::vector<std::int32_t>& members, std::int32_t founder) {
    taken_[founder] = 1;
    if (!may_join(members[founder])) return nearest_.take(founder), false;
    nearest_.start(founder);
    chosen_.assign(1, founder);
    hold(members[founder], 1);
    const auto joins = [&](std::int32_t p) { return may_join(members[p]); };
    for (std::int32_t p = 0; static_cast<std::int64_t>(chosen_.size()) < k_ && (p = nearest_.next(joins)) >= 0;)
        if (may_join(members[p])) {
            chosen_.push_back(p);
            hold(members[p], 1);
        }
    for (const std::int32_t p : chosen_) hold(members[p], -1);
    if (static_cast<std::int64_t>(chosen_.size()) < k_) return false;
    for (std::size_t i = 1; i < chosen_.size(); ++i) {
        nearest_.take(chosen_[i]);
        taken_[chosen_[i]] = 1;
    }
    return true;
}

}  // namespace anonset::kp
