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
  if (!waiting_ && events_.size() == events_max) {
    ++missed_;
    return;
  }
  Event told = event;
  told.missed = std::exchange(missed_, 0);
  if (waiting_)
    (*std::exchange(waiting_, std::nullopt))({}, std::move(told));
  else
    events_.push_back(std::move(told));
}

void EventQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (waiting_) (*std::exchange(waiting_, std::nullopt))(no_more, Event());
}

void EventQueue::start_next(Handler<Event> handler) {
  Finish<Event> finish(std::move(handler));
  const std::lock_guard lock(mutex_);
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

void EventQueue::cancel(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (waiting_ && number == number_) (*std::exchange(waiting_, std::nullopt))(aborted, Event());
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
