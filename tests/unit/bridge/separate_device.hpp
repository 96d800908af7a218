/// A device with memory of its own, and a copy agent for it; both on the caller's thread.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bridge/dma/copy_agent.hpp"
#include "foundation/memory_error.hpp"
#include "unit/bridge/simulated_device.hpp"

namespace ringkernel::bridge::test {

/// Copies at once; runs slices at once (sliced), or when somebody asks whether they have returned.
class SeparateDevice final : public DevicePort {
 public:
  SeparateDevice(std::byte* memory, std::uint64_t bytes, std::uint32_t work_groups)
      : memory_(memory), bytes_(bytes), work_groups_(work_groups) {}

  Result<std::uint64_t> start_copies(std::span<const rk_copy> copies) override {
    if (!has_memory()) return no_memory();
    if (fails_at != 0 && ++starts >= fails_at)
      return Error(Errc::device_error, "the copy was refused");
    for (const rk_copy& copy : copies) {
      if (copy.direction == RK_COPY_TO_HOST && before_fetch) std::exchange(before_fetch, nullptr)();
      ++copied;
      log.push_back(copy);
      copy_range(copy.direction, copy.offset, copy.host, copy.bytes);
      if (copy.second_offset != 0)
        copy_range(copy.direction, copy.second_offset,
                   static_cast<std::byte*>(copy.host) + copy.bytes, copy.bytes);
    }
    return ++ticket;
  }
  Result<bool> copies_ended(std::uint64_t, std::uint64_t) override {
    if (!has_memory()) return no_memory();
    return !is_stuck;
  }
  Result<bool> launch_on_device(std::uint32_t slice) override {
    if (!has_memory()) return no_memory();
    if (std::exchange(is_busy, false)) return false;
    slices.push_back(slice);
    for (std::uint32_t group = first_is_at_work ? 1 : 0; group < work_groups_; ++group)
      run_group(slice, group);
    return true;
  }
  Result<bool> slices_returned(std::uint64_t) override {
    if (!has_memory()) return no_memory();
    if (slices.empty() || !first_is_at_work) return true;
    if (at<rk_executor_host_line>(0).yield_slice != slices.back()) return false;
    if (slices.back() != made_way_.value_or(0)) run_group(slices.back(), 0);
    made_way_ = slices.back();
    return true;
  }

  template <class T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(memory_ + offset);
  }

  std::vector<std::uint32_t> slices;
  std::vector<rk_copy> log;
  std::uint64_t copied = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t ticket = 0;
  int starts = 0;
  int fails_at = 0;
  int no_memory_every = 0;  ///< the n-th call finds none; 0: each does
  bool is_stuck = false;
  bool is_busy = false;           ///< refuses the next slice
  bool first_is_at_work = false;  ///< the first work-group parks only when asked to make way
  std::function<void()> before_fetch;

 private:
  [[nodiscard]] bool has_memory() {
    return no_memory_every == 0 || ++calls_ % no_memory_every != 0;
  }

  void copy_range(std::uint32_t direction, std::uint64_t offset, void* host, std::uint64_t bytes) {
    copied_bytes += bytes;
    if (direction == RK_COPY_TO_DEVICE)
      std::memcpy(memory_ + offset, host, bytes);
    else
      std::memcpy(host, memory_ + offset, bytes);
  }

  void run_group(std::uint32_t slice, std::uint32_t group) {
    alignas(64) rk_u8 local[RK_SLICE_BYTES] = {};
    run_slice_(reinterpret_cast<rk_u8*>(memory_), bytes_, 0, slice, group, nullptr, local, nullptr);
  }

  const native::SliceFunction run_slice_ = native::find_program(RK_PROGRAM_ECHO);
  std::byte* const memory_;
  const std::uint64_t bytes_;
  const std::uint32_t work_groups_;
  int calls_ = 0;
  std::optional<std::uint32_t> made_way_;  // the slice that the first work-group left
};

/// Its sessions run on the caller's thread, when the test says so.
class SteppedMover final : public CopyAgent {
 public:
  using CopyAgent::CopyAgent;

  Result<void> launch(std::uint32_t slice) override {
    launched.push_back(slice);
    return {};
  }

  /// Runs the sessions that were launched; more may follow.
  void work() {
    while (!launched.empty()) {
      const std::uint32_t slice = launched.front();
      launched.pop_front();
      ASSERT_TRUE(run(slice));
    }
  }

  std::deque<std::uint32_t> launched;
};

}  // namespace ringkernel::bridge::test
