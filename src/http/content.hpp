/// What there is to be had of one runtime, path by path; all of it from its counters file, so that
/// nobody who asks is felt by the service.
///
/// Threading: one thread at a time.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "telemetry/reading.hpp"

namespace ringkernel::http {

struct Answer {
  unsigned status = 200;
  std::string_view type = "text/plain; charset=utf-8";
  std::string body;
};

class Content {
 public:
  explicit Content(std::filesystem::path counters_file) noexcept
      : counters_file_(std::move(counters_file)) {}

  /// `path`: without a query. Status 404 with the paths that there are; 503 from `/healthz` and
  /// `/readyz` with what is wrong.
  [[nodiscard]] Answer get(std::string_view path);

 private:
  using Readings = std::vector<telemetry::Reading>;

  [[nodiscard]] Readings read() const;
  [[nodiscard]] Answer state();

  const std::filesystem::path counters_file_;
  // Rates are over the last two looks, which are at least `look_again` apart, whoever asks.
  Readings before_;
  Readings latest_;
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace ringkernel::http
