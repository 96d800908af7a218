/// What a service thread is asked for again and again: however often it is asked before it begins,
/// it runs once. Asking needs no memory, so it may be done where nothing may fail.
///
/// Threading: `post`: any thread, with any lock held. `run`: the service thread.
/// Memory ordering: who posts sees its task run behind all that it wrote before: each exchange of
/// `is_posted_` pairs with the other one.
/// Ownership: a task that is posted is kept. Its thread must be there while it is posted.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "async/service_thread.hpp"

namespace ringkernel::detail {

class ServiceTask : public std::enable_shared_from_this<ServiceTask> {
 public:
  explicit ServiceTask(ServiceThread& thread) noexcept : context_(thread.context()) {}
  ServiceTask(const ServiceTask&) = delete;
  ServiceTask& operator=(const ServiceTask&) = delete;

  void post() noexcept;

 protected:
  ~ServiceTask() = default;

  virtual void run() noexcept = 0;

 private:
  struct Handler;
  template <class Item>
  class InPlace;

  /// Of what Asio queues: there is one of it at a time.
  static constexpr std::size_t bytes_max = 128;

  boost::asio::io_context& context_;
  std::atomic<bool> is_posted_{false};
  alignas(std::max_align_t) std::byte memory_[bytes_max];
};

}  // namespace ringkernel::detail
