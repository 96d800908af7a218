// Figures, for C.
#include "ringkernel/ringkernel_metrics.h"

#include <algorithm>
#include <string>
#include <utility>

#include "capi/objects.hpp"
#include "foundation/of_thread.hpp"

namespace ringkernel::capi {
namespace {

ringkernel_latency to_c(const LatencySummary& latency) noexcept {
  return {.count = latency.count,
          .sum_ns = latency.sum_ns,
          .p50_ns = latency.p50_ns,
          .p90_ns = latency.p90_ns,
          .p99_ns = latency.p99_ns,
          .p999_ns = latency.p999_ns,
          .max_ns = latency.max_ns};
}

// Each figure of the list has a member of its name: one that is new comes to the struct's end.
ringkernel_kernel_figures to_c(const KernelMetrics& metrics) noexcept {
  ringkernel_kernel_figures figures{};
  figures.status = static_cast<std::int32_t>(metrics.status);
#define RK_KERNEL_METRIC(name, kind, help) figures.name = metrics.name;
#define RK_KERNEL_LATENCY(name, help) figures.name = to_c(metrics.name);
#include "ringkernel/metrics.def"
  return figures;
}

ringkernel_runtime_figures to_c(const RuntimeMetrics& metrics) noexcept {
  ringkernel_runtime_figures figures{};
#define RK_RUNTIME_METRIC(name, kind, help) figures.name = metrics.name;
#include "ringkernel/metrics.def"
  return figures;
}

Result<std::string> text_of(RuntimeMetrics metrics, std::int32_t text) {
  switch (text) {
    case RINGKERNEL_TEXT_NAME: return std::move(metrics.name);
    case RINGKERNEL_TEXT_BACKEND: return std::move(metrics.backend);
    case RINGKERNEL_TEXT_DEVICE: return std::move(metrics.device);
    case RINGKERNEL_TEXT_TRANSFER: return std::move(metrics.transfer);
    case RINGKERNEL_TEXT_TELEMETRY_FILE: return std::move(metrics.telemetry_file);
    case RINGKERNEL_TEXT_HTTP_ADDRESS: return std::move(metrics.http_address);
    case RINGKERNEL_TEXT_TELEMETRY_FAILURE: return std::move(metrics.telemetry_failure);
    default: break;
  }
  return Error(Errc::invalid_argument, "no text has the number " + std::to_string(text));
}

/// What a thread was told last.
struct Told {
  std::string text;
};

}  // namespace
}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the C API
using namespace ringkernel;
using namespace ringkernel::capi;

ringkernel_status ringkernel_kernel_metrics(ringkernel_kernel* kernel,
                                            ringkernel_kernel_figures* out_figures) {
  return with_kernel(kernel, [&](const KernelObject& object) {
    return write_info(to_c(object.kernel.metrics()), out_figures, "out_figures");
  });
}

ringkernel_status ringkernel_runtime_metrics(ringkernel_runtime* handle,
                                             ringkernel_runtime_figures* out_figures) {
  return with_runtime(handle, [&](const auto& runtime) {
    return write_info(to_c(runtime->metrics()), out_figures, "out_figures");
  });
}

ringkernel_status ringkernel_kernel_method_metrics(ringkernel_kernel* kernel,
                                                   const ringkernel_method* method,
                                                   ringkernel_method_figures* out_figures) {
  return with_kernel(kernel, [&](const KernelObject& object) -> Result<void> {
    if (method == nullptr) return null_argument("method");
    const KernelMetrics metrics = object.kernel.metrics();
    const auto found = std::ranges::find(metrics.methods, method->id, &MethodMetrics::id);
    ringkernel_method_figures figures{};
    if (found != metrics.methods.end()) {
      figures.answered = found->answered;
      figures.faults = found->faults;
      figures.latency = to_c(found->latency);
    }
    return write_info(figures, out_figures, "out_figures");
  });
}

ringkernel_status ringkernel_runtime_describe(ringkernel_runtime* handle, int32_t text,
                                              const char** out_text) {
  return with_runtime(handle, [&](const auto& runtime) -> Result<void> {
    if (out_text == nullptr) return null_argument("out_text");
    RK_TRY(told, text_of(runtime->metrics(), text));
    Told* const kept = of_thread<Told>();
    if (kept == nullptr) return no_memory();
    kept->text = std::move(told);
    *out_text = kept->text.c_str();
    return {};
  });
}

// NOLINTEND
