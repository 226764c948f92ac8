// A number for each of some sets of at most 64 items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace anonset::bound {

// 0 for each set at first.
class PerSet {
  public:
    void clear() {
        if (++now_ == 0) slots_.assign(slots_.size(), {0, 0, 0}), now_ = 1;
        used_ = 0;
    }
    std::int64_t& of(std::uint64_t set) {
        if (2 * used_ >= slots_.size()) grow();
        Slot& slot = find(set);
        if (slot.time != now_) {
            slot = {set, 0, now_};
            ++used_;
        }
        return slot.number;
    }

  private:
    struct Slot {
        std::uint64_t set;
        std::int64_t number;
        std::uint32_t time;
    };
    Slot& find(std::uint64_t set) {
        std::size_t at = (set * 0x9e3779b97f4a7c15ULL >> 32) & (slots_.size() - 1);
        while (slots_[at].time == now_ && slots_[at].set != set) at = (at + 1) & (slots_.size() - 1);
        return slots_[at];
    }
    void grow() {
        const std::vector<Slot> before = std::move(slots_);
        slots_.assign(std::max<std::size_t>(1024, 2 * before.size()), {0, 0, 0});
        for (const Slot& slot : before)
            if (slot.time == now_) find(slot.set) = slot;
    }
    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    std::uint32_t now_ = 0;
};

}  // namespace anonset::bound
