/// The smallest arena on which an executor runs: its control lines, and no ring kernel.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/telemetry_block.h"
#include "ringkernel/protocol/version.h"

namespace ringkernel::testing {

class ExecutorArena {
 public:
  static constexpr uint64_t bytes = 1 << 16;
  static constexpr uint64_t executor_offset = RK_LINE_BYTES;

  /// Lays the executor out in zeroed memory. A slice parks after `idle_polls_max` polls.
  ExecutorArena(void* arena, uint32_t idle_polls_max)
      : host_(*reinterpret_cast<rk_executor_host_line*>(static_cast<std::byte*>(arena) +
                                                        executor_offset)) {
    constexpr uint32_t capacity = RK_DOORBELLS_PER_LINE;
    uint64_t next = executor_offset + sizeof(rk_executor_host_line);
    const auto place = [&next](uint64_t size) {
      const uint64_t at = next;
      next += (size + RK_LINE_BYTES - 1) / RK_LINE_BYTES * RK_LINE_BYTES;
      return at;
    };
    host_.version = RK_PROTOCOL_VERSION;
    host_.kernel_capacity = capacity;
    host_.work_groups = 1;
    host_.idle_polls_max = idle_polls_max;
    host_.drain_records_max = 16;
    host_.device_line = place(sizeof(rk_executor_device_line));
    host_.input_doorbells = place(sizeof(rk_doorbell_line));
    host_.output_doorbells = place(sizeof(rk_doorbell_line));
    host_.kernel_host_lines = place(capacity * sizeof(rk_kernel_host_line));
    host_.kernel_device_lines = place(capacity * sizeof(rk_kernel_device_line));
    host_.telemetry_blocks = place(capacity * sizeof(rk_telemetry_block));
    device_ = reinterpret_cast<rk_executor_device_line*>(static_cast<std::byte*>(arena) +
                                                         host_.device_line);
    // release: the rest of the line; pairs with the acquire in rk_slice_open
    std::atomic_ref(host_.magic).store(RK_PROTOCOL_MAGIC, std::memory_order_release);
  }

  /// For slices with a clock; max 0: no limit.
  void set_idle_ns(uint64_t max, uint64_t spin) {
    host_.idle_ns_max = max;
    host_.idle_spin_ns = spin;
  }

  /// As a waiting thread does before it yields, on the slice's core or on another one.
  void hand_over(uint32_t core) {
    std::atomic_ref(host_.handover)
        .store(((host_.handover | RK_HANDOVER_CORE) + 1) | core, std::memory_order_relaxed);
  }
  /// On which the slice says that it runs, plus 1.
  [[nodiscard]] uint32_t core() const {
    return std::atomic_ref(device_->core).load(std::memory_order_relaxed);
  }

  void stop() { std::atomic_ref(host_.stop).store(1, std::memory_order_release); }

  [[nodiscard]] uint32_t running_slice() const {
    return std::atomic_ref(device_->running_slice).load(std::memory_order_acquire);
  }
  [[nodiscard]] uint32_t parked_slice() const {
    return std::atomic_ref(device_->parked_slice).load(std::memory_order_acquire);
  }
  [[nodiscard]] uint32_t end_reason() const {
    return std::atomic_ref(device_->end_reason).load(std::memory_order_acquire);
  }
  [[nodiscard]] uint64_t polls() const {  // stored every 1024 polls
    return std::atomic_ref(device_->polls).load(std::memory_order_acquire);
  }
  [[nodiscard]] uint64_t slices() const {
    return std::atomic_ref(device_->slices).load(std::memory_order_acquire);
  }

 private:
  rk_executor_host_line& host_;
  rk_executor_device_line* device_;
};

}  // namespace ringkernel::testing
