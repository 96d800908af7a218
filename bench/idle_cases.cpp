#include "idle_cases.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "figures.hpp"
#include "names.hpp"
#include "ringkernel/ringkernel.hpp"

namespace bench {
namespace {

namespace rk = ringkernel;
using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr std::array park_afters = {microseconds(100), microseconds(500), microseconds(2000),
                                    microseconds(10'000), microseconds(50'000)};
constexpr std::array spin_fors = {microseconds(5), microseconds(50)};
constexpr microseconds pace = 1ms;
constexpr std::size_t programs = 8;

/// A runtime with one program and one ring kernel, and a call whose result is checked.
class IdleService {
 public:
  explicit IdleService(const rk::RuntimeOptions& options)
      : runtime_(
            rk::RingKernelRuntime::builder().backend("opencl").options(options).build().value()),
        kernel_(runtime_.launch("adder", {.auto_activate = true}).value()) {}

  double call_us() {
    a_[0] = a_[0] > 1000 ? 0 : a_[0] + 1;
    const Stopwatch watch;
    const rk::Result<rk::Reply> reply = kernel_.call(rk::ops::add(a_, b_));
    const double us = watch.us();
    if (!reply.has_value() || reply->floats()[0] != a_[0] + b_[0])
      throw std::runtime_error("a call failed, or its sum is wrong");
    return us;
  }
  [[nodiscard]] std::uint64_t slices() const { return runtime_.metrics().slices; }

 private:
  rk::RingKernelRuntime runtime_;
  rk::Kernel kernel_;
  std::array<float, 16> a_{};
  std::array<float, 16> b_{1, 2, 3};
};

/// The first call after the executor has left, which a further slice proves.
Measurement wake_after(microseconds park_after) {
  IdleService service({.park_after = park_after});
  Latencies latencies({.warm_up = 100ms, .duration = 20s, .samples_max = 200});
  while (latencies.more()) {
    std::this_thread::sleep_for(2 * park_after + 2ms);
    const std::uint64_t slices = service.slices();
    const double us = service.call_us();
    if (service.slices() != slices) latencies.add(us);
  }
  return latencies.result();
}

/// A call every millisecond: whether the executor is still there depends on park_after.
Measurement paced(microseconds park_after) {
  IdleService service({.park_after = park_after});
  Latencies latencies({.warm_up = 100ms, .duration = 2s});
  while (latencies.more()) {
    std::this_thread::sleep_for(pace);
    latencies.add(service.call_us());
  }
  return latencies.result();
}

/// What that costs the whole process, in percent of one core.
Measurement paced_cpu(microseconds park_after) {
  IdleService service({.park_after = park_after});
  for (int i = 0; i < 100; ++i) service.call_us();
  const Stopwatch watch;
  const double start_s = cpu_seconds();
  while (watch.us() < 1e6) {
    std::this_thread::sleep_for(pace);
    service.call_us();
  }
  return summarize({(cpu_seconds() - start_s) / (watch.us() * 1e-6) * 100}, Better::lower);
}

/// PoCL reads it once, at the first call: a case is a process of its own.
void keep_all_resident() {
  setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(programs + 1).c_str(), 1);
}

std::vector<IdleService> busy_services(microseconds spin_for) {
  std::vector<IdleService> services;
  for (std::size_t i = 0; i < programs; ++i)
    services.emplace_back(rk::RuntimeOptions{.arena_bytes = 8 << 20, .spin_for = spin_for});
  return services;
}

/// One caller, who asks each program in turn: every executor idles seven times out of eight.
Measurement busy_turns(microseconds spin_for) {
  std::vector<IdleService> services = busy_services(spin_for);
  Latencies latencies;
  while (latencies.more())
    for (IdleService& service : services) latencies.add(service.call_us());
  return latencies.result();
}

/// A caller for each program, all at the same time. The samples are those of the first.
Measurement busy_callers(microseconds spin_for) {
  std::vector<IdleService> services = busy_services(spin_for);
  std::atomic<bool> stop = false;
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < programs; ++i)
    others.emplace_back([&service = services[i], &stop] {
      while (!stop) service.call_us();
    });
  Latencies latencies;
  while (latencies.more()) latencies.add(services[0].call_us());
  stop = true;
  return latencies.result();
}

/// "100us", "2ms".
std::string text_of(microseconds time) {
  return time < 1ms ? std::to_string(time.count()) + "us" : std::to_string(time / 1ms) + "ms";
}

std::vector<Case> make_idle_cases() {
  std::vector<Case> cases;
  for (const microseconds park_after : park_afters) {
    const std::string text = text_of(park_after);
    cases.push_back({keep("wake_" + text), "us", [=] { return wake_after(park_after); }});
    cases.push_back({keep("paced_" + text), "us", [=] { return paced(park_after); }});
    cases.push_back({keep("paced_cpu_" + text), "%", [=] { return paced_cpu(park_after); }});
  }
  for (const microseconds spin_for : spin_fors) {
    const std::string text = text_of(spin_for);
    cases.push_back({keep("busy8_turns_spin_" + text), "us", [=] {
                       keep_all_resident();
                       return busy_turns(spin_for);
                     }});
    cases.push_back({keep("busy8_callers_spin_" + text), "us", [=] {
                       keep_all_resident();
                       return busy_callers(spin_for);
                     }});
    cases.push_back(
        {keep("busy8_shared_spin_" + text), "us", [=] { return busy_turns(spin_for); }});
  }
  return cases;
}

std::vector<Figure> make_idle_figures() {
  std::vector<Figure> figures;
  for (const Case& one : idle_cases())
    figures.push_back({keep(std::string(one.name) + (one.unit == "%" ? "_percent" : "_p50_us")),
                       one.unit, Better::lower, Figure::no_bar, one.name});
  return figures;
}

}  // namespace

std::span<const Case> idle_cases() {
  static const std::vector<Case> cases = make_idle_cases();
  return cases;
}

std::span<const Figure> idle_figures() {
  static const std::vector<Figure> figures = make_idle_figures();
  return figures;
}

}  // namespace bench
