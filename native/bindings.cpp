// The Python module `anonset._native`: each family of kernels binds itself (native/bind/*.cpp).
#include "bind/common.hpp"

namespace anonset::bind {
void bind_rows(nb::module_& m);
}  // namespace anonset::bind

NB_MODULE(_native, m) {
    namespace nb = nanobind;
    using anonset::bind::PyMonitor;
    nb::exception<anonset::Cancelled>(m, "Cancelled");
    nb::class_<PyMonitor>(m, "Monitor")
        .def(
            "__init__", [](PyMonitor* self, nb::object progress) { new (self) PyMonitor{{}, progress}; },
            nb::arg("progress") = nb::none())
        .def("cancel", [](PyMonitor& self) { self.monitor.stop = true; })
        .def("reset", [](PyMonitor& self) { self.monitor.done = 0; })
        .def_prop_ro("cancelled", [](PyMonitor& self) { return self.monitor.stop.load(); })
        .def_prop_ro("done", [](PyMonitor& self) { return self.monitor.done.load(); });
    anonset::bind::bind_rows(m);
}
