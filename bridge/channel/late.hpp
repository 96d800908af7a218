/// What has to happen and could not for lack of memory: the call of a handler that could not be
/// posted. It is kept here, without a need for memory, until it can.
///
/// Threading: any thread. The bridges of the process try again, at least every millisecond.
/// Ownership: shares what is kept.
#pragma once

#include <cstddef>
#include <memory>

namespace ringkernel::bridge {

class Waker;

class Late {
 public:
  /// False: not yet. `self` is the caller's share, and may be given back at the right moment.
  [[nodiscard]] virtual bool try_now(std::shared_ptr<Late>& self) noexcept = 0;

  /// Tries it, now or later; returns at once, except where no bridge is there to try later.
  static void see_to(std::shared_ptr<Late> what) noexcept;

  // For bridges.

  static void add(Waker& bridge);
  /// Behind this nobody wakes it. The last one sees to what is left, for a while.
  static void remove(const Waker& bridge) noexcept;
  [[nodiscard]] static bool is_any() noexcept;
  /// Returns how many were done.
  static std::size_t try_all() noexcept;

 protected:
  ~Late() = default;

 private:
  std::shared_ptr<Late> next_;
};

}  // namespace ringkernel::bridge
