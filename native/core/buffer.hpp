// Memory for large arrays: a vector whose elements are left as they are until something is written to them, and which
// asks for large pages where it is large. Ordinary pages are handed out one by one at the first touch, again after each
// free, and for an array of many megabytes that can take as long as the work on it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace anonset {

template <class T>
struct LargePages {
    using value_type = T;

    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}

    T* allocate(std::size_t count) {
        if (!large(count)) return static_cast<T*>(::operator new(count * sizeof(T)));
        const std::size_t bytes = (count * sizeof(T) + PAGE - 1) / PAGE * PAGE;
        void* memory = std::aligned_alloc(PAGE, bytes);
        if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
        madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without large pages all works as well
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t count) {
        if (large(count)) {
            std::free(memory);
        } else {
            ::operator delete(memory);
        }
    }

    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;  // not U(): no zeros
    }
    template <class U, class... Values>
    void construct(U* place, Values&&... values) {
        ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
    }

    template <class U>
    bool operator==(const LargePages<U>&) const {
        return true;
    }
    template <class U>
    bool operator!=(const LargePages<U>&) const {
        return false;
    }

  private:
    static constexpr std::size_t PAGE = std::size_t{1} << 21;
    static bool large(std::size_t count) { return count >= PAGE / sizeof(T); }
};

// Buffer<T>(n) and resize(n) do not fill; Buffer<T>(n, value) and assign(n, value) do.
template <class T>
using Buffer = std::vector<T, LargePages<T>>;

}  // namespace anonset
