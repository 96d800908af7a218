#include <boost/json/src.hpp>

#include "reading.hpp"

namespace rkstat {
namespace {

namespace json = boost::json;
namespace rk = ringkernel;

json::object to_json(const rk::LatencySummary& of) {
  return {{"count", of.count},   {"sum_ns", of.sum_ns}, {"p50_ns", of.p50_ns},
          {"p90_ns", of.p90_ns}, {"p99_ns", of.p99_ns}, {"p999_ns", of.p999_ns},
          {"max_ns", of.max_ns}};
}

json::object to_json(const KernelReading& kernel, const Reading* before) {
  const rk::KernelMetrics& metrics = kernel.metrics;
  json::object object{{"id", metrics.id},
                      {"program", metrics.program},
                      {"state", rk::name(metrics.status)},
                      {"published_ns", kernel.published_ns}};
#define RK_KERNEL_FIGURE(name, kind, help) object[#name] = metrics.name;
#define RK_KERNEL_LATENCY(name, help) object[#name] = to_json(metrics.name);
#include "telemetry/figures.def"
  json::array calls;
  for (const rk::CallInFlight& call : kernel.calls)
    calls.push_back(json::object{{"message", call.message}, {"age_ns", call.age_ns}});
  object["calls"] = std::move(calls);
  if (before != nullptr) object["latency_just_now"] = to_json(recent_latency(kernel, before));
  if (const auto rate = messages_per_second(kernel, before)) object["messages_per_second"] = *rate;
  return object;
}

json::object to_json(const rk::telemetry::Published<rk::RuntimeMetrics>& runtime) {
  const rk::RuntimeMetrics& metrics = runtime.metrics;
  json::object object{{"backend", metrics.backend},
                      {"device", metrics.device},
                      {"transfer", metrics.transfer},
                      {"published_ns", runtime.published_ns}};
#define RK_RUNTIME_FIGURE(name, kind, help) object[#name] = metrics.name;
#include "telemetry/figures.def"
  return object;
}

json::object to_json(const Reading& reading, const Reading* before) {
  json::object object{{"name", reading.name},
                      {"file", reading.path.string()},
                      {"health", name(reading.health)},
                      {"healthy", is_healthy(reading)}};
  if (!reading.problem.empty()) object["problem"] = reading.problem;
  if (!reading.runtime) return object;
  object["heartbeat_age_ns"] = reading.heartbeat_age.count();
  object["kernels_missing"] = reading.kernels_missing;
  object["runtime"] = to_json(*reading.runtime);
  json::array kernels;
  for (const KernelReading& kernel : reading.kernels) kernels.push_back(to_json(kernel, before));
  object["kernels"] = std::move(kernels);
  json::array errors;
  for (const rk::ErrorRecord& error : reading.errors)
    errors.push_back(json::object{{"kernel", error.kernel},
                                  {"code", error.code},
                                  {"text", error.text},
                                  {"count", error.count},
                                  {"first_ns", error.first_ns},
                                  {"last_ns", error.last_ns}});
  object["errors"] = std::move(errors);
  return object;
}

}  // namespace

std::string render_json(const std::vector<Reading>& readings, const std::vector<Reading>& before) {
  json::array list;
  for (const Reading& reading : readings)
    list.push_back(to_json(reading, earlier(before, reading)));
  return json::serialize(json::object{{"runtimes", std::move(list)}}) + "\n";
}

}  // namespace rkstat
