#include "crowd/groups.hpp"

#include <utility>

namespace anonset::crowd {

namespace {

constexpr std::size_t HALF_ITEMS = 8;  // that most groups have at most: room for so many is kept

// What a row of a group with v = 2c - s = `from` gains by changing places with one of a group with v = `to`, for one
// item that it has and the other has not.
std::int32_t cross(std::int32_t from, std::int32_t to) { return (to >= -1) + (to >= 0) - (from >= 1) - (from >= 2); }

}  // namespace

Groups::Groups(const Csr& rows, std::int32_t n_items, int threads, bool forgetful)
    : rows_(rows),
      group_(rows.rows, -1),
      place_(rows.rows, 0),
      threads_(threads),
      forgetful_(forgetful),
      counters_(thread_count(threads), Counter{std::vector<std::int32_t>(n_items, 0), {}, 0}) {}

void Groups::found(const std::vector<std::int32_t>& members) {
    groups_.emplace_back();
    restore(count() - 1, members);
}
void Groups::found(const std::vector<std::int32_t>& rows, const std::vector<std::int64_t>& ends, Monitor& monitor) {
    const std::int32_t first = count();
    groups_.resize(first + ends.size());
    side_by_side(static_cast<std::int64_t>(ends.size()), monitor, [&](std::int64_t g, int worker) {
        const std::int64_t from = g == 0 ? 0 : ends[g - 1];
        groups_[first + g].members.assign(rows.begin() + from, rows.begin() + ends[g]);
        enter(first + static_cast<std::int32_t>(g), 0, worker);
    });
}
void Groups::restore(std::int32_t g, const std::vector<std::int32_t>& members) {
    groups_[g].members = members;
    enter(g, 0, 0);
}
std::vector<std::int32_t> Groups::disband(std::int32_t g) {
    std::vector<std::int32_t> members = std::move(groups_[g].members);
    groups_[g] = Group();
    for (const std::int32_t row : members) group_[row] = -1;
    return members;
}

std::int64_t Groups::join(std::int32_t row, std::int32_t g) {
    const std::int64_t before = groups_[g].gain;
    groups_[g].members.push_back(row);
    enter(g, groups_[g].members.size() - 1, 0);
    return groups_[g].gain - before;
}
std::int64_t Groups::leave(std::int32_t row) {
    Group& group = groups_[group_[row]];
    const std::int64_t before = group.gain;
    const std::int32_t last = group.members.back();
    group.members[place_[row]] = last;
    place_[last] = place_[row];
    group.members.pop_back();
    group_[row] = -1;
    change(group, &row, 1, -1);
    return group.gain - before;
}
void Groups::join(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& to, Monitor& monitor) {
    std::vector<std::int32_t> before(count());
    for (std::int32_t g = 0; g < count(); ++g) before[g] = groups_[g].size();
    for (std::size_t i = 0; i < rows.size(); ++i) groups_[to[i]].members.push_back(rows[i]);
    side_by_side(count(), monitor, [&](std::int64_t g, int worker) {
        if (groups_[g].size() > before[g]) enter(static_cast<std::int32_t>(g), before[g], worker);
    });
}
void Groups::rearrange(const std::vector<Move>& moves, Monitor& monitor) {
    std::vector<std::int32_t> changed;
    for (const Move& move : moves) {
        changed.insert(changed.end(), {group_[move.row], move.to});
        group_[move.row] = move.to;
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (const std::int32_t g : changed) {
        auto& members = groups_[g].members;
        members.erase(std::remove_if(members.begin(), members.end(), [&](auto row) { return group_[row] != g; }),
                      members.end());
    }
    for (const Move& move : moves) groups_[move.to].members.push_back(move.row);
    side_by_side(static_cast<std::int64_t>(changed.size()), monitor, [&](std::int64_t i, int worker) {
        groups_[changed[i]].counts.clear();
        groups_[changed[i]].forgotten = 0;
        enter(changed[i], 0, worker);
    });
}
void Groups::merge(std::int32_t g, std::int32_t h) {
    const std::vector<std::int32_t> members = disband(h);
    const std::size_t before = groups_[g].members.size();
    groups_[g].members.insert(groups_[g].members.end(), members.begin(), members.end());
    enter(g, before, 0);
}
std::int64_t Groups::gain_together(std::int32_t g, std::int32_t h) {
    const Group &one = groups_[g], &other = groups_[h];
    const std::int64_t size = one.size() + other.size();
    const auto kept = [&](std::int64_t count) { return std::max<std::int64_t>(0, 2 * count - size); };
    std::vector<std::int32_t>& slot = counters_[0].slot;
    for (const Counted& mine : one.counts) slot[mine.item] = mine.count;
    std::int64_t sum = 0;
    for (const Counted& theirs : other.counts)
        sum += kept(std::int64_t{theirs.count} + std::exchange(slot[theirs.item], 0));
    for (const Counted& mine : one.counts) sum += std::exchange(slot[mine.item], 0) ? kept(mine.count) : 0;
    return sum;
}

std::int32_t Groups::joining(std::int32_t row, std::int32_t g) const {
    std::int32_t gain = 0;
    for (const HalfItem& half : groups_[g].half)
        gain += holds(row, half.item) ? 1 : -static_cast<std::int32_t>(half.central);
    return gain;
}
std::int32_t Groups::leaving(std::int32_t row) const {
    std::int32_t gain = 0;
    for (const HalfItem& half : groups_[group_[row]].half)
        gain += holds(row, half.item) ? -static_cast<std::int32_t>(half.central) : 1;
    return gain;
}
std::int32_t Groups::worth(std::int32_t row, std::int32_t g) const {
    std::int32_t sum = 0;
    for (const HalfItem& half : groups_[g].half)
        if (half.central) sum += holds(row, half.item) ? 1 : -1;
    return sum;
}
bool Groups::keeps_all(std::int32_t row) const {
    const Group& group = groups_[group_[row]];
    const std::int64_t size = rows_.size(row);
    return group.center == size && static_cast<std::int64_t>(group.half.size()) == size && leaving(row) == -size;
}

void Groups::hold(std::int32_t t, SwapTable& table) const {
    for (const std::int32_t* i = rows_.begin(t); i != rows_.end(t); ++i) table.held[*i] = 1;
}
std::int32_t Groups::moving(std::int32_t t, std::int32_t h, const SwapTable& table) const {
    std::int32_t gain = 0;
    for (const HalfItem& half : groups_[h].half) gain += table.held[half.item] ? 1 : -half.central;
    for (const HalfItem& half : groups_[group_[t]].half) gain += table.held[half.item] ? -half.central : 1;
    return gain;
}
void Groups::open(std::int32_t t, std::int32_t h, SwapTable& table) const {
    const Group &g = groups_[group_[t]], &other = groups_[h];
    for (const Counted& mine : g.counts) table.mine[mine.item] = mine.count;
    for (const Counted& theirs : other.counts) table.theirs[theirs.item] = theirs.count;
    const auto here = [&](std::int32_t item) { return 2 * table.mine[item] - g.size(); };
    const auto there = [&](std::int32_t item) { return 2 * table.theirs[item] - other.size(); };
    table.all = 0;
    for (const std::int32_t* i = rows_.begin(t); i != rows_.end(t); ++i) {
        table.worth[*i] = static_cast<std::int8_t>(cross(here(*i), there(*i)));
        table.all += table.worth[*i];
    }
    const auto note = [&](std::int32_t item) {
        table.adds[item] =
            static_cast<std::int8_t>(table.held[item] ? -table.worth[item] : cross(there(item), here(item)));
        table.adding.push_back(item);
    };
    for (const Counted& theirs : other.counts) note(theirs.item);
    for (const Counted& mine : g.counts) note(mine.item);
    for (const Counted& mine : g.counts) table.mine[mine.item] = 0;
    for (const Counted& theirs : other.counts) table.theirs[theirs.item] = 0;
}
std::int32_t Groups::swapping(std::int32_t u, const SwapTable& table) const {
    std::int32_t gain = table.all;
    for (const std::int32_t* i = rows_.begin(u); i != rows_.end(u); ++i) gain += table.adds[*i];
    return gain;
}
void Groups::close(std::int32_t t, SwapTable& table) const {
    for (const std::int32_t* i = rows_.begin(t); i != rows_.end(t); ++i) table.held[*i] = 0;
    for (const std::int32_t item : table.adding) table.adds[item] = 0;
    table.adding.clear();
}

void Groups::append_center(std::int32_t g, std::vector<std::int32_t>& items) const {
    const auto first = static_cast<std::ptrdiff_t>(items.size());
    for (const HalfItem& half : groups_[g].half)
        if (half.central) items.push_back(half.item);
    std::sort(items.begin() + first, items.end());
}

// The members from this one on are new.
void Groups::enter(std::int32_t g, std::size_t from, int worker) {
    Group& group = groups_[g];
    for (std::size_t i = from; i < group.members.size(); ++i) {
        group_[group.members[i]] = g;
        place_[group.members[i]] = static_cast<std::int32_t>(i);
    }
    change(group, group.members.data() + from, group.members.size() - from, 1, worker);
}

// Counts rows in or out of a group whose members are already what they shall be.
void Groups::change(Group& group, const std::int32_t* rows, std::size_t count, std::int32_t sign, int worker) {
    Counter& counter = counters_[worker];
    if (group.forgotten > 0 && sign > 0) group.forgotten += static_cast<std::int32_t>(count);
    const bool anew = group.forgotten > 0 && 2 * group.forgotten + 2 > group.size();
    if (anew) {
        group.counts.clear();
        group.forgotten = 0;
    }
    lay_out(group, counter);
    if (anew) {
        count_all(group.members.data(), group.members.size(), 1, counter);
    } else if (group.forgotten == 0) {
        count_all(rows, count, sign, counter);
    } else {
        count_known(rows, count, sign, counter);
    }
    vote(group, counter);
}

void Groups::lay_out(const Group& group, Counter& counter) {
    counter.used = static_cast<std::int32_t>(group.counts.size());
    if (counter.counts.size() < group.counts.size()) counter.counts.resize(group.counts.size());
    std::copy(group.counts.begin(), group.counts.end(), counter.counts.begin());
    for (std::int32_t i = 0; i < counter.used; ++i) counter.slot[counter.counts[i].item] = i + 1;
}
// Without branches: whether an item is new is anybody's guess, and a wrong guess costs more than the work.
void Groups::count_all(const std::int32_t* rows, std::size_t count, std::int32_t sign, Counter& counter) const {
    std::size_t most = counter.used;
    for (std::size_t r = 0; r < count; ++r) most += rows_.size(rows[r]);
    if (counter.counts.size() < most) counter.counts.resize(most);
    Counted* counts = counter.counts.data();
    std::int32_t *slot = counter.slot.data(), used = counter.used;
    for_rows(rows_, rows, static_cast<std::int64_t>(count), [&](std::int32_t row) {
        for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
            const bool fresh = slot[*i] == 0;
            used += fresh;
            const std::int32_t at = fresh ? used : slot[*i];
            slot[*i] = at;
            counts[at - 1] = {*i, (fresh ? 0 : counts[at - 1].count) + sign};
        }
    });
    counter.used = used;
}
// The same where others have been forgotten, and stay so.
void Groups::count_known(const std::int32_t* rows, std::size_t count, std::int32_t sign, Counter& counter) const {
    for (std::size_t r = 0; r < count; ++r)
        for (const std::int32_t* i = rows_.begin(rows[r]); i != rows_.end(rows[r]); ++i)
            if (counter.slot[*i] > 0) counter.counts[counter.slot[*i] - 1].count += sign;
}

// The half items, the center and the gain of a group. Items that nobody has any more are dropped, or that few have.
void Groups::vote(Group& group, Counter& counter) const {
    group.half.clear();
    if (group.half.capacity() == 0) group.half.reserve(HALF_ITEMS);
    group.center = 0;
    group.gain = 0;
    const std::int32_t few = forgetful_ ? group.size() / 4 : 0;
    Counted *kept = counter.counts.data(), *end = kept + counter.used;
    for (const Counted* one = kept; one != end; ++one) {
        const std::int32_t v = 2 * one->count - group.size();
        counter.slot[one->item] = 0;
        if (one->count <= few) {
            group.forgotten = std::max(group.forgotten, one->count);
            continue;
        }
        *kept++ = *one;
        if (v < 0) continue;
        group.half.push_back({one->item, v > 0});
        group.center += v > 0;
        group.gain += v;
    }
    group.counts.assign(counter.counts.data(), kept);
}

}  // namespace anonset::crowd
