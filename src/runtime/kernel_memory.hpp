/// The memory of one ring kernel in the arena: its rings, its state, and what a function adds.
///
/// Threading: one thread at a time, beside readers of `rings` in sizes and places of the rings,
/// which stay; the kernel's lifecycle has the lock. `take_state`: any thread.
/// Ownership: owns the regions; borrows the arena and the device's memory.
/// Errors: E6004 where there is no room; those of the copies with a device that has its own memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "bridge/executor/executor.hpp"
#include "ringkernel/kernel.hpp"
#include "ringkernel/message.hpp"
#include "ringkernel/protocol/fault.h"
#include "runtime/memory/arena.hpp"
#include "runtime/memory/device_memory.hpp"

namespace ringkernel::detail {

class KernelMemory {
 public:
  /// `patience`: with a copy between host and device.
  KernelMemory(Arena& arena, DeviceMemory& memory, std::chrono::nanoseconds patience) noexcept
      : arena_(arena), memory_(memory), patience_(patience) {}
  KernelMemory(const KernelMemory&) = delete;
  KernelMemory& operator=(const KernelMemory&) = delete;

  /// Takes two empty rings.
  [[nodiscard]] Result<void> open(std::uint32_t input_capacity, std::uint32_t output_capacity);
  /// Takes and zeroes a state and what a guard needs on either side of it; nothing of no bytes.
  [[nodiscard]] Result<Arena::Region> take_state(std::uint32_t bytes) const;
  /// Where the state lies that such a region is for; 0: it has none.
  [[nodiscard]] static std::uint64_t state_offset(const Arena::Region& region) noexcept {
    return region.bytes() != 0 ? region.offset() + state_margin_bytes : 0;
  }
  /// The region is the state from here on; the one before stays until `drop_old_state`.
  void set_state(Arena::Region region, std::uint32_t bytes) noexcept;
  void drop_old_state() noexcept { old_state_.reset(); }
  void set_behaviour(std::uint32_t id) noexcept { rings_.behaviour = id; }

  /// A region that lives as long as these rings and those of whoever gets it with `add`:
  /// `fill(std::byte*, offset)` writes it. Once.
  [[nodiscard]] Result<std::shared_ptr<const Arena::Region>> share(
      std::uint64_t bytes, const std::function<void(std::byte*, std::uint64_t)>& fill);
  /// A region of its own, of zeros. Its offset; any where no bytes are wanted. Once.
  [[nodiscard]] Result<std::uint64_t> add(std::uint64_t bytes,
                                          std::shared_ptr<const Arena::Region> shared);

  // While the device leaves them alone: out to `to`, or in.
  Result<void> read_state(std::span<std::byte> to, std::chrono::nanoseconds patience) const;
  Result<void> write_state(Bytes bytes);
  /// Bytes of the region of `add`, `offset` from its beginning, out or in.
  struct RegionCopy {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::byte* to = nullptr;          ///< out
    const std::byte* from = nullptr;  ///< in; if neither is there, zeros come in
  };
  Result<void> copy_region(const RegionCopy& copy, std::chrono::nanoseconds patience);

  [[nodiscard]] const bridge::KernelRings& rings() const noexcept { return rings_; }
  [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
    return arena_.data() + offset;
  }
  /// Gives everything back: nobody touches any of it.
  void give_back() noexcept;

 private:
  /// Before a state: RK_GUARD_BYTES, and the state begins a line of its own.
  static constexpr std::uint64_t state_margin_bytes = RK_LINE_BYTES;
  static_assert(state_margin_bytes >= RK_GUARD_BYTES);

  Arena& arena_;
  DeviceMemory& memory_;
  const std::chrono::nanoseconds patience_;
  bridge::KernelRings rings_;
  Arena::Region input_;
  Arena::Region output_;
  Arena::Region state_;
  Arena::Region old_state_;  // of which the device is making the new one
  Arena::Region region_;     // of add
  std::shared_ptr<const Arena::Region> shared_;
};

}  // namespace ringkernel::detail
