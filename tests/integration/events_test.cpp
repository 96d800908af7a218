// Subscriptions to what happens in a runtime.
#include <gmock/gmock.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using ::testing::ElementsAre;

using Next = std::pair<error_code, Event>;

std::future<Next> ask(EventStream& events) {
  auto promise = std::make_shared<std::promise<Next>>();
  events.async_next([promise](error_code error, Event event) {
    promise->set_value({error, std::move(event)});
  });
  return promise->get_future();
}

/// The events that are there, which are those of calls that have returned.
Event next(EventStream& events) {
  auto [error, event] = ask(events).get();
  EXPECT_FALSE(error) << error.message();
  return event;
}

RK_ON_EACH_BACKEND(Events);

TEST_P(Events, TellAKernelsLife) {
  RingKernelRuntime runtime = open();
  EventStream events = runtime.events();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  kernel.activate().value();
  kernel.deactivate().value();
  kernel.terminate().value();
  std::vector<KernelStatus> told;
  std::uint64_t time_ns = 0;
  while (told.empty() || told.back() != KernelStatus::terminated) {
    const Event event = next(events);
    EXPECT_EQ(event.kernel, "a");
    EXPECT_FALSE(event.error.code);
    EXPECT_GE(event.time_ns, time_ns);
    time_ns = event.time_ns;
    ASSERT_TRUE(event.status);
    told.push_back(*event.status);
  }
  EXPECT_THAT(told,
              ElementsAre(KernelStatus::launched, KernelStatus::active, KernelStatus::deactivated,
                          KernelStatus::terminating, KernelStatus::terminated));
}

TEST_P(Events, TellErrors) {
  RingKernelRuntime runtime = open();
  Kernel kernel = active(runtime, "a");
  EventStream events = runtime.events();
  EXPECT_FALSE(kernel.call(ops::relu(std::vector<float>(4))));
  EXPECT_FALSE(runtime.launch("a", {.program = "echo"}));
  const Event wrong = next(events);
  EXPECT_EQ(wrong.kernel, "a");
  EXPECT_FALSE(wrong.status);
  EXPECT_EQ(wrong.error, Errc::unsupported_operation);
  EXPECT_NE(wrong.error.detail, "");
  EXPECT_EQ(next(events).error, Errc::kernel_exists);
}

/// By each of the functions that may meet it, and not by those who only wait in vain.
TEST_P(Events, CountAnErrorOnceWhicheverFunctionMetIt) {
  RingKernelRuntime runtime = open();
  Kernel kernel = active(runtime, "a");
  const auto count = [&](Errc code) {
    for (const ErrorRecord& error : runtime.errors())
      if (error.kernel == "a" && error.code == static_cast<int>(code)) return error.count;
    return std::uint64_t{0};
  };
  const std::vector<float> numbers(4);
  const Request wrong = ops::relu(numbers);
  EXPECT_FALSE(kernel.call(wrong));
  EXPECT_FALSE(kernel.send(wrong));
  EXPECT_FALSE(kernel.send_all(std::span(&wrong, 1)));
  EXPECT_FALSE(kernel.prepare(wrong));
  EXPECT_FALSE(kernel.interface());
  EXPECT_FALSE(kernel.method("Submit"));
  EXPECT_EQ(count(Errc::unsupported_operation), 6u);
  EXPECT_ANY_THROW(kernel.async_call(wrong, asio::use_future).get());
  EXPECT_ANY_THROW(kernel.async_send(wrong, asio::use_future).get());
  EXPECT_EQ(count(Errc::unsupported_operation), 8u);

  EXPECT_FALSE(kernel.activate());
  EXPECT_ANY_THROW(kernel.async_activate(asio::use_future).get());
  EXPECT_EQ(count(Errc::invalid_state), 2u);
  EXPECT_FALSE(runtime.launch("a", {.program = "echo"}));
  EXPECT_ANY_THROW(runtime.async_launch("a", {.program = "echo"}, asio::use_future).get());
  EXPECT_EQ(count(Errc::kernel_exists), 2u);

  EXPECT_FALSE(kernel.receive(1ms));
  EXPECT_EQ(count(Errc::deadline_exceeded), 0u) << "nobody's message";
  kernel.deactivate().value();
  EXPECT_FALSE(kernel.deactivate());
  EXPECT_ANY_THROW(kernel.async_deactivate(asio::use_future).get());
  EXPECT_EQ(count(Errc::invalid_state), 4u);
  const std::vector<std::byte> message(8);
  for (int i = 0; i < 3; ++i) kernel.send(Bytes(message)).value();
  kernel.terminate().value();
  EXPECT_EQ(count(Errc::kernel_terminated), 0u) << "nobody has met it";
  EXPECT_FALSE(kernel.receive(1ms));
  std::vector<Result<Reply>> outcomes(2);
  EXPECT_EQ(kernel.receive_some(outcomes, 1ms).value(), 2u);
  EXPECT_EQ(count(Errc::kernel_terminated), 3u);
  EXPECT_FALSE(kernel.call(Bytes(message)));
  EXPECT_FALSE(kernel.send(Bytes(message)));
  EXPECT_ANY_THROW(kernel.async_call(Bytes(message), asio::use_future).get());
  EXPECT_EQ(count(Errc::kernel_terminated), 6u);
}

/// Those of no kernel, with the program's name.
TEST_P(Events, TellOfProgramsThatAreNotAddedOrSwapped) {
  RingKernelRuntime runtime = open();
  EventStream events = runtime.events({.repeat_period = {}});
  EXPECT_FALSE(runtime.add_program({.name = "nothing"}));
  EXPECT_FALSE(runtime.swap_back("nowhere"));
  ProgramDesc unreadable{.name = "unreadable"};
  unreadable.source = Source::file("/nonexistent/it.rk.cl");
  EXPECT_FALSE(runtime.add_program(unreadable));
  const std::vector<ErrorRecord> errors = runtime.errors();
  ASSERT_EQ(errors.size(), 2u) << "of one code two are one error";
  for (const char* const program : {"'nothing'", "'nowhere'", "'unreadable'"}) {
    const Event event = next(events);
    EXPECT_EQ(event.kernel, "");
    EXPECT_FALSE(event.status);
    EXPECT_THAT(event.error.text(), ::testing::HasSubstr(program));
    EXPECT_TRUE(std::ranges::any_of(errors, [&](const ErrorRecord& error) {
      return error.code == event.error.code.value() && error.kernel.empty();
    }));
  }
}

TEST_P(Events, AreAwaited) {
  RingKernelRuntime runtime = open();
  EventStream events = runtime.events();
  auto waiting = ask(events);
  EXPECT_EQ(waiting.wait_for(1ms), std::future_status::timeout);
  EXPECT_EQ(ask(events).get().first, make_error_code(Errc::busy));
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  EXPECT_EQ(waiting.get().second.status, KernelStatus::launched);
}

TEST_P(Events, ReachEverySubscriberFromItsSubscriptionOn) {
  RingKernelRuntime runtime = open();
  EventStream early = runtime.events();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  EventStream late = runtime.events();
  kernel.activate().value();
  EXPECT_EQ(next(early).status, KernelStatus::launched);
  EXPECT_EQ(next(early).status, KernelStatus::active);
  EXPECT_EQ(next(late).status, KernelStatus::active);
}

/// As the log does: a flood of one error is one event, and what was left out is told at the end.
TEST_P(Events, RepeatedErrorsAreLeftOutAndCounted) {
  RingKernelRuntime runtime = open();
  Kernel kernel = active(runtime, "a");
  Kernel other = active(runtime, "b");
  EventStream events = runtime.events({.repeat_period = 1h});
  const std::vector<float> numbers(4);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(kernel.call(ops::relu(numbers)));
  EXPECT_FALSE(other.call(ops::relu(numbers)));
  EXPECT_FALSE(kernel.activate());  // another code
  const Event first = next(events);
  EXPECT_EQ(first.kernel, "a");
  EXPECT_EQ(first.left_out, 0u);
  EXPECT_EQ(next(events).kernel, "b");
  EXPECT_EQ(next(events).error, Errc::invalid_state);
  runtime.shutdown().value();
  Event last;
  for (;;) {
    last = next(events);
    if (!last.status) break;
  }
  EXPECT_EQ(last.kernel, "a");
  EXPECT_EQ(last.error, Errc::unsupported_operation);
  EXPECT_EQ(last.left_out, 98u) << "and itself";
}

TEST_P(Events, AreCountedWhereNobodyTakesThem) {
  RingKernelRuntime runtime = open();
  Kernel kernel = active(runtime, "a");
  EventStream events = runtime.events({.repeat_period = 0ns});
  const std::vector<float> numbers(4);
  const Request wrong = ops::relu(numbers);
  for (std::size_t i = 0; i < events_max + 10; ++i) EXPECT_FALSE(kernel.call(wrong));
  EXPECT_EQ(next(events).missed, 0u);
  EXPECT_FALSE(kernel.call(wrong));
  for (std::size_t i = 1; i < events_max; ++i) EXPECT_EQ(next(events).missed, 0u);
  EXPECT_EQ(next(events).missed, 10u);
}

TEST_P(Events, AreCountedForWhoHasCaughtUpMeanwhile) {
  RingKernelRuntime runtime = open();
  Kernel kernel = active(runtime, "a");
  EventStream events = runtime.events({.repeat_period = 0ns});
  const std::vector<float> numbers(4);
  const Request wrong = ops::relu(numbers);
  for (std::size_t i = 0; i < events_max + 5; ++i) EXPECT_FALSE(kernel.call(wrong));
  for (std::size_t i = 0; i < events_max; ++i) EXPECT_EQ(next(events).missed, 0u);
  auto awaited = ask(events);
  EXPECT_FALSE(kernel.call(wrong));
  EXPECT_EQ(awaited.get().second.missed, 5u);
}

TEST_P(Events, AnAwaitedOneIsCancelled) {
  RingKernelRuntime runtime = open();
  EventStream events = runtime.events();
  asio::cancellation_signal signal;
  FutureCode code;
  events.async_next(asio::bind_cancellation_slot(signal.slot(), code.token()));
  signal.emit(asio::cancellation_type::terminal);
  EXPECT_EQ(code.get(), asio::error::operation_aborted);
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  EXPECT_EQ(next(events).status, KernelStatus::launched);
}

TEST_P(Events, EndWithTheSubscription) {
  RingKernelRuntime runtime = open();
  FutureCode code;
  {
    EventStream events = runtime.events();
    events.async_next(code.token());
  }
  EXPECT_EQ(code.get(), asio::error::operation_aborted);
  EXPECT_TRUE(runtime.launch("a", {.program = "echo"}));
  FutureCode empty;
  EventStream().async_next(empty.token());
  EXPECT_EQ(empty.get(), make_error_code(Errc::runtime_closed));
}

TEST_P(Events, AnAwaitedOneEndsWithTheRuntime) {
  RingKernelRuntime runtime = open();
  EventStream events = runtime.events();
  auto awaited = ask(events);
  runtime.shutdown().value();
  EXPECT_EQ(awaited.get().first, make_error_code(Errc::runtime_closed));
}

TEST_P(Events, EndWithTheRuntime) {
  RingKernelRuntime runtime = open();
  Kernel kernel = active(runtime, "a");
  EventStream events = runtime.events();
  FutureCode awaited;
  EventStream quiet = RingKernelRuntime(open()).events();  // its runtime is gone
  quiet.async_next(awaited.token());
  EXPECT_EQ(awaited.get(), make_error_code(Errc::runtime_closed));
  runtime.shutdown().value();
  EXPECT_EQ(next(events).status, KernelStatus::terminating);
  EXPECT_EQ(next(events).status, KernelStatus::terminated);
  auto last = ask(events);
  EXPECT_EQ(last.get().first, make_error_code(Errc::runtime_closed));
  EXPECT_FALSE(kernel.call(numbered(1)));
  EXPECT_EQ(ask(events).get().first, make_error_code(Errc::runtime_closed)) << "for good";
  EventStream late = runtime.events();
  EXPECT_EQ(ask(late).get().first, make_error_code(Errc::runtime_closed));
}

asio::awaitable<void> follow(EventStream events, std::vector<std::string>& told) {
  for (;;) {
    const Event event = co_await events.async_next(asio::use_awaitable);
    told.push_back(event.status ? name(*event.status) : event.error.code.message());
    if (event.status == KernelStatus::terminated) co_return;
  }
}

TEST_P(Events, AreFollowedByACoroutine) {
  RingKernelRuntime runtime = open();
  asio::io_context context;
  std::vector<std::string> told;
  asio::co_spawn(context, follow(runtime.events(), told), asio::detached);
  Kernel kernel = active(runtime, "a");
  kernel.terminate().value();
  context.run();
  EXPECT_THAT(told, ElementsAre("launched", "active", "terminating", "terminated"));
}

/// Many who speak, one who listens, one who comes and goes.
TEST_P(Events, OfManyThreadsArriveOnce) {
  RingKernelRuntime runtime = open();
  Kernel kernel = active(runtime, "a");
  EventStream events = runtime.events({.repeat_period = {}});  // each is told
  constexpr std::uint64_t each = 200;
  constexpr std::uint64_t speakers = 4;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < speakers; ++i)
      threads.emplace_back([&] {
        for (std::uint64_t call = 0; call < each; ++call)
          EXPECT_FALSE(kernel.call(ops::relu(std::vector<float>(4))));
      });
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < each; ++i) {
        EventStream brief = runtime.events();
        brief.async_next([](error_code, const Event&) {});
      }
    });
    std::uint64_t told = 0;
    while (told < speakers * each) told += 1 + next(events).missed;
    EXPECT_EQ(told, speakers * each);
  }
}

/// Nobody asks, and it is noticed all the same: once.
TEST(EventsOfOpenCl, TellThatAKernelHasFailed) {
  if (const auto runtime = OnEachBackend::open_on("opencl"); !runtime)
    RK_SKIP_WITHOUT("opencl", runtime.error().text());
  const testing::TempFolder folder;
  const auto service = testing::run_child(
      {RK_FAILING_SERVICE},
      {{"OPENCL_LAYERS", RK_FAULT_LAYER}, {"XDG_RUNTIME_DIR", folder.path().string()}});
  EXPECT_EQ(service.exit_code, 0);
  // PoCL's compiler counts its warnings aloud where it has not built the program before.
  EXPECT_THAT(service.output,
              ::testing::MatchesRegex("([0-9]+ warnings? generated.\n)*"
                                      "launched\nactive\nfailed\n(terminating\n)?terminated\n"));
  const auto logged =
      testing::run_child({RK_FAILING_SERVICE}, {{"OPENCL_LAYERS", RK_FAULT_LAYER},
                                                {"XDG_RUNTIME_DIR", folder.path().string()},
                                                {"RINGKERNEL_LOG", "error"}});
  EXPECT_THAT(logged.output,
              ::testing::ContainsRegex(" error ringkernel .*kernel=\"worker\" text=\"failed\""));
}

}  // namespace
}  // namespace ringkernel::test
