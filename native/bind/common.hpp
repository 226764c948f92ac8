// What every binding needs: arrays in, arrays out, and a body that runs without the GIL and can be stopped.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <exception>
#include <utility>

#include "core/csr.hpp"
#include "core/monitor.hpp"
#include "core/pool.hpp"

namespace anonset::bind {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Hands a vector's memory to NumPy without copying.
template <class T, class Memory>
Out<T> to_numpy(std::vector<T, Memory>&& values) {
    using Owned = std::vector<T, Memory>;
    auto* owner = new Owned(std::move(values));
    nb::capsule free(owner, [](void* p) noexcept { delete static_cast<Owned*>(p); });
    return Out<T>(owner->data(), {owner->size()}, free);
}

// The same for a vector of zeros and ones, which NumPy is to see as a mask.
inline Out<bool> to_mask(std::vector<std::uint8_t>&& flags) {
    static_assert(sizeof(bool) == 1);
    auto* owner = new std::vector<std::uint8_t>(std::move(flags));
    nb::capsule free(owner, [](void* p) noexcept { delete static_cast<std::vector<std::uint8_t>*>(p); });
    return Out<bool>(reinterpret_cast<bool*>(owner->data()), {owner->size()}, free);
}

inline Csr to_csr(const In<std::int64_t>& offsets, const In<std::int32_t>& items) {
    if (offsets.shape(0) == 0) throw nb::value_error("offsets must not be empty");
    return {offsets.data(), items.data(), static_cast<std::int64_t>(offsets.shape(0)) - 1};
}

inline std::pair<Out<std::int64_t>, Out<std::int32_t>> to_numpy(OwnedCsr&& csr) {
    return {to_numpy(std::move(csr.offsets)), to_numpy(std::move(csr.items))};
}

// What Python holds: the monitor and, optionally, a callable that is told the steps done so far.
struct PyMonitor {
    Monitor monitor;
    nb::object progress = nb::none();
};

// Runs body() on its own thread without the GIL. Every 50 ms the caller looks for Ctrl-C and reports
// progress; an exception there (KeyboardInterrupt) stops the body and goes on to Python.
template <class Body>
void run(PyMonitor& watched, Body&& body) {
    std::exception_ptr failure;
    Pool::Loan worker([&] {
        try {
            watched.monitor.check();
            body(watched.monitor);
        } catch (...) {
            failure = std::current_exception();
        }
    });
    worker.start();
    bool interrupted = false;
    {
        nb::gil_scoped_release without_gil;
        while (!worker.wait_for(std::chrono::milliseconds(50))) {
            nb::gil_scoped_acquire with_gil;
            if (!interrupted && PyErr_CheckSignals() != 0) interrupted = true;
            if (!interrupted && watched.progress.is_valid() && !watched.progress.is_none()) {
                PyObject* said = PyObject_CallFunction(watched.progress.ptr(), "L",
                                                       static_cast<long long>(watched.monitor.done.load()));
                if (said == nullptr) interrupted = true;
                Py_XDECREF(said);
            }
            if (interrupted) watched.monitor.stop = true;
        }
    }
    if (interrupted) throw nb::python_error();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace anonset::bind
