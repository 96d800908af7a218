/// Undoes at the end of its scope what was done before, unless all went well: for what has to be
/// consistent also where something throws.
///
/// Threading: one thread.
#pragma once

#include <utility>

namespace ringkernel {

/// `undo()` must not throw.
template <class Undo>
class [[nodiscard]] ScopeGuard {
 public:
  explicit ScopeGuard(Undo undo) noexcept : undo_(std::move(undo)) {}
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ~ScopeGuard() {
    if (is_on_) undo_();
  }
  /// What was done stays.
  void dismiss() noexcept { is_on_ = false; }

 private:
  Undo undo_;
  bool is_on_ = true;
};

}  // namespace ringkernel
