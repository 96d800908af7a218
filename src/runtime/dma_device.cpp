#include "runtime/dma_device.hpp"

#include <chrono>
#include <string_view>

namespace ringkernel {
namespace {

/// False where it failed with `code`, which is no failure.
Result<bool> unless(Errc code, const Result<void>& result) {
  if (result) return true;
  if (result.error() == code) return false;
  return result.error();
}

}  // namespace

std::string driver_call_of(const Result<void>& waited) {
  constexpr std::string_view before = ": the driver";
  if (waited || !(waited.error() == Errc::execution_timeout)) return {};
  const std::string& text = waited.error().detail;
  const std::size_t place = text.find(before);
  return place == std::string::npos ? std::string() : text.substr(place);
}

Result<std::uint64_t> DmaDevice::start_copies(std::span<const rk_copy> copies) {
  RK_TRY(ticket, device_.start_copies(copies));
  copies_.fetch_add(copies.size(), std::memory_order_relaxed);
  std::uint64_t bytes = 0;
  for (const rk_copy& copy : copies) bytes += copy.bytes * (copy.second_offset != 0 ? 2 : 1);
  copied_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  std::uint64_t last = last_ticket_.load(std::memory_order_relaxed);  // sessions and metrics copy
  while (last < ticket &&
         !last_ticket_.compare_exchange_weak(last, ticket, std::memory_order_relaxed)) {
  }
  return ticket;
}

Result<void> DmaDevice::wait_for_copies(std::uint64_t timeout_ns) {
  const std::uint64_t ticket = last_ticket_.load(std::memory_order_relaxed);  // stands alone
  return ticket != 0 ? device_.wait_for_copies(ticket, timeout_ns) : Result<void>();
}

std::string DmaDevice::why_late() {
  if (std::string text = driver_call_of(executor_.wait(std::chrono::nanoseconds(0))); !text.empty())
    return text;
  return driver_call_of(wait_for_copies(0));
}

Result<bool> DmaDevice::copies_ended(std::uint64_t ticket, std::uint64_t timeout_ns) {
  return unless(Errc::execution_timeout, device_.wait_for_copies(ticket, timeout_ns));
}

Result<bool> DmaDevice::launch_on_device(std::uint32_t slice) {
  return unless(Errc::busy, executor_.launch(slice));
}

Result<bool> DmaDevice::slices_returned(std::uint64_t timeout_ns) {
  return unless(Errc::execution_timeout, executor_.wait(std::chrono::nanoseconds(timeout_ns)));
}

}  // namespace ringkernel
