// Rows without the items that at most k/2 of them hold. No center can hold such an item, nor does it change what any
// move or swap gains. Where there are many of them, groups are found faster without.
#pragma once

#include <cstdint>
#include <vector>

#include "core/buffer.hpp"
#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "crowd/without.hpp"

namespace anonset::crowd {

class UsefulItems {
  public:
    UsefulItems(const Csr& rows, std::int32_t n_items, std::int32_t k, int threads, Monitor& monitor)
        : rows_(rows), n_items_(n_items) {
        const std::int64_t all = rows.offsets[rows.rows] - rows.offsets[0];
        if (MUCH * (k / 2) * n_items <= all || without(Mechanism::infrequent))
            return;  // however few rows hold each of them, it is not worth it
        const int parts = thread_count(threads);
        const std::vector<std::int64_t> bounds = even_stretches(rows, parts, 0);
        std::vector<std::vector<std::int32_t>> held(parts);  // how many rows of each part hold an item
        parallel_for(parts, threads, monitor, [&](std::int64_t part, int) {
            held[part].assign(n_items, 0);
            const std::int32_t* const end = rows.items + rows.offsets[bounds[part + 1]];
            for (const std::int32_t* i = rows.items + rows.offsets[bounds[part]]; i != end; ++i) ++held[part][*i];
        });
        std::vector<std::int32_t> number(n_items, -1);
        std::vector<std::int64_t> starts(parts + 1, 0);
        for (std::int32_t item = 0; item < n_items; ++item) {
            std::int32_t sum = 0;
            for (int part = 0; part < parts; ++part) sum += held[part][item];
            if (2 * sum <= k) continue;
            number[item] = static_cast<std::int32_t>(own_.size());
            own_.push_back(item);
            for (int part = 0; part < parts; ++part) starts[part + 1] += held[part][item];
        }
        for (int part = 0; part < parts; ++part) starts[part + 1] += starts[part];
        if (MUCH * (all - starts[parts]) < all) {
            own_.clear();
            return;
        }
        offsets_.resize(rows.rows + 1);
        offsets_[0] = 0;
        items_.resize(starts[parts]);
        parallel_for(parts, threads, monitor, [&](std::int64_t part, int) {
            drop(number, bounds[part], bounds[part + 1], starts[part], starts[part + 1]);
        });
        n_items_ = static_cast<std::int32_t>(own_.size());
        rows_ = {offsets_.data(), items_.data(), rows_.rows};
    }

    // These rows, in which items are numbered anew, in the same order.
    const Csr& rows() const { return rows_; }
    std::int32_t n_items() const { return n_items_; }

    // Gives items their own numbers again.
    void restore(std::vector<std::int32_t>& items) const {
        if (own_.empty()) return;
        for (std::int32_t& item : items) item = own_[item];
    }

  private:
    static constexpr std::int64_t MUCH = 16;  // one of so many occurrences

    // Items without a number are left out: written down and written over, because a branch would be anybody's guess.
    // Near the end of its part a row must not do so: there the next part begins.
    void drop(const std::vector<std::int32_t>& number, std::int64_t from, std::int64_t to, std::int64_t at,
              std::int64_t end) {
        for (std::int64_t row = from; row < to; ++row) {
            const bool far = at + rows_.size(row) < end;
            for (const std::int32_t* i = rows_.begin(row); i != rows_.end(row); ++i) {
                if (far || number[*i] >= 0) items_[at] = number[*i];
                at += number[*i] >= 0;
            }
            offsets_[row + 1] = at;
        }
    }

    Csr rows_;
    std::int32_t n_items_;
    std::vector<std::int32_t> own_;
    Buffer<std::int32_t> items_;
    Buffer<std::int64_t> offsets_;
};

}  // namespace anonset::crowd
