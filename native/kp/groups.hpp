// Some rows of counts in unary code, in groups of which is known at any time what each change would gain, and whether
// it keeps the limit on sensitive attributes.
//
// Beside the planes of gain_planes.hpp two more bitmaps per group hold the sensitive attributes of which it has as many
// holders as it may (`full`) and more than it may (`over`). Then all that a swap changes is a handful of popcounts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bitmap.hpp"
#include "core/gain_planes.hpp"
#include "kp/api.hpp"

namespace anonset::kp {

constexpr std::int64_t MOST_CODES = 2048;

class Groups {
  public:
    // `rows` in an order in which neighbours are alike; from here on a row is its place among them.
    Groups(const Csr& data, const Csr& secret, const std::vector<std::int32_t>& rows, std::int64_t k, ShareLimit limit)
        : k_(k), limit_(limit), group_(rows.size(), -1), place_(rows.size()) {
        load(data, rows, k / 2 + 1, MOST_CODES, codes_, words_, bits_);
        load(secret, rows, 1, INT32_MAX, attributes_, secret_words_, secret_bits_);
    }

    std::int64_t k() const { return k_; }
    const ShareLimit& limit() const { return limit_; }
    std::int32_t size() const { return static_cast<std::int32_t>(group_.size()); }
    std::int32_t codes() const { return codes_; }
    std::int32_t attributes() const { return attributes_; }
    std::int64_t words() const { return words_; }
    std::int64_t secret_words() const { return secret_words_; }
    const std::uint64_t* bits(std::int32_t r) const { return &bits_[r * words_]; }
    const std::uint64_t* secret(std::int32_t r) const { return &secret_bits_[r * secret_words_]; }

    std::int32_t count() const { return static_cast<std::int32_t>(members_.size()); }
    std::int32_t group(std::int32_t r) const { return group_[r]; }
    const std::vector<std::int32_t>& all() const { return group_; }
    const std::vector<std::int32_t>& members(std::int32_t g) const { return members_[g]; }
    std::int64_t people(std::int32_t g) const { return static_cast<std::int64_t>(members_[g].size()); }
    const std::uint64_t* planes(std::int32_t g) const { return &planes_[std::int64_t{g} * 4 * words_]; }
    const std::uint64_t* full(std::int32_t g) const { return &secret_planes_[std::int64_t{g} * 2 * secret_words_]; }
    const std::uint64_t* over(std::int32_t g) const { return full(g) + secret_words_; }

    template <int Fixed>
    ANONSET_INLINE std::int32_t distance(std::int32_t a, std::int32_t b) const {
        const std::int64_t words = Fixed ? Fixed : words_;
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < words; ++w) sum += __builtin_popcountll(bits(a)[w] ^ bits(b)[w]);
        return sum;
    }

    // The group of each row, from 0 to `groups` - 1, or -1.
    ANONSET_INLINE void build(std::vector<std::int32_t> group, std::int32_t groups) {
        group_ = std::move(group);
        members_.assign(groups, {});
        most_.assign(groups, 0);
        counts_.assign(members_.size() * codes_, 0);
        holders_.assign(members_.size() * attributes_, 0);
        planes_.assign(members_.size() * 4 * words_, 0);
        secret_planes_.assign(members_.size() * 2 * secret_words_, 0);
        for (std::int32_t r = 0; r < size(); ++r)
            if (group_[r] >= 0) enter(r, group_[r]);
        for (std::int32_t g = 0; g < count(); ++g) refresh(g);
    }

    // --- what a change would bring ---------------------------------------------------------------------------------

    std::int32_t gain_of(std::int32_t g) const {
        const std::uint64_t* central = planes(g) + 2 * words_;
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < words_; ++w)
            for (std::uint64_t left = central[w]; left; left &= left - 1)
                sum += 2 * counts_[std::int64_t{g} * codes_ + w * 64 + __builtin_ctzll(left)] -
                       static_cast<std::int32_t>(people(g));
        return sum;
    }

    template <int Fixed>
    ANONSET_INLINE std::int32_t swap_gain(std::int32_t t, std::int32_t u) const {
        return gain::swapping<Fixed>(bits(t), bits(u), planes(group_[t]), planes(group_[u]), words_);
    }
    template <int Fixed>
    ANONSET_INLINE std::int32_t move_gain(std::int32_t t, std::int32_t h) const {
        return gain::leaving<Fixed>(bits(t), planes(group_[t]), words_) + join_gain<Fixed>(t, h);
    }
    template <int Fixed>
    ANONSET_INLINE std::int32_t join_gain(std::int32_t t, std::int32_t h) const {
        return gain::joining<Fixed>(bits(t), planes(h), words_);
    }

    // How many holders beyond the limit, in both groups together, a swap brings (negative: takes away).
    ANONSET_INLINE std::int32_t swap_excess(std::int32_t t, std::int32_t u) const {
        const std::int32_t g = group_[t], h = group_[u];
        std::int32_t sum = 0;
        for (std::int64_t w = 0; w < secret_words_; ++w) {
            const std::uint64_t gives = secret(t)[w] & ~secret(u)[w], takes = secret(u)[w] & ~secret(t)[w];
            sum += __builtin_popcountll(takes & full(g)[w]) - __builtin_popcountll(gives & over(g)[w]) +
                   __builtin_popcountll(gives & full(h)[w]) - __builtin_popcountll(takes & over(h)[w]);
        }
        return sum;
    }

    ANONSET_INLINE bool may_join(std::int32_t t, std::int32_t h) const {
        for (std::int64_t w = 0; w < secret_words_; ++w)
            for (std::uint64_t left = secret(t)[w]; left; left &= left - 1)
                if (!limit_.allows(holders(h, w, left) + 1, people(h) + 1)) return false;
        return true;
    }

    // Whether both groups keep the limit after t has moved to h.
    ANONSET_INLINE bool may_move(std::int32_t t, std::int32_t h) const {
        const std::int32_t g = group_[t];
        for (std::int64_t w = 0; w < secret_words_; ++w)
            for (std::uint64_t left = held_in(g, w); left; left &= left - 1) {
                const std::int64_t own = secret(t)[w] >> __builtin_ctzll(left) & 1;
                if (!limit_.allows(holders(g, w, left) - own, people(g) - 1)) return false;
            }
        return may_join(t, h);
    }

    bool is_over(std::int32_t g) const {
        return std::any_of(over(g), over(g) + secret_words_, [](std::uint64_t word) { return word != 0; });
    }
    // Of how many attributes that are too frequent in its group a row is a holder.
    std::int32_t held_beyond(std::int32_t r) const {
        std::int32_t held = 0;
        for (std::int64_t w = 0; w < secret_words_; ++w)
            held += __builtin_popcountll(secret(r)[w] & over(group_[r])[w]);
        return held;
    }

    // --- changes ---------------------------------------------------------------------------------------------------

    ANONSET_INLINE void exchange(std::int32_t t, std::int32_t u) {
        const std::int32_t g = group_[t], h = group_[u];
        for (std::int64_t w = 0; w < words_; ++w)
            for (std::uint64_t differ = bits(t)[w] ^ bits(u)[w]; differ; differ &= differ - 1) {
                const auto code = static_cast<std::int32_t>(w * 64 + __builtin_ctzll(differ));
                const std::int32_t sign = bits(t)[w] >> (code & 63) & 1 ? 1 : -1;
                counts_[std::int64_t{g} * codes_ + code] -= sign;
                counts_[std::int64_t{h} * codes_ + code] += sign;
                place_code(g, code);
                place_code(h, code);
            }
        for (std::int64_t w = 0; w < secret_words_; ++w)
            for (std::uint64_t differ = secret(t)[w] ^ secret(u)[w]; differ; differ &= differ - 1) {
                const auto attribute = static_cast<std::int32_t>(w * 64 + __builtin_ctzll(differ));
                const std::int32_t sign = secret(t)[w] >> (attribute & 63) & 1 ? 1 : -1;
                holders_[std::int64_t{g} * attributes_ + attribute] -= sign;
                holders_[std::int64_t{h} * attributes_ + attribute] += sign;
                place_attribute(g, attribute);
                place_attribute(h, attribute);
            }
        std::swap(members_[g][place_[t]], members_[h][place_[u]]);
        std::swap(place_[t], place_[u]);
        std::swap(group_[t], group_[u]);
    }

    ANONSET_INLINE void join(std::int32_t t, std::int32_t to) {
        enter(t, to);
        refresh(to);
    }
    ANONSET_INLINE void leave(std::int32_t t) {
        const std::int32_t g = group_[t], last = members_[g].back();
        members_[g][place_[t]] = last;
        place_[last] = place_[t];
        members_[g].pop_back();
        add(t, g, -1);
        group_[t] = -1;
        refresh(g);
    }
    ANONSET_INLINE void move(std::int32_t t, std::int32_t to) {
        leave(t);
        join(t, to);
    }

  private:
    // Bitmaps over the codes that at least `least` rows hold; of more than `most` codes, the most frequent ones.
    static void load(const Csr& data, const std::vector<std::int32_t>& rows, std::int64_t least, std::int64_t most,
                     std::int32_t& count, std::int64_t& words, std::vector<std::uint64_t>& bits) {
        const std::vector<std::int32_t> number = numbering(times_of(data, rows), least, most, count);
        words = std::max(1, (count + 63) / 64);
        bits.assign(rows.size() * words, 0);
        std::uint64_t* own = bits.data();
        for (const std::int32_t row : rows) {
            for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i)
                if (number[*i] >= 0) own[number[*i] >> 6] |= std::uint64_t{1} << (number[*i] & 63);
            own += words;
        }
    }

    static std::vector<std::int32_t> times_of(const Csr& data, const std::vector<std::int32_t>& rows) {
        std::vector<std::int32_t> times;
        for_rows(data, rows.data(), static_cast<std::int64_t>(rows.size()), [&](std::int32_t row) {
            if (data.size(row) == 0) return;
            const std::int32_t last = data.end(row)[-1];  // items ascend
            if (last >= static_cast<std::int32_t>(times.size())) times.resize(last + 1, 0);
            for (const std::int32_t* i = data.begin(row); i != data.end(row); ++i) ++times[*i];
        });
        return times;
    }

    static std::vector<std::int32_t> numbering(const std::vector<std::int32_t>& times, std::int64_t least,
                                               std::int64_t most, std::int32_t& count) {
        std::vector<std::int32_t> order;
        for (std::size_t code = 0; code < times.size(); ++code)
            if (times[code] >= least) order.push_back(static_cast<std::int32_t>(code));
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int32_t a, std::int32_t b) { return times[a] > times[b]; });
        if (static_cast<std::int64_t>(order.size()) > most) order.resize(most);
        std::vector<std::int32_t> number(times.size(), -1);
        count = static_cast<std::int32_t>(order.size());
        for (std::int32_t i = 0; i < count; ++i) number[order[i]] = i;
        return number;
    }

    void enter(std::int32_t t, std::int32_t g) {
        place_[t] = static_cast<std::int32_t>(members_[g].size());
        members_[g].push_back(t);
        group_[t] = g;
        add(t, g, 1);
    }

    void add(std::int32_t r, std::int32_t g, std::int32_t sign) {
        for (std::int64_t w = 0; w < words_; ++w)
            for (std::uint64_t left = bits(r)[w]; left; left &= left - 1)
                counts_[std::int64_t{g} * codes_ + w * 64 + __builtin_ctzll(left)] += sign;
        for (std::int64_t w = 0; w < secret_words_; ++w)
            for (std::uint64_t left = secret(r)[w]; left; left &= left - 1)
                holders_[std::int64_t{g} * attributes_ + w * 64 + __builtin_ctzll(left)] += sign;
    }

    std::int64_t holders(std::int32_t g, std::int64_t word, std::uint64_t left) const {
        return holders_[std::int64_t{g} * attributes_ + word * 64 + __builtin_ctzll(left)];
    }
    // The attributes of one word that some member holds.
    std::uint64_t held_in(std::int32_t g, std::int64_t word) const {
        std::uint64_t any = 0;
        for (const std::int32_t r : members_[g]) any |= secret(r)[word];
        return any;
    }

    static void set(std::uint64_t& word, std::uint64_t bit, bool on) { word = on ? word | bit : word & ~bit; }

    void place_code(std::int32_t g, std::int32_t code) {
        const std::int32_t v =
            2 * counts_[std::int64_t{g} * codes_ + code] - static_cast<std::int32_t>(members_[g].size());
        std::uint64_t* plane = &planes_[std::int64_t{g} * 4 * words_ + (code >> 6)];
        for (int t = -1; t <= 2; ++t, plane += words_) set(*plane, std::uint64_t{1} << (code & 63), v >= t);
    }

    void place_attribute(std::int32_t g, std::int32_t attribute) {
        const std::int32_t held = holders_[std::int64_t{g} * attributes_ + attribute];
        std::uint64_t* plane = &secret_planes_[std::int64_t{g} * 2 * secret_words_ + (attribute >> 6)];
        const std::uint64_t bit = std::uint64_t{1} << (attribute & 63);
        set(plane[0], bit, held >= most_[g]);
        set(plane[secret_words_], bit, held > most_[g]);
    }

    // All bitmaps anew, after the size has changed. Only what some member holds can differ from what nobody holds.
    ANONSET_INLINE void refresh(std::int32_t g) {
        const auto people = static_cast<std::int32_t>(members_[g].size());
        const std::int32_t* count = &counts_[std::int64_t{g} * codes_];
        std::uint64_t* plane = &planes_[std::int64_t{g} * 4 * words_];
        for (std::int64_t w = 0; w < words_; ++w, ++plane) {
            std::uint64_t any = 0;
            for (const std::int32_t r : members_[g]) any |= bits(r)[w];
            std::uint64_t at_least[4] = {people < 2 ? ~any : 0, people < 1 ? ~any : 0, 0, 0};
            for (std::uint64_t left = any; left; left &= left - 1) {
                const int bit = __builtin_ctzll(left);
                const std::int32_t v = 2 * count[w * 64 + bit] - people;
                for (int t = 0; t < 4; ++t) at_least[t] |= static_cast<std::uint64_t>(v >= t - 1) << bit;
            }
            for (int t = 0; t < 4; ++t) plane[t * words_] = at_least[t];
        }
        most_[g] = static_cast<std::int32_t>(limit_.most(people));
        const std::uint64_t nobody = most_[g] > 0 ? 0 : ~std::uint64_t{0};
        for (std::int64_t w = 0; w < secret_words_; ++w) {
            std::uint64_t* shut = &secret_planes_[std::int64_t{g} * 2 * secret_words_ + w];
            shut[0] = nobody, shut[secret_words_] = 0;
            for (std::uint64_t left = held_in(g, w); left; left &= left - 1)
                place_attribute(g, static_cast<std::int32_t>(w * 64 + __builtin_ctzll(left)));
        }
    }

    std::int64_t k_;
    ShareLimit limit_;
    std::vector<std::int32_t> group_, place_;
    std::vector<std::vector<std::int32_t>> members_;
    std::int32_t codes_ = 0, attributes_ = 0;
    std::int64_t words_ = 1, secret_words_ = 1;
    std::vector<std::uint64_t> bits_, secret_bits_, planes_, secret_planes_;
    std::vector<std::int32_t> counts_, holders_, most_;  // codes, holders of attributes, how many holders there may be
};

}  // namespace anonset::kp
