#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <iterator>

#include "ringkernel/log.hpp"
#include "telemetry/utf8.hpp"

namespace ringkernel {

const char* name(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: break;
  }
  return "error";
}

namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warning: return spdlog::level::warn;
    case LogLevel::error: break;
  }
  return spdlog::level::err;
}

/// A value that stands behind a name: in quotes, in one line, and without what a terminal would
/// obey, whatever is in it.
std::string quoted(std::string_view value) {
  std::string text = "\"";
  while (!value.empty()) {
    const telemetry::Character next = telemetry::first_character(value);
    const std::string_view bytes = value.substr(0, std::max<std::size_t>(next.bytes, 1));
    value.remove_prefix(bytes.size());
    if (bytes == "\"" || bytes == "\\") text += '\\';
    if (next.bytes != 0 && !telemetry::is_command(next.code_point)) {
      text += bytes;
      continue;
    }
    for (const char byte : bytes)
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(byte));
  }
  return text + "\"";
}

class StderrLog final : public LogSink {
 public:
  explicit StderrLog(LogLevel least) : least_(least) {
    sink_.set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l ringkernel %v");
  }

  void write(const LogRecord& record) override {
    if (record.level < least_) return;
    std::string line = fmt::format("runtime={}", record.runtime);
    const auto to = std::back_inserter(line);
    if (!record.name.empty()) fmt::format_to(to, " name={}", quoted(record.name));
    if (!record.kernel.empty()) fmt::format_to(to, " kernel={}", quoted(record.kernel));
    if (record.message != 0) fmt::format_to(to, " message={}", record.message);
    if (record.left_out != 0) fmt::format_to(to, " left_out={}", record.left_out);
    fmt::format_to(to, " text={}", quoted(record.text));
    sink_.log(spdlog::details::log_msg(record.time, {}, "", to_spdlog(record.level), line));
    sink_.flush();
  }

 private:
  const LogLevel least_;
  spdlog::sinks::stderr_sink_mt sink_;
};

}  // namespace

std::shared_ptr<LogSink> stderr_log(LogLevel least) { return std::make_shared<StderrLog>(least); }

}  // namespace ringkernel
