#include "observe/logger.hpp"

#include <algorithm>
#include <optional>

#include "foundation/environment.hpp"
#include "foundation/memory_error.hpp"

namespace ringkernel::detail {

using std::chrono::steady_clock;
using std::chrono::system_clock;

namespace {

/// What cannot be mended by sending again.
bool is_loss(const Error& error) {
  return error == Errc::device_error || error == Errc::execution_timeout;
}

/// Of an event: it may have waited for its turn.
system_clock::time_point time_of(const Event& event) {
  const std::chrono::nanoseconds happened(event.time_ns);
  const auto age = steady_clock::now().time_since_epoch() - happened;
  return system_clock::now() -
         std::chrono::duration_cast<system_clock::duration>(std::max(age, {}));
}

}  // namespace

Logger::Logger(ServiceThread& thread, std::shared_ptr<LogSink> sink, std::string runtime,
               std::string name)
    : ServiceTask(thread),
      sink_(std::move(sink)),
      runtime_(std::move(runtime)),
      name_(std::move(name)) {}

void Logger::push(const Event& event) noexcept {
  if (is_closed_) return;
  bool has_room = false;
  (void)with_memory([&] {
    Event told = event;
    told.missed = missed_;
    has_room = events_.push(told);
  });
  if (!has_room) return miss();
  missed_ = 0;
  pushed_.fetch_add(1, std::memory_order_relaxed);  // pairs with tell; see the header
  post();
}

void Logger::miss() noexcept {
  if (!is_closed_) ++missed_;
}

void Logger::end() noexcept {
  is_ending_.store(true, std::memory_order_release);  // pairs with run
  post();
}

void Logger::end_here() noexcept {
  is_ending_.store(true, std::memory_order_release);  // pairs with run
  run();
}

void Logger::run() noexcept {
  const std::lock_guard lock(telling_);
  if (has_ended_) return;
  // acquire: then all events are there, and nobody pushes; pairs with end and end_here
  const bool is_last = is_ending_.load(std::memory_order_acquire);
  // One by one: each gives its place back when it was told. And not for ever.
  bool is_empty = false;
  for (std::size_t told = 0; !is_empty && (is_last || told < events_max); ++told) {
    tell_texts(taken_);
    is_empty = !events_.consume_one(
        [this](const Event& event) { (void)with_memory([&] { tell(event); }); });
    if (!is_empty) ++taken_;
  }
  if (!is_empty) return post();
  if (!is_last) return;
  tell_missed(missed_);
  for (auto& entry : kinds_) (void)with_memory([&] { tell_last(entry.second); });
  tell_of_runtime(LogLevel::info, system_clock::now(), "shut down");
  has_ended_ = true;
}

void Logger::tell(LogLevel level, std::string text) {
  {
    const std::lock_guard lock(adding_);
    texts_.push_back({.level = level,
                      .time = system_clock::now(),
                      .text = std::move(text),
                      // relaxed: pairs with push; see the header
                      .events_before = pushed_.load(std::memory_order_relaxed)});
  }
  post();
}

void Logger::tell_texts(std::uint64_t events) noexcept {
  for (;;) {
    std::optional<Text> text;
    {
      const std::lock_guard lock(adding_);
      if (texts_.empty() || texts_.front().events_before > events) return;
      text = std::move(texts_.front());
      texts_.pop_front();
    }
    tell_of_runtime(text->level, text->time, text->text);
  }
}

void Logger::tell_left_out() noexcept {
  const std::lock_guard lock(telling_);
  const auto now = steady_clock::now();
  for (auto& entry : kinds_)
    if (now - entry.second.told >= log_repeat_period)
      (void)with_memory([&] { tell_last(entry.second); });
  // What was told long ago is no repetition any more.
  std::erase_if(kinds_, [&](const auto& entry) {
    return entry.second.left_out == 0 && now - entry.second.told >= log_repeat_period;
  });
}

void Logger::tell_of_runtime(LogLevel level, system_clock::time_point time,
                             std::string_view text) noexcept {
  write({.level = level, .time = time, .runtime = runtime_, .name = name_, .text = text});
}

void Logger::tell_missed(std::uint64_t missed) noexcept {
  if (missed == 0) return;
  write({.level = LogLevel::warning,
         .time = system_clock::now(),
         .runtime = runtime_,
         .name = name_,
         .text = "more happened than could be told",
         .left_out = missed});
}

void Logger::tell(const Event& event) {
  tell_missed(event.missed);
  if (event.status) {
    const bool has_failed = *event.status == KernelStatus::failed;
    write({.level = has_failed ? LogLevel::error : LogLevel::info,
           .time = time_of(event),
           .runtime = runtime_,
           .name = name_,
           .kernel = event.kernel,
           .text = name(*event.status)});
    return;
  }
  const auto [found, is_new] = kinds_.try_emplace({event.kernel, event.error.code.value()}, Kind());
  Kind& kind = found->second;
  if (is_new || steady_clock::now() - kind.told >= log_repeat_period) {
    tell(event, kind);
  } else {
    ++kind.left_out;
    kind.last = event;
  }
}

void Logger::tell_last(Kind& kind) {
  if (kind.left_out == 0) return;
  --kind.left_out;
  tell(kind.last, kind);
}

void Logger::tell(const Event& event, Kind& kind) {
  const std::string text = event.error.text();
  write({.level = is_loss(event.error) ? LogLevel::error : LogLevel::warning,
         .time = time_of(event),
         .runtime = runtime_,
         .name = name_,
         .kernel = event.kernel,
         .message = event.error.message,
         .text = text,
         .left_out = std::exchange(kind.left_out, 0)});
  kind.told = steady_clock::now();
}

void Logger::write(const LogRecord& record) noexcept {
  try {
    sink_->write(record);
  } catch (...) {  // a log that cannot be written must not end the service
  }
}

Result<std::shared_ptr<LogSink>> log_of_environment() {
  const std::string_view wanted = environment("RINGKERNEL_LOG");
  if (wanted.empty() || wanted == "off") return std::shared_ptr<LogSink>();
  for (const LogLevel level : {LogLevel::info, LogLevel::warning, LogLevel::error})
    if (wanted == name(level)) return stderr_log(level);
  return Error(Errc::invalid_argument, "RINGKERNEL_LOG is '" + std::string(wanted) +
                                           "'; there are info, warning, error and off");
}

}  // namespace ringkernel::detail
