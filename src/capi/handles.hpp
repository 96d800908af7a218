/// Handles of C callers: numbers that look like pointers to an incomplete type and are never
/// followed, so that a stale or made-up one is an error and nothing worse. They are odd, which no
/// address of an object of ours is, and never used twice.
///
/// Threading: any thread.
/// Memory ordering: the counter needs distinct numbers only.
/// Ownership: shares the object behind each handle; a call that has found it keeps it for its time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ringkernel/result.hpp"

namespace ringkernel::capi {

inline std::uintptr_t next_handle() noexcept {
  static std::atomic<std::uintptr_t> last{1};
  return last.fetch_add(2, std::memory_order_relaxed) + 2;  // only distinct
}

/// `Handle` is what C sees, `Object` what it stands for.
template <class Handle, class Object>
class Handles {
 public:
  /// The one table of its kind. It is never destroyed: threads of a caller may be using it when the
  /// process ends.
  static Handles& table() {
    static Handles& only = *new Handles;
    return only;
  }

  Handle* add(std::shared_ptr<Object> object) {
    const std::uintptr_t number = next_handle();
    const std::lock_guard lock(mutex_);
    objects_.emplace(number, std::move(object));
    return reinterpret_cast<Handle*>(number);  // NOLINT: it is never followed
  }

  /// invalid_argument with `what`.
  [[nodiscard]] Result<std::shared_ptr<Object>> find(const Handle* handle, const char* what) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found != objects_.end()) return found->second;
    return Error(Errc::invalid_argument,
                 std::string(what) + (handle == nullptr ? " is null" : " is no live handle"));
  }

  [[nodiscard]] Result<std::shared_ptr<Object>> remove(const Handle* handle, const char* what) {
    RK_TRY(object, find(handle, what));
    const std::lock_guard lock(mutex_);
    if (objects_.erase(reinterpret_cast<std::uintptr_t>(handle)) == 0)
      return Error(Errc::invalid_argument, std::string(what) + " is being freed by another thread");
    return object;
  }

  /// Those that `which` is true for.
  template <class Which>
  void remove_if(Which which) {
    std::vector<std::shared_ptr<Object>> removed;  // go after the lock
    const std::lock_guard lock(mutex_);
    for (auto next = objects_.begin(); next != objects_.end();) {
      if (!which(*next->second)) {
        ++next;
        continue;
      }
      removed.push_back(std::move(next->second));
      next = objects_.erase(next);
    }
  }

 private:
  Handles() = default;

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
};

}  // namespace ringkernel::capi
