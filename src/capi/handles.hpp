/// Handles of C callers: numbers that look like pointers to an incomplete type and are never
/// followed, so that a stale or made-up one is an error and nothing worse. They are odd, which no
/// address of an object of ours is, and never used twice.
///
/// Threading: any thread.
/// Memory ordering: the counter needs distinct numbers only.
/// Ownership: shares the object behind each handle; a call that has found it keeps it for its time.
/// Fork: the tables are whole in a child. What its parent made is refused there, and kept for ever.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "foundation/fork.hpp"
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
    static Handles& only = make();
    return only;
  }

  Handle* add(std::shared_ptr<Object> object) {
    const std::uintptr_t number = next_handle();
    const std::lock_guard lock(mutex_);
    objects_.emplace(number, Entry{std::move(object), {}});
    return reinterpret_cast<Handle*>(number);  // NOLINT: it is never followed
  }

  /// invalid_argument with `what`; invalid_state of one that was made before a fork.
  [[nodiscard]] Result<std::shared_ptr<Object>> find(const Handle* handle, const char* what) const {
    const std::shared_lock lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found != objects_.end() && found->second.mark.is_foreign()) return made_before_fork();
    if (found != objects_.end()) return found->second.object;
    return no_handle(handle, what);
  }

  /// nullptr: it was made before a fork, and there is nothing more to do.
  [[nodiscard]] Result<std::shared_ptr<Object>> remove(const Handle* handle, const char* what) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    if (found == objects_.end()) return no_handle(handle, what);
    const Entry entry = std::move(found->second);
    objects_.erase(found);
    if (!entry.mark.is_foreign()) return entry.object;
    keep_for_ever(entry.object);
    return std::shared_ptr<Object>();
  }

  /// Those that `which` is true for.
  template <class Which>
  void remove_if(Which which) {
    const auto wanted = [&](const auto& entry) {
      return !entry.second.mark.is_foreign() && which(*entry.second.object);
    };
    for (;;) {                          // one at a time: it needs no memory
      std::shared_ptr<Object> removed;  // goes after the lock
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(objects_, wanted);
      if (found == objects_.end()) return;
      removed = std::move(found->second.object);
      objects_.erase(found);
    }
  }

 private:
  struct Entry {
    std::shared_ptr<Object> object;
    ForkMark mark;
  };

  Handles() = default;
  static Handles& make() {
    Handles& made = *new Handles;
    // The lock knows its holder by a number that another thread has in the child: a new one there.
    pthread_atfork([] { table().mutex_.lock(); }, [] { table().mutex_.unlock(); },
                   [] { new (&table().mutex_) std::shared_mutex; });
    return made;
  }
  static Error no_handle(const Handle* handle, const char* what) {
    return {Errc::invalid_argument,
            std::string(what) + (handle == nullptr ? " is null" : " is no live handle")};
  }

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uintptr_t, Entry> objects_;
};

}  // namespace ringkernel::capi
