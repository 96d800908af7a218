// The counters file of a runtime, beside a service at work.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "integration/telemetry_fixture.hpp"
#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"
#include "support/environment.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/latency.hpp"
#include "telemetry/reading.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using telemetry::CountersReader;
using ::testing::HasSubstr;
using testing::Variable;

class Telemetry : public Publishing {};

INSTANTIATE_TEST_SUITE_P(Backends, Telemetry, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Telemetry, TheFileSaysWhatTheMetricsSay) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel busy = active(runtime, "busy");
  Kernel resting = runtime.launch("resting", {.program = "echo"}).value();
  ASSERT_TRUE(resting.send(numbered(1)));
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(busy.call(numbered(i)));
  ASSERT_TRUE(busy.send(numbered(10)));
  ASSERT_TRUE(await([&] { return busy.metrics().messages_out == 11; }));
  const RuntimeMetrics metrics = runtime.metrics();
  ASSERT_EQ(metrics.telemetry_failure, "");
  const CountersReader reader = CountersReader::open(metrics.telemetry_file).value();
  ASSERT_TRUE(await([&] {
    const auto kernels = reader.kernels();
    return kernels.size() == 2 && std::ranges::all_of(kernels, [&](const auto& kernel) {
             // Of a slice that ended for one work-group the end is told of the other later.
             return kernel.metrics.parks ==
                        (kernel.metrics.id == "busy" ? busy : resting).metrics().slices &&
                    (kernel.metrics.id == "resting" ||
                     (kernel.metrics.messages_out == 11 &&
                      kernel.metrics.replied == busy.metrics().replied));
           });
  }));
  for (const auto& kernel : reader.kernels()) {
    KernelMetrics now = (kernel.metrics.id == "busy" ? busy : resting).metrics();
    EXPECT_GE(now.oldest_call_age_ns, kernel.metrics.oldest_call_age_ns);
    now.oldest_call_age_ns = kernel.metrics.oldest_call_age_ns;
    EXPECT_EQ(kernel.metrics.id, now.id);
    EXPECT_EQ(kernel.metrics.program, now.program);
    EXPECT_EQ(kernel.metrics.status, now.status);
#define RK_KERNEL_METRIC(name, kind, help) EXPECT_EQ(kernel.metrics.name, now.name) << #name;
#define RK_KERNEL_LATENCY(name, help)                            \
  EXPECT_EQ(kernel.metrics.name.count, now.name.count) << #name; \
  EXPECT_EQ(kernel.metrics.name.p99_ns, now.name.p99_ns) << #name;
#include "ringkernel/metrics.def"
  }
  EXPECT_EQ(busy.metrics().in_flight, 1u) << "it waits to be received";
  EXPECT_EQ(resting.metrics().input_ring_used_bytes, 128u) << "one record that nobody reads";
  EXPECT_EQ(resting.metrics().input_ring_position, 128u);
  EXPECT_EQ(busy.metrics().input_ring_position, 11 * 128u) << "all were read";
  EXPECT_EQ(busy.metrics().output_ring_position, 11 * 128u);
  ASSERT_TRUE(await([&] { return reader.runtime() && reader.runtime()->metrics.kernels == 2; }));
  const RuntimeMetrics published = reader.runtime()->metrics;
  EXPECT_EQ(published.backend, metrics.backend);
  EXPECT_EQ(published.transfer, metrics.transfer);
  EXPECT_EQ(published.arena_bytes, metrics.arena_bytes);
  EXPECT_EQ(published.executors, 1u);
}

TEST_P(Telemetry, ACallsTimeIsThatOfItsHops) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a");
  constexpr std::uint64_t calls = 100;
  for (std::uint64_t i = 0; i < calls; ++i) ASSERT_TRUE(kernel.call(numbered(i)));
  const KernelMetrics metrics = kernel.metrics();
  for (const LatencySummary& of :
       {metrics.latency, metrics.host_queue, metrics.device, metrics.delivery}) {
    EXPECT_EQ(of.count, calls);
    EXPECT_LE(of.p50_ns, of.p99_ns);
    EXPECT_LE(of.p99_ns, of.max_ns);
    EXPECT_LE(of.max_ns / 2, of.sum_ns);
  }
  EXPECT_EQ(metrics.latency.sum_ns,
            metrics.host_queue.sum_ns + metrics.device.sum_ns + metrics.delivery.sum_ns);
  EXPECT_GT(metrics.device.p50_ns, 0u);
  const std::uint64_t timed = has_device_clock(runtime) ? calls : 0;
  for (const LatencySummary& of : {metrics.to_device, metrics.executor, metrics.to_host})
    EXPECT_EQ(of.count, timed);
  if (timed != 0) {
    EXPECT_EQ(metrics.device.sum_ns,
              metrics.to_device.sum_ns + metrics.executor.sum_ns + metrics.to_host.sum_ns);
    EXPECT_GT(metrics.executor.sum_ns, 0u);
  }
  const CountersReader reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  EXPECT_TRUE(await([&] {
    const auto kernels = reader.kernels();
    if (kernels.empty() || kernels[0].metrics.latency.count != calls) return false;
    const auto latency = reader.latency(kernels[0]);  // published behind the others
    return latency != nullptr && telemetry::summarize(*latency).count == calls;
  }));
}

TEST_P(Telemetry, LatencyIsThatOfEveryKindOfReceiver) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a");
  std::promise<error_code> called;
  kernel.async_call(numbered(1), [&](error_code error, Reply) { called.set_value(error); });
  EXPECT_FALSE(called.get_future().get());
  EXPECT_EQ(kernel.metrics().latency.count, 1u);
  ASSERT_TRUE(kernel.send(numbered(2)));
  ASSERT_TRUE(kernel.receive(30s));
  EXPECT_EQ(kernel.metrics().latency.count, 2u);
  const auto message = numbered(3);
  const std::vector<Bytes> messages(40, Bytes(message));
  ASSERT_EQ(kernel.send_all(messages).value(), messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) ASSERT_TRUE(kernel.receive(30s));
  EXPECT_EQ(kernel.metrics().latency.count, 42u);
}

TEST_P(Telemetry, WithoutSamplesThereAreNoTimes) {
  for (const RuntimeOptions& options :
       {RuntimeOptions{.latency_sampling = 0}, RuntimeOptions{.telemetry = false}}) {
    auto runtime = open_on(GetParam(), options).value();
    Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
    ASSERT_TRUE(kernel.send(numbered(1)));
    EXPECT_TRUE(kernel.calls(10).empty());
    kernel.activate().value();
    ASSERT_TRUE(kernel.receive(30s));
    EXPECT_EQ(kernel.metrics().latency.count, 0u);
  }
}

TEST_P(Telemetry, CallsInFlightGrowOlder) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  std::vector<MessageId> ids;
  for (std::uint64_t i = 0; i < 20; ++i) ids.push_back(kernel.send(numbered(i)).value());
  const auto calls = kernel.calls(5);
  ASSERT_EQ(calls.size(), 5u);
  EXPECT_TRUE(std::ranges::is_sorted(calls, std::greater(), &CallInFlight::age_ns));
  constexpr std::uint64_t later_ns = 20'000'000;
  EXPECT_TRUE(await([&] { return kernel.metrics().oldest_call_age_ns > later_ns; }));
  const CountersReader reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  EXPECT_TRUE(await([&] {
    const auto kernels = reader.kernels();
    return kernels.size() == 1 && kernels[0].calls.size() == telemetry::calls_max &&
           kernels[0].calls[0].age_ns > later_ns;
  }));
  const telemetry::PublishedKernel published = reader.kernels().at(0);
  for (const CallInFlight& call : published.calls)
    EXPECT_EQ(std::ranges::count(ids, call.message), 1);
  kernel.activate().value();
  for (std::size_t i = 0; i < ids.size(); ++i) ASSERT_TRUE(kernel.receive(30s));
  EXPECT_TRUE(kernel.calls(5).empty());
  EXPECT_EQ(kernel.metrics().oldest_call_age_ns, 0u);
  EXPECT_TRUE(await([&] { return reader.kernels().at(0).calls.empty(); }));
}

/// The record of this error in this kernel.
ErrorRecord record_of(const std::vector<ErrorRecord>& errors, const std::string& kernel,
                      Errc code) {
  for (const ErrorRecord& error : errors)
    if (error.kernel == kernel && error.code == static_cast<int>(code)) return error;
  return {};
}

TEST_P(Telemetry, ErrorsAreCountedByKind) {
  auto runtime = open_on(GetParam(), often()).value();
  EXPECT_TRUE(runtime.errors().empty());
  EXPECT_FALSE(runtime.launch("x", {.program = "no such program"}));
  Kernel kernel = resting(
      runtime, "a", {.program = "echo", .queue_max = 0, .backpressure = Backpressure::reject});
  const std::vector<float> numbers{1, 2, 3, 4};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(kernel.call(ops::relu(numbers)));  // it takes bytes
  EXPECT_EQ(kernel.call(numbered(1), 1ms).error(), Errc::deadline_exceeded);
  EXPECT_EQ(kernel.receive(0ns).error(), Errc::deadline_exceeded) << "nothing that went wrong";
  EXPECT_FALSE(kernel.deactivate());
  ASSERT_TRUE(kernel.send(numbered(2)));
  kernel.terminate().value();
  EXPECT_EQ(kernel.receive(0ns).error(), Errc::kernel_terminated);
  EXPECT_EQ(kernel.send(numbered(3)).error(), Errc::kernel_terminated);
  const std::vector<ErrorRecord> errors = runtime.errors();
  EXPECT_EQ(errors.size(), 5u);
  EXPECT_EQ(record_of(errors, "x", Errc::program_not_found).count, 1u);
  const ErrorRecord wrong = record_of(errors, "a", Errc::unsupported_operation);
  EXPECT_EQ(wrong.count, 3u);
  EXPECT_THAT(wrong.text, HasSubstr("takes plain bytes"));
  EXPECT_LE(wrong.first_ns, wrong.last_ns);
  EXPECT_EQ(record_of(errors, "a", Errc::deadline_exceeded).count, 1u);
  EXPECT_EQ(record_of(errors, "a", Errc::invalid_state).count, 1u);
  EXPECT_EQ(record_of(errors, "a", Errc::kernel_terminated).count, 2u);
  EXPECT_EQ(runtime.metrics().errors, 8u);
  const CountersReader reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  EXPECT_TRUE(await([&] { return reader.errors().size() == 5; })) << "the kernel is gone";
  EXPECT_EQ(record_of(reader.errors(), "a", Errc::unsupported_operation).text, wrong.text);
}

TEST_P(Telemetry, RefusedMessagesAreErrorsOfEveryKindOfSender) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = resting(runtime, "a",
                          {.program = "echo",
                           .input_bytes = 4096,
                           .in_flight_max = 1,
                           .queue_max = 0,
                           .backpressure = Backpressure::reject});
  ASSERT_TRUE(kernel.send(numbered(1)));
  const auto count = [&] { return record_of(runtime.errors(), "a", Errc::queue_full).count; };
  EXPECT_FALSE(kernel.send(numbered(2)));
  EXPECT_EQ(count(), 1u);
  EXPECT_FALSE(kernel.call(numbered(2)));
  EXPECT_EQ(count(), 2u);
  const auto message = numbered(3);
  const std::vector<Bytes> messages(2, Bytes(message));
  EXPECT_FALSE(kernel.send_all(messages));
  EXPECT_EQ(count(), 3u);
  FutureCode sent, called;
  kernel.async_send(numbered(4), sent.token());
  EXPECT_EQ(sent.get(), make_error_code(Errc::queue_full));
  kernel.async_call(numbered(4), called.token());
  EXPECT_EQ(called.get(), make_error_code(Errc::queue_full));
  EXPECT_EQ(count(), 5u);
  EXPECT_EQ(runtime.errors().size(), 1u);
}

/// After a rest the rate is that of the work, not of the rest and the work.
TEST_P(Telemetry, RatesLeaveOutTheRestBefore) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a");
  ASSERT_TRUE(kernel.call(numbered(0)));
  const std::filesystem::path file = runtime.metrics().telemetry_file;
  telemetry::Reading resting;
  ASSERT_TRUE(await([&] {
    resting = telemetry::read(file);
    return resting.kernels.size() == 1 && resting.kernels[0].metrics.replied == 1 &&
           resting.kernels[0].metrics.parks == kernel.metrics().slices &&
           resting.heartbeat_ns > resting.kernels[0].published_ns + 20'000'000;
  }));
  // It rests for a hundred publications, as others may for hours.
  ASSERT_TRUE(await([&] {
    return telemetry::read(file).heartbeat_ns > resting.kernels[0].published_ns + 200'000'000;
  }));
  const telemetry::Reading before = telemetry::read(file);
  EXPECT_EQ(before.kernels[0].published_ns, resting.kernels[0].published_ns);
  ASSERT_TRUE(kernel.call(numbered(1)));
  telemetry::Reading now;
  ASSERT_TRUE(await([&] {
    now = telemetry::read(file);
    return now.kernels[0].metrics.messages_out == 2;
  }));
  const double seconds =
      static_cast<double>(now.kernels[0].published_ns - before.runtime->published_ns) / 1e9;
  EXPECT_NEAR(telemetry::messages_per_second(now.kernels[0], &before).value_or(0), 1 / seconds,
              1e-6 / seconds);
  EXPECT_EQ(telemetry::messages_per_second(now.kernels[0], &now), std::nullopt)
      << "nothing was published since";
}

/// A kernel's slices are those of its executor, and the wake-ups its own.
TEST_P(Telemetry, CountsWakeUpsOfWhoNeededThem) {
  RuntimeOptions options = often();
  options.park_after = 1ms;
  auto runtime = open_on(GetParam(), options).value();
  Kernel caller = active(runtime, "caller");
  Kernel resting = active(runtime, "resting");
  const auto parked = [&] {
    const KernelMetrics metrics = caller.metrics();
    return metrics.parks == metrics.slices;
  };
  ASSERT_TRUE(await(parked));
  const KernelMetrics before = resting.metrics();
  const KernelMetrics caller_before = caller.metrics();
  for (std::uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(caller.call(numbered(i)));
    ASSERT_TRUE(await(parked));
  }
  EXPECT_GE(caller.metrics().wake_ups, caller_before.wake_ups + 3);
  EXPECT_GE(resting.metrics().slices, before.slices + 3) << "it has the same executor";
  EXPECT_EQ(resting.metrics().wake_ups, before.wake_ups) << "for others";
  const CountersReader reader = CountersReader::open(runtime.metrics().telemetry_file).value();
  ASSERT_TRUE(await([&] {
    const auto kernels = reader.kernels();
    const auto found = std::ranges::find(
        kernels, "resting", [](const auto& published) { return published.metrics.id; });
    return found != kernels.end() && found->metrics.parks == resting.metrics().slices;
  })) << "also of one that rests";
}

/// Copies of a kernel are those for it alone; where memory is shared there are none.
TEST_P(Telemetry, CountsCopiesOfWhoNeededThem) {
  for (const Transfer transfer : {Transfer::zero_copy, Transfer::dma, Transfer::sliced}) {
    RuntimeOptions options = often();
    options.transfer = transfer;
    // Of the host's threads each strategy has a backend of its own.
    auto opened =
        open_on(may_have(GetParam(), transfer) ? GetParam() : host_backend(transfer), options);
    if (!opened && opened.error() == Errc::backend_unavailable) continue;  // a device may lack it
    auto runtime = std::move(opened).value();
    Kernel caller = active(runtime, "caller");
    Kernel resting = active(runtime, "resting");
    ASSERT_TRUE(resting.call(numbered(0)));
    // Until then its ring was looked at again and again, for as long as the device took.
    const std::uint64_t copies_until_it_rests = resting.metrics().copies;
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(caller.call(numbered(i)));
    const KernelMetrics metrics = caller.metrics();
    if (transfer == Transfer::zero_copy) {
      EXPECT_EQ(metrics.copies, 0u);
      EXPECT_EQ(metrics.copied_bytes, 0u);
      continue;
    }
    EXPECT_GE(metrics.copies, 2 * 100u) << "there and back";
    EXPECT_GE(metrics.copied_bytes, metrics.bytes_in + metrics.bytes_out);
    EXPECT_GE(resting.metrics().copies, 4u) << "rings and state, there and back";
    EXPECT_LT(resting.metrics().copies, copies_until_it_rests + 10) << "those are the caller's";
    EXPECT_GT(runtime.metrics().copies, metrics.copies + resting.metrics().copies);
    EXPECT_GT(runtime.metrics().copied_bytes, metrics.copied_bytes);
  }
}

/// Ten that look a thousand times a second at a service at work: nobody sees anything torn.
TEST_P(Telemetry, ManyReadersSeeWholeFigures) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "a");
  const std::string file = runtime.metrics().telemetry_file;
  std::atomic<bool> enough{false};
  auto calls = std::async(std::launch::async, [&] {
    std::uint64_t count = 0;
    for (; !enough; ++count) EXPECT_TRUE(kernel.call(numbered(count)));
    return count;
  });
  const auto look = [&] {
    const CountersReader reader = CountersReader::open(file).value();
    std::uint64_t replied = 0;
    for (int i = 0; i < 500; ++i) {
      for (const auto& published : reader.kernels()) {
        const KernelMetrics& metrics = published.metrics;
        EXPECT_EQ(metrics.id, "a");
        EXPECT_LE(metrics.latency.p50_ns, metrics.latency.p99_ns);
        EXPECT_GE(metrics.replied, replied) << "it only grows";
        replied = metrics.replied;
      }
      std::this_thread::sleep_for(1ms);
    }
    return replied;
  };
  std::vector<std::future<std::uint64_t>> readers;
  for (int i = 0; i < 10; ++i) readers.push_back(std::async(std::launch::async, look));
  for (auto& reader : readers) EXPECT_GT(reader.get(), 0u);
  enough = true;
  EXPECT_GT(calls.get(), 0u);
}

}  // namespace
}  // namespace ringkernel::test
