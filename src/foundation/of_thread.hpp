/// A value of each thread that is made when it is first asked for. A `thread_local` with a
/// destructor would end the process where there is no memory for its registration.
///
/// Threading: any thread; each has its own.
/// Ownership: goes with its thread.
#pragma once

#include <pthread.h>

#include <new>

namespace ringkernel {

/// nullptr: there is no memory for it, or the thread ends.
template <class T>
[[nodiscard]] T* of_thread() noexcept {
  struct Mine {
    T* value;
    bool ended;
  };
  static constinit thread_local Mine mine{nullptr, false};
  struct Key {
    pthread_key_t key{};
    bool is_made;
    Key() noexcept
        : is_made(pthread_key_create(&key, [](void* value) {
                    mine = {nullptr, true};
                    delete static_cast<T*>(value);
                  }) == 0) {}
  };
  if (mine.value != nullptr || mine.ended) return mine.value;
  static const Key key;
  T* const made = key.is_made ? new (std::nothrow) T() : nullptr;
  if (made != nullptr && pthread_setspecific(key.key, made) == 0) return mine.value = made;
  delete made;
  return nullptr;
}

}  // namespace ringkernel
