// ring_bench: what the host's share of one message costs, without any device.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "measurement.hpp"
#include "message/codec.hpp"
#include "report.hpp"
#include "ring/consumer.hpp"
#include "ring/producer.hpp"
#include "ringkernel/ops.hpp"

namespace {

namespace rk = ringkernel;

constexpr std::uint64_t capacity = 64 * 1024;

/// A ring in memory of its own.
struct Ring {
  alignas(RK_LINE_BYTES) std::array<std::byte, sizeof(rk_ring) + capacity> memory{};
  rk::RingView view = rk::RingView::at(memory.data(), 0, capacity);
  rk::Producer producer{view};
  rk::Consumer consumer{view};
};

void put(Ring& ring, std::uint32_t payload_bytes) {
  rk_record_header* const header = ring.producer.try_claim(payload_bytes);
  header->kind = RK_RECORD_REQUEST;
  header->payload_bytes = payload_bytes;
  ring.producer.commit();
}

void take(Ring& ring) {
  benchmark::DoNotOptimize(ring.consumer.front());
  ring.consumer.pop();
}

/// Claim, commit, publish, front, pop, release: one message at a time.
void ring_message(benchmark::State& state) {
  Ring ring;
  const auto payload_bytes = static_cast<std::uint32_t>(state.range(0));
  for ([[maybe_unused]] const auto _ : state) {
    put(ring, payload_bytes);
    ring.producer.publish();
    take(ring);
    ring.consumer.release();
  }
}
BENCHMARK(ring_message)->Arg(64)->Arg(1024);

/// The same with one publish and one release for sixteen messages; time is per batch.
void ring_batch16(benchmark::State& state) {
  Ring ring;
  for ([[maybe_unused]] const auto _ : state) {
    for (int i = 0; i < 16; ++i) put(ring, 64);
    ring.producer.publish();
    for (int i = 0; i < 16; ++i) take(ring);
    ring.consumer.release();
  }
}
BENCHMARK(ring_batch16);

/// `add` of two vectors, its plan, and room for its bytes.
struct Addition {
  explicit Addition(std::int64_t count)
      : a(static_cast<std::size_t>(count), 1.0f),
        b(static_cast<std::size_t>(count), 2.0f),
        request(rk::ops::add(a, b)),
        plan(rk::codec::plan(request).value()),
        payload(plan.payload_bytes),
        reply(plan.reply_bytes) {
    rk::codec::encode(plan, request, payload.data());
    // What the device writes: the prefix, then the data.
    std::memcpy(reply.data(), payload.data() + plan.prefix_offset, plan.prefix_bytes);
  }

  std::vector<float> a;
  std::vector<float> b;
  rk::Request request;
  rk::codec::Plan plan;
  rk::MessageBuffer payload;
  rk::MessageBuffer reply;
};

void codec_plan(benchmark::State& state) {
  const Addition addition(state.range(0));
  for ([[maybe_unused]] const auto _ : state) {
    const rk::Request request = rk::ops::add(addition.a, addition.b);
    benchmark::DoNotOptimize(rk::codec::plan(request));
  }
}
BENCHMARK(codec_plan)->Arg(16);

void codec_encode(benchmark::State& state) {
  Addition addition(state.range(0));
  for ([[maybe_unused]] const auto _ : state) {
    rk::codec::encode(addition.plan, addition.request, addition.payload.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(codec_encode)->Arg(16)->Arg(256);

void codec_read_reply(benchmark::State& state) {
  const Addition addition(state.range(0));
  for ([[maybe_unused]] const auto _ : state)
    benchmark::DoNotOptimize(rk::codec::read_reply(addition.reply.span()));
}
BENCHMARK(codec_read_reply)->Arg(16)->Arg(256);

/// Allocation and release of a reply's bytes.
void message_buffer(benchmark::State& state) {
  for ([[maybe_unused]] const auto _ : state)
    benchmark::DoNotOptimize(rk::MessageBuffer(static_cast<std::size_t>(state.range(0))).data());
}
BENCHMARK(message_buffer)->Arg(192)->Arg(64 * 1024);

/// Prints as usual and keeps the repetitions for the list.
class Collector final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    benchmark::ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const std::string& argument = run.run_name.args;
      const std::string suffix = argument.empty() ? "_ns" : "_" + argument + "_ns";
      Series& series = series_[run.run_name.function_name + suffix];
      series.values_ns.push_back(run.GetAdjustedRealTime());
      series.samples += static_cast<std::uint64_t>(run.iterations);
    }
  }

  [[nodiscard]] std::vector<bench::Row> rows() const {
    std::vector<bench::Row> rows;
    for (const auto& [name, series] : series_)
      rows.push_back({name, bench::median(series.values_ns), "ns", series.samples,
                      bench::spread(series.values_ns)});
    return rows;
  }

 private:
  struct Series {
    std::vector<double> values_ns;
    std::uint64_t samples = 0;
  };
  std::map<std::string, Series> series_;
};

/// Takes `--json FILE` out of the arguments, which Google Benchmark would not know.
std::string take_json_option(std::vector<char*>& arguments) {
  for (std::size_t i = 1; i + 1 < arguments.size(); ++i) {
    if (std::strcmp(arguments[i], "--json") != 0) continue;
    std::string file = arguments[i + 1];
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(first, first + 2);
    return file;
  }
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::vector<char*> list(arguments, arguments + argument_count);
  const std::string file = take_json_option(list);
  std::string repetitions = "--benchmark_repetitions=5";
  std::string brief = "--benchmark_min_time=0.1";
  list.insert(list.begin() + 1, {repetitions.data(), brief.data()});  // what the user gives wins
  int count = static_cast<int>(list.size());
  benchmark::Initialize(&count, list.data());
  if (benchmark::ReportUnrecognizedArguments(count, list.data())) return 1;
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  try {
    if (!file.empty()) bench::write_json(file, collector.rows());
  } catch (const std::exception& error) {
    fmt::print(stderr, "ring_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
