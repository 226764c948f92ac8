// The sum of the largest of some values; each may be there in several copies, and the filler any number of times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace anonset::bound {

template <class Value>
class Largest {
  public:
    struct Entry {
        Value value;
        std::int64_t copies;
        std::int32_t name;
    };

    void begin(std::int64_t keep, Value filler) {
        keep_ = keep;
        copies_ = 0;
        floor_ = filler_ = filler;
        entries_.clear();
    }
    // Values up to here change nothing.
    Value floor() const { return floor_; }
    void add(Value value, std::int64_t copies, std::int32_t name = 0) {
        if (value <= floor_ || keep_ == 0 || copies == 0) return;
        auto place = entries_.end();
        while (place != entries_.begin() && (place - 1)->value < value) --place;
        entries_.insert(place, {value, copies, name});
        copies_ += copies;
        while (copies_ - entries_.back().copies >= keep_) {
            copies_ -= entries_.back().copies;
            entries_.pop_back();
        }
        if (copies_ >= keep_) floor_ = entries_.back().value;
    }
    // Calls body(entry, copies taken) for the `count` largest that are not fillers; returns how many fillers are left.
    template <class Body>
    std::int64_t take(std::int64_t count, Body&& body) const {
        for (auto each = entries_.begin(); count > 0 && each != entries_.end(); ++each) {
            const std::int64_t taken = std::min(count, each->copies);
            body(*each, taken);
            count -= taken;
        }
        return count;
    }
    std::int64_t sum(std::int64_t count) const {
        std::int64_t total = 0;
        const std::int64_t left =
            take(count, [&](const Entry& entry, std::int64_t taken) { total += taken * entry.value; });
        return total + left * filler_;
    }

  private:
    std::int64_t keep_ = 0, copies_ = 0;
    Value floor_ = 0, filler_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace anonset::bound
