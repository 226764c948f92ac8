// Blind blocks: what is cut and what is folded depends on whether a half has degree p, never on which half has not.
#include <algorithm>
#include <numeric>

#include "cahd/blind.hpp"

namespace anonset::cahd {

namespace {

using Cell = std::vector<std::int64_t>;

class Tree {
  public:
    explicit Tree(const Blind& problem) : problem_(problem), count_(problem.sensitive, 0) {}

    Blocks grow() {
        const std::int64_t rows = problem_.secrets.rows;
        for (leaves_ = 1; 2 * leaves_ * least() <= rows;) leaves_ *= 2;  // a power of two: halves are equally large
        if (rows > 0) split(0, leaves_);
        return std::move(found_);
    }

  private:
    std::int64_t least() const { return problem_.p * problem_.block; }
    std::int64_t bound(std::int64_t leaf) const { return leaf * problem_.secrets.rows / leaves_; }

    void split(std::int64_t low, std::int64_t high) {
        const std::int64_t middle = (low + high + 1) / 2;
        if (high - low == 1) return add({range(low, high)});
        std::vector<Cell> halves{range(low, middle), range(middle, high)};
        if (good(halves, 0, 1) && good(halves, 1, 2)) {
            split(low, middle);
            split(middle, high);
            return;
        }
        for (Cell& half : halves)
            std::stable_sort(half.begin(), half.end(),
                             [&](std::int64_t a, std::int64_t b) { return problem_.lengths[a] < problem_.lengths[b]; });
        fold(std::move(halves));
    }

    // Cells of a node, each sorted by length: the rows of one place in all cells stay together.
    void fold(std::vector<Cell> cells) {
        const auto count = static_cast<std::int64_t>(cells.size());
        const auto fewest = std::min_element(cells.begin(), cells.end(),
                                             [](const Cell& a, const Cell& b) { return a.size() < b.size(); });
        const auto size = static_cast<std::int64_t>(fewest->size());
        if (size * count < 2 * least()) return add(cells);
        std::vector<Cell> parts;
        for (const Cell& cell : cells) parts.emplace_back(cell.begin(), cell.begin() + size / 2);
        for (const Cell& cell : cells) parts.emplace_back(cell.begin() + size / 2, cell.end());
        if (good(parts, 0, count) && good(parts, count, 2 * count)) {
            fold({parts.begin(), parts.begin() + count});
            fold({parts.begin() + count, parts.end()});
        } else if (2 * count <= std::min(problem_.p, problem_.cells)) {
            fold(std::move(parts));
        } else {
            add(cells);
        }
    }

    Cell range(std::int64_t low, std::int64_t high) const {
        Cell rows(bound(high) - bound(low));
        std::iota(rows.begin(), rows.end(), bound(low));
        return rows;
    }

    // Whether no sensitive item occurs in more than one of p rows of cells first … last - 1.
    bool good(const std::vector<Cell>& cells, std::int64_t first, std::int64_t last) {
        std::int64_t rows = 0, most = 0;
        for (std::int64_t at = first; at < last; ++at) {
            rows += static_cast<std::int64_t>(cells[at].size());
            for (const std::int64_t row : cells[at])
                for (const auto* item = problem_.secrets.begin(row); item != problem_.secrets.end(row); ++item)
                    most = std::max<std::int64_t>(most, ++count_[*item]);
        }
        for (std::int64_t at = first; at < last; ++at)
            for (const std::int64_t row : cells[at])
                for (const auto* item = problem_.secrets.begin(row); item != problem_.secrets.end(row); ++item)
                    count_[*item] = 0;
        return most * problem_.p <= rows;
    }

    void add(const std::vector<Cell>& cells) {
        for (const Cell& cell : cells) {
            found_.rows.insert(found_.rows.end(), cell.begin(), cell.end());
            found_.cells.push_back(static_cast<std::int64_t>(found_.rows.size()));
        }
        found_.blocks.push_back(static_cast<std::int64_t>(found_.cells.size()) - 1);
    }

    const Blind& problem_;
    std::vector<std::int64_t> count_;
    std::int64_t leaves_ = 1;
    Blocks found_;
};

}  // namespace

Blocks blind_blocks(const Blind& problem) { return Tree(problem).grow(); }

}  // namespace anonset::cahd
