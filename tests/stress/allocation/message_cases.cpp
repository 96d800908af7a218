// Messages, and what is known of them.
#include <array>
#include <chrono>
#include <thread>

#include "stress/allocation/cases.hpp"

namespace ringkernel::test::allocation {
namespace {

using namespace std::chrono_literals;
using injection::Scope;

Request request() noexcept { return ops::add(numbers(), numbers()); }

void active(World& world) {
  if (!world.runtime) world.open();
  world.launch_both();
}
void with_a_reply(World& world) {
  active(world);
  world.kernel.send(request()).value();
  world.kernel.send(request()).value();
}
/// The next message finds no room.
void full(World& world) {
  if (!world.runtime) world.open();
  world.kernel =
      world.runtime->launch("main", {.input_bytes = 4096, .output_bytes = 4096, .queue_max = 1})
          .value();
  world.kernel.activate().value();
  world.kernel.deactivate().value();
  while (world.kernel.send(request(), {.timeout = 20ms})) continue;
}
void with_events(World& world) {
  active(world);
  world.events = world.runtime->events();
}

Outcome call(World& world) {
  const Result<Reply> reply = world.kernel.call(request());
  if (reply && !is_double(reply->floats())) return world.complain("wrong answer");
  return world.of(reply);
}
Outcome call_by_id(World& world) { return world.of(world.runtime->call("main", request())); }
Outcome call_bytes(World& world) {
  std::array<std::byte, 512> bytes;
  bytes.fill(std::byte{7});
  const Result<Reply> reply = world.echo.call(Bytes(bytes));
  if (reply && !std::ranges::equal(reply->bytes(), bytes)) return world.complain("wrong answer");
  return world.of(reply);
}
Outcome call_too_late(World& world) {
  const Result<Reply> reply = world.kernel.call(request(), -1ns);
  const injection::InDriver aside;
  if (!reply && reply.error() == Errc::deadline_exceeded) return Outcome::success;
  return reply ? world.complain("it was not too late") : world.of(reply);
}
Outcome call_with_timeout(World& world) {
  const Result<Reply> reply = world.kernel.call(request(), 5ms);  // there is no room
  const injection::InDriver aside;
  if (!reply && reply.error() == Errc::deadline_exceeded) return Outcome::success;
  return reply ? world.complain("there was room") : world.of(reply);
}
Outcome call_all_threads(World& world) {
  std::this_thread::sleep_for(5ms);  // the executor parks, so that a slice has to be started
  return call(world);
}
Outcome prepare_and_call(World& world) {
  Result<PreparedCall> add = world.kernel.prepare(request());
  if (!add) return world.of(add);
  const auto elements = numbers().floats();
  const Result<ResultView> sum = add->call({elements, elements});
  if (sum && !is_double(sum->elements<float>())) return world.complain("wrong answer");
  return world.of(sum);
}
Outcome send(World& world) { return world.of(world.kernel.send(request())); }
Outcome send_all(World& world) {
  const std::array requests{request(), request(), request()};
  const Result<std::size_t> sent = world.kernel.send_all(requests);
  if (sent && *sent == 0) return world.complain("none was sent");
  return world.of(sent);
}
Outcome receive(World& world) {
  const Result<Reply> reply = world.kernel.receive(3s);
  if (reply && !is_double(reply->floats())) return world.complain("wrong answer");
  return world.of(reply);
}
Outcome receive_some(World& world) {
  std::array<Result<Reply>, 2> outcomes;
  const Result<std::size_t> received = world.kernel.receive_some(outcomes, 3s);
  if (received && *received == 0) return world.complain("none was received");
  return world.of(received);
}
Outcome async_call(World& world) {
  Waiter waiter;
  world.kernel.async_call(request(), waiter.token());
  return world.of(waiter);
}
/// Ends when the time of the message is up: there is no room for it.
Outcome async_call_waits(World& world) {
  Waiter waiter;
  world.kernel.async_call(request(), {.timeout = 10ms}, waiter.token());
  if (!waiter.wait()) return Outcome::lost;
  if (waiter.error() == Errc::deadline_exceeded) return Outcome::success;
  return world.of(Error(waiter.error()));
}
Outcome async_call_for_a_result(World& world) {
  Waiter waiter;
  world.kernel.async_call(request(), waiter.result_token());
  return world.of(waiter);
}
Outcome async_send(World& world) {
  Waiter waiter;
  world.kernel.async_send(request(), {}, waiter.token());
  return world.of(waiter);
}
Outcome async_receive(World& world) {
  Waiter waiter;
  world.kernel.async_receive(3s, waiter.token());
  return world.of(waiter);
}
Outcome async_receive_waits(World& world) {
  Waiter waiter;
  world.kernel.async_receive(10ms, waiter.token());
  if (!waiter.wait()) return Outcome::lost;
  if (waiter.error() == Errc::deadline_exceeded) return Outcome::success;
  return world.of(Error(waiter.error()));
}
Outcome next_event(World& world) {
  Waiter waiter;
  world.events.async_next(waiter.token());
  // Two changes: without memory for one it is only counted.
  const Result<void> first = world.kernel.deactivate();
  const Result<void> second = world.kernel.activate();
  if (!first) return world.of(first);
  if (!second) return world.of(second);
  return world.of(waiter);
}
Outcome subscribe(World& world) {
  world.events = world.runtime->events();
  return Outcome::success;
}
Outcome metrics(World& world) {
  const RuntimeMetrics metrics = world.runtime->metrics();
  return metrics.kernels == 2 ? Outcome::success : world.complain("wrong metrics");
}
Outcome kernel_metrics(World& world) { return world.of(world.runtime->metrics("main")); }
Outcome kernel_state(World& world) {
  const bool is_right = world.kernel.metrics().id == "main" && world.kernel.id() == "main" &&
                        world.kernel.calls(4).size() <= 4 && world.runtime->kernels().size() == 2;
  return is_right ? Outcome::success : world.complain("wrong state");
}
Outcome errors(World& world) {
  (void)world.kernel.activate();  // an error
  return world.runtime->errors().empty() ? Outcome::refused : Outcome::success;
}

constexpr Case cases[] = {
    {"call", active, call, Scope::thread, false, false, true},
    {"call by id", active, call_by_id},
    {"call, bytes", active, call_bytes},
    {"call, too late", active, call_too_late},
    {"call, no room", full, call_with_timeout},
    {"call, all threads", active, call_all_threads, Scope::process},
    {"prepare, call", active, prepare_and_call, Scope::thread, false, false, true},
    {"send", active, send, Scope::thread, false, false, true},
    {"send_all", active, send_all},
    {"receive", with_a_reply, receive, Scope::thread, false, false, true},
    {"receive_some", with_a_reply, receive_some},
    {"async_call", active, async_call, Scope::process, true},
    {"async_call, as_result", active, async_call_for_a_result, Scope::process, true},
    {"async_call, no room", full, async_call_waits, Scope::process, true},
    {"async_send", active, async_send, Scope::process, true},
    {"async_receive", with_a_reply, async_receive, Scope::process, true},
    {"async_receive, in vain", active, async_receive_waits, Scope::process, true},
    {"events", active, subscribe, Scope::thread, true},
    {"event", with_events, next_event, Scope::process, true},
    {"metrics", active, metrics, Scope::thread, true},
    {"metrics by id", active, kernel_metrics},
    {"metrics, id, calls, kernels", active, kernel_state, Scope::thread, true},
    {"errors", active, errors, Scope::thread, true},
};

}  // namespace

std::span<const Case> message_cases() { return cases; }

}  // namespace ringkernel::test::allocation
