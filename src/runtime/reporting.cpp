#include "runtime/reporting.hpp"

#include <unistd.h>

#include <boost/asio/error.hpp>
#include <utility>

#include "foundation/leave_behind.hpp"
#include "foundation/memory_error.hpp"
#include "http/address.hpp"
#include "http/server.hpp"
#include "observe/logger.hpp"
#include "observe/publisher.hpp"
#include "ringkernel/limits.hpp"
#include "telemetry/reading.hpp"

namespace ringkernel::detail {

Reporting::Reporting(const RuntimeOptions& options, bridge::TickClock& clock)
    : name_(options.name),
      period_(options.telemetry_period),
      wanted_address_(options.http_address),
      latency_sampling_(options.latency_sampling),
      publishes_(options.telemetry),
      clock_(clock),
      service_(std::make_unique<ServiceThread>()),
      worker_(std::make_unique<ServiceThread>()) {}

Reporting::~Reporting() = default;

void Reporting::start(ObservedRuntime& runtime, std::shared_ptr<LogSink> log,
                      const std::string& opened) {
  start_telemetry(runtime);
  if (log != nullptr) start_log(std::move(log), opened);
}

void Reporting::start_telemetry(ObservedRuntime& runtime) {
  if (!publishes_) {
    if (!wanted_address_.empty())
      telemetry_failure_ = "HTTP shows what telemetry publishes, which is off";
    return;
  }
  Result<std::unique_ptr<Publisher>> publisher = Publisher::create(runtime, period_);
  if (!publisher) {
    telemetry_failure_ = publisher.error().detail;  // a service runs without
    return;
  }
  publisher_ = std::move(*publisher);
  telemetry_file_ = publisher_->path().string();
  start_http();
  if (latency_sampling_ != 0) clock_.start();
  publisher_->begin();
  // Not `service_`, which the end takes away while the thread is still there.
  service_->repeat(period_, [this, service = service_.get()] { publisher_->publish(service); });
  service_->start();  // it looks at all of the above
}

void Reporting::start_http() {
  if (wanted_address_.empty()) return;
  Result<std::unique_ptr<http::Server>> server = http::Server::open(
      service_->context(), http::parse_address(wanted_address_).value(), telemetry_file_);
  if (!server) {
    telemetry_failure_ = server.error().detail;
    return;
  }
  http_ = std::move(*server);
  http_address_ = http_->address();
}

void Reporting::start_log(std::shared_ptr<LogSink> sink, const std::string& opened) {
  const std::string runtime =
      telemetry_file_.empty() ? std::to_string(getpid()) : telemetry::name_of(telemetry_file_);
  log_ = std::make_shared<Logger>(*worker_, std::move(sink), runtime, name_);
  events_.add(log_);
  log_->tell(LogLevel::info, opened);
  if (!telemetry_failure_.empty()) log_->tell(LogLevel::error, telemetry_failure_);
  if (!http_address_.empty()) log_->tell(LogLevel::info, "HTTP at " + http_address_);
  worker_->repeat(log_repeat_period, [log = log_] { log->tell_left_out(); });
  worker_->start();
}

void Reporting::end(bool is_left) noexcept {
  service_.reset();  // the end of its context closes what HTTP has open
  http_.reset();
  publisher_.reset();
  events_.close();
  std::shared_ptr<Logger> log;  // the sink goes without a lock
  {
    const std::lock_guard lock(end_mutex_);
    log = std::move(log_);
    has_ended_ = true;
  }
  if (!is_left) {
    if (log) log->end();
    if (worker_) worker_->finish();
  } else {
    if (log) log->end_here();
    leave_behind(worker_);
  }
  worker_.reset();
}

void Reporting::note(std::string_view kernel, const Error& error) noexcept {
  if (error.code == boost::asio::error::operation_aborted) return;
  kernel = kernel.substr(0, kernel_id_length_max);
  const std::uint64_t now_ns = clock_.coarse_ns();
  errors_.note(kernel, error, now_ns);
  if (!events_.has_listeners()) return;
  const bool is_told = with_memory([&] {
    events_.emit({.kernel = std::string(kernel), .status = {}, .error = error, .time_ns = now_ns});
  });
  if (!is_told) events_.miss();
}

void Reporting::note_of_program(std::string_view name, const Error& error) noexcept {
  Error told = error;
  (void)with_memory([&] {
    const std::string quoted = "'" + std::string(name) + "'";
    if (told.detail.find(quoted) == std::string::npos)
      told.detail = "program " + quoted + ": " + told.detail;
  });
  note({}, told);
}

void Reporting::changed(const std::string& kernel, KernelStatus status) noexcept {
  if (publishes_) {
    const std::uint64_t now_ns = clock_.now_ns();
    trace_.keep(TraceEvent::of(TraceKind::state, static_cast<std::uint64_t>(status), now_ns, now_ns,
                               kernel));
  }
  if (!events_.has_listeners()) return;
  const bool is_told = with_memory([&] {
    events_.emit({.kernel = kernel, .status = status, .error = {}, .time_ns = clock_.coarse_ns()});
  });
  if (!is_told) events_.miss();
}

std::shared_ptr<Logger> Reporting::log() const {
  const std::lock_guard lock(end_mutex_);
  return log_;
}

void Reporting::add_to(RuntimeMetrics& metrics) const {
  const ErrorLog::Counts errors = errors_.counts();
  metrics.latency_sampling = sample_every();
  metrics.errors = errors.all;
  metrics.errors_missing = errors.missing;
  const std::lock_guard lock(end_mutex_);
  if (has_ended_) return;
  metrics.telemetry_file = telemetry_file_;
  metrics.http_address = http_address_;
  metrics.telemetry_failure = telemetry_failure_;
}

}  // namespace ringkernel::detail
