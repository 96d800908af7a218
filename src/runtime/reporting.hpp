/// What a runtime tells of itself: its errors, events and trace, to a log if somebody wants one,
/// and with telemetry through the counters file and HTTP. With the threads that do it (decision
/// 0031).
///
/// Threading: any thread, between `start` and `end`. What happens is told with any lock held.
/// Ownership: owns both service threads until `end`; borrows the clock.
/// Errors: a runtime runs without telemetry where there can be none, and says why.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "async/service_thread.hpp"
#include "bridge/tick_clock.hpp"
#include "foundation/trace_log.hpp"
#include "observe/error_log.hpp"
#include "observe/event_hub.hpp"
#include "observe/observed.hpp"
#include "ringkernel/log.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel::http {
class Server;
}  // namespace ringkernel::http

namespace ringkernel::detail {

class Logger;
class Publisher;

class Reporting {
 public:
  Reporting(const RuntimeOptions& options, bridge::TickClock& clock);
  Reporting(const Reporting&) = delete;
  Reporting& operator=(const Reporting&) = delete;
  ~Reporting();

  /// Once. `log`: nullptr: none. `opened`: what the log begins with. Where it throws, `end` ends
  /// what was started.
  void start(ObservedRuntime& runtime, std::shared_ptr<LogSink> log, const std::string& opened);
  /// What is told from here on is kept, and that is all. `is_left`: something under way may be in
  /// the driver on the worker, which is left to it.
  void end(bool is_left) noexcept;

  /// Keeps the error for those who ask later, and tells it. `kernel`: its id, or what was to become
  /// one, or empty. Without memory for that it is counted. Once for each error: by who hands it to
  /// the user.
  void note(std::string_view kernel, const Error& error) noexcept;
  /// The same of a program that was not added or swapped, as no kernel's, with its name.
  void note_of_program(std::string_view name, const Error& error) noexcept;
  /// Tells that the kernel with this id is in another state.
  void changed(const std::string& kernel, KernelStatus status) noexcept;

  [[nodiscard]] const ErrorLog& errors() const noexcept { return errors_; }
  [[nodiscard]] EventHub& events() noexcept { return events_; }
  /// nullptr: nobody is to know.
  [[nodiscard]] TraceLog* trace() noexcept { return publishes_ ? &trace_ : nullptr; }
  [[nodiscard]] const TraceLog& traced() const noexcept { return trace_; }
  void take_trace(std::vector<TraceEvent>& events) { trace_.take(events); }
  /// nullptr: nobody wants one, or it has ended.
  [[nodiscard]] std::shared_ptr<Logger> log() const;
  /// Messages for one whose times are taken; 0: none's, because nobody is to know.
  [[nodiscard]] std::uint32_t sample_every() const noexcept {
    return publishes_ ? latency_sampling_ : 0;
  }
  /// The threads for what is quick and periodic, and for what may block.
  [[nodiscard]] ServiceThread& service() noexcept { return *service_; }
  [[nodiscard]] ServiceThread& worker() noexcept { return *worker_; }

  /// The errors, and until the end where telemetry is, or why there is none.
  void add_to(RuntimeMetrics& metrics) const;

 private:
  void start_telemetry(ObservedRuntime& runtime);
  void start_http();
  void start_log(std::shared_ptr<LogSink> sink, const std::string& opened);

  const std::string name_;
  const std::chrono::nanoseconds period_;
  const std::string wanted_address_;
  const std::uint32_t latency_sampling_;
  const bool publishes_;  // as options and environment want it
  bridge::TickClock& clock_;
  ErrorLog errors_;
  EventHub events_;
  TraceLog trace_;

  // Both until the end: what blocks nobody for long, and what may.
  std::unique_ptr<ServiceThread> service_;
  std::unique_ptr<ServiceThread> worker_;
  std::string telemetry_file_;  // set by `start`, as are the next two
  std::string http_address_;
  std::string telemetry_failure_;         // why there is none
  std::unique_ptr<Publisher> publisher_;  // until the end, as the next two; looks at the runtime
  std::unique_ptr<http::Server> http_;    // reads what the publisher writes
  mutable std::mutex end_mutex_;          // guards what follows
  std::shared_ptr<Logger> log_;           // a swap may outlive a shutdown
  bool has_ended_ = false;
};

}  // namespace ringkernel::detail
