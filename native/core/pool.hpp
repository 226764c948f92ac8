// Threads that wait for work: a parallel section of a tenth of a millisecond should not start and end its own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace anonset {

// Looks for a moment whether ready() is true. To put a thread to sleep and to wake it takes longer than most gaps
// between two sections; where there is one core, the other thread needs it.
template <class Ready>
bool soon(Ready&& ready) {
    static const bool alone = std::thread::hardware_concurrency() < 2;
    constexpr auto MOMENT = std::chrono::microseconds(50);
    if (alone) return ready();
    const auto end = std::chrono::steady_clock::now() + MOMENT;
    do {
        for (int look = 0; look < 32; ++look) {
            if (ready()) return true;
#if defined(__x86_64__) || defined(__i386__)
            __builtin_ia32_pause();
#endif
        }
    } while (std::chrono::steady_clock::now() < end);
    return ready();
}

// The pool of a process. A borrower of a thread has it until the work is done, and the one that came back last is
// lent first: it may still be awake. There are as many threads as were ever busy at once.
class Pool {
  public:
    // What a borrower gave away and waits for. The work must outlive it.
    class Loan {
      public:
        explicit Loan(std::function<void()> work) : work_(std::move(work)) {}
        ~Loan() { wait(); }
        Loan(const Loan&) = delete;
        Loan& operator=(const Loan&) = delete;

        void start() {
            ended_ = false;
            try {
                shared().lend().give(this);
            } catch (...) {
                ended_ = true;
                throw;
            }
        }
        void wait() {
            soon([&] { return ended_.load(); });
            std::unique_lock<std::mutex> lock(guard_);
            changed_.wait(lock, [&] { return ended_.load(); });
        }
        // Returns after `time` even if the work goes on; says whether it has ended.
        template <class Time>
        bool wait_for(const Time& time) {
            std::unique_lock<std::mutex> lock(guard_);
            return changed_.wait_for(lock, time, [&] { return ended_.load(); });
        }

      private:
        friend class Pool;
        void end() {  // the lock is held to the last: after it the borrower may be gone
            std::lock_guard<std::mutex> lock(guard_);
            ended_ = true;
            changed_.notify_one();
        }

        std::function<void()> work_;
        std::mutex guard_;
        std::condition_variable changed_;
        std::atomic<bool> ended_{true};
    };

  private:
    class Worker {
      public:
        explicit Worker(Pool& home) : home_(home) {}

        void give(Loan* loan) {
            std::lock_guard<std::mutex> lock(guard_);
            loan_ = loan;
            if (asleep_) changed_.notify_one();
        }
        void live() {
            for (;;) {
                Loan* const loan = await();
                loan->work_();
                home_.take_back(*this);  // first, so that the borrower finds this thread when it goes on
                loan->end();
            }
        }

      private:
        Loan* await() {
            soon([&] { return loan_.load() != nullptr; });
            std::unique_lock<std::mutex> lock(guard_);
            asleep_ = true;
            changed_.wait(lock, [&] { return loan_.load() != nullptr; });
            asleep_ = false;
            return loan_.exchange(nullptr);
        }

        Pool& home_;
        std::mutex guard_;
        std::condition_variable changed_;
        bool asleep_ = false;
        std::atomic<Loan*> loan_{nullptr};
    };

    // A child of fork() has none of its parent's threads, so it begins anew. Threads wait to the very end of the
    // process: the pool is never taken down.
    static Pool& shared() {
        static std::atomic<Pool*> current{nullptr};
#if defined(__unix__) || defined(__APPLE__)
        static const int registered = pthread_atfork(nullptr, nullptr, [] { current = nullptr; });
        static_cast<void>(registered);
#endif
        Pool* pool = current.load();
        if (pool == nullptr) {
            auto fresh = std::make_unique<Pool>();
            if (current.compare_exchange_strong(pool, fresh.get())) pool = fresh.release();
        }
        return *pool;
    }

    Worker& lend() {
        {
            std::lock_guard<std::mutex> lock(guard_);
            if (!idle_.empty()) {
                Worker* const worker = idle_.back();
                idle_.pop_back();
                return *worker;
            }
        }
        auto fresh = std::make_unique<Worker>(*this);
        std::thread([worker = fresh.get()] { worker->live(); }).detach();
        return *fresh.release();
    }
    void take_back(Worker& worker) {
        std::lock_guard<std::mutex> lock(guard_);
        idle_.push_back(&worker);
    }

    std::mutex guard_;
    std::vector<Worker*> idle_;
};

}  // namespace anonset
