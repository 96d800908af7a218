/// Tells a sink what happens in a runtime: its events, of which it is a subscriber like others. Of
/// events that are alike one in `log_repeat_period` is told, with the number of those before it.
///
/// Threading: any thread; the sink is called by a thread of this, one record at a time.
/// Ownership: shares the sink. The destructor tells what is left to be told, at the end that the
/// runtime was shut down, and ends the thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "ringkernel/events.hpp"
#include "ringkernel/log.hpp"

namespace ringkernel::detail {

class Logger {
 public:
  /// `events` are those of `runtime`, "PID/NUMBER", that its user has given a `name`; it goes on
  /// until they end.
  Logger(std::shared_ptr<LogSink> sink, std::string runtime, std::string name, EventStream events);
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  /// The events have ended.
  ~Logger();

  /// Something that is no event; told by the logger's thread.
  void tell(LogLevel level, std::string text);

 private:
  /// Errors of one kernel with one code.
  struct Kind {
    std::chrono::steady_clock::time_point told;
    std::uint64_t left_out = 0;
    Event last;  // of those left out
  };

  struct Ending;

  void run() noexcept;
  boost::asio::awaitable<void> follow_events();
  boost::asio::awaitable<void> tell_left_out();
  void tell(const Event& event);
  void tell(const Event& event, Kind& kind);
  /// The last of those that were left out, if there are any.
  void tell_last(Kind& kind);
  void tell_of_runtime(LogLevel level, std::string_view text) noexcept;
  void write(const LogRecord& record) noexcept;

  const std::shared_ptr<LogSink> sink_;
  const std::string runtime_;
  const std::string name_;
  boost::asio::io_context context_{1};
  boost::asio::steady_timer timer_{context_};
  EventStream events_;
  std::map<std::pair<std::string, int>, Kind> kinds_;
  bool ended_ = false;  // the events have, or nobody can follow them any more
  std::thread thread_;
};

/// The sink that $RINGKERNEL_LOG asks for; nullptr: none. invalid_argument: it names no level.
[[nodiscard]] Result<std::shared_ptr<LogSink>> log_of_environment();

}  // namespace ringkernel::detail
