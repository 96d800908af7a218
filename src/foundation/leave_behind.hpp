/// For what a device, or a thread inside a driver, may still touch when its owner has to go.
///
/// Threading: any thread.
/// Memory ordering: nobody reads what is kept.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace ringkernel {

/// Keeps in sight what has to stay for good: who looks for leaks is to find what nobody meant.
template <class Object>
void leave_behind(std::unique_ptr<Object>& object) noexcept {
  static std::array<std::atomic<Object*>, 256> left{};
  static std::atomic<std::size_t> count{0};
  // relaxed: as above
  const std::size_t place = count.fetch_add(1, std::memory_order_relaxed);
  Object* const pointer = object.release();
  if (place < left.size()) left[place].store(pointer, std::memory_order_relaxed);
}

}  // namespace ringkernel
