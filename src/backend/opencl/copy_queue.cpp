#include "backend/opencl/copy_queue.hpp"

#include <thread>

#include "foundation/memory_error.hpp"

namespace ringkernel::opencl {

namespace {

using namespace std::chrono_literals;

/// How long a batch of the resident copier may take, of 16 KiB at most.
constexpr auto batch_timeout = 2s;

/// Asks closely at first, then at leisure: OpenCL has no timed wait. Yields in between, because
/// the copy may need this very processor.
template <class Condition>
bool ask_until(Condition condition, std::chrono::nanoseconds timeout) {
  constexpr auto patience = 300us;
  constexpr auto pause = 50us;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    if (condition()) return true;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= timeout) return false;
    if (waited < patience)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(pause);
  }
}

/// The same asleep, between the rings of a bell.
template <class Condition>
bool sleep_until(Condition condition, CopyBell& bell, std::chrono::nanoseconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const std::uint64_t heard = bell.rings();  // before the look: a ring behind it ends the sleep
    if (condition()) return true;
    if (std::chrono::steady_clock::now() - begin >= timeout) return false;
    bell.wait(heard);
  }
}

void CL_CALLBACK ring_bell(cl_event, cl_int, void* bell) {
  const std::unique_ptr<std::shared_ptr<CopyBell>> share(
      static_cast<std::shared_ptr<CopyBell>*>(bell));
  (*share)->ring();
}

/// Two ranges of the same length are two rows of a rectangle.
Result<void> enqueue_both(cl_command_queue queue, cl_mem device, const rk_copy& copy,
                          cl_event* event) {
  const std::size_t device_origin[] = {copy.offset, 0, 0};
  const std::size_t host_origin[] = {0, 0, 0};
  const std::size_t region[] = {copy.bytes, 2, 1};
  const std::size_t device_pitch = copy.second_offset - copy.offset;
  if (copy.direction == RK_COPY_TO_DEVICE)
    return check(
        "clEnqueueWriteBufferRect",
        twice(cl().clEnqueueWriteBufferRect, queue, device, CL_FALSE, device_origin, host_origin,
              region, device_pitch, 0, copy.bytes, 0, copy.host, 0, nullptr, event));
  return check(
      "clEnqueueReadBufferRect",
      twice(cl().clEnqueueReadBufferRect, queue, device, CL_FALSE, device_origin, host_origin,
            region, device_pitch, 0, copy.bytes, 0, copy.host, 0, nullptr, event));
}

Result<void> enqueue(cl_command_queue queue, cl_mem device, const rk_copy& copy, cl_event* event) {
  if (copy.second_offset != 0) return enqueue_both(queue, device, copy, event);
  if (copy.direction == RK_COPY_TO_DEVICE)
    return check("clEnqueueWriteBuffer",
                 twice(cl().clEnqueueWriteBuffer, queue, device, CL_FALSE, copy.offset, copy.bytes,
                       copy.host, 0, nullptr, event));
  return check("clEnqueueReadBuffer", twice(cl().clEnqueueReadBuffer, queue, device, CL_FALSE,
                                            copy.offset, copy.bytes, copy.host, 0, nullptr, event));
}

}  // namespace

Result<Event> enqueue_write(cl_command_queue queue, cl_mem to, std::size_t offset, const void* from,
                            std::size_t bytes) {
  cl_event event = nullptr;
  const rk_copy copy{RK_COPY_TO_DEVICE, 0, offset, bytes, const_cast<void*>(from), 0};
  RK_TRY_VOID(enqueue(queue, to, copy, &event));
  return Event(event);
}

Result<Event> enqueue_read(cl_command_queue queue, cl_mem from, std::size_t offset, void* to,
                           std::size_t bytes) {
  cl_event event = nullptr;
  RK_TRY_VOID(enqueue(queue, from, {RK_COPY_TO_HOST, 0, offset, bytes, to, 0}, &event));
  return Event(event);
}

bool ended_within(cl_event event, std::chrono::nanoseconds timeout) {
  return ask_until([event] { return event_status(event) <= CL_COMPLETE; }, timeout);
}

CopyQueue::~CopyQueue() {
  // The whole queue: copies of a start that failed have no ticket.
  const Drain drain(queue_.get());
}

Result<std::uint64_t> CopyQueue::start(cl_mem device, std::span<const rk_copy> copies) {
  const std::lock_guard lock(mutex_);
  RK_TRY_VOID(reap_locked());
  // Another's batch, which takes microseconds.
  const auto begin = std::chrono::steady_clock::now();
  while (copiers_ticket_ != 0) {
    if (std::chrono::steady_clock::now() - begin > batch_timeout)
      return Error(Errc::device_error, "the resident copier does not answer");
    RK_TRY_VOID(reap_locked());
  }
  if (copier_ && running_.empty() && copier_->try_start(copies)) {
    copiers_device_ = device;
    return copiers_ticket_ = ++tickets_;
  }
  RK_TRY_VOID(enqueue_locked(device, copies, ++tickets_));
  return tickets_;
}

Result<void> CopyQueue::enqueue_locked(cl_mem device, std::span<const rk_copy> copies,
                                       std::uint64_t ticket) {
  cl_event last = nullptr;
  for (const rk_copy& copy : copies)
    RK_TRY_VOID(enqueue(queue_.get(), device, copy, &copy == &copies.back() ? &last : nullptr));
  running_.emplace_back(ticket, Event(last));
  if (bell_) call_back(last);
  return flush(queue_.get());
}

void CopyQueue::call_back(cl_event event) {
  auto share = std::make_unique<std::shared_ptr<CopyBell>>(bell_);
  // Refused, or never called: who sleeps looks now and then.
  if (cl().clSetEventCallback(event, CL_COMPLETE, ring_bell, share.get()) == CL_SUCCESS)
    static_cast<void>(share.release());  // the callback's
}

Result<void> CopyQueue::wait(std::uint64_t ticket, std::chrono::nanoseconds timeout) {
  Result<void> result;
  const auto has_ended = [&] {
    const std::lock_guard lock(mutex_);
    result = reap_locked();
    return !result || has_ended_locked(ticket);
  };
  if (bell_ ? sleep_until(has_ended, *bell_, timeout) : ask_until(has_ended, timeout))
    return result;
  return error_of(Errc::execution_timeout, "copies have not ended in time");
}

bool CopyQueue::has_ended_locked(std::uint64_t ticket) const {
  if (copiers_ticket_ != 0) return copiers_ticket_ > ticket;
  return running_.empty() || running_.front().first > ticket;
}

Result<void> CopyQueue::look_at_copier_locked(cl_mem device) {
  const ResidentCopier::Outcome outcome = copier_->look();
  if (outcome == ResidentCopier::Outcome::under_way) return {};
  const std::uint64_t ticket = std::exchange(copiers_ticket_, 0);
  if (outcome == ResidentCopier::Outcome::done) return {};
  auto enqueued = enqueue_locked(device, copier_->copies(), ticket);
  if (!enqueued) failure_ = enqueued.error();  // whoever has the ticket is another one, perhaps
  return enqueued;
}

Result<void> CopyQueue::reap_locked() {
  if (copiers_ticket_ != 0) RK_TRY_VOID(look_at_copier_locked(copiers_device_));
  while (!failure_ && !running_.empty()) {
    const cl_int status = event_status(running_.front().second.get());
    if (status > CL_COMPLETE) break;
    if (status < 0)
      failure_ = Error(Errc::device_error, "a copy ended with " + status_text(status));
    running_.pop_front();
  }
  if (!failure_) return {};
  return *failure_;
}

}  // namespace ringkernel::opencl
