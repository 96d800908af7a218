#include "bridge/dma/copy_agent.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "bridge/atomic.hpp"
#include "bridge/fence.hpp"
#include "foundation/assert.hpp"
#include "foundation/memory_error.hpp"

namespace ringkernel::bridge {
namespace {

constexpr std::uint64_t kib = 1024;

/// Requests of one kernel that a batch takes along, roughly: others wait no longer than that.
constexpr std::uint64_t kernel_bytes_max = 256 * kib;
/// Replies that are fetched before it is known that they exist. Sliced they do.
constexpr std::uint64_t guess_dma = 16 * kib;
constexpr std::uint64_t guess_sliced = 1024 * kib;
/// Up to so many kernels are asked directly; of more, those whose output doorbell was rung.
constexpr std::size_t asked_directly_max = 16;
/// What doorbells and the executor's words need of the staging area, and how many copies.
constexpr std::uint64_t staging_reserve = sizeof(rk_u32) * RK_KERNELS_MAX * 2 + kib;
constexpr std::size_t copies_reserve = RK_KERNELS_MAX / RK_DOORBELLS_PER_LINE + 16;
static_assert(copies_reserve + KernelMirror::copies_max <= CopyList::copies_max);

constexpr std::uint64_t eager_patience_ns = 100'000;
constexpr std::uint64_t usual_patience_ns = 1'000'000;
/// How long a caller stays when nothing comes, and how many batches it moves for others.
constexpr std::uint64_t eager_idle_ns_max = 200'000;
constexpr std::uint32_t eager_steps_max = 32;
/// How long the copy agent's own thread looks for more before it sleeps: waking it costs that much.
constexpr std::uint64_t linger_ns = 20'000;
/// A turn is a batch here, so there are fewer of them.
constexpr IdleLimits idle_limits{.spins_max = 16, .yields_max = 16};
/// More would amortise nothing, and a slice does not know what its next record takes.
constexpr std::uint32_t slice_records_most = 256;

std::uint32_t next_epoch(std::uint32_t epoch) noexcept { return epoch + 1 != 0 ? epoch + 1 : 1; }

}  // namespace

CopyAgent::CopyAgent(std::byte* arena, std::uint64_t region_offset, std::uint64_t staging_offset,
                     const CopyAgentLimits& limits, DevicePort& port, const Clock& clock)
    : arena_(arena),
      region_offset_(region_offset),
      telemetry_staging_(staging_offset + staging_bytes - sizeof(rk_telemetry_block)),
      limits_(limits),
      port_(port),
      clock_(clock),
      host_(*at<rk_executor_host_line>(region_offset)),
      copies_(arena, staging_offset, staging_bytes - sizeof(rk_telemetry_block)) {}

void CopyAgent::open() {
  device_ = at<rk_executor_device_line>(host_.device_line);
  bells_.assign(host_.kernel_capacity, 0);
  parked_read_.assign(host_.work_groups, nullptr);
  host_words_ = host_;
  kernel_copies_ = std::vector<KernelCopies>(host_.kernel_capacity);
  // All that a session needs is there: it has nobody to tell that there is no memory.
  for (std::vector<std::uint32_t>* kernels : {&active_, &asked_, &to_ring_})
    kernels->reserve(host_.kernel_capacity);
  batch_.reserve(2 * CopyList::copies_max);
  kernels_.reserve(host_.kernel_capacity);
  for (std::uint32_t kernel = 0; kernel < host_.kernel_capacity; ++kernel)
    kernels_.push_back({KernelMirror(
        arena_, host_.kernel_host_lines + kernel * sizeof(rk_kernel_host_line),
        host_.kernel_device_lines + kernel * sizeof(rk_kernel_device_line), limits_.sliced)});
}

// --- the session ------------------------------------------------------------------------------

void CopyAgent::session(std::uint32_t slice) {
  const std::lock_guard lock(session_mutex_);
  // relaxed: written by the thread that starts this session
  const bool eager = atomic(host_.eager_slice).load(std::memory_order_relaxed) == slice;
  atomic(device_->running_slice).store(slice, std::memory_order_release);  // Executor::starting
  IdleStrategy idle(idle_limits);
  poll_doorbells();
  std::uint64_t moved_ns = clock_.now_ns();
  for (std::uint32_t steps = 1;; ++steps) {
    const bool moved = step(eager ? eager_patience_ns : usual_patience_ns);
    const std::uint64_t now_ns = clock_.now_ns();
    if (moved) moved_ns = now_ns;
    const bool rung = poll_doorbells();
    const std::uint64_t idle_ns = now_ns - moved_ns;
    const std::uint32_t reason =
        verdict(eager && (idle_ns >= eager_idle_ns_max || steps >= eager_steps_max));
    if (reason == RK_SLICE_IDLE && !eager && idle_ns < linger_ns) {
      cpu_pause();
      continue;
    }
    if (reason != 0) {
      if (park(slice, reason)) return;
      continue;
    }
    if (moved || rung)
      idle.reset();
    else if (const std::uint64_t sleep_ns = idle.idle(); sleep_ns != 0 && !eager)
      std::this_thread::sleep_for(std::chrono::nanoseconds(sleep_ns));
  }
}

std::uint32_t CopyAgent::verdict(bool impatient) const noexcept {
  if (failed_.load(std::memory_order_relaxed)) return RK_SLICE_STOP;  // set by this thread
  // acquire: pairs with Executor::stop. A slice may take long; copies beside it do not.
  if (atomic(host_.stop).load(std::memory_order_acquire) != 0 && (limits_.sliced || !under_way_))
    return RK_SLICE_STOP;
  if (!under_way_ && active_.empty()) return RK_SLICE_IDLE;
  return impatient ? RK_SLICE_BUDGET : 0;
}

/// As rk_slice_park: "parked", a full fence, one more look.
bool CopyAgent::park(std::uint32_t slice, std::uint32_t reason) noexcept {
  atomic(device_->end_reason).store(reason, std::memory_order_relaxed);
  // release: all that the session published; pairs with the acquire in Executor::must_launch
  atomic(device_->parked_slice).store(slice, std::memory_order_release);
  full_fence();
  if (reason != RK_SLICE_IDLE || !poll_doorbells()) return true;
  atomic(device_->parked_slice).store(slice - 1, std::memory_order_release);
  return false;
}

bool CopyAgent::step(std::uint64_t patience_ns) {
  if (failed_.load(std::memory_order_relaxed)) return false;  // set by this thread
  if (!under_way_) {
    if (!collect()) return false;
    begin_batch();
  }
  // Where there is no memory to go on with, the next look does.
  Result<void> started = start_batch();
  if (has_no_memory(started)) return false;
  if (!started) {
    fail(std::move(started).error());
    return false;
  }
  Result<bool> ended = port_.copies_ended(ticket_, patience_ns);
  if (has_no_memory(ended)) return false;
  if (!ended) {
    fail(std::move(ended).error());
    return false;
  }
  if (!*ended) return false;
  under_way_ = false;
  if (slice_under_way_) adapt_slices(clock_.now_ns() - batch_start_ns_);
  slice_under_way_ = false;
  const bool sent = !copies_.to_device().empty();
  const bool moved = absorb() || sent;
  forget_idle();
  return moved;
}

// --- to the device ----------------------------------------------------------------------------

bool CopyAgent::poll_doorbells() noexcept {
  rk_u32* const bells = at<rk_u32>(host_.input_doorbells);
  // acquire: the doorbells below the count exist; pairs with the release in Executor::attach
  const std::uint32_t count = atomic(host_.kernel_count).load(std::memory_order_acquire);
  bool rung = false;
  for (std::uint32_t number = 0; number < count; ++number) {
    ServedKernel& kernel = kernels_[number];
    // acquire: what was published before; pairs with the release in Executor::ring
    const std::uint32_t bell = atomic(bells[number]).load(std::memory_order_acquire);
    if (bell == kernel.bell_seen) continue;
    kernel.bell_seen = bell;
    kernel.rung = rung = true;
    if (!std::exchange(kernel.active, true)) active_.push_back(number);
  }
  return rung;
}

/// Makes the next batch. False if there is nothing to copy.
bool CopyAgent::collect() {
  copies_.clear();
  to_ring_.clear();
  send_host_words();
  for (const std::uint32_t number : active_) {
    ServedKernel& kernel = kernels_[number];
    if (!kernel.rung) continue;
    if (!copies_.has_room(copies_reserve + KernelMirror::copies_max,
                          staging_reserve + KernelMirror::staging_bytes_max))
      break;
    const CopyCounts before = copies_.counts();
    if (kernel.mirror.send(copies_, kernel_bytes_max)) to_ring_.push_back(number);
    count_copies(number, before);
    kernel.rung = kernel.mirror.has_more();
  }
  send_doorbells();
  ask();
  return !copies_.to_device().empty() || !copies_.to_host().empty();
}

void CopyAgent::count_copies(std::uint32_t kernel, const CopyCounts& before) noexcept {
  const auto add = [](std::atomic<std::uint64_t>& count, std::uint64_t more) {
    // relaxed: a metric; one writer at a time
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  };
  add(kernel_copies_[kernel].copies, copies_.counts().copies - before.copies);
  add(kernel_copies_[kernel].bytes, copies_.counts().bytes - before.bytes);
}

/// Word by word: the device reads those that never change without care.
void CopyAgent::send_host_words() {
  const auto send = [this](rk_u32 rk_executor_host_line::*word, rk_u32 value) {
    if (host_words_.*word == value) return;
    host_words_.*word = value;
    const auto* const base = reinterpret_cast<const std::byte*>(&host_words_);
    const auto* const place = reinterpret_cast<const std::byte*>(&(host_words_.*word));
    copies_.send_value(region_offset_ + static_cast<std::uint64_t>(place - base), value);
  };
  // relaxed: stands alone
  send(&rk_executor_host_line::stop, atomic(host_.stop).load(std::memory_order_relaxed));
  // acquire: as in poll_doorbells
  send(&rk_executor_host_line::kernel_count,
       atomic(host_.kernel_count).load(std::memory_order_acquire));
  send(&rk_executor_host_line::idle_polls_max, limits_.idle_polls_max);
  send(&rk_executor_host_line::yield_slice, leaving_slice_);
  if (limits_.sliced) send(&rk_executor_host_line::slice_records_max, slice_records_max_);
}

void CopyAgent::send_doorbells() {
  if (to_ring_.empty()) return;
  work_sent_ = true;
  // A slice that begins takes every doorbell that was ever rung as rung: sliced, once is enough.
  if (limits_.sliced) std::erase_if(to_ring_, [this](std::uint32_t k) { return bells_[k] != 0; });
  for (const std::uint32_t kernel : to_ring_) bells_[kernel] = next_epoch(bells_[kernel]);
  std::ranges::sort(to_ring_);
  // Whole lines, and neighbours in one copy.
  const auto line_of = [](std::uint32_t kernel) { return kernel / RK_DOORBELLS_PER_LINE; };
  for (std::size_t i = 0; i < to_ring_.size();) {
    const std::uint32_t first = line_of(to_ring_[i]);
    std::uint32_t last = first;
    for (; i < to_ring_.size() && line_of(to_ring_[i]) <= last + 1; ++i)
      last = line_of(to_ring_[i]);
    copies_.send_bytes(host_.input_doorbells + first * sizeof(rk_doorbell_line),
                       &bells_[std::size_t{first} * RK_DOORBELLS_PER_LINE],
                       (last - first + 1) * sizeof(rk_doorbell_line));
  }
}

void CopyAgent::ask() {
  asked_.clear();
  answers_read_ = nullptr;
  std::ranges::fill(parked_read_, nullptr);
  const bool directly = active_.size() <= asked_directly_max;
  if (!directly)
    answers_read_ = static_cast<const rk_u32*>(copies_.fetch_bytes(
        host_.output_doorbells, align_up<std::uint64_t>(host_words_.kernel_count * sizeof(rk_u32),
                                                        sizeof(rk_doorbell_line))));
  for (const std::uint32_t number : active_) {
    ServedKernel& kernel = kernels_[number];
    if (!kernel.mirror.awaits_device()) continue;
    // One more asks whether a work-group has parked.
    if (!copies_.has_room(KernelMirror::copies_max + 1, KernelMirror::staging_bytes_max)) break;
    // A reply rings a doorbell; that a state is obeyed is only to be seen.
    const bool will_ring = !directly && !kernel.answering && !kernel.mirror.awaits_state() &&
                           kernel.mirror.has_work_for_device();
    if (!limits_.sliced && (kernel.is_silent || will_ring)) ask_whether_parked(number);
    if (will_ring) continue;
    const CopyCounts before = copies_.counts();
    kernel.mirror.ask(copies_, limits_.sliced ? guess_sliced : guess_dma);
    count_copies(number, before);
    kernel.answering = false;
    asked_.push_back(number);
  }
}

/// A slice is over when all its work-groups have left, and the one that this kernel needs may wait
/// for others that are busy for ever. (Sliced, each ends by itself.)
void CopyAgent::ask_whether_parked(std::uint32_t kernel) {
  const std::size_t group = kernel % parked_read_.size();
  if (parked_read_.size() == 1 || parked_read_[group] != nullptr) return;
  parked_read_[group] =
      copies_.fetch_value<rk_u32>(host_.device_line + group * sizeof(rk_executor_device_line) +
                                  RK_OFFSETOF(rk_executor_device_line, parked_slice));
}

void CopyAgent::begin_batch() noexcept {
  batch_start_ns_ = clock_.now_ns();
  under_way_ = true;
  to_start_ = Start::copies;
  slice_under_way_ = limits_.sliced && (work_sent_ || has_work_for_device());
  if (limits_.sliced) return;
  const auto add = [this](const std::vector<rk_copy>& copies) {
    batch_.insert(batch_.end(), copies.begin(), copies.end());
  };
  batch_.clear();
  add(copies_.to_device());
  add(copies_.to_host());
}

Result<void> CopyAgent::start_batch() {
  if (to_start_ == Start::copies) {
    RK_TRY_VOID(start_copies(limits_.sliced ? copies_.to_device() : batch_));
    to_start_ = Start::slice;
  }
  if (to_start_ == Start::slice) {
    // Beside the copies: what the slice does not find yet it is rung for. One that has returned
    // without seeing a doorbell is found out by the next batch, which brings nothing.
    bool launches = slice_under_way_;
    if (!limits_.sliced && (work_sent_ || has_work_for_device())) {
      RK_TRY(returned, port_.slices_returned(0));
      launches = returned;
    }
    if (launches) RK_TRY_VOID(launch_slice());
    to_start_ = Start::answers;
  }
  if (to_start_ == Start::answers) {
    if (limits_.sliced) RK_TRY_VOID(start_copies(copies_.to_host()));
    to_start_ = Start::nothing;
  }
  return {};
}

Result<void> CopyAgent::start_copies(std::span<const rk_copy> copies) {
  if (copies.empty()) return {};
  RK_TRY(ticket, port_.start_copies(copies));
  ticket_ = ticket;
  return {};
}

Result<void> CopyAgent::launch_slice() {
  const std::uint32_t slice = device_slices_.load(std::memory_order_relaxed) + 1;  // one writer
  RK_TRY(launched, port_.launch_on_device(slice));
  if (!launched) return {};  // the next batch tries again
  work_sent_ = false;
  device_slices_.store(slice, std::memory_order_relaxed);
  return {};
}

/// Whether a slice would find requests that were sent before, and whose replies are not there to be
/// fetched.
bool CopyAgent::has_work_for_device() const noexcept {
  return std::ranges::any_of(active_, [this](std::uint32_t kernel) {
    return !kernels_[kernel].answering && kernels_[kernel].mirror.has_work_for_device();
  });
}

/// More records a slice, or fewer, so that it takes less than its time, but not much less.
void CopyAgent::adapt_slices(std::uint64_t slice_ns) noexcept {
  if (slice_ns > limits_.slice_ns_max)
    slice_records_max_ = std::max(slice_records_max_ / 2, 1u);
  else if (slice_ns < limits_.slice_ns_max / 4)
    slice_records_max_ = std::min(slice_records_max_ * 2, slice_records_most);
}

// --- from the device --------------------------------------------------------------------------

bool CopyAgent::absorb() {
  bool any = false;
  if (answers_read_ != nullptr) {
    for (const std::uint32_t number : active_) {
      ServedKernel& kernel = kernels_[number];
      if (answers_read_[number] == kernel.answer_seen) continue;
      kernel.answer_seen = answers_read_[number];
      kernel.answering = any = true;
    }
  }
  rk_u32* const bells = at<rk_u32>(host_.output_doorbells);
  for (const std::uint32_t number : asked_) {
    ServedKernel& kernel = kernels_[number];
    const KernelMirror::News news = kernel.mirror.absorb();
    any |= news.any;
    kernel.is_silent = !news.any;
    kernel.rung |= news.ring_self;
    kernel.answering |= news.ask_again;
    // release: behind the published records; pairs with the acquire in Executor::poll_outputs
    if (news.ring_host) atomic(bells[number]).store(bells[number] + 1, std::memory_order_release);
  }
  find_parked();
  return any;
}

/// Where a work-group that is needed has parked the slice launched last, the next one has to bring
/// it back: the others make way.
void CopyAgent::find_parked() noexcept {
  const std::uint32_t last = device_slices_.load(std::memory_order_relaxed);  // written here
  for (const std::uint32_t number : active_) {
    const rk_u32* const parked = parked_read_[number % parked_read_.size()];
    // What was fetched with the reply is no reason any more.
    if (parked != nullptr && *parked == last && !kernels_[number].answering &&
        kernels_[number].mirror.has_work_for_device())
      leaving_slice_ = last;
  }
}

void CopyAgent::forget_idle() {
  std::erase_if(active_, [this](std::uint32_t number) {
    ServedKernel& kernel = kernels_[number];
    kernel.active = kernel.rung || kernel.mirror.awaits_device();
    return !kernel.active;
  });
  // Whoever found no room in this batch comes first in one of the next.
  if (active_.size() > asked_directly_max)
    std::rotate(active_.begin(), active_.begin() + asked_directly_max, active_.end());
}

}  // namespace ringkernel::bridge
