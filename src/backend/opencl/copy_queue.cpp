#include "backend/opencl/copy_queue.hpp"

#include <thread>
#include <vector>

#include "backend/opencl/wait_for_driver.hpp"

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

/// The same asleep, between the rings of a bell. `now_and_then` is called where nobody rang.
template <class Condition, class Wake>
bool sleep_until(Condition condition, CopyBell& bell, std::chrono::nanoseconds timeout,
                 Wake now_and_then) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const std::uint64_t heard = bell.rings();  // before the look: a ring behind it ends the sleep
    if (condition()) return true;
    if (std::chrono::steady_clock::now() - begin >= timeout) return false;
    bell.wait(heard);
    if (bell.rings() == heard) now_and_then();
  }
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

CopyQueue::~CopyQueue() { end(); }

void CopyQueue::end() {
  if (copier_) copier_->withdraw();
  queue_.end();
}

void CopyQueue::use(std::unique_ptr<ResidentCopier> copier) {
  copier_ = std::move(copier);
  copier_->work_on(queue_.thread());
}

Result<std::uint64_t> CopyQueue::start(cl_mem device, std::span<const rk_copy> copies) {
  RK_TRY_VOID(ledger_->failure());
  if (!copier_) return post(device, copies);
  const std::lock_guard lock(mutex_);
  RK_TRY_VOID(end_batch_locked());
  if (!ledger_->have_all_ended() || !copier_->try_start(copies)) return post(device, copies);
  copiers_device_ = device;
  return copiers_ticket_ = ledger_->next_ticket();
}

std::uint64_t CopyQueue::post(cl_mem device, std::span<const rk_copy> copies) {
  return queue_.post(ledger_, give_all(device, copies));
}

DriverQueue::Enqueue CopyQueue::give_all(cl_mem device, std::span<const rk_copy> copies) {
  return [this, device, all = std::vector(copies.begin(), copies.end())] {
    cl_event last = nullptr;
    for (const rk_copy& copy : all) {
      const Result<void> given =
          enqueue(queue_.get(), device, copy, &copy == &all.back() ? &last : nullptr);
      if (!given) return Result<Event>(given.error());
    }
    return Result<Event>(Event(last));
  };
}

void CopyQueue::look_at_copier_locked() {
  if (copiers_ticket_ == 0) return;
  switch (copier_->look()) {
    case ResidentCopier::Outcome::under_way: return;
    case ResidentCopier::Outcome::done: ledger_->note_end(copiers_ticket_, CL_SUCCESS); break;
    case ResidentCopier::Outcome::not_served:
      queue_.post_last(ledger_, give_all(copiers_device_, copier_->copies()));
      break;
  }
  copiers_ticket_ = 0;
}

Result<void> CopyQueue::end_batch_locked() {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    look_at_copier_locked();
    if (copiers_ticket_ == 0) return {};
    if (std::chrono::steady_clock::now() - begin > batch_timeout)
      return Error(Errc::device_error, "the resident copier does not answer");
  }
}

bool CopyQueue::has_copier(std::uint64_t ticket) {
  if (!copier_) return false;
  const std::lock_guard lock(mutex_);
  look_at_copier_locked();
  return copiers_ticket_ != 0 && copiers_ticket_ <= ticket;
}

Result<void> CopyQueue::wait(std::uint64_t ticket, std::chrono::nanoseconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  // A failure is told when nothing of the copy is under way any more.
  const auto is_over = [&] { return ledger_->has_ended(ticket); };
  bool in_time = !has_copier(ticket) || ask_until([&] { return !has_copier(ticket); }, timeout);
  const auto left = timeout - (std::chrono::steady_clock::now() - begin);
  if (in_time && !is_over()) {
    if (bell_) {
      // Of a driver that never calls back the thread asks.
      in_time = sleep_until(is_over, *bell_, left, [this] { queue_.thread().ask(); });
    } else {
      const DriverThread::Watch watch(queue_.thread());
      in_time = ask_until(is_over, left);
    }
  }
  if (in_time) return ledger_->failure();
  queue_.thread().ask();
  return late_error("copies have not ended in time", queue_.thread().stuck_text());
}

}  // namespace ringkernel::opencl
