/// Metrics and errors as the dataclasses of pyringkernel/metrics.py, which has the same list of
/// figures (ringkernel/metrics.def).
///
/// Threading: with the interpreter's lock held.
#pragma once

#include "python/nanobind.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel::python {

// What the stubs say of them.
#define RK_DATACLASS(name, said)                     \
  class name : public nb::object {                   \
   public:                                           \
    static bool check(nb::handle) { return true; }   \
    NB_OBJECT_DEFAULT(name, nb::object, said, check) \
  };
RK_DATACLASS(KernelMetricsData, "KernelMetrics")
RK_DATACLASS(RuntimeMetricsData, "RuntimeMetrics")
RK_DATACLASS(ErrorRecordData, "ErrorRecord")
#undef RK_DATACLASS

[[nodiscard]] KernelMetricsData to_python(const KernelMetrics& metrics);
[[nodiscard]] RuntimeMetricsData to_python(const RuntimeMetrics& metrics);
[[nodiscard]] ErrorRecordData to_python(const ErrorRecord& record);

}  // namespace ringkernel::python
