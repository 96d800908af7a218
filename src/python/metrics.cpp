#include "python/runtime.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel::python {

void bind_metrics(nb::module_& module) {
  nb::class_<LatencySummary>(module, "LatencySummary",
                             "How long something took; all zero: nothing was measured.")
      .def_ro("count", &LatencySummary::count)
      .def_ro("sum_ns", &LatencySummary::sum_ns)
      .def_ro("p50_ns", &LatencySummary::p50_ns)
      .def_ro("p90_ns", &LatencySummary::p90_ns)
      .def_ro("p99_ns", &LatencySummary::p99_ns)
      .def_ro("p999_ns", &LatencySummary::p999_ns)
      .def_ro("max_ns", &LatencySummary::max_ns)
      .def("__repr__", [](const LatencySummary& l) {
        return "<LatencySummary of " + std::to_string(l.count) + ", p50 " +
               std::to_string(l.p50_ns) + " ns, p99 " + std::to_string(l.p99_ns) + " ns>";
      });
  nb::class_<MethodMetrics>(module, "MethodMetrics", "Of one method of a program of your own.")
      .def_ro("name", &MethodMetrics::name)
      .def_ro("answered", &MethodMetrics::answered)
      .def_ro("faults", &MethodMetrics::faults)
      .def_ro("latency", &MethodMetrics::latency);
  nb::class_<KernelMetrics>(module, "KernelMetrics", "What is known about a ring kernel.")
      .def_ro("id", &KernelMetrics::id)
      .def_ro("program", &KernelMetrics::program)
      .def_ro("behaviour", &KernelMetrics::behaviour)
      .def_ro("program_version", &KernelMetrics::program_version)
      .def_prop_ro("status", [](const KernelMetrics& m) { return std::string(name(m.status)); })
      .def_ro("messages_in", &KernelMetrics::messages_in)
      .def_ro("messages_out", &KernelMetrics::messages_out)
      .def_ro("bytes_in", &KernelMetrics::bytes_in)
      .def_ro("bytes_out", &KernelMetrics::bytes_out)
      .def_ro("faults", &KernelMetrics::faults)
      .def_ro("accepted", &KernelMetrics::accepted)
      .def_ro("replied", &KernelMetrics::replied)
      .def_ro("failed", &KernelMetrics::failed)
      .def_ro("late", &KernelMetrics::late)
      .def_ro("dropped", &KernelMetrics::dropped)
      .def_ro("expired", &KernelMetrics::expired)
      .def_ro("cancelled", &KernelMetrics::cancelled)
      .def_ro("queued", &KernelMetrics::queued)
      .def_ro("in_flight", &KernelMetrics::in_flight)
      .def_ro("unreceived", &KernelMetrics::unreceived)
      .def_ro("latency", &KernelMetrics::latency)
      .def_ro("device", &KernelMetrics::device)
      .def_ro("methods", &KernelMetrics::methods)
      .def("__repr__", [](const KernelMetrics& m) {
        return "<KernelMetrics of '" + m.id + "', " + std::to_string(m.replied) + " replied, " +
               std::to_string(m.failed) + " failed>";
      });
  nb::class_<RuntimeMetrics>(module, "RuntimeMetrics", "What is known about a runtime.")
      .def_ro("name", &RuntimeMetrics::name)
      .def_ro("backend", &RuntimeMetrics::backend)
      .def_ro("device", &RuntimeMetrics::device)
      .def_ro("transfer", &RuntimeMetrics::transfer)
      .def_ro("telemetry_file", &RuntimeMetrics::telemetry_file)
      .def_ro("http_address", &RuntimeMetrics::http_address)
      .def_ro("telemetry_failure", &RuntimeMetrics::telemetry_failure)
      .def_ro("kernels", &RuntimeMetrics::kernels)
      .def_ro("arena_bytes", &RuntimeMetrics::arena_bytes)
      .def_ro("arena_free_bytes", &RuntimeMetrics::arena_free_bytes)
      .def_ro("arena_largest_free_bytes", &RuntimeMetrics::arena_largest_free_bytes)
      .def_ro("tensors", &RuntimeMetrics::tensors)
      .def_ro("tensor_bytes", &RuntimeMetrics::tensor_bytes)
      .def_ro("errors", &RuntimeMetrics::errors)
      .def("__repr__", [](const RuntimeMetrics& m) {
        return "<RuntimeMetrics of '" + m.name + "', " + std::to_string(m.kernels) + " kernels>";
      });
  nb::class_<ErrorRecord>(module, "ErrorRecord", "An error that a runtime has met, and how often.")
      .def_ro("kernel", &ErrorRecord::kernel)
      .def_ro("code", &ErrorRecord::code)
      .def_ro("text", &ErrorRecord::text)
      .def_ro("count", &ErrorRecord::count)
      .def("__repr__", [](const ErrorRecord& e) {
        return "<ErrorRecord " + std::to_string(e.count) + " x " + e.text + ">";
      });
}

}  // namespace ringkernel::python
