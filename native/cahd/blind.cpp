// Blind groups: the holders of a block are spread over its groups without a look at quasi-identifier items.
#include "cahd/blind.hpp"

#include <algorithm>

namespace anonset::cahd {

namespace {

constexpr std::int64_t MOST_REFUSALS = 256;  // groups that refuse a holder before larger groups are tried

// One block, cut into `parts` groups whose sizes differ by at most one, each with its share of every cell.
class Deal {
  public:
    Deal(const Blind& problem, const Blocks& blocks, std::int64_t block, std::int64_t parts)
        : problem_(problem),
          rows_(blocks.rows.data()),
          ends_(blocks.cells.data() + blocks.blocks[block]),
          cells_(blocks.blocks[block + 1] - blocks.blocks[block]),
          parts_(parts),
          room_(parts * cells_, 0),
          size_(parts, 0),
          held_(parts) {
        std::int64_t next = 0;
        for (std::int64_t cell = 0; cell < cells_; ++cell)
            for (std::int64_t at = ends_[cell]; at < ends_[cell + 1]; ++at, next = (next + 1) % parts_)
                ++room_[next * cells_ + cell];
        // A group counts as large as it were if its largest share of a cell were its smallest: that is what hides.
        for (std::int64_t group = 0; group < parts_; ++group)
            size_[group] =
                cells_ * *std::min_element(room_.begin() + group * cells_, room_.begin() + (group + 1) * cells_);
    }

    // Places every holder, in the order of their keys, in a group that can take it, then everybody else. False if a
    // holder found no group.
    bool place(std::int32_t* group) {
        std::int64_t next = 0;
        for (const auto& [row, cell] : holders()) {
            const std::int64_t found = find(row, cell, next);
            if (found < 0) return false;
            take(found, row, cell, group);
            next = (found + 1) % parts_;
        }
        for (std::int64_t cell = 0; cell < cells_; ++cell) fill(cell, group);
        return true;
    }

  private:
    std::vector<std::pair<std::int64_t, std::int64_t>> holders() const {
        std::vector<std::pair<std::int64_t, std::int64_t>> found;
        for (std::int64_t cell = 0; cell < cells_; ++cell)
            for (std::int64_t at = ends_[cell]; at < ends_[cell + 1]; ++at)
                if (problem_.secrets.size(rows_[at]) > 0) found.emplace_back(rows_[at], cell);
        std::sort(found.begin(), found.end(),
                  [&](const auto& a, const auto& b) { return problem_.keys[a.first] < problem_.keys[b.first]; });
        return found;
    }

    std::int64_t find(std::int64_t row, std::int64_t cell, std::int64_t from) const {
        const std::int64_t tries = std::min(parts_, MOST_REFUSALS);
        for (std::int64_t i = 0; i < tries; ++i) {
            const std::int64_t at = (from + i) % parts_;
            if (room_[at * cells_ + cell] > 0 && allowed(at, row)) return at;
        }
        return -1;
    }

    // Whether each sensitive item of the row would still occur in at most one of p members.
    bool allowed(std::int64_t at, std::int64_t row) const {
        const auto& held = held_[at];
        return std::all_of(problem_.secrets.begin(row), problem_.secrets.end(row), [&](std::int32_t item) {
            return (std::count(held.begin(), held.end(), item) + 1) * problem_.p <= size_[at];
        });
    }

    void take(std::int64_t at, std::int64_t row, std::int64_t cell, std::int32_t* group) {
        --room_[at * cells_ + cell];
        held_[at].insert(held_[at].end(), problem_.secrets.begin(row), problem_.secrets.end(row));
        group[row] = static_cast<std::int32_t>(at);
    }

    void fill(std::int64_t cell, std::int32_t* group) {
        std::vector<std::int64_t> others;
        for (std::int64_t at = ends_[cell]; at < ends_[cell + 1]; ++at)
            if (problem_.secrets.size(rows_[at]) == 0) others.push_back(rows_[at]);
        std::sort(others.begin(), others.end(),
                  [&](std::int64_t a, std::int64_t b) { return problem_.keys[a] < problem_.keys[b]; });
        std::int64_t at = 0;
        for (const std::int64_t row : others) {
            while (room_[at * cells_ + cell] == 0) ++at;
            --room_[at * cells_ + cell];
            group[row] = static_cast<std::int32_t>(at);
        }
    }

    const Blind& problem_;
    const std::int64_t* rows_;
    const std::int64_t* ends_;
    std::int64_t cells_, parts_;
    std::vector<std::int64_t> room_, size_;  // of each group: rows that it can still take from each cell; its size
    std::vector<std::vector<std::int32_t>> held_;
};

// As many groups as p allows, all with the same share of each cell; half as many while some holder finds no place.
std::int32_t deal(const Blind& problem, const Blocks& blocks, std::int64_t block, std::int32_t* group) {
    const std::int64_t first = blocks.blocks[block], last = blocks.blocks[block + 1];
    const std::int64_t share = (problem.p + last - first - 1) / (last - first);
    std::int64_t parts = problem.secrets.rows;
    for (std::int64_t cell = first; cell < last; ++cell)
        parts = std::min(parts, (blocks.cells[cell + 1] - blocks.cells[cell]) / share);
    for (; parts > 1; parts /= 2)
        if (Deal(problem, blocks, block, parts).place(group)) return static_cast<std::int32_t>(parts);
    for (std::int64_t at = blocks.cells[first]; at < blocks.cells[last]; ++at) group[blocks.rows[at]] = 0;
    return 1;
}

}  // namespace

BlindGroups blind_groups(const Blind& problem, Monitor& monitor) {
    const Blocks blocks = blind_blocks(problem);
    BlindGroups found{std::vector<std::int32_t>(problem.secrets.rows, 0),
                      std::vector<std::int32_t>(problem.secrets.rows, 0)};
    std::int32_t next = 0;
    for (std::int64_t block = 0; block < blocks.size(); ++block) {
        monitor.check();
        const std::int32_t parts = deal(problem, blocks, block, found.group.data());
        for (std::int64_t cell = blocks.blocks[block]; cell < blocks.blocks[block + 1]; ++cell)
            for (std::int64_t at = blocks.cells[cell]; at < blocks.cells[cell + 1]; ++at) {
                found.group[blocks.rows[at]] += next;
                found.cell[blocks.rows[at]] = static_cast<std::int32_t>(cell);
            }
        next += parts;
        monitor.advance(blocks.cells[blocks.blocks[block + 1]] - blocks.cells[blocks.blocks[block]]);
    }
    return found;
}

}  // namespace anonset::cahd
