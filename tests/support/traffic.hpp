/// Something to see for whoever watches a kernel.
#pragma once

#include <atomic>
#include <thread>
#include <utility>

#include "ringkernel/ringkernel.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {

/// Calls a kernel, one call behind the other, until the object goes.
class Traffic {
 public:
  explicit Traffic(Kernel kernel)
      : thread_([this, kernel = std::move(kernel)]() mutable {
          while (!is_over_.load()) (void)kernel.call(numbered(1));
        }) {}
  ~Traffic() {
    is_over_.store(true);
    thread_.join();
  }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace ringkernel::test
