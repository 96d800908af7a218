// Costs of a percent drown in the noise between two runs. So each case has both sides in one
// process and gives them short windows in turn; a sample is what one pair of windows differs by.
#include "telemetry_cases.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "figures.hpp"
#include "ringkernel/ringkernel.hpp"
#include "telemetry/counters_reader.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;
using namespace std::chrono_literals;

constexpr auto window = 40ms;
/// Until the executor is back, and the caches are its own again.
constexpr auto settling = 10ms;
constexpr int pairs = 100;
constexpr std::size_t batch = 64;
constexpr int readers = 10;

/// A runtime with one ring kernel that echoes.
class Service {
 public:
  explicit Service(bool telemetry, std::uint32_t sampling = rk::RuntimeOptions().latency_sampling)
      : runtime_(
            rk::RingKernelRuntime::builder()
                .backend("opencl")
                .options(
                    {.arena_bytes = 8 << 20, .telemetry = telemetry, .latency_sampling = sampling})
                .build()
                .value()),
        kernel_(runtime_.launch("echo", {.program = "echo", .auto_activate = true}).value()) {}

  [[nodiscard]] std::string file() const { return runtime_.metrics().telemetry_file; }

  void call() {
    if (!kernel_.call(message_).has_value()) throw std::runtime_error("a call failed");
  }

  void pipeline() {
    if (kernel_.send_all(views_).value() != batch)
      throw std::runtime_error("a message was refused");
    for (std::size_t done = 0; done != batch;)
      done += kernel_.receive_some(std::span(replies_).first(batch - done), 10s).value();
  }

 private:
  rk::RingKernelRuntime runtime_;
  rk::Kernel kernel_;
  std::vector<std::byte> message_ = std::vector<std::byte>(64);
  std::vector<rk::Bytes> views_ = std::vector<rk::Bytes>(batch, rk::Bytes(message_));
  std::vector<rk::Result<rk::Reply>> replies_ = std::vector<rk::Result<rk::Reply>>(batch);
};

/// How often `act` runs in a microsecond, over one window.
template <class Act>
double rate_of(Act&& act) {
  for (const Stopwatch watch;
       watch.us() < std::chrono::duration<double, std::micro>(settling).count();)
    act();
  std::uint64_t count = 0;
  const Stopwatch watch;
  do {
    act();
    ++count;
  } while (watch.us() < std::chrono::duration<double, std::micro>(window).count());
  return static_cast<double>(count) / watch.us();
}

/// `difference(with, without)` of each pair. Who begins alternates.
template <class With, class Without, class Difference>
Measurement paired(With&& with, Without&& without, Difference&& difference) {
  std::vector<double> samples;
  for (int pair = 0; pair < pairs; ++pair) {
    double rate_with = 0;
    if (pair % 2 == 0) rate_with = with();
    const double rate_without = without();
    if (pair % 2 != 0) rate_with = with();
    samples.push_back(difference(rate_with, rate_without));
  }
  return summarize(std::move(samples), Better::lower);
}

double percent_lost(double with, double without) { return (1 - with / without) * 100; }
double ns_more(double with, double without) { return (1 / with - 1 / without) * 1e3; }

Measurement overhead() {
  Service with(true), without(false);
  return paired([&] { return rate_of([&] { with.pipeline(); }); },
                [&] { return rate_of([&] { without.pipeline(); }); }, percent_lost);
}

Measurement call_cost() {
  Service with(true), without(false);
  return paired([&] { return rate_of([&] { with.call(); }); },
                [&] { return rate_of([&] { without.call(); }); }, ns_more);
}

/// What one message pays whose times are taken, in a pipeline.
Measurement sample_cost() {
  Service with(true, 1), without(true, 0);
  return paired([&] { return rate_of([&] { with.pipeline(); }) * batch; },
                [&] { return rate_of([&] { without.pipeline(); }) * batch; }, ns_more);
}

/// Ten readers, a snapshot each millisecond.
Measurement readers_overhead() {
  Service service(true);
  std::atomic<bool> reading = false;
  std::atomic<std::uint64_t> snapshots = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < readers; ++i)
    threads.emplace_back([&](const std::stop_token& stop) {
      const auto reader = rk::telemetry::CountersReader::open(service.file()).value();
      while (!stop.stop_requested()) {
        if (reading && reader.runtime() && !reader.kernels().empty()) ++snapshots;
        std::this_thread::sleep_for(1ms);
      }
    });
  const auto measure = [&](bool beside_readers) {
    reading = beside_readers;
    return rate_of([&] { service.pipeline(); });
  };
  Measurement result =
      paired([&] { return measure(true); }, [&] { return measure(false); }, percent_lost);
  if (snapshots == 0) throw std::runtime_error("nobody has read anything");
  return result;
}

}  // namespace

std::span<const Case> telemetry_cases() {
  static const std::array cases = {Case{"telemetry_overhead", "%", overhead},
                                   Case{"telemetry_call", "ns", call_cost},
                                   Case{"telemetry_sample", "ns", sample_cost},
                                   Case{"telemetry_readers", "%", readers_overhead}};
  return cases;
}

std::span<const Figure> telemetry_figures() {
  static const std::array figures = {
      Figure{"telemetry_overhead_percent", "%", Better::lower, 1, "telemetry_overhead"},
      Figure{"telemetry_call_cost_ns", "ns", Better::lower, 20, "telemetry_call"},
      Figure{"telemetry_sample_cost_ns", "ns", Better::lower, Figure::no_bar, "telemetry_sample"},
      Figure{"telemetry_readers_percent", "%", Better::lower, 1, "telemetry_readers"}};
  return figures;
}

}  // namespace bench
