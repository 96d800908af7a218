#include "runtime/kernel_memory.hpp"

#include <cstring>
#include <utility>

#include "ring/geometry.hpp"

namespace ringkernel::detail {

Result<void> KernelMemory::open(std::uint32_t input_capacity, std::uint32_t output_capacity) {
  RK_TRY(input, arena_.take(ring_bytes(input_capacity)));
  RK_TRY(output, arena_.take(ring_bytes(output_capacity)));
  // Zeroed positions are an empty ring; the data behind them is never read before it is written.
  std::memset(at(input.offset()), 0, sizeof(rk_ring));
  std::memset(at(output.offset()), 0, sizeof(rk_ring));
  rings_.input_capacity = input_capacity;
  rings_.output_capacity = output_capacity;
  rings_.input_offset = input.offset();
  rings_.output_offset = output.offset();
  input_ = std::move(input);
  output_ = std::move(output);
  return {};
}

Result<Arena::Region> KernelMemory::take_state(std::uint32_t bytes) const {
  if (bytes == 0) return Arena::Region();
  RK_TRY(region, arena_.take(state_margin_bytes + bytes + RK_GUARD_BYTES));
  std::memset(at(region.offset()), 0, region.bytes());
  RK_TRY_VOID(memory_.to_device(region.offset(), region.bytes()));
  return region;
}

void KernelMemory::set_state(Arena::Region region, std::uint32_t bytes) noexcept {
  old_state_ = std::exchange(state_, std::move(region));
  rings_.state_offset = state_offset(state_);
  rings_.state_bytes = bytes;
}

Result<std::shared_ptr<const Arena::Region>> KernelMemory::share(
    std::uint64_t bytes, const std::function<void(std::byte*, std::uint64_t)>& fill) {
  if (shared_ != nullptr) return Error(Errc::invalid_state, "it shares a region already");
  RK_TRY(region, arena_.take(bytes));
  shared_ = std::make_shared<const Arena::Region>(std::move(region));
  fill(at(shared_->offset()), shared_->offset());
  RK_TRY_VOID(memory_.to_device(shared_->offset(), bytes, patience_));
  return shared_;
}

Result<std::uint64_t> KernelMemory::add(std::uint64_t bytes,
                                        std::shared_ptr<const Arena::Region> shared) {
  if (region_.bytes() != 0) return Error(Errc::invalid_state, "it has a region already");
  shared_ = std::move(shared);
  if (bytes == 0) return std::uint64_t{0};
  RK_TRY(region, arena_.take(bytes));
  region_ = std::move(region);
  std::memset(at(region_.offset()), 0, bytes);
  RK_TRY_VOID(memory_.to_device(region_.offset(), bytes, patience_));
  return region_.offset();
}

Result<void> KernelMemory::read_state(std::span<std::byte> to,
                                      std::chrono::nanoseconds patience) const {
  RK_TRY_VOID(memory_.to_host(rings_.state_offset, to.size(), patience));
  std::memcpy(to.data(), at(rings_.state_offset), to.size());
  return {};
}

Result<void> KernelMemory::write_state(Bytes bytes) {
  RK_TRY_VOID(memory_.check_no_late_copies());
  std::memcpy(at(rings_.state_offset), bytes.data(), bytes.size());
  return memory_.to_device(rings_.state_offset, bytes.size(), patience_);
}

Result<void> KernelMemory::copy_region(const RegionCopy& copy, std::chrono::nanoseconds patience) {
  const std::uint64_t offset = region_.offset() + copy.offset;
  if (copy.to != nullptr) {
    RK_TRY_VOID(memory_.to_host(offset, copy.bytes, patience));
    std::memcpy(copy.to, at(offset), copy.bytes);
    return {};
  }
  RK_TRY_VOID(memory_.check_no_late_copies());
  if (copy.from != nullptr)
    std::memcpy(at(offset), copy.from, copy.bytes);
  else
    std::memset(at(offset), 0, copy.bytes);
  return memory_.to_device(offset, copy.bytes, patience);
}

void KernelMemory::give_back() noexcept {
  for (Arena::Region* const region : {&input_, &output_, &state_, &old_state_, &region_})
    region->reset();
  shared_.reset();
}

}  // namespace ringkernel::detail
