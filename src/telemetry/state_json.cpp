#include "telemetry/state_json.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

namespace ringkernel::telemetry {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const LatencySummary& of) {
  return {{"count", of.count},   {"sum_ns", of.sum_ns}, {"p50_ns", of.p50_ns},
          {"p90_ns", of.p90_ns}, {"p99_ns", of.p99_ns}, {"p999_ns", of.p999_ns},
          {"max_ns", of.max_ns}};
}

Json to_json(const KernelReading& kernel, const Reading* before) {
  const KernelMetrics& metrics = kernel.metrics;
  Json object{{"id", metrics.id},
              {"program", metrics.program},
              {"behaviour", metrics.behaviour},
              {"state", ringkernel::name(metrics.status)},
              {"published_ns", kernel.published_ns}};
#define RK_KERNEL_METRIC(name, kind, help) object[#name] = metrics.name;
#define RK_KERNEL_LATENCY(name, help) \
  if (is_known(metrics, &KernelMetrics::name)) object[#name] = to_json(metrics.name);
#include "ringkernel/metrics.def"
  Json calls = Json::array();
  for (const CallInFlight& call : kernel.calls)
    calls.push_back(Json{{"message", call.message}, {"age_ns", call.age_ns}});
  object["calls"] = std::move(calls);
  Json methods = Json::array();
  for (const MethodMetrics& method : metrics.methods)
    methods.push_back(Json{{"name", method.name},
                           {"answered", method.answered},
                           {"faults", method.faults},
                           {"latency", to_json(method.latency)}});
  object["methods"] = std::move(methods);
  if (before != nullptr) object["latency_just_now"] = to_json(recent_latency(kernel, before));
  if (const auto rate = messages_per_second(kernel, before)) object["messages_per_second"] = *rate;
  return object;
}

Json to_json(const Published<RuntimeMetrics>& runtime) {
  const RuntimeMetrics& metrics = runtime.metrics;
  Json object{{"name", metrics.name},
              {"backend", metrics.backend},
              {"device", metrics.device},
              {"transfer", metrics.transfer},
              {"published_ns", runtime.published_ns}};
#define RK_RUNTIME_METRIC(name, kind, help) object[#name] = metrics.name;
#include "ringkernel/metrics.def"
  return object;
}

Json to_json(const Reading& reading, const Reading* before) {
  Json object{{"name", reading.name},
              {"file", reading.path.string()},
              {"health", name(reading.health)},
              {"healthy", is_healthy(reading)}};
  if (!reading.problem.empty()) object["problem"] = reading.problem;
  if (!reading.runtime) return object;
  object["heartbeat_age_ns"] = reading.heartbeat_age.count();
  object["moment_ns"] = moment_ns(reading);
  object["created_unix_ns"] = std::chrono::nanoseconds(reading.created.time_since_epoch()).count();
  object["kernels_missing"] = reading.kernels_missing;
  object["runtime"] = to_json(*reading.runtime);
  Json kernels = Json::array();
  for (const KernelReading& kernel : reading.kernels) kernels.push_back(to_json(kernel, before));
  object["kernels"] = std::move(kernels);
  Json errors = Json::array();
  for (const ErrorRecord& error : reading.errors)
    errors.push_back(Json{{"kernel", error.kernel},
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
  Json list = Json::array();
  for (const Reading& reading : readings)
    list.push_back(to_json(reading, earlier(before, reading)));
  return Json{{"runtimes", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace ringkernel::telemetry
