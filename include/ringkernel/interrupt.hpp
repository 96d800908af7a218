/// `InterruptScope`: ends the waits of the calling thread from within, for languages that have
/// something to do now and then, as Python has with Ctrl-C.
///
///     const InterruptScope scope(&signal_came);
///     auto reply = kernel.call(request);  // operation_aborted once `signal_came` has said true
///
/// Asked are waits for a reply, for room, for an outcome, and for a resident tensor or states that
/// messages use (`Kernel::call`, `send`, `receive`; `CompiledFunction::execute`, `read_state`,
/// `write_state`, `reset_states`; `PreparedCall`; `Tensor::read`, `write`), every
/// `interrupt_period` while the thread waits, and not by an op that the thread runs itself. The
/// message is cancelled as Asio's cancellation does it: what the device has already is executed,
/// and its late reply is counted.
///
/// Threading: of the thread that makes it, until it goes; nested ones take turns as they stand.
#pragma once

#include <chrono>
#include <utility>

namespace ringkernel {

/// How often a waiting thread asks.
inline constexpr std::chrono::milliseconds interrupt_period{20};

/// While it lives, its thread asks now and then whether to give up waiting.
class InterruptScope {
 public:
  /// True: give up.
  using Asked = bool (*)() noexcept;

  /// `asked` says whether to give up. Its thread holds none of the library's locks meanwhile, and
  /// it must not call the library.
  explicit InterruptScope(Asked asked) noexcept : before_(std::exchange(of_thread(), asked)) {}
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope() { of_thread() = before_; }

  /// Of the calling thread; null: none. For the library.
  [[nodiscard]] static Asked current() noexcept { return of_thread(); }

 private:
  static Asked& of_thread() noexcept {
    static thread_local Asked asked = nullptr;
    return asked;
  }

  const Asked before_;
};

}  // namespace ringkernel
