#include "backend/opencl/driver_queue.hpp"

#include <algorithm>
#include <utility>

#include "foundation/memory_error.hpp"

namespace ringkernel::opencl {

namespace {

/// What a callback needs. It may be called when the thread has found the end and is done with the
/// event; Intel's driver keeps none for it, so that it would ask of an event that is gone.
struct Told {
  std::shared_ptr<Ledger> owner;
  std::uint64_t ticket;
  std::shared_ptr<CopyBell> bell;
  Event event;
};

void CL_CALLBACK note_end(cl_event event, cl_int status, void* data) {
  const std::unique_ptr<Told> told(static_cast<Told*>(data));
  // PoCL says CL_COMPLETE of commands that failed, too.
  if (status >= CL_COMPLETE) status = std::min(event_status(event), cl_int{CL_COMPLETE});
  told->owner->note_end(told->ticket, status);
  if (told->bell) told->bell->ring();
}

}  // namespace

Result<void> Ledger::failure() const {
  if (!has_failed()) return {};
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Ledger::fail(const Error& error) noexcept {
  const std::lock_guard lock(mutex_);
  if (has_failed_.load(std::memory_order_relaxed)) return;  // the first reason stays
  failure_ = error;
  (void)with_memory([this] { failure_.detail += way_back_; });
  has_failed_.store(true, std::memory_order_release);  // pairs with has_failed
}

void Ledger::note_end(std::uint64_t ticket, cl_int status) noexcept {
  if (status < 0) {
    Error error(make_error_code(Errc::device_error));
    (void)with_memory(
        [&] { error.detail = std::string(what_) + " ended with " + status_text(status); });
    fail(error);
  }
  // The driver's callback and the thread may tell of one command, in either order.
  const std::lock_guard lock(mutex_);
  std::uint64_t ended = ended_.load(std::memory_order_relaxed);
  if (ticket <= ended) return;
  if (ticket != ended + 1) {
    (void)with_memory([&] { early_.push_back(ticket); });  // else its thread tells again, in order
    return;
  }
  while (std::erase(early_, ++ended + 1) != 0) continue;
  // release: failures and what the commands wrote; pairs with the acquire in has_ended
  ended_.store(ended, std::memory_order_release);
}

DriverQueue::DriverQueue(Queue queue, bool calls_back, std::shared_ptr<CopyBell> bell,
                         std::chrono::nanoseconds linger)
    : queue_(std::move(queue)), calls_back_(calls_back), bell_(std::move(bell)) {
  thread_.emplace([this] { return reap(true); }, linger);
}

DriverQueue::~DriverQueue() { end(); }

void DriverQueue::end() {
  thread_.reset();  // behind all that was posted
  // The whole queue: copies of a start that failed have no event.
  const Drain drain(queue_.get());
}

std::uint64_t DriverQueue::post(const std::shared_ptr<Ledger>& owner, Enqueue enqueue) {
  const std::lock_guard lock(mutex_);
  post_locked({owner, owner->given() + 1, std::move(enqueue)});
  return owner->next_ticket();
}

void DriverQueue::post_last(const std::shared_ptr<Ledger>& owner, Enqueue enqueue) {
  const std::lock_guard lock(mutex_);
  post_locked({owner, owner->given(), std::move(enqueue)});
}

void DriverQueue::post_locked(Command command) {
  waiting_.push_back(std::move(command));
  try {
    thread_->post([this] { do_next(); });
  } catch (...) {
    waiting_.pop_back();
    throw;
  }
}

void DriverQueue::do_next() noexcept {
  std::unique_lock lock(mutex_);
  Command command = std::move(waiting_.front());
  waiting_.pop_front();
  lock.unlock();
  give(command);
}

void DriverQueue::give(Command& command) noexcept {
  reap(false);
  Running running{std::move(command.owner), command.ticket, Event()};
  Ledger& owner = *running.owner;
  if (!owner.has_failed()) {
    Result<void> given = or_no_memory([&]() -> Result<void> {
      const auto alone = lock_commands();
      RK_TRY(event, command.enqueue());
      running.event = std::move(event);
      return flush(queue_.get());
    });
    if (!given) {
      // For good: E6004 would say that it may be tried again.
      Error error = given.error();
      if (has_no_memory(given)) error.code = make_error_code(Errc::device_error);
      owner.fail(error);
      if (bell_) bell_->ring();
    }
  }
  if (!running.event && running_.empty()) {
    owner.note_end(running.ticket, CL_SUCCESS);  // the failure is noted
    if (bell_) bell_->ring();
    return;
  }
  if (running.event && calls_back_) call_back_unless_ended(running);
  if (with_memory([&] { running_.push_back(std::move(running)); })) return;
  // Nobody can be told of it later: it ends now, for the driver's threads need no memory of ours.
  { const Drain drain(queue_.get()); }
  reap(true);  // those before it
  owner.note_end(running.ticket, running.event ? event_status(running.event.get()) : CL_SUCCESS);
  if (bell_) bell_->ring();
}

void DriverQueue::call_back_unless_ended(const Running& running) noexcept {
  // Oclgrind runs commands within `flush`, and never calls back for one that has ended.
  if (const cl_int status = event_status(running.event.get()); status <= CL_COMPLETE) {
    running.owner->note_end(running.ticket, status);
    if (bell_) bell_->ring();
    return;
  }
  (void)with_memory([&] {
    auto told = std::make_unique<Told>(Told{running.owner, running.ticket, bell_, Event()});
    if (cl().clRetainEvent(running.event.get()) != CL_SUCCESS) return;
    told->event = Event(running.event.get());
    // Refused, or never called: the thread is asked now and then.
    if (cl().clSetEventCallback(running.event.get(), CL_COMPLETE, note_end, told.get()) ==
        CL_SUCCESS)
      static_cast<void>(told.release());  // the callback's
  });
}

bool DriverQueue::reap(bool asks) noexcept {
  bool any = false;
  while (!running_.empty()) {
    const Running& oldest = running_.front();
    if (!oldest.owner->has_ended(oldest.ticket)) {
      cl_int status = CL_SUCCESS;
      if (oldest.event) {
        if (!asks) break;
        status = event_status(oldest.event.get());
        if (status > CL_COMPLETE) break;
      }
      oldest.owner->note_end(oldest.ticket, status);
      any = true;
    }
    running_.pop_front();
  }
  if (any && bell_) bell_->ring();
  return !running_.empty();
}

}  // namespace ringkernel::opencl
