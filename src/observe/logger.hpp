/// Tells a sink what happens in a runtime. Of events that are alike one in `log_repeat_period` is
/// told, with the number of those before it.
///
/// Whoever tells of an event leaves it in a queue of Boost.Lockfree, which has room for
/// `events_max`, and goes on; what found no room is counted, and told with the next one. What is no
/// event is kept beside it, with the number of the events before it.
///
/// Threading: any thread; the sink is called by one at a time: the service thread, or whoever ends
/// the log in its place. Events come from one thread at a time, as the hub has it.
/// Memory ordering: the queue's: an event is published by its writer and acquired by its reader.
/// `is_ending_` is released by `end`, behind the last event, and acquired before a look at them.
/// `pushed_` is relaxed: a thread finds its own events counted, and the order of others is open.
/// Ownership: shares the sink; the service thread keeps this while something is to be told.
#pragma once

#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "async/service_task.hpp"
#include "observe/event_hub.hpp"
#include "ringkernel/events.hpp"
#include "ringkernel/limits.hpp"
#include "ringkernel/log.hpp"

namespace ringkernel::detail {

class Logger final : public EventListener, public ServiceTask {
 public:
  /// Of `runtime`, "PID/NUMBER", that its user has given a `name`.
  Logger(ServiceThread& thread, std::shared_ptr<LogSink> sink, std::string runtime,
         std::string name);
  ~Logger() = default;

  /// Something that is no event: told by the service thread behind the events of this one so far,
  /// with the time of this call. Behind the end nothing.
  void tell(LogLevel level, std::string text);
  /// The last of those events that were left out for longer than `log_repeat_period`.
  void tell_left_out() noexcept;

  void push(const Event& event) noexcept override;
  void miss() noexcept override;
  void close() noexcept override { is_closed_ = true; }

  /// Behind `close`: tells what is left to be told, at the end that the runtime was shut down. The
  /// service thread does.
  void end() noexcept;
  /// The same on this thread, where the service thread may be held up for ever.
  void end_here() noexcept;

 private:
  /// Errors of one kernel with one code.
  struct Kind {
    std::chrono::steady_clock::time_point told;
    std::uint64_t left_out = 0;
    Event last;  // of those left out
  };

  /// What is no event.
  struct Text {
    LogLevel level = LogLevel::info;
    std::chrono::system_clock::time_point time;
    std::string text;
    std::uint64_t events_before = 0;
  };

  void run() noexcept override;
  // With telling_ held, as these:
  void tell(const Event& event);
  void tell(const Event& event, Kind& kind);
  /// The last of those that were left out, if there are any.
  void tell_last(Kind& kind);
  void tell_missed(std::uint64_t missed) noexcept;
  /// Those that are behind no more than so many events.
  void tell_texts(std::uint64_t events) noexcept;
  void tell_of_runtime(LogLevel level, std::chrono::system_clock::time_point time,
                       std::string_view text) noexcept;
  void write(const LogRecord& record) noexcept;

  const std::shared_ptr<LogSink> sink_;
  const std::string runtime_;
  const std::string name_;

  boost::lockfree::spsc_queue<Event, boost::lockfree::capacity<events_max>> events_;
  // Of whoever pushes, under the hub's lock; the end reads it behind `close`.
  std::uint64_t missed_ = 0;  // since the last one in events_
  bool is_closed_ = false;
  std::atomic<bool> is_ending_{false};
  std::atomic<std::uint64_t> pushed_{0};  // events so far that found room

  std::mutex adding_;  // guards what follows; innermost
  std::deque<Text> texts_;

  std::mutex telling_;  // held while the sink is called; guards what follows
  std::map<std::pair<std::string, int>, Kind> kinds_;
  std::uint64_t taken_ = 0;  // events out of the queue
  bool has_ended_ = false;
};

/// The sink that $RINGKERNEL_LOG asks for; nullptr: none. invalid_argument: it names no level.
[[nodiscard]] Result<std::shared_ptr<LogSink>> log_of_environment();

}  // namespace ringkernel::detail
