#include "runtime/observe/logger.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <new>

#include "foundation/environment.hpp"
#include "foundation/memory_error.hpp"

namespace ringkernel::detail {

namespace asio = boost::asio;
using std::chrono::steady_clock;
using std::chrono::system_clock;

namespace {

constexpr auto pause_without_memory = std::chrono::milliseconds(10);
constexpr auto without_throwing = asio::as_tuple(asio::use_awaitable);

/// What cannot be mended by sending again.
bool is_loss(const Error& error) {
  return error == Errc::device_error || error == Errc::execution_timeout;
}

}  // namespace

Logger::Logger(std::shared_ptr<LogSink> sink, std::string runtime, std::string name,
               EventStream events)
    : sink_(std::move(sink)),
      runtime_(std::move(runtime)),
      name_(std::move(name)),
      events_(std::move(events)) {
  // The last thing that may throw.
  thread_ = std::thread([this] { run(); });
}

Logger::~Logger() { thread_.join(); }

void Logger::run() noexcept {
  // Without memory for the first there is no log, and this thread ends at once.
  if (with_memory([this] { asio::co_spawn(context_, follow_events(), asio::detached); }))
    (void)with_memory([this] { asio::co_spawn(context_, tell_left_out(), asio::detached); });
  while (!with_memory([this] { context_.run(); })) continue;
}

void Logger::tell(LogLevel level, std::string text) {
  asio::post(context_, [this, level, text = std::move(text)] { tell_of_runtime(level, text); });
}

void Logger::tell_of_runtime(LogLevel level, std::string_view text) noexcept {
  write({.level = level,
         .time = system_clock::now(),
         .runtime = runtime_,
         .name = name_,
         .text = text});
}

/// Also where something throws, for lack of memory: else the thread would never end.
struct Logger::Ending {
  Logger& logger;
  explicit Ending(Logger& of) noexcept : logger(of) {}
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() {
    logger.ended_ = true;
    logger.timer_.cancel();
  }
};

asio::awaitable<void> Logger::follow_events() {
  const Ending ending(*this);
  for (bool goes_on = true; goes_on;) {
    bool has_memory = true;
    try {
      const auto [error, event] = co_await events_.async_next(without_throwing);
      goes_on = !error;
      if (goes_on) tell(event);
    } catch (const std::bad_alloc&) {  // one is lost
      has_memory = false;
    }
    if (!has_memory) std::this_thread::sleep_for(pause_without_memory);
  }
  for (auto& entry : kinds_) (void)with_memory([&] { tell_last(entry.second); });
  tell_of_runtime(LogLevel::info, "shut down");
}

asio::awaitable<void> Logger::tell_left_out() {
  for (;;) {
    try {
      timer_.expires_after(log_repeat_period);
      co_await timer_.async_wait(without_throwing);
    } catch (const std::bad_alloc&) {
      break;  // what is left out is told at the end
    }
    if (ended_) break;
    const auto now = steady_clock::now();
    for (auto& entry : kinds_)
      if (now - entry.second.told >= log_repeat_period)
        (void)with_memory([&] { tell_last(entry.second); });
    // What was told long ago is no repetition any more.
    std::erase_if(kinds_, [&](const auto& entry) {
      return entry.second.left_out == 0 && now - entry.second.told >= log_repeat_period;
    });
  }
}

void Logger::tell(const Event& event) {
  if (event.missed != 0)
    write({.level = LogLevel::warning,
           .time = system_clock::now(),
           .runtime = runtime_,
           .name = name_,
           .text = "more happened than could be told",
           .left_out = event.missed});
  if (event.status) {
    const bool has_failed = *event.status == KernelStatus::failed;
    write({.level = has_failed ? LogLevel::error : LogLevel::info,
           .time = system_clock::now(),
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
         .time = system_clock::now(),
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
