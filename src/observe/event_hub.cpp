#include "observe/event_hub.hpp"

#include <utility>

#include "foundation/memory_error.hpp"
#include "ringkernel/limits.hpp"

namespace ringkernel::detail {
namespace {

const error_code no_more = make_error_code(Errc::runtime_closed);

}  // namespace

EventQueue::~EventQueue() {
  if (waiting_) (*waiting_)(aborted, Event());
}

void EventQueue::push(const Event& event) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  const bool has_memory = with_memory([&] {
    Event told = event;
    if (!leave_out(told)) put(std::move(told));
  });
  if (!has_memory) ++missed_;
}

bool EventQueue::leave_out(Event& event) {
  if (event.status || repeat_ns_ == 0) return false;
  if (kinds_.size() == errors_max)
    // What was told long ago is no repetition any more.
    std::erase_if(kinds_, [&](const auto& entry) {
      return entry.second.left_out == 0 && event.time_ns - entry.second.told_ns >= repeat_ns_;
    });
  if (kinds_.size() == errors_max) return false;
  const auto [found, is_new] = kinds_.try_emplace({event.kernel, event.error.code.value()});
  Kind& kind = found->second;
  if (!is_new && event.time_ns - kind.told_ns < repeat_ns_) {
    ++kind.left_out;
    kind.last = std::move(event);
    return true;
  }
  kind.told_ns = event.time_ns;
  event.left_out = std::exchange(kind.left_out, 0);
  return false;
}

void EventQueue::put(Event told) {
  if (waiting_ && !waiting_->waits()) waiting_.reset();
  if (!waiting_ && events_.size() == events_max) {
    ++missed_;
    return;
  }
  told.missed = missed_;
  if (waiting_)
    end({}, std::move(told));
  else
    events_.push_back(std::move(told));
  missed_ = 0;
}

void EventQueue::end(error_code error, Event event) noexcept {
  (*waiting_)(error, std::move(event));
  waiting_.reset();
}

void EventQueue::miss() noexcept {
  const std::lock_guard lock(mutex_);
  ++missed_;
}

void EventQueue::close() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& entry : kinds_) {
    Kind& kind = entry.second;
    if (kind.left_out == 0) continue;
    kind.last.left_out = kind.left_out - 1;
    if (!with_memory([&] { put(std::move(kind.last)); })) ++missed_;
  }
  kinds_.clear();
  closed_ = true;
  if (waiting_) end(no_more, Event());
}

void EventQueue::start_next(Handler<Event> handler) {
  if (mark_.is_foreign()) return Finish<Event>(std::move(handler))(made_before_fork(), Event());
  Finish<Event> finish(std::move(handler));
  const std::lock_guard lock(mutex_);
  if (waiting_ && !waiting_->waits()) waiting_.reset();
  if (waiting_) return finish(make_error_code(Errc::busy), Event());
  if (!events_.empty()) {
    finish({}, std::move(events_.front()));
    return events_.pop_front();
  }
  if (closed_) return finish(no_more, Event());
  finish.on_cancel([weak = weak_from_this(), number = ++number_] {
    if (const auto self = weak.lock()) self->cancel(number);
  });
  waiting_.emplace(std::move(finish));
}

void EventQueue::cancel(std::uint64_t number) noexcept {
  if (mark_.is_foreign()) return;
  const std::lock_guard lock(mutex_);
  if (waiting_ && number == number_) end(aborted, Event());
}

void start_next_event(const std::shared_ptr<EventQueue>& queue, Handler<Event> handler) {
  if (queue == nullptr) return Finish<Event>(std::move(handler))(no_more, Event());
  queue->start_next(std::move(handler));
}

std::shared_ptr<EventQueue> EventHub::subscribe(const EventOptions& options) {
  auto queue = std::make_shared<EventQueue>(options);
  add(queue);
  return queue;
}

void EventHub::add(const std::shared_ptr<EventListener>& listener) {
  const std::lock_guard lock(mutex_);
  if (closed_) return listener->close();
  std::erase_if(listeners_, [](const auto& weak) { return weak.expired(); });
  listeners_.push_back(listener);
  count_.store(listeners_.size(), std::memory_order_relaxed);
}

template <class Tell>
void EventHub::tell_all(Held& held, Tell&& tell) noexcept {
  (void)with_memory([&] { held.reserve(listeners_.size()); });
  for (const auto& weak : listeners_) {
    auto listener = weak.lock();
    if (listener == nullptr) continue;
    tell(*listener);
    if (held.size() < held.capacity()) held.push_back(std::move(listener));
  }
}

void EventHub::emit(const Event& event) noexcept {
  Held held;
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const auto& weak) { return weak.expired(); });
  count_.store(listeners_.size(), std::memory_order_relaxed);
  tell_all(held, [&](EventListener& listener) { listener.push(event); });
}

void EventHub::miss() noexcept {
  Held held;
  const std::lock_guard lock(mutex_);
  tell_all(held, [](EventListener& listener) { listener.miss(); });
}

void EventHub::close() noexcept {
  Held held;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  tell_all(held, [](EventListener& listener) { listener.close(); });
  listeners_.clear();
  count_.store(0, std::memory_order_relaxed);  // pairs with has_listeners; advice
}

}  // namespace ringkernel::detail
