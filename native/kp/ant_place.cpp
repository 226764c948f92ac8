#include "kp/ant_place.hpp"

#include <numeric>

namespace anonset::kp {

NearestGroups::NearestGroups(const Csr& rows, const Csr& centers, std::int64_t codes, std::int32_t from,
                             std::int32_t to)
    : rows_(rows), centers_(centers), from_(from), to_(to), words_((codes + 63) / 64) {
    // A row meets as many entries of the lists below as centers share a code with it on average.
    const auto count = static_cast<double>(to - from);
    const double mean =
        static_cast<double>(rows.offsets[rows.rows]) / static_cast<double>(std::max<std::int64_t>(1, rows.rows));
    const double entries = mean * static_cast<double>(centers.offsets[to] - centers.offsets[from]) /
                           static_cast<double>(std::max<std::int64_t>(1, codes));
    dense_ = count * static_cast<double>(words_) < 2 * entries + count;
    for (std::int32_t g = from; g < to; ++g) length_.push_back(static_cast<std::int32_t>(centers.size(g)));
    dense_ ? load_bitmaps() : load_lists(codes);
}

std::vector<NearestGroups::Near> NearestGroups::few(std::int32_t row, std::vector<std::int32_t>& room) const {
    if (!dense_) return few_by_lists(row, room);
    std::vector<Near> best;
    measure(row, room);
    for (std::int32_t g = from_; g < to_; ++g) insert(best, {room[g - from_], g});
    return best;
}

void NearestGroups::measure(std::int32_t row, std::vector<std::int32_t>& distance) const {
    std::vector<std::uint32_t> shared(size(), 0);
    if (dense_) {
        std::vector<std::uint64_t> bits(std::max<std::int64_t>(1, words_), 0);
        set_bits(rows_, row, bits.data());
        shared_bits(bits.data(), bits_.data(), words_, size(), shared.data());
    } else {
        for (const std::int32_t* code = rows_.begin(row); code != rows_.end(row); ++code)
            for (const std::int32_t* i = holders_.begin(*code); i != holders_.end(*code); ++i) ++shared[*i];
    }
    distance.resize(size());
    for (std::int32_t i = 0; i < size(); ++i)
        distance[i] = length(row) + length_[i] - 2 * static_cast<std::int32_t>(shared[i]);
}

void NearestGroups::set_bits(const Csr& from, std::int64_t row, std::uint64_t* bits) const {
    for (const std::int32_t* code = from.begin(row); code != from.end(row); ++code)
        bits[*code >> 6] |= std::uint64_t{1} << (*code & 63);
}

void NearestGroups::load_bitmaps() {
    bits_.assign(size() * words_, 0);
    for (std::int32_t i = 0; i < size(); ++i) set_bits(centers_, from_ + i, &bits_[i * words_]);
}

void NearestGroups::load_lists(std::int64_t codes) {
    holders_ = transpose({centers_.offsets + from_, centers_.items, size()}, codes);
    by_size_.resize(size());
    std::iota(by_size_.begin(), by_size_.end(), 0);
    std::stable_sort(by_size_.begin(), by_size_.end(),
                     [&](std::int32_t a, std::int32_t b) { return length_[a] < length_[b]; });
}

void NearestGroups::insert(std::vector<Near>& best, Near entry) {
    if (best.size() == NEAREST_KEPT && entry >= best.back()) return;
    if (best.size() == NEAREST_KEPT) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), entry), entry);
}

std::vector<NearestGroups::Near> NearestGroups::few_by_lists(std::int32_t row,
                                                             std::vector<std::int32_t>& shared) const {
    shared.resize(size(), 0);
    std::size_t most = 1, count = 0;
    for (const std::int32_t* code = rows_.begin(row); code != rows_.end(row); ++code) most += holders_.size(*code);
    std::vector<std::int32_t> touched(most);
    for (const std::int32_t* code = rows_.begin(row); code != rows_.end(row); ++code)
        for (const std::int32_t* i = holders_.begin(*code); i != holders_.end(*code); ++i) {
            touched[count] = *i;  // kept if it is new; a branch would be guessed wrong too often
            count += shared[*i]++ == 0;
        }
    touched.resize(count);
    std::vector<Near> best;
    std::int32_t limit = INT32_MAX;  // the distance of the last of them
    for (const std::int32_t i : touched) {
        const std::int32_t distance = length(row) + length_[i] - 2 * shared[i];
        if (distance > limit) continue;
        insert(best, {distance, from_ + i});
        if (best.size() == NEAREST_KEPT) limit = best.back().first;
    }
    for (const std::int32_t i : by_size_) {
        const Near entry{length(row) + length_[i], from_ + i};
        if (best.size() == NEAREST_KEPT && entry >= best.back()) break;  // and so are all that follow
        if (shared[i] == 0) insert(best, entry);
    }
    for (const std::int32_t i : touched) shared[i] = 0;
    return best;
}

void LeftoverPlacer::place(std::vector<LeftPart> parts, int threads, Monitor& monitor) {
    std::vector<std::int32_t> stuck;
    for (LeftPart& part : parts) {
        sort(part.left);
        join_all(part, stuck, threads, monitor);
    }
    if (stuck.empty()) return;
    sort(stuck);
    const NearestGroups all(rows_, centers_, codes_, 0, static_cast<std::int32_t>(centers_.rows));
    std::vector<std::int32_t> distance;
    for (std::size_t i = 0; i < stuck.size(); ++i) {
        monitor.check();
        if (join_any(stuck[i], all, distance)) continue;
        if (!merge_around(stuck[i], distance)) return all_in_one(stuck, i);
    }
}

void LeftoverPlacer::sort(std::vector<std::int32_t>& rows) const {
    std::sort(rows.begin(), rows.end(),
              [&](std::int32_t a, std::int32_t b) { return place_ ? place_[a] < place_[b] : a < b; });
}

void LeftoverPlacer::join_all(const LeftPart& part, std::vector<std::int32_t>& stuck, int threads, Monitor& monitor) {
    const NearestGroups groups(rows_, centers_, codes_, part.from, part.to);
    std::vector<std::vector<Near>> nearest(part.left.size());
    std::vector<std::vector<std::int32_t>> rooms(thread_count(threads));
    parallel_for(
        static_cast<std::int64_t>(part.left.size()), threads, monitor,
        [&](std::int64_t i, int worker) { nearest[i] = groups.few(part.left[i], rooms[worker]); }, 16);
    std::vector<std::int32_t> distance;
    for (std::size_t i = 0; i < part.left.size(); ++i) {
        monitor.check();
        if (!join_one_of(part.left[i], nearest[i]) && !join_any(part.left[i], groups, distance))
            stuck.push_back(part.left[i]);
    }
}

bool LeftoverPlacer::join_one_of(std::int32_t row, const std::vector<Near>& nearest) {
    for (const Near& near : nearest)
        if (groups_.alive(near.second) && groups_.admits(row, near.second)) return groups_.join(row, near.second), true;
    return false;
}

bool LeftoverPlacer::join_any(std::int32_t row, const NearestGroups& groups, std::vector<std::int32_t>& distance) {
    groups.measure(row, distance);
    std::int32_t best = -1;
    for (std::int32_t i = 0; i < groups.size(); ++i)
        if ((best < 0 || distance[i] < distance[best]) && groups_.alive(groups.from() + i) &&
            groups_.admits(row, groups.from() + i))
            best = i;
    if (best >= 0) groups_.join(row, groups.from() + best);
    return best >= 0;
}

bool LeftoverPlacer::merge_around(std::int32_t row, const std::vector<std::int32_t>& distance) {
    std::vector<Near> order;
    for (std::int32_t g = 0; g < centers_.rows; ++g)
        if (groups_.alive(g)) order.emplace_back(distance[g], g);
    std::sort(order.begin(), order.end());
    std::int32_t host = -1;
    for (const Near& near : order) {
        if (!relieves(row, near.second, host)) continue;
        if (host < 0)
            host = near.second;
        else
            groups_.merge(near.second, host);
        if (groups_.admits(row, host)) return groups_.join(row, host), true;
    }
    return false;
}

bool LeftoverPlacer::relieves(std::int32_t row, std::int32_t g, std::int32_t host) {
    const Csr& secret = groups_.secret();
    for (const std::int32_t* a = secret.begin(row); a != secret.end(row); ++a) {
        const auto size = static_cast<std::int64_t>(groups_.members(g).size());
        const bool wanted =
            host < 0 || !groups_.limit().allows(groups_.holders_of(host, *a) + 1,
                                                static_cast<std::int64_t>(groups_.members(host).size()) + 1);
        const std::int64_t room =
            groups_.limit().numerator * size - groups_.limit().denominator * groups_.holders_of(g, *a);
        if (wanted && room > 0) return true;
    }
    return false;
}

void LeftoverPlacer::all_in_one(const std::vector<std::int32_t>& stuck, std::size_t from) {
    std::vector<std::int32_t> rest(stuck.begin() + static_cast<std::ptrdiff_t>(from), stuck.end());
    const std::int32_t host = groups_.found(std::move(rest));
    for (std::int32_t g = 0; g < host; ++g) groups_.merge(g, host);
}

}  // namespace anonset::kp
