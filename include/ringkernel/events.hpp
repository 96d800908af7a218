/// What happens in a runtime, told as it happens: changes of state of its ring kernels, and errors.
///
///     auto events = runtime.events();
///     for (;;) log(co_await events.async_next(boost::asio::use_awaitable));
///
/// Threading: shared objects safe; one `async_next` at a time.
/// Ownership: a stream is its subscription: events from its making on, until it and its copies are
/// gone, which ends an `async_next` under way with operation_aborted. It does not keep the runtime.
/// A coroutine that holds the stream it awaits is ended by shutdown or cancellation, or destroyed
/// with its execution context.
#pragma once

#include <boost/asio/async_result.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ringkernel/detail/handler.hpp"
#include "ringkernel/error.hpp"
#include "ringkernel/log.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel {

/// Of one stream.
struct EventOptions {
  /// Of errors of one kernel with one code one is told in this time, the first at once, with the
  /// number of those left out; the last ones at the end. Zero: each is told.
  std::chrono::nanoseconds repeat_period = log_repeat_period;
};

/// A change of a ring kernel's state, or an error.
struct Event {
  std::string kernel;  ///< its id; empty: none's
  /// That the kernel is in from here on; none: an error. That it failed is noticed once in a
  /// RuntimeOptions::telemetry_period, and not without telemetry: the errors of its messages say so
  /// at once.
  std::optional<KernelStatus> status;
  Error error;                ///< as RingKernelRuntime::errors counts them
  std::uint64_t time_ns = 0;  ///< CLOCK_MONOTONIC, to a few milliseconds
  /// Events between the last one and this one that found no room, because nobody took those before
  /// them: a stream keeps `events_max`.
  std::uint64_t missed = 0;
  /// Errors like this one that were left out before it (EventOptions::repeat_period).
  std::uint64_t left_out = 0;
};

namespace detail {
class EventQueue;
void start_next_event(const std::shared_ptr<EventQueue>& queue, Handler<Event> handler);
}  // namespace detail

/// The events from its opening on; ends with its last copy.
class EventStream {
 public:
  /// An empty handle: `async_next` answers runtime_closed.
  EventStream() noexcept = default;
  explicit EventStream(std::shared_ptr<detail::EventQueue> queue) noexcept
      : queue_(std::move(queue)) {}

  /// Completes with the next event. Signature: void(error_code, Event). Errors: busy, if another
  /// one is under way; operation_aborted; runtime_closed, when the runtime was shut down and its
  /// last event was taken.
  template <class Token>
  auto async_next(Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code, Event)>(
        [](auto handler, std::shared_ptr<detail::EventQueue> queue) {
          detail::start_next_event(queue, detail::Handler<Event>(std::move(handler)));
        },
        token, queue_);
  }

 private:
  std::shared_ptr<detail::EventQueue> queue_;
};

}  // namespace ringkernel
