// How a long computation is watched and stopped, and how it uses the cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/pool.hpp"

namespace anonset {

// What threads write to all the time lies at least so many bytes apart, or they would take cache lines from each other.
constexpr std::size_t APART = 128;

// Thrown inside a kernel once somebody asked it to stop.
struct Cancelled : std::exception {
    const char* what() const noexcept override { return "cancelled"; }
};

// Shared between a kernel's threads and the one that waits for it: `stop` goes in, `done` comes out.
struct Monitor {
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> done{0};

    void advance(std::int64_t steps = 1) { done.fetch_add(steps, std::memory_order_relaxed); }
    void check() const {
        if (stop.load(std::memory_order_relaxed)) throw Cancelled();
    }
};

inline int thread_count(int requested) {
    if (requested > 0) return requested;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Runs body(task, worker) for every task in [0, tasks). Tasks are handed out in blocks of `grain`; the result
// must not depend on which worker takes which task. The first exception ends the others and is thrown here.
template <class Body>
void parallel_for(std::int64_t tasks, int threads, Monitor& monitor, Body&& body, std::int64_t grain = 1) {
    const int workers =
        static_cast<int>(std::min<std::int64_t>(thread_count(threads), std::max<std::int64_t>(1, tasks / grain)));
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    std::mutex guard;
    auto work = [&](int worker) {
        try {
            while (!failed.load(std::memory_order_relaxed)) {
                const std::int64_t begin = next.fetch_add(grain);
                if (begin >= tasks) return;
                const std::int64_t end = std::min(tasks, begin + grain);
                for (std::int64_t task = begin; task < end; ++task) {
                    monitor.check();
                    body(task, worker);
                }
                monitor.advance(end - begin);
            }
        } catch (...) {
            std::lock_guard<std::mutex> lock(guard);
            if (!failure) failure = std::current_exception();
            failed = true;
        }
    };
    std::vector<std::unique_ptr<Pool::Loan>> helpers;
    try {
        for (int worker = 1; worker < workers; ++worker) {
            helpers.push_back(std::make_unique<Pool::Loan>([&work, worker] { work(worker); }));
            helpers.back()->start();
        }
    } catch (const std::system_error&) {
        // No more threads to be had: those that are there do all of it.
    }
    work(0);
    helpers.clear();  // which waits for them
    if (failure) std::rethrow_exception(failure);
}

}  // namespace anonset
