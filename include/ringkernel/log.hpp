/// Where a runtime tells what happens in it: changes of state, errors, what it runs on.
///
///     auto runtime = RingKernelRuntime::builder().log(stderr_log(LogLevel::info)).build();
///
/// Threading: a sink is called by one thread of each runtime that has it, one record at a time, and
/// never by one that messages wait for; at the end perhaps by the one that shuts it down. It must
/// not call `shutdown` or `restart`, nor wait for an `async_launch`: that thread serves it as well.
/// Ownership: shared with the runtimes that have it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "ringkernel/error.hpp"

namespace ringkernel {

/// How much a record matters.
enum class LogLevel : std::uint8_t {
  info,     ///< devices chosen, kernels launched, activated, terminated
  warning,  ///< a message or a request failed; the runtime goes on
  error,    ///< a device is lost, a kernel has failed, or something that was asked for is not there
};

/// "info", "warning" or "error".
[[nodiscard]] const char* name(LogLevel level) noexcept;

/// Valid during the call.
struct LogRecord {
  LogLevel level = LogLevel::info;
  std::chrono::system_clock::time_point time;
  std::string_view runtime = {};  ///< "PID/NUMBER", as rkstat names it; "PID" without telemetry
  std::string_view name = {};     ///< RuntimeOptions::name
  std::string_view kernel = {};   ///< its id; empty: none's
  std::uint64_t message = 0;      ///< correlation id; 0: of none
  std::string_view text = {};
  /// Records like this one, of this kernel and with this code, that were left out before it: one in
  /// `log_repeat_period` is told.
  std::uint64_t left_out = 0;
};

/// In this time one of several like records is written.
inline constexpr std::chrono::seconds log_repeat_period{5};

/// Where records go.
class LogSink {
 public:
  LogSink() = default;
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;
  virtual ~LogSink() = default;
  /// What it throws is ignored.
  virtual void write(const LogRecord& record) = 0;
};

/// Lines on the standard error stream (spdlog): time, level, then what is known as `name=value`.
[[nodiscard]] std::shared_ptr<LogSink> stderr_log(LogLevel least = LogLevel::info);

}  // namespace ringkernel
