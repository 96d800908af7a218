#include "http/content.hpp"

#include <algorithm>

#include "http/page_files.hpp"
#include "telemetry/prometheus.hpp"
#include "telemetry/state_json.hpp"

namespace ringkernel::http {

using namespace std::chrono_literals;
using telemetry::Reading;

namespace {

constexpr auto look_again = 500ms;

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

/// "/" is the page itself; what is in folders is asked for without them.
const PageFile* page_file(std::string_view path) {
  if (!path.starts_with('/')) return nullptr;
  const std::string_view wanted = path == "/" ? "index.html" : path.substr(1);
  const auto found = std::ranges::find_if(page_files(), [&](const PageFile& file) {
    return file.name.substr(file.name.rfind('/') + 1) == wanted;
  });
  return found == page_files().end() ? nullptr : &*found;
}

/// What keeps a runtime from its work; empty: nothing.
std::string illness(const Reading& reading) {
  return reading.health == telemetry::Health::running ? "" : reading.problem;
}

/// What keeps it from answering requests.
std::string unreadiness(const Reading& reading) {
  if (std::string problem = illness(reading); !problem.empty()) return problem;
  bool is_active = false;
  for (const telemetry::KernelReading& kernel : reading.kernels) {
    if (kernel.metrics.status == KernelStatus::failed)
      return "kernel '" + kernel.metrics.id + "' has failed";
    is_active |= kernel.metrics.status == KernelStatus::active;
  }
  return is_active ? "" : "no kernel is active";
}

Answer verdict(const std::string& problem) {
  if (problem.empty()) return {.body = "ok\n"};
  return {.status = 503, .body = problem + "\n"};
}

}  // namespace

Answer Content::get(std::string_view path) {
  if (path == "/metrics")
    return {.type = "text/plain; version=0.0.4; charset=utf-8",
            .body = telemetry::render_prometheus(read())};
  if (path == "/api/state") return state();
  if (path == "/healthz") return verdict(illness(read().front()));
  if (path == "/readyz") return verdict(unreadiness(read().front()));
  if (const PageFile* const file = page_file(path); file != nullptr)
    return {.type = type_of(file->name), .body = std::string(file->text)};
  return {.status = 404, .body = "there are /, /metrics, /healthz, /readyz and /api/state\n"};
}

Content::Readings Content::read() const { return {telemetry::read(counters_file_)}; }

Answer Content::state() {
  const auto now = std::chrono::steady_clock::now();
  if (latest_.empty() || now - looked_ >= look_again) {
    before_ = std::exchange(latest_, read());
    looked_ = now;
  }
  return {.type = "application/json", .body = telemetry::render_json(latest_, before_)};
}

}  // namespace ringkernel::http
