#include "cahd/nearest.hpp"

#include <numeric>

#include "core/bitmap.hpp"

namespace anonset::cahd {

LiveRows::LiveRows(const std::vector<std::int32_t>& key, std::int32_t keys)
    : rows_(rows_by_key<std::int32_t>(key.data(), static_cast<std::int64_t>(key.size()), keys)),
      place_(key.size()),
      alive_from_(key.size() + 1) {
    for (std::size_t place = 0; place < key.size(); ++place)
        place_[rows_.values[place]] = static_cast<std::int32_t>(place);
    std::iota(alive_from_.begin(), alive_from_.end(), 0);
}

SetScan::SetScan(const Problem& problem, const Distinct& sets)
    : data_(problem.quasi), sets_(sets), items_(problem.items) {
    const std::int32_t count = sets.size();
    length_.resize(count);
    for (std::int32_t u = 0; u < count; ++u) length_[u] = static_cast<std::int32_t>(data_.size(sets.first[u]));
    dense_ = choose_bitmaps(problem);
    dense_ ? build_bitmaps(problem.items) : build_postings(problem.items);
    shared_.resize(count, 0);
}

void SetScan::append_holders(std::int32_t item, std::vector<std::int32_t>& sets) const {
    if (!dense_) {
        sets.insert(sets.end(), holders_.begin(item), holders_.end(item));
        return;
    }
    for (std::int32_t u = 0; u < sets_.size(); ++u)
        if (bits_[static_cast<std::size_t>(u) * words_ + item / 64] >> (item % 64) & 1) sets.push_back(u);
}

void SetScan::scan_only(std::int64_t t, const std::vector<std::int32_t>& sets) {
    forget();
    mine_.resize(items_, 0);
    for (const std::int32_t* i = data_.begin(t); i != data_.end(t); ++i) mine_[*i] = 1;
    for (const std::int32_t u : sets) {
        std::uint32_t shared = 0;
        for (const std::int32_t *i = data_.begin(sets_.first[u]), *end = i + length_[u]; i != end; ++i)
            shared += mine_[*i];
        shared_[u] = shared;
    }
    for (const std::int32_t* i = data_.begin(t); i != data_.end(t); ++i) mine_[*i] = 0;
    met_ = sets;
}

bool SetScan::choose_bitmaps(const Problem& problem) const {
    std::vector<std::int64_t> posting(problem.items, 0);
    for (const std::int32_t row : sets_.first)
        for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) ++posting[*i];
    double entries = 0, words = 0;
    for (std::int64_t row = 0; row < data_.rows; ++row) {
        if (!problem.is_sensitive(row)) continue;
        for (const std::int32_t* i = data_.begin(row); i != data_.end(row); ++i) entries += posting[*i];
        words += static_cast<double>(sets_.size()) * ((problem.items + 63) / 64);
    }
    return words < 4 * entries;
}

void SetScan::build_bitmaps(std::int32_t items) {
    words_ = (items + 63) / 64;
    bits_.assign(static_cast<std::size_t>(sets_.size()) * words_, 0);
    for (std::int32_t u = 0; u < sets_.size(); ++u) pack(sets_.first[u], &bits_[static_cast<std::size_t>(u) * words_]);
    query_.resize(words_);
}

void SetScan::scan_bitmaps(std::int64_t t) {
    std::fill(query_.begin(), query_.end(), 0);
    pack(t, query_.data());
    shared_bits(query_.data(), bits_.data(), words_, sets_.size(), shared_.data());
    for (std::int32_t u = 0; u < sets_.size(); ++u)
        if (shared_[u] > 0) met_.push_back(u);
}

NearestFinder::NearestFinder(const Problem& problem)
    : problem_(problem), sets_(distinct_rows(problem.quasi)), scan_(problem, sets_), conflicts_(problem) {
    std::vector<std::int32_t> length(problem.rows());
    std::int32_t longest = 0;
    for (std::int64_t row = 0; row < problem.rows(); ++row) {
        length[row] = static_cast<std::int32_t>(problem.quasi.size(row));
        longest = std::max(longest, length[row]);
    }
    of_set_ = LiveRows(sets_.of_row, sets_.size());
    of_length_ = LiveRows(length, longest + 1);
    longest_ = longest;
    alive_.assign(sets_.size(), 0);
    harmless_.assign(sets_.size(), 0);
    for (std::int64_t row = 0; row < problem.rows(); ++row) {
        ++alive_[sets_.of_row[row]];
        harmless_[sets_.of_row[row]] += !problem.is_sensitive(row);
    }
    levels_.resize(2 * static_cast<std::size_t>(longest) + 1);
    harmless_at_.resize(levels_.size());
}

void NearestFinder::remove(const std::vector<std::int32_t>& members) {
    for (const std::int32_t row : members) {
        const std::int32_t set = sets_.of_row[row];
        of_set_.remove(row);
        of_length_.remove(row);
        --alive_[set];
        harmless_[set] -= !problem_.is_sensitive(row);
    }
}

void NearestFinder::choose(std::int64_t t, std::vector<std::int32_t>& members, const std::vector<std::int32_t>& met,
                           bool others) {
    conflicts_.start(t);
    const std::int32_t mine = static_cast<std::int32_t>(problem_.quasi.size(t));
    const std::int32_t last = sort_into_levels(mine, met);
    const std::int32_t farthest = others ? std::max(last, mine + longest_) : last;
    for (std::int32_t distance = 0; distance <= farthest; ++distance) {
        if (complete(members)) break;
        take_level(t, distance, others ? distance - mine : -1, members);
    }
    for (std::int32_t distance = 0; distance <= last; ++distance) levels_[distance].clear();
}

std::int32_t NearestFinder::sort_into_levels(std::int32_t mine, const std::vector<std::int32_t>& met) {
    std::int32_t last = 0, top = 0;
    for (const std::int32_t u : met) {
        harmless_at_[distance(mine, u)] += harmless_[u];
        top = std::max(top, distance(mine, u));
    }
    for (std::int64_t seen = harmless_at_[0]; seen < problem_.p - 1 && last < top;) seen += harmless_at_[++last];
    for (const std::int32_t u : met) harmless_at_[distance(mine, u)] = 0;
    for (const std::int32_t u : met)
        if (alive_[u] > 0 && distance(mine, u) <= last) levels_[distance(mine, u)].push_back(u);
    return last;
}

void NearestFinder::take_level(std::int64_t t, std::int32_t distance, std::int32_t length,
                               std::vector<std::int32_t>& members) {
    heads_.clear();
    if (distance < static_cast<std::int32_t>(levels_.size()))
        for (const std::int32_t u : levels_[distance]) push_set(u, of_set_.first(u));
    if (length >= 0 && length <= longest_) push_disjoint(length, of_length_.first(length));
    while (!heads_.empty() && !complete(members)) {
        std::pop_heap(heads_.begin(), heads_.end(), later);
        const Head head = heads_.back();
        heads_.pop_back();
        if (head.row != t && !conflicts_.clash(head.row)) {
            conflicts_.add(head.row);
            members.push_back(head.row);
        }
        if (head.set >= 0) {
            push_set(head.set, of_set_.after(head.place));
        } else {
            push_disjoint(length, of_length_.after(head.place));
        }
    }
}

void NearestFinder::push_disjoint(std::int32_t length, std::int32_t place) {
    while (of_length_.within(place, length) && scan_.shared(sets_.of_row[of_length_.row(place)]) > 0)
        place = of_length_.after(place);
    if (of_length_.within(place, length)) push({of_length_.row(place), place, -1});
}

void SetScan::build_postings(std::int32_t items) {
    holders_ = transpose_pairs<std::int32_t>(items, [&](auto&& visit) {
        for (std::int32_t u = 0; u < sets_.size(); ++u)
            for (const std::int32_t* i = data_.begin(sets_.first[u]); i != data_.end(sets_.first[u]); ++i) visit(*i, u);
    });
}

void SetScan::scan_postings(std::int64_t t) {
    for (const std::int32_t* i = data_.begin(t); i != data_.end(t); ++i) {
        for (const std::int32_t* u = holders_.begin(*i); u != holders_.end(*i); ++u)
            if (shared_[*u]++ == 0) met_.push_back(*u);
    }
}

std::vector<std::int32_t> nearest_groups(const Problem& problem, Monitor& monitor) {
    NearestFinder finder(problem);
    return form_groups(problem, finder, monitor);
}

}  // namespace anonset::cahd
