// Costs of a percent drown in the noise between two runs. So each case has both sides in one
// process and gives them short windows in turn; a sample is what one pair of windows differs by.
#include "telemetry_cases.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "figures.hpp"
#include "ringkernel/ringkernel.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/process.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;
using namespace std::chrono_literals;

// Short, because virtual CPUs change places several times a second, and with them all figures.
constexpr auto pair_window = 5ms;
/// Until the other executor has left, and the caches are this one's again.
constexpr auto settling = 1500us;
constexpr auto echo_park_after = 300us;
constexpr int pairs = 800;
constexpr std::size_t echo_batch = 64;
constexpr int readers = 10;

/// A runtime with one ring kernel that echoes.
class EchoService {
 public:
  explicit EchoService(bool telemetry,
                       std::uint32_t sampling = rk::RuntimeOptions().latency_sampling,
                       const char* backend = "opencl")
      : runtime_(rk::RingKernelRuntime::builder()
                     .backend(backend)
                     .options({.arena_bytes = 8 << 20,
                               .park_after = echo_park_after,
                               .telemetry = telemetry,
                               .latency_sampling = sampling})
                     .build()
                     .value()),
        kernel_(runtime_.launch("echo", {.program = "echo", .auto_activate = true}).value()) {}

  [[nodiscard]] std::string file() const { return runtime_.metrics().telemetry_file; }

  void call() {
    if (!kernel_.call(message_).has_value()) throw std::runtime_error("a call failed");
  }

  void pipeline() {
    if (kernel_.send_all(views_).value() != echo_batch)
      throw std::runtime_error("a message was refused");
    for (std::size_t done = 0; done != echo_batch;)
      done += kernel_.receive_some(std::span(replies_).first(echo_batch - done), 10s).value();
  }

 private:
  rk::RingKernelRuntime runtime_;
  rk::Kernel kernel_;
  std::vector<std::byte> message_ = std::vector<std::byte>(64);
  std::vector<rk::Bytes> views_ = std::vector<rk::Bytes>(echo_batch, rk::Bytes(message_));
  std::vector<rk::Result<rk::Reply>> replies_ = std::vector<rk::Result<rk::Reply>>(echo_batch);
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
  } while (watch.us() < std::chrono::duration<double, std::micro>(pair_window).count());
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
  EchoService with(true), without(false);
  return paired([&] { return rate_of([&] { with.pipeline(); }); },
                [&] { return rate_of([&] { without.pipeline(); }); }, percent_lost);
}

Measurement call_cost() {
  EchoService with(true), without(false);
  return paired([&] { return rate_of([&] { with.call(); }); },
                [&] { return rate_of([&] { without.call(); }); }, ns_more);
}

/// What one message pays whose times are taken, in a pipeline.
Measurement sample_cost() {
  EchoService with(true, 1), without(true, 0);
  return paired([&] { return rate_of([&] { with.pipeline(); }) * echo_batch; },
                [&] { return rate_of([&] { without.pipeline(); }) * echo_batch; }, ns_more);
}

/// What a thread does that wakes a thousand times a second.
enum class Wakes : std::uint8_t { never, idly, to_read };

/// Ten threads that give way as `rkstat` does.
class Readers {
 public:
  explicit Readers(const std::string& file) {
    for (int i = 0; i < readers; ++i)
      threads_.emplace_back([this, file](const std::stop_token& stop) { run(file, stop); });
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;
  /// Nobody is joined who waits.
  ~Readers() { change_to(Wakes::idly); }

  void change_to(Wakes what) {
    wakes_ = what;
    wakes_.notify_all();
  }
  [[nodiscard]] std::uint64_t snapshots() const { return snapshots_; }

 private:
  void run(const std::string& file, const std::stop_token& stop) {
    rk::telemetry::give_way_to_services();
    const auto reader = rk::telemetry::CountersReader::open(file).value();
    auto next = std::chrono::steady_clock::now();
    while (!stop.stop_requested()) {
      if (wakes_ == Wakes::to_read && reader.runtime() && !reader.kernels().empty()) ++snapshots_;
      wakes_.wait(Wakes::never);
      next = std::max(next + 1ms, std::chrono::steady_clock::now());
      std::this_thread::sleep_until(next);
    }
  }

  std::atomic<Wakes> wakes_ = Wakes::never;
  std::atomic<std::uint64_t> snapshots_ = 0;
  std::vector<std::jthread> threads_;
};

/// What keeps a service as busy as it can be: on a CPU device both cores of a small machine, where
/// the device is at work on the one and its user on the other.
void load_device(EchoService& service) { service.pipeline(); }
/// One core: natively a caller runs the device's part itself. The others are free for readers.
void load_caller(EchoService& service) { service.call(); }

/// Throughput beside ten threads that do one thing or the other.
template <class Load>
Measurement lost_beside_threads(EchoService service, Load&& load, Wakes with, Wakes without) {
  Readers beside(service.file());
  const auto measure = [&](Wakes what) {
    beside.change_to(what);
    return rate_of([&] { load(service); });
  };
  const Measurement result =
      paired([&] { return measure(with); }, [&] { return measure(without); }, percent_lost);
  if (beside.snapshots() == 0) throw std::runtime_error("nobody has read anything");
  return result;
}

/// Snapshots that each of them gets in a second of full load.
template <class Load>
Measurement snapshot_rate(EchoService service, Load&& load) {
  constexpr double sample_us = 200'000;
  Readers beside(service.file());
  beside.change_to(Wakes::to_read);
  std::vector<double> samples;
  for (int sample = 0; sample < 10; ++sample) {
    const std::uint64_t before = beside.snapshots();
    const Stopwatch watch;
    while (watch.us() < sample_us) load(service);
    samples.push_back(static_cast<double>(beside.snapshots() - before) / readers /
                      (watch.us() / 1e6));
  }
  return summarize(std::move(samples), Better::higher);
}

EchoService on_device() { return EchoService(true); }
EchoService on_caller() {
  return EchoService(true, rk::RuntimeOptions().latency_sampling, "native");
}

Measurement readers_overhead() {
  return lost_beside_threads(on_device(), load_device, Wakes::to_read, Wakes::never);
}
/// Of the above, what the reading costs, and not that threads wake.
Measurement reading_overhead() {
  return lost_beside_threads(on_device(), load_device, Wakes::to_read, Wakes::idly);
}
Measurement readers_beside_overhead() {
  return lost_beside_threads(on_caller(), load_caller, Wakes::to_read, Wakes::never);
}
Measurement snapshots() { return snapshot_rate(on_device(), load_device); }
Measurement snapshots_beside() { return snapshot_rate(on_caller(), load_caller); }

}  // namespace

std::span<const Case> telemetry_cases() {
  static const std::array cases = {Case{"telemetry_overhead", "%", overhead},
                                   Case{"telemetry_call", "ns", call_cost},
                                   Case{"telemetry_sample", "ns", sample_cost},
                                   Case{"telemetry_readers", "%", readers_overhead},
                                   Case{"telemetry_reading", "%", reading_overhead},
                                   Case{"telemetry_snapshots", "/s", snapshots},
                                   Case{"telemetry_beside", "%", readers_beside_overhead},
                                   Case{"telemetry_beside_snapshots", "/s", snapshots_beside}};
  return cases;
}

std::span<const Figure> telemetry_figures() {
  static const std::array figures = {
      Figure{"telemetry_overhead_percent", "%", Better::lower, 1, "telemetry_overhead"},
      Figure{"telemetry_call_cost_ns", "ns", Better::lower, 20, "telemetry_call"},
      Figure{"telemetry_sample_cost_ns", "ns", Better::lower, Figure::no_bar, "telemetry_sample"},
      Figure{"telemetry_readers_percent", "%", Better::lower, 1, "telemetry_readers"},
      Figure{"telemetry_reading_percent", "%", Better::lower, Figure::no_bar, "telemetry_reading"},
      Figure{"telemetry_snapshots_per_s", "/s", Better::higher, Figure::no_bar,
             "telemetry_snapshots"},
      Figure{"telemetry_beside_percent", "%", Better::lower, 1, "telemetry_beside"},
      Figure{"telemetry_beside_per_s", "/s", Better::higher, Figure::no_bar,
             "telemetry_beside_snapshots"}};
  return figures;
}

}  // namespace bench
