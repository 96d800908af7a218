#include "async/service_task.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace ringkernel::detail {

/// Gives Asio the memory of the task for what it queues. That is free again before the task runs.
template <class Item>
class ServiceTask::InPlace {
 public:
  using value_type = Item;  // NOLINT(readability-identifier-naming): as allocators have it

  explicit InPlace(ServiceTask& task) noexcept : task_(&task) {}
  template <class Other>
  InPlace(const InPlace<Other>& other) noexcept : task_(other.task_) {}  // NOLINT: conversion

  [[nodiscard]] Item* allocate(std::size_t count) noexcept {
    static_assert(sizeof(Item) <= bytes_max && alignof(Item) <= alignof(std::max_align_t));
    (void)count;  // one
    return reinterpret_cast<Item*>(task_->memory_);
  }
  void deallocate(Item*, std::size_t) noexcept {}

  friend bool operator==(const InPlace&, const InPlace&) = default;

 private:
  template <class Other>
  friend class InPlace;
  ServiceTask* task_;
};

struct ServiceTask::Handler {
  // NOLINTBEGIN(readability-identifier-naming): Asio asks for these names
  using allocator_type = InPlace<std::byte>;
  allocator_type get_allocator() const noexcept { return allocator_type(*task); }
  // NOLINTEND(readability-identifier-naming)

  void operator()() const noexcept {
    // acquire: what was written before the posts that this one stands for; release: who finds the
    // task posted no more has the memory. Pairs with the exchange in post, as itself does
    (void)task->is_posted_.exchange(false, std::memory_order_acq_rel);
    task->run();
  }

  std::shared_ptr<ServiceTask> task;
};

void ServiceTask::post() noexcept {
  // release: what was written before; acquire: the memory. Pairs with the exchange in Handler
  if (is_posted_.exchange(true, std::memory_order_acq_rel)) return;
  boost::asio::post(context_, Handler{shared_from_this()});
}

}  // namespace ringkernel::detail
