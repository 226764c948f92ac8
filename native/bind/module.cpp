// The Python module `anonset._native`: each family of kernels binds itself (native/bind/*.cpp).
#include "bind/common.hpp"

namespace anonset::bind {
void bind_crowd(nb::module_& m);
void bind_cahd(nb::module_& m);
void bind_dual(nb::module_& m);
void bind_mining(nb::module_& m);
void bind_generate(nb::module_& m);
void bind_risk(nb::module_& m);
void bind_kamp(nb::module_& m);
void bind_km(nb::module_& m);
void bind_kp(nb::module_& m);
void bind_io(nb::module_& m);
void bind_core(nb::module_& m);
void bind_pta(nb::module_& m);
void bind_partition(nb::module_& m);
}  // namespace anonset::bind

namespace {

namespace nb = nanobind;
using anonset::bind::PyMonitor;

// A monitor holds its owner's callback, and the owner holds the monitor: Python's collector must see the circle.
int visit_monitor(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<PyMonitor>(self)->progress.ptr());
    return 0;
}

int clear_monitor(PyObject* self) {
    nb::inst_ptr<PyMonitor>(self)->progress.reset();
    return 0;
}

PyType_Slot monitor_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_monitor)},
                               {Py_tp_clear, reinterpret_cast<void*>(clear_monitor)},
                               {0, nullptr}};

}  // namespace

NB_MODULE(_native, m) {
    nb::exception<anonset::Cancelled>(m, "Cancelled");
    nb::class_<PyMonitor>(m, "Monitor", nb::type_slots(monitor_slots))
        .def(
            "__init__", [](PyMonitor* self, nb::object progress) { new (self) PyMonitor{{}, progress}; },
            nb::sig("def __init__(self, progress: Callable[[int], None] | None = None) -> None"),
            nb::arg("progress") = nb::none())
        .def("cancel", [](PyMonitor& self) { self.monitor.stop = true; })
        .def("reset", [](PyMonitor& self) { self.monitor.done = 0; })
        .def_prop_ro("cancelled", [](PyMonitor& self) { return self.monitor.stop.load(); })
        .def_prop_ro("done", [](PyMonitor& self) { return self.monitor.done.load(); });
    anonset::bind::bind_crowd(m);
    anonset::bind::bind_cahd(m);
    anonset::bind::bind_dual(m);
    anonset::bind::bind_mining(m);
    anonset::bind::bind_generate(m);
    anonset::bind::bind_risk(m);
    anonset::bind::bind_kamp(m);
    anonset::bind::bind_km(m);
    anonset::bind::bind_kp(m);
    anonset::bind::bind_io(m);
    anonset::bind::bind_core(m);
    anonset::bind::bind_pta(m);
    anonset::bind::bind_partition(m);
}
