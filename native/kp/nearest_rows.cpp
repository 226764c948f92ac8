#include "kp/nearest_rows.hpp"

#include <numeric>

#include "core/bitmap.hpp"

namespace anonset::kp {

namespace nearest_rows {

ANONSET_CLONES std::int64_t positions_between(const std::int32_t* numbers, std::int64_t count, std::int32_t beyond,
                                              std::int32_t limit, std::int32_t* out) {
    constexpr std::int64_t BLOCK = 64;
    std::int64_t found = 0;
    for (std::int64_t from = 0; from < count; from += BLOCK) {
        const std::int64_t to = std::min(count, from + BLOCK);
        std::int32_t any = 0;
        for (std::int64_t i = from; i < to; ++i) any |= (numbers[i] > beyond) & (numbers[i] <= limit);
        for (std::int64_t i = any ? from : to; i < to; ++i) {
            out[found] = static_cast<std::int32_t>(i);
            found += (numbers[i] > beyond) & (numbers[i] <= limit);
        }
    }
    return found;
}

void Numbering::load(const Csr& rows, const std::vector<std::int32_t>& members) {
    for (const std::int32_t code : touched_) number_[code] = 0;
    touched_.clear(), times_.clear();
    for (const std::int32_t row : members)
        for (const std::int32_t* code = rows.begin(row); code != rows.end(row); ++code)
            if (number_[*code]++ == 0) touched_.push_back(*code);
    for (const std::int32_t code : touched_) {
        const std::int32_t times = number_[code];
        if (times > 1) times_.push_back(times);
        number_[code] = times > 1 ? static_cast<std::int32_t>(times_.size()) : 0;
    }
}

void BitmapIndex::load(const Csr& rows, const std::vector<std::int32_t>& members, const Numbering& numbering) {
    words_ = numbering.words();
    bits_.assign(members.size() * words_, 0);
    places_.resize(members.size());
    std::iota(places_.begin(), places_.end(), 0);
    entry_ = places_;
    length_.resize(members.size());
    for (std::size_t p = 0; p < members.size(); ++p) {
        length_[p] = static_cast<std::int32_t>(rows.size(members[p]));
        numbering.for_codes(rows, members[p],
                            [&](std::int32_t code) { bits_[p * words_ + code / 64] |= std::uint64_t{1} << code % 64; });
    }
}

void BitmapIndex::forget_taken() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        if (length_[i] == FAR) continue;
        std::copy_n(bits_.data() + i * words_, words_, bits_.data() + kept * words_);
        length_[kept] = length_[i];
        places_[kept] = places_[i];
        entry_[places_[i]] = static_cast<std::int32_t>(kept++);
    }
    places_.resize(kept);
}

void BitmapIndex::measure(std::int32_t p, std::int32_t own, Found& found) {
    shared_.resize(places_.size());
    found.distances.resize(places_.size());
    shared_bits(bits_.data() + entry_[p] * words_, bits_.data(), words_, size(), shared_.data());
    found.places = places_;
    for (std::size_t i = 0; i < places_.size(); ++i)
        found.distances[i] = own + length_[i] - 2 * static_cast<std::int32_t>(shared_[i]);
}

void ListIndex::load(const Csr& rows, const std::vector<std::int32_t>& members, const Numbering& numbering) {
    codes_.items.clear(), codes_.offsets.assign(1, 0);
    length_.resize(members.size());
    for (std::size_t p = 0; p < members.size(); ++p) {
        length_[p] = static_cast<std::int32_t>(rows.size(members[p]));
        numbering.for_codes(rows, members[p], [&](std::int32_t code) { codes_.items.push_back(code); });
        codes_.close_row();
    }
    lists_ = transpose(codes_.view(), static_cast<std::int64_t>(numbering.times().size()));
    end_.assign(lists_.start.begin() + 1, lists_.start.end());
    waiting_.resize(members.size());
    std::iota(waiting_.begin(), waiting_.end(), 0);
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [&](std::int32_t a, std::int32_t b) { return length_[a] < length_[b]; });
    met_.clear();
    shared_.assign(members.size(), 0);
}

void ListIndex::forget_taken() {
    const auto gone = [&](std::int32_t p) { return length_[p] == FAR; };
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), gone), waiting_.end());
    for (std::size_t code = 0; code < end_.size(); ++code)
        end_[code] = std::remove_if(lists_.begin(code), lists_.values.data() + end_[code], gone) - lists_.values.data();
}

void ListIndex::measure(std::int32_t p, std::int32_t own, Found& found) {
    for (const std::int32_t other : met_) shared_[other] = 0;
    const Csr codes = codes_.view();
    std::int64_t most = 1, count = 0;
    for (const std::int32_t* code = codes.begin(p); code != codes.end(p); ++code)
        most += end_[*code] - lists_.start[*code];
    met_.resize(most);
    for (const std::int32_t* code = codes.begin(p); code != codes.end(p); ++code)
        for (std::int64_t at = lists_.start[*code]; at < end_[*code]; ++at) {
            met_[count] = lists_.values[at];  // kept if it is new; a branch would be guessed wrong too often
            count += shared_[lists_.values[at]]++ == 0;
        }
    met_.resize(count);
    found.places = met_;
    found.distances.resize(count);
    for (std::int64_t i = 0; i < count; ++i) found.distances[i] = own + length_[met_[i]] - 2 * shared_[met_[i]];
    at_ = 0;
}

}  // namespace nearest_rows

void NearestRows::load(const std::vector<std::int32_t>& members) {
    members_ = members;
    numbering_.load(rows_, members);
    double meetings = 0;
    for (const std::int32_t times : numbering_.times()) meetings += double(times) * times;
    const auto size = static_cast<double>(members.size());
    by_lists_ = MEETING * meetings < size * size * static_cast<double>(numbering_.words() + 1);
    by_lists_ ? lists_.load(rows_, members, numbering_) : bitmaps_.load(rows_, members, numbering_);
    gone_ = 0, reach_ = 0, longest_ = 0;
    for (const std::int32_t row : members) longest_ = std::max(longest_, rows_.size(row));
}

void NearestRows::start(std::int32_t p) {
    if (4 * gone_ > (by_lists_ ? lists_.size() : bitmaps_.size())) {
        by_lists_ ? lists_.forget_taken() : bitmaps_.forget_taken();
        gone_ = 0;
    }
    own_ = rows_.size(members_[p]);
    farthest_ = own_ + longest_;
    take(p);
    const auto own = static_cast<std::int32_t>(own_);
    by_lists_ ? lists_.measure(p, own, found_) : bitmaps_.measure(p, own, found_);
    near_.clear();
    seen_ = -1, step_ = 1;
}

}  // namespace anonset::kp
