// anomaly: an actor that keeps the moving mean and variance of 1,000 sensors, and tells which of
// them say something unusual. The same loop behind a mutex runs beside it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <random>
#include <string_view>
#include <vector>

#include "anomaly_generated.h"
#include "detector_program.hpp"
#include "ringkernel/ringkernel.hpp"
#include "ringkernel/typed.hpp"

namespace rk = ringkernel;

namespace {

constexpr std::size_t sensors = 1000;
using Frame = std::array<float, sensors>;

/// Noise around a level for each sensor; one reading in a hundred thousand is far off.
class Plant {
 public:
  const Frame& next() {
    for (std::size_t i = 0; i < sensors; ++i) {
      frame_[i] = static_cast<float>(i) + noise_(random_);
      if (random_() % 100'000 == 0) frame_[i] += 25;
    }
    return frame_;
  }

 private:
  std::mt19937 random_{11};  // NOLINT: the same readings each time
  std::normal_distribution<float> noise_{0, 1};
  Frame frame_{};
};

/// What a service would write without ringkernel, for several threads.
class Detector {
 public:
  std::uint32_t watch(const Frame& frame) {
    const std::lock_guard lock(mutex_);
    std::uint32_t alarms = 0;
    for (std::size_t i = 0; i < sensors; ++i) {
      Sensor& sensor = sensors_[i];
      const float off = frame[i] - sensor.mean, squared = off * off;
      if (sensor.readings >= 50 && squared > 36.0f * sensor.variance) {
        ++alarms;
        continue;
      }
      sensor.mean = sensor.readings == 0 ? frame[i] : sensor.mean + 0.02f * off;
      if (sensor.readings++ > 0)
        sensor.variance = (1.0f - 0.02f) * (sensor.variance + 0.02f * squared);
    }
    return alarms;
  }

 private:
  struct Sensor {
    float mean = 0, variance = 0;
    std::uint32_t readings = 0;
  };
  std::mutex mutex_;
  std::vector<Sensor> sensors_ = std::vector<Sensor>(sensors);
};

using Watch = rk::TypedMethod<anomaly::Readings, anomaly::Alarms>;

rk::Result<std::uint32_t> watch(rk::Kernel& detector, const Watch& method, const Frame& frame,
                                flatbuffers::FlatBufferBuilder& builder) {
  builder.Clear();
  builder.Finish(anomaly::CreateReadings(builder, 0, builder.CreateVector(frame.data(), sensors)));
  RK_TRY(alarms, detector.call(method(builder)));
  return alarms->count();
}

void print(std::string_view who, std::vector<double>& microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  std::cout << who << ": p50 " << microseconds[microseconds.size() / 2] << " us, p99 "
            << microseconds[microseconds.size() * 99 / 100] << " us a frame\n";
}

rk::Result<bool> run(std::size_t frames) {
  RK_TRY(runtime, rk::RingKernelRuntime::builder().build());
  RK_TRY_VOID(runtime.add_program(detector_program()));
  RK_TRY(actor, runtime.launch("detector", {.program = "detector", .auto_activate = true}));
  RK_TRY(method, actor.method<anomaly::Readings, anomaly::Alarms>("Watch"));
  using clock = std::chrono::steady_clock;
  using us = std::chrono::duration<double, std::micro>;
  Plant plant;
  Detector loop;
  flatbuffers::FlatBufferBuilder builder;
  std::vector<double> actor_took, loop_took;
  std::uint64_t found = 0, found_by_loop = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    const Frame& frame = plant.next();
    const auto begin = clock::now();
    RK_TRY(alarms, watch(actor, method, frame, builder));
    const auto middle = clock::now();
    found_by_loop += loop.watch(frame);
    loop_took.push_back(us(clock::now() - middle).count());
    actor_took.push_back(us(middle - begin).count());
    found += alarms;
  }
  RK_TRY_VOID(actor.deactivate());
  RK_TRY(state, actor.read_state<anomaly::DetectorState>());
  std::cout << frames << " frames of " << sensors << " sensors on " << runtime.metrics().backend
            << ": " << found << " alarms\n";
  print("actor", actor_took);
  print("loop behind a mutex", loop_took);
  return found == found_by_loop && found == state.alarms() && found > 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const rk::Result<bool> agree =
      run(argument_count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 100'000);
  if (!agree) std::cerr << "anomaly: " << agree.error().text() << '\n';
  return agree && *agree ? EXIT_SUCCESS : EXIT_FAILURE;
}
