// Blind groups: the holders of a block are spread over its groups without a look at quasi-identifier items.
#include <algorithm>

#include "cahd/api.hpp"

namespace anonset::cahd {

namespace {

constexpr std::int64_t MOST_REFUSALS = 256;  // groups that refuse a holder before larger groups are tried

// One block, cut into `parts` groups whose sizes differ by at most one, each with its share of both sides.
class Deal {
  public:
    Deal(const Csr& secrets, std::int64_t first, std::int64_t middle, std::int64_t last, std::int64_t parts,
         std::int64_t p)
        : secrets_(secrets), first_(first), middle_(middle), last_(last), p_(p), groups_(parts) {
        std::int64_t next = 0;
        for (const int side : {0, 1})
            for (std::int64_t row = begin(side); row < end(side); ++row, next = (next + 1) % parts) {
                ++groups_[next].room[side];
                ++groups_[next].size;
            }
    }

    // Places every holder in a group that can take it, then everybody else. False if a holder found no group.
    bool place(std::int32_t* group) {
        std::int64_t next = 0;
        for (const int side : {0, 1})
            for (std::int64_t row = begin(side); row < end(side); ++row) {
                if (secrets_.size(row) == 0) continue;
                const std::int64_t found = find(row, side, next);
                if (found < 0) return false;
                take(found, row, side, group);
                next = (found + 1) % parts();
            }
        fill(group);
        return true;
    }

    // Everybody in one group, which is always allowed.
    void together(std::int32_t* group) { std::fill(group + first_, group + last_, 0); }

  private:
    struct Group {
        std::int64_t size = 0, room[2] = {0, 0};
        std::vector<std::int32_t> held;
    };

    std::int64_t parts() const { return static_cast<std::int64_t>(groups_.size()); }
    std::int64_t begin(int side) const { return side == 0 ? first_ : middle_; }
    std::int64_t end(int side) const { return side == 0 ? middle_ : last_; }

    std::int64_t find(std::int64_t row, int side, std::int64_t from) const {
        const std::int64_t tries = std::min(parts(), MOST_REFUSALS);
        for (std::int64_t i = 0; i < tries; ++i) {
            const std::int64_t at = (from + i) % parts();
            if (groups_[at].room[side] > 0 && allowed(groups_[at], row)) return at;
        }
        return -1;
    }

    // Whether each sensitive item of the row would still occur in at most one of p members.
    bool allowed(const Group& group, std::int64_t row) const {
        return std::all_of(secrets_.begin(row), secrets_.end(row), [&](std::int32_t item) {
            return (std::count(group.held.begin(), group.held.end(), item) + 1) * p_ <= group.size;
        });
    }

    void take(std::int64_t at, std::int64_t row, int side, std::int32_t* group) {
        --groups_[at].room[side];
        groups_[at].held.insert(groups_[at].held.end(), secrets_.begin(row), secrets_.end(row));
        group[row] = static_cast<std::int32_t>(at);
    }

    void fill(std::int32_t* group) {
        for (const int side : {0, 1}) {
            std::size_t at = 0;
            for (std::int64_t row = begin(side); row < end(side); ++row) {
                if (secrets_.size(row) > 0) continue;
                while (groups_[at].room[side] == 0) ++at;
                --groups_[at].room[side];
                group[row] = static_cast<std::int32_t>(at);
            }
        }
    }

    Csr secrets_;
    std::int64_t first_, middle_, last_, p_;
    std::vector<Group> groups_;
};

// As many groups as p allows; half as many, each twice as large, while some holder finds no place.
std::int32_t deal(const Csr& secrets, const std::int64_t* block, std::int64_t p, std::int32_t* group) {
    const std::int64_t rows = block[2] - block[0];
    for (std::int64_t parts = rows / p; parts > 1; parts /= 2)
        if (Deal(secrets, block[0], block[1], block[2], parts, p).place(group)) return static_cast<std::int32_t>(parts);
    Deal(secrets, block[0], block[1], block[2], 1, p).together(group);
    return rows > 0 ? 1 : 0;
}

}  // namespace

std::vector<std::int32_t> blind_groups(const Csr& secrets, const std::int64_t* blocks, std::int64_t count,
                                       std::int64_t p, Monitor& monitor) {
    std::vector<std::int32_t> group(secrets.rows, 0);
    std::int32_t next = 0;
    for (std::int64_t b = 0; b < count; ++b) {
        monitor.check();
        const std::int64_t* block = blocks + 3 * b;
        const std::int32_t parts = deal(secrets, block, p, group.data());
        for (std::int64_t row = block[0]; row < block[2]; ++row) group[row] += next;
        next += parts;
        monitor.advance(block[2] - block[0]);
    }
    return group;
}

}  // namespace anonset::cahd
