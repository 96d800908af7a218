/// The full fence of the store-load handshakes (docs/PROTOCOL.md).
///
/// Threading: any thread.
/// Memory ordering: sequentially consistent, for all accesses on both sides of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace ringkernel::bridge {

/// A full fence that ThreadSanitizer understands too (it does not model std::atomic_thread_fence).
inline void full_fence() noexcept {
#if defined(__SANITIZE_THREAD__)
  static std::atomic<std::uint32_t> word{0};
  word.fetch_add(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace ringkernel::bridge
