#include "kamp/pattern_tree.hpp"

namespace anonset::kamp {

PatternTree::PatternTree(const Csr& sets) : sets_(sets), child_(sets.rows + 1, 0) {
    std::int64_t next = 0;
    while (next < sets.rows && sets.size(next) == 1) ++next;
    roots_ = next;
    for (std::int64_t p = 0; p < sets.rows; ++p) {
        child_[p] = next;
        while (next < sets.rows && sets.size(next) == sets.size(p) + 1 &&
               std::equal(sets.begin(p), sets.end(p), sets.begin(next)))
            ++next;
    }
    child_[sets.rows] = sets.rows;
    link();
}

std::int64_t PatternTree::find(const std::vector<std::int32_t>& items) const {
    std::int64_t low = 0, high = sets_.rows;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        const auto length = static_cast<std::int64_t>(items.size());
        const bool before =
            sets_.size(middle) != length
                ? sets_.size(middle) < length
                : std::lexicographical_compare(sets_.begin(middle), sets_.end(middle), items.begin(), items.end());
        before ? low = middle + 1 : high = middle;
    }
    return low;
}

bool PatternTree::has(const std::vector<std::int32_t>& items) const {
    const std::int64_t at = find(items);
    return at < sets_.rows && std::equal(items.begin(), items.end(), sets_.begin(at), sets_.end(at));
}

void PatternTree::link() {
    std::vector<std::int32_t> part;
    for (std::int64_t p = 0; p < sets_.rows; ++p) {
        for (std::int64_t skip = 0; skip < sets_.size(p) && sets_.size(p) > 1; ++skip) {
            part.assign(sets_.begin(p), sets_.end(p));
            part.erase(part.begin() + skip);
            smaller_.items.push_back(static_cast<std::int32_t>(find(part)));
        }
        smaller_.close_row();
    }
}

UserPatterns user_patterns(const Csr& data, const Transposed<>& rows, const PatternTree& tree) {
    UserPatterns out;
    std::vector<std::int64_t> times(tree.size(), 0);
    std::vector<std::int32_t> touched;
    for (std::size_t u = 0; u + 1 < rows.start.size(); ++u) {
        touched.clear();
        for (const std::int32_t* row = rows.begin(u); row != rows.end(u); ++row)
            tree.each_in(data.begin(*row), data.end(*row), [&](std::int64_t p) {
                if (times[p]++ == 0) touched.push_back(static_cast<std::int32_t>(p));
            });
        std::sort(touched.begin(), touched.end());
        for (const std::int32_t p : touched) {
            out.held.items.push_back(p);
            out.counts.push_back(times[p]);
            times[p] = 0;
        }
        out.held.close_row();
    }
    return out;
}

void maximal_of(const PatternTree& tree, const std::vector<std::int32_t>& held, std::vector<char>& covered,
                std::vector<std::int32_t>& out) {
    const Csr smaller = tree.smaller();
    for (const std::int32_t p : held)
        for (const std::int32_t* q = smaller.begin(p); q != smaller.end(p); ++q) covered[*q] = 1;
    out.clear();
    for (const std::int32_t p : held) {
        if (!covered[p]) out.push_back(p);
        covered[p] = 0;
    }
}

UserPatterns user_patterns(const Csr& data, const Users& users, const Csr& sets) {
    const PatternTree tree(sets);
    UserPatterns found = user_patterns(data, rows_of_users(data, users), tree);
    const Csr held = found.held.view();
    std::vector<char> covered(tree.size(), 0);
    std::vector<std::int32_t> own;
    for (std::int64_t u = 0; u < held.rows; ++u) {
        const std::vector<std::int32_t> mine(held.begin(u), held.end(u));
        maximal_of(tree, mine, covered, own);
        for (const std::int32_t p : mine) found.maximal.push_back(std::binary_search(own.begin(), own.end(), p));
    }
    return found;
}

}  // namespace anonset::kamp
