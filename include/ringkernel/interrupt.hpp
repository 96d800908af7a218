/// `InterruptScope`: ends the waits of the calling thread from within, for languages that have
/// something to do now and then, as Python has with Ctrl-C.
///
///     const InterruptScope scope(&signal_came);
///     auto reply = kernel.call(request);  // operation_aborted once `signal_came` has said true
///
/// Asked are waits for a reply, for room, for an outcome, and for a resident tensor that messages
/// use (`Kernel::call`, `send`, `receive`; `CompiledFunction::execute`; `PreparedCall`;
/// `Tensor::read`, `write`), every `interrupt_period` while the thread waits,
/// and not by an op that the thread runs itself. The message is cancelled as Asio's cancellation
/// does it: what the device has already is executed, and its late reply is counted.
///
/// Threading: of the thread that makes it, until it goes; nested ones take turns as they stand.
#pragma once

#include <chrono>

namespace ringkernel {

inline constexpr std::chrono::milliseconds interrupt_period{20};

class InterruptScope {
 public:
  using Asked = bool (*)() noexcept;

  /// `asked` says whether to give up. It holds none of the library's locks when it is called, and
  /// must not call the library.
  explicit InterruptScope(Asked asked) noexcept : before_(current_) { current_ = asked; }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope() { current_ = before_; }

  /// Of the calling thread; null: none. For the library.
  [[nodiscard]] static Asked current() noexcept { return current_; }

 private:
  static inline thread_local Asked current_ = nullptr;

  const Asked before_;
};

}  // namespace ringkernel
