/// Which process this is. A fork leaves a child with its parent's memory and without its threads:
/// what was made before serves nobody there, and its locks may be held for ever.
///
/// Threading: any thread. A fork that the C library does not see, a bare system call, is not seen
/// here either.
/// Memory ordering: relaxed: a child has one thread when its generation begins.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "ringkernel/result.hpp"

namespace ringkernel {

/// Counts the forks between this process and the one that loaded the library.
inline std::atomic<std::uint32_t> fork_generation{1};

/// Remembers the process that made an object.
class ForkMark {
 public:
  ForkMark() noexcept;
  /// Whether the object was made before a fork, so that another process has its threads.
  [[nodiscard]] bool is_foreign() const noexcept {
    return generation_ != fork_generation.load(std::memory_order_relaxed);
  }

 private:
  std::uint32_t generation_;
};

/// invalid_state, of whatever was made before a fork.
[[nodiscard]] Error made_before_fork();

/// Keeps what a child may neither use nor destroy.
void keep_for_ever(std::shared_ptr<const void> object);

}  // namespace ringkernel
