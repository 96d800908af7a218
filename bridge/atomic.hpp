/// A word of a line that host and device share, as an atomic.
///
/// Threading: any thread.
/// Memory ordering: the caller's, who names its partner.
/// Ownership: refers to the word, which has to outlive what is returned.
#pragma once

#include <atomic>

namespace ringkernel::bridge {

template <class T>
std::atomic_ref<T> atomic(T& word) noexcept {
  return std::atomic_ref<T>(word);
}

}  // namespace ringkernel::bridge
