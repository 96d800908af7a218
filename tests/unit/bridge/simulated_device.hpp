/// A device without threads and a clock without time: the program `echo` runs when the test says
/// so, and time passes when the test says so.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "backend/native/programs.hpp"
#include "bridge/bridge.hpp"
#include "bridge/channel/channel.hpp"
#include "bridge/executor/executor.hpp"
#include "ring/geometry.hpp"

namespace ringkernel::bridge::test {

class ManualClock final : public Clock {
 public:
  [[nodiscard]] std::uint64_t now_ns() const noexcept override { return now += step_ns; }
  /// Ticks that a test puts into a reply are nanoseconds; those of the slice itself are too late.
  [[nodiscard]] std::uint64_t ns_of_ticks(std::uint64_t ticks) const noexcept override {
    return knows_ticks ? ticks : 0;
  }
  bool knows_ticks = false;
  mutable std::uint64_t now = 1000;
  std::uint64_t step_ns = 0;  ///< what each look at the clock takes
};

/// Runs the slices that were launched when `work` is called, or one work-group of the first; a
/// work-group parks when it is idle.
class SimulatedDevice final : public SlicePort {
 public:
  SimulatedDevice(std::byte* arena, std::uint64_t bytes, std::uint64_t executor_offset,
                  std::uint32_t work_groups)
      : arena_(reinterpret_cast<rk_u8*>(arena)),
        bytes_(bytes),
        offset_(executor_offset),
        returned_(work_groups, false) {}

  Result<void> launch(std::uint32_t slice) override {
    if (refuses_launches) return Error(Errc::device_error, "the launch was refused");
    launched.push_back(slice);
    return {};
  }
  bool run(std::uint32_t slice) override {
    if (!runs_callers) return false;
    alignas(64) rk_u8 local[RK_SLICE_BYTES] = {};
    slice_(arena_, bytes_, offset_, slice, 0, nullptr, local, nullptr);
    return true;
  }
  bool runs_on_caller() const noexcept override { return runs_callers; }
  Result<void> wait(std::uint64_t) override {
    work();
    return {};
  }
  Result<void> error() override {
    if (lost) return Error(Errc::device_error, "the device was lost");
    return {};
  }

  /// Runs what was launched. Returns how many slices.
  std::size_t work() {
    std::size_t count = 0;
    for (; !launched.empty(); ++count)
      for (std::uint32_t group = 0; group < returned_.size(); ++group)
        if (!returned_[group]) run_group(group);
    return count;
  }
  /// Runs one work-group of the first slice that was launched, to its end. When all have returned,
  /// so has the slice.
  void run_group(std::uint32_t group) {
    alignas(64) rk_u8 local[RK_SLICE_BYTES] = {};
    slice_(arena_, bytes_, offset_, launched.front(), group, nullptr, local, nullptr);
    returned_[group] = true;
    if (std::ranges::find(returned_, false) != returned_.end()) return;
    launched.pop_front();
    returned_.assign(returned_.size(), false);
  }

  std::deque<std::uint32_t> launched;  ///< and not returned yet
  bool refuses_launches = false;
  bool runs_callers = false;
  bool lost = false;

 private:
  const native::SliceFunction slice_ = native::find_program(RK_PROGRAM_ECHO);
  rk_u8* const arena_;
  const std::uint64_t bytes_;
  const std::uint64_t offset_;
  std::vector<bool> returned_;  // work-groups of the first slice
};

class CountedWakes final : public Waker {
 public:
  void wake() noexcept override { ++count; }
  int count = 0;
};

/// Keeps what it was completed with.
class Recorder final : public Completion {
 public:
  void complete(Outcome outcome) noexcept override { outcomes.push_back(std::move(outcome)); }
  std::vector<Outcome> outcomes;
};

/// An executor over an arena, with channels that have rings of 4 KiB: two records of `large` fill
/// one.
class SimulatedBridge : public ::testing::Test {
 protected:
  static constexpr std::uint32_t ring_capacity = 4096;
  static constexpr std::uint32_t large = 2048 - sizeof(rk_record_header);
  static constexpr std::uint64_t arena_bytes = 256 * 1024;
  static constexpr std::uint64_t rings_offset = 128 * 1024;

  explicit SimulatedBridge(const ExecutorLimits& limits = {.kernel_capacity = 16})
      : arena_(static_cast<std::byte*>(std::aligned_alloc(4096, arena_bytes)), &std::free),
        device((std::memset(arena_.get(), 0, arena_bytes), arena_.get()), arena_bytes, 0,
               limits.work_groups),
        executor(arena_.get(), 0, limits, device) {
    EXPECT_LE(Executor::region_bytes(limits), rings_offset);
    executor.open(1);
  }

  /// A channel on the next two rings of the arena, running on the device.
  std::shared_ptr<Channel> make_channel(const ChannelLimits& limits = {}, bool running = true) {
    const std::uint64_t input = next_ring();
    const std::uint64_t output = next_ring();
    const std::uint32_t kernel =
        executor.attach({input, output, ring_capacity, ring_capacity}).value();
    input_ring = RingView::at(arena_.get(), input, ring_capacity);
    output_ring = RingView::at(arena_.get(), output, ring_capacity);
    auto channel =
        std::make_shared<Channel>(executor, kernel, input_ring, output_ring, limits, clock, wakes);
    if (running) {
      channel->set_state(RK_KERNEL_RUNNING);
      device.work();
    }
    return channel;
  }

  static Envelope envelope(std::uint32_t bytes, std::uint64_t deadline_ns = no_deadline,
                           std::int32_t priority = 0) {
    return {.payload_bytes = bytes,
            .reply_bytes = bytes,
            .priority = priority,
            .deadline_ns = deadline_ns};
  }
  /// Submits a message whose bytes all are `value`. Its id; busy: there was no room.
  static Result<MessageId> submit(Channel& channel, int value, const Envelope& envelope,
                                  Receiver receiver = Receiver::mailbox,
                                  Completion* completion = nullptr,
                                  Executor::Wake how = Executor::Wake::launch) {
    RK_TRY(submission, channel.submit(envelope, receiver, completion, how, [&](std::byte* payload) {
      std::memset(payload, value, envelope.payload_bytes);
    }));
    if (submission.room == Room::none) return Error(Errc::busy, "no room");
    return submission.id;
  }
  static MessageBuffer payload(int value, std::uint32_t bytes) {
    MessageBuffer buffer(bytes);
    std::memset(buffer.data(), value, bytes);
    return buffer;
  }
  /// The next outcome in the mailbox; with id 0 if there is none at this moment.
  Outcome next(Channel& channel) { return channel.receive(Timeout(0)); }
  /// The first bytes of the replies in the mailbox, until the first outcome that is none.
  std::vector<int> replies(Channel& channel) {
    std::vector<int> values;
    for (;;) {
      const Outcome outcome = next(channel);
      if (outcome.id == 0 || outcome.error) return values;
      values.push_back(static_cast<int>(outcome.payload.data()[0]));
    }
  }
  /// Everything that can happen without time passing.
  void settle(Channel& channel) {
    while (channel.do_housekeeping(clock.now) + device.work() + channel.try_drain().value_or(0) !=
           0) {
    }
  }

  // The executor's words in the arena.
  [[nodiscard]] std::byte* arena() const noexcept { return arena_.get(); }
  [[nodiscard]] rk_executor_host_line& host_line() const noexcept {
    return *reinterpret_cast<rk_executor_host_line*>(arena());
  }
  [[nodiscard]] rk_executor_device_line& device_line(std::uint32_t group = 0) const noexcept {
    return reinterpret_cast<rk_executor_device_line*>(arena() + host_line().device_line)[group];
  }
  [[nodiscard]] rk_u32& input_doorbell(std::uint32_t kernel) const noexcept {
    return reinterpret_cast<rk_u32*>(arena() + host_line().input_doorbells)[kernel];
  }

 private:
  std::uint64_t next_ring() {
    return rings_offset + rings_++ * align_up<std::uint64_t>(ring_bytes(ring_capacity), 128);
  }

  std::unique_ptr<std::byte, decltype(&std::free)> arena_;
  std::uint64_t rings_ = 0;

 protected:
  ManualClock clock;
  CountedWakes wakes;
  SimulatedDevice device;
  Executor executor;
  RingView input_ring;  ///< of the channel made last
  RingView output_ring;
};

}  // namespace ringkernel::bridge::test
