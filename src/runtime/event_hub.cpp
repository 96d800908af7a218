#include "runtime/event_hub.hpp"

#include <utility>

#include "ringkernel/limits.hpp"

namespace ringkernel::detail {
namespace {

const error_code no_more = make_error_code(Errc::runtime_closed);

}  // namespace

EventQueue::~EventQueue() {
  if (waiting_) (*waiting_)(aborted, Event());
}

void EventQueue::push(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (waiting_ && !waiting_->waits()) waiting_.reset();
  if (!waiting_ && events_.size() == events_max) {
    ++missed_;
    return;
  }
  Event told = event;
  told.missed = std::exchange(missed_, 0);
  if (waiting_)
    end({}, std::move(told));
  else
    events_.push_back(std::move(told));
}

void EventQueue::end(error_code error, Event event) {
  (*waiting_)(error, std::move(event));
  waiting_.reset();
}

void EventQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (waiting_) end(no_more, Event());
}

void EventQueue::start_next(Handler<Event> handler) {
  if (mark_.is_foreign())
    return Finish<Event>(std::move(handler))(made_before_fork().code, Event());
  const std::lock_guard lock(mutex_);
  if (waiting_ && !waiting_->waits()) waiting_.reset();
  if (waiting_) return Finish<Event>(std::move(handler))(make_error_code(Errc::busy), Event());
  if (!events_.empty()) {
    Finish<Event>(std::move(handler))({}, std::move(events_.front()));
    return events_.pop_front();
  }
  if (closed_) return Finish<Event>(std::move(handler))(no_more, Event());
  waiting_.emplace(std::move(handler));
  waiting_->on_cancel([weak = weak_from_this(), number = ++number_] {
    if (const auto self = weak.lock()) self->cancel(number);
  });
}

void EventQueue::cancel(std::uint64_t number) {
  if (mark_.is_foreign()) return;
  const std::lock_guard lock(mutex_);
  if (waiting_ && number == number_) end(aborted, Event());
}

void start_next_event(const std::shared_ptr<EventQueue>& queue, Handler<Event> handler) {
  if (queue == nullptr) return Finish<Event>(std::move(handler))(no_more, Event());
  queue->start_next(std::move(handler));
}

std::shared_ptr<EventQueue> EventHub::subscribe() {
  auto queue = std::make_shared<EventQueue>();
  const std::lock_guard lock(mutex_);
  if (closed_) {
    queue->close();
    return queue;
  }
  std::erase_if(queues_, [](const auto& weak) { return weak.expired(); });
  queues_.push_back(queue);
  streams_.store(queues_.size(), std::memory_order_relaxed);
  return queue;
}

void EventHub::emit(const Event& event) {
  const std::lock_guard lock(mutex_);
  std::erase_if(queues_, [](const auto& weak) { return weak.expired(); });
  streams_.store(queues_.size(), std::memory_order_relaxed);
  for (const auto& weak : queues_)
    if (const auto queue = weak.lock()) queue->push(event);
}

void EventHub::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& weak : queues_)
    if (const auto queue = weak.lock()) queue->close();
}

}  // namespace ringkernel::detail
