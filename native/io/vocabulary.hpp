// Texts and their codes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anonset::io {

// Texts numbered in order of first appearance. A text that outlives the vocabulary is not copied.
class Vocabulary {
  public:
    enum class Keep { borrow, copy };

    std::int32_t code_of(std::string_view text, Keep keep = Keep::borrow) { return find(text, key_of(text), keep); }
    // For a text of at most 7 bytes that is already packed: its bytes, the first one lowest.
    std::int32_t code_of_short(std::string_view text, std::uint64_t packed) {
        return find(text, packed << 8 | text.size(), Keep::borrow);
    }
    const std::vector<std::string_view>& texts() const { return texts_; }

  private:
    struct Slot {
        std::uint64_t key;
        std::int32_t code;
    };
    static constexpr std::uint64_t LONG = 0xFF;

    static std::uint64_t mix(std::uint64_t value) {
        value *= 0x9E3779B97F4A7C15ull;
        return value ^ (value >> 32);
    }
    // Up to 7 bytes: the text itself and its size, so that equal keys are equal texts. Above: a hash.
    static std::uint64_t key_of(std::string_view text) {
        std::uint64_t word = 0;
        if (text.size() < 8) {
            for (std::size_t i = text.size(); i-- > 0;) word = word << 8 | static_cast<unsigned char>(text[i]);
            return word << 8 | text.size();
        }
        std::uint64_t hash = text.size();
        const char* p = text.data();
        for (std::size_t left = text.size(); left > 0;) {
            const std::size_t step = std::min<std::size_t>(left, 8);
            word = 0;
            std::memcpy(&word, p, step);
            hash = mix(hash ^ word);
            p += step, left -= step;
        }
        return hash | LONG;
    }
    std::int32_t find(std::string_view text, std::uint64_t key, Keep keep) {
        std::size_t slot = mix(key) & mask_;
        for (; slots_[slot].code >= 0; slot = (slot + 1) & mask_) {
            if (slots_[slot].key != key) continue;
            if ((key & LONG) != LONG || texts_[slots_[slot].code] == text) return slots_[slot].code;
        }
        return add(text, key, slot, keep);
    }
    std::int32_t add(std::string_view text, std::uint64_t key, std::size_t slot, Keep keep) {
        if (texts_.size() >= 0x7FFFFFFF) throw std::length_error("more than 2,147,483,647 different items");
        if (keep == Keep::copy) text = copies_.emplace_back(text);
        const auto code = static_cast<std::int32_t>(texts_.size());
        texts_.push_back(text);
        slots_[slot] = {key, code};
        if (2 * texts_.size() > mask_) grow();
        return code;
    }
    void grow() {
        const std::vector<Slot> old = std::move(slots_);
        mask_ = 4 * (mask_ + 1) - 1;
        slots_.assign(mask_ + 1, {0, -1});
        for (const Slot& entry : old) {
            if (entry.code < 0) continue;
            std::size_t slot = mix(entry.key) & mask_;
            while (slots_[slot].code >= 0) slot = (slot + 1) & mask_;
            slots_[slot] = entry;
        }
    }

    std::size_t mask_ = 1023;
    std::vector<Slot> slots_{1024, {0, -1}};
    std::vector<std::string_view> texts_;
    std::deque<std::string> copies_;
};

}  // namespace anonset::io
