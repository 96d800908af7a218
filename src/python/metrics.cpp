#include "python/metrics.hpp"

namespace ringkernel::python {
namespace {

/// One of the dataclasses of metrics.py, from its fields.
nb::object made(const char* name, const nb::dict& fields) {
  return nb::module_::import_("pyringkernel.metrics").attr(name)(**fields);
}

nb::object latency_from(const LatencySummary& latency) {
  nb::dict fields;
  fields["count"] = latency.count;
  fields["sum_ns"] = latency.sum_ns;
  fields["p50_ns"] = latency.p50_ns;
  fields["p90_ns"] = latency.p90_ns;
  fields["p99_ns"] = latency.p99_ns;
  fields["p999_ns"] = latency.p999_ns;
  fields["max_ns"] = latency.max_ns;
  return made("LatencySummary", fields);
}

nb::object method_from(const MethodMetrics& method) {
  nb::dict fields;
  fields["name"] = method.name;
  fields["id"] = method.id;
  fields["answered"] = method.answered;
  fields["faults"] = method.faults;
  fields["latency"] = latency_from(method.latency);
  return made("MethodMetrics", fields);
}

}  // namespace

KernelMetricsData to_python(const KernelMetrics& metrics) {
  nb::dict fields;
  fields["id"] = metrics.id;
  fields["program"] = metrics.program;
  fields["behaviour"] = metrics.behaviour;
  fields["status"] = name(metrics.status);
#define RK_KERNEL_METRIC(figure, kind, help) fields[#figure] = metrics.figure;
#define RK_KERNEL_LATENCY(latency, help) fields[#latency] = latency_from(metrics.latency);
#include "ringkernel/metrics.def"
  nb::list methods;
  for (const MethodMetrics& method : metrics.methods) methods.append(method_from(method));
  fields["methods"] = nb::tuple(methods);
  return nb::steal<KernelMetricsData>(made("KernelMetrics", fields).release());
}

RuntimeMetricsData to_python(const RuntimeMetrics& metrics) {
  nb::dict fields;
  fields["telemetry_file"] = metrics.telemetry_file;
  fields["http_address"] = metrics.http_address;
  fields["telemetry_failure"] = metrics.telemetry_failure;
  fields["name"] = metrics.name;
  fields["backend"] = metrics.backend;
  fields["device"] = metrics.device;
  fields["transfer"] = metrics.transfer;
  fields["arena_fragmentation_score"] = metrics.arena_fragmentation_score;
#define RK_RUNTIME_METRIC(figure, kind, help) fields[#figure] = metrics.figure;
#include "ringkernel/metrics.def"
  return nb::steal<RuntimeMetricsData>(made("RuntimeMetrics", fields).release());
}

ErrorRecordData to_python(const ErrorRecord& record) {
  nb::dict fields;
  fields["kernel"] = record.kernel;
  fields["code"] = record.code;
  fields["text"] = record.text;
  fields["count"] = record.count;
  fields["first_ns"] = record.first_ns;
  fields["last_ns"] = record.last_ns;
  return nb::steal<ErrorRecordData>(made("ErrorRecord", fields).release());
}

}  // namespace ringkernel::python
