#include "bridge/dma/kernel_mirror.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "bridge/atomic.hpp"
#include "bridge/fence.hpp"
#include "ringkernel/error.hpp"
#include "ringkernel/protocol/fault.h"

namespace ringkernel::bridge {
namespace {

constexpr std::uint64_t input_position = RK_OFFSETOF(rk_ring, producer.position);
constexpr std::uint64_t output_position = RK_OFFSETOF(rk_ring, producer.position);
constexpr std::uint64_t output_released = RK_OFFSETOF(rk_ring, consumer.position);

}  // namespace

static_assert(RK_OFFSETOF(rk_kernel_device_line, state_epoch) == 0 &&
              RK_OFFSETOF(rk_kernel_device_line, fault) == sizeof(rk_u32));

KernelMirror::KernelMirror(std::byte* arena, std::uint64_t host_offset, std::uint64_t device_offset,
                           bool in_any_order) noexcept
    : arena_(arena),
      host_offset_(host_offset),
      device_offset_(device_offset),
      in_any_order_(in_any_order),
      host_(*reinterpret_cast<rk_kernel_host_line*>(arena + host_offset)),
      device_(*reinterpret_cast<rk_kernel_device_line*>(arena + device_offset)) {}

template <class Add>
void KernelMirror::for_each_range(const RingView& ring, std::uint64_t from, std::uint64_t to,
                                  Add&& add) {
  const std::uint64_t first = std::min(to - from, ring.bytes_to_end(from));
  if (first != 0) add(from & (ring.capacity - 1), first);
  if (to - from > first) add(0, to - from - first);
}

// --- to the device ----------------------------------------------------------------------------

bool KernelMirror::send(CopyList& copies, std::uint64_t bytes_max) {
  // acquire: state and rings of this epoch; pairs with the release in Executor::set_state
  const std::uint32_t epoch = atomic(host_.state_epoch).load(std::memory_order_acquire);
  const bool changed = epoch != epoch_;
  if (changed) {
    epoch_ = epoch;
    send_state(copies);
  }
  if (state_ == RK_KERNEL_ABSENT || is_broken()) {
    has_more_ = false;  // what was left of an earlier batch goes to nobody
    return changed;
  }
  bool ring = send_requests(copies, bytes_max) || changed;
  ring |= send_released(copies);
  if (note_blocked()) ring |= send_released(copies);
  return ring;
}

void KernelMirror::send_state(CopyList& copies) {
  const std::uint32_t before = state_;
  // relaxed: acquired with the epoch
  state_ = atomic(host_.state).load(std::memory_order_relaxed);
  if (before == RK_KERNEL_ABSENT && state_ != RK_KERNEL_ABSENT)
    attach(copies);
  else if (host_.migration_epoch == epoch_)
    send_places(copies);
  // Each behind what it speaks for, in copies of their own: a slice visits an index that was in use
  // before whenever it likes, and a copy brings its words in any order.
  copies.send_value(host_offset_ + RK_OFFSETOF(rk_kernel_host_line, state), state_);
  copies.send_value(host_offset_ + RK_OFFSETOF(rk_kernel_host_line, state_epoch), epoch_);
}

void KernelMirror::attach(CopyList& copies) {
  input_offset_ = host_.input_ring;
  output_offset_ = host_.output_ring;
  input_ = RingView::at(arena_, host_.input_ring, host_.input_capacity);
  output_ = RingView::at(arena_, host_.output_ring, host_.output_capacity);
  // This side's own words: whoever made the rings published them with the epoch.
  sent_ = answered_ = input_.lines->consumer.position;
  known_ = fetched_ = output_.lines->producer.position;
  // acquire: as in send_released
  released_ = atomic(output_.lines->consumer.position).load(std::memory_order_acquire);
  unanswered_ = expected_bytes_ = 0;
  fault_ = 0;
  has_more_ = blocked_noted_ = stalled_ = false;
  rk_ring input{};
  input.producer.position = input.consumer.position = input.consumer.cached_producer = sent_;
  rk_ring output{};
  output.producer.position = known_;
  output.consumer.position = output.producer.cached_consumer = released_;
  copies.send_value(input_offset_, input);
  copies.send_value(output_offset_, output);
  send_places(copies);
}

/// Of rings and states; what is in no other place.
void KernelMirror::send_places(CopyList& copies) {
  constexpr std::uint64_t begin = RK_OFFSETOF(rk_kernel_host_line, input_capacity);
  copies.send(host_offset_ + begin, RK_OFFSETOF(rk_kernel_host_line, reserved) - begin);
}

bool KernelMirror::send_requests(CopyList& copies, std::uint64_t bytes_max) {
  // acquire: the records below this position; pairs with the release in Producer::publish
  const std::uint64_t end = atomic(input_.lines->producer.position).load(std::memory_order_acquire);
  std::uint64_t position = sent_;
  while (position != end) {
    const rk_record_header& header = *input_.record(position);
    // The host's own records are sound; one that is not ends here and not in somebody's memory.
    if (!input_.can_hold(position, end, header.length)) break;
    if (position != sent_ && position + header.length - sent_ > bytes_max) break;
    if (header.kind != RK_RECORD_PADDING) {
      ++unanswered_;
      expected_bytes_ += record_bytes(header.reply_bytes);
    }
    position += header.length;
  }
  has_more_ = position != end;
  if (position == sent_) return false;
  const std::uint64_t length = position - sent_;
  if (in_any_order_ && length <= sizeof(rk_producer_line) && length <= input_.bytes_to_end(sent_)) {
    copies.send_with(input_offset_ + input_position, rk_producer_line{position, 0, {}},
                     input_offset_ + sizeof(rk_ring) + (sent_ & (input_.capacity - 1)), length);
  } else {
    for_each_range(input_, sent_, position, [&](std::uint64_t index, std::uint64_t bytes) {
      copies.send(input_offset_ + sizeof(rk_ring) + index, bytes);
    });
    copies.send_value(input_offset_ + input_position, position);
  }
  sent_ = position;
  return true;
}

bool KernelMirror::send_released(CopyList& copies) {
  // acquire: the host's reads of what it released; pairs with the release in Consumer::release
  const std::uint64_t released =
      atomic(output_.lines->consumer.position).load(std::memory_order_acquire);
  if (released == released_) return false;
  const bool awaited = is_blocked();
  // The device asks for space only when it has none left, so it need not hear of every byte.
  if (!awaited && released - released_ < output_.capacity / 4) return false;
  copies.send_value(output_offset_ + output_released, released);
  released_ = released;
  return awaited;
}

// --- from the device --------------------------------------------------------------------------

void KernelMirror::ask(CopyList& copies, std::uint64_t guess_max) {
  if (obeyed_ != epoch_ || stalled_) line_read_ = copies.fetch_value<DeviceWords>(device_offset_);
  if (output_.lines != nullptr) ask_for_replies(copies, guess_max);
}

void KernelMirror::ask_for_replies(CopyList& copies, std::uint64_t guess_max) {
  // acquire: as in send_released; the bytes are free on this side
  const std::uint64_t released =
      atomic(output_.lines->consumer.position).load(std::memory_order_acquire);
  std::uint64_t bytes = known_ - fetched_;
  if (bytes == 0) {
    bytes = std::min(expected_bytes_, guess_max);
    const std::uint64_t to_end = output_.bytes_to_end(fetched_);
    if (bytes > to_end) bytes += to_end;  // padding may come first
  }
  bytes = std::min(bytes, output_.capacity - (fetched_ - released));
  read_end_ = fetched_ + bytes;
  if (in_any_order_ && bytes >= sizeof(rk_u64) && bytes <= sizeof(rk_ring) &&
      bytes <= output_.bytes_to_end(fetched_)) {
    const std::byte* const both = copies.fetch_both(
        output_offset_ + output_position,
        output_offset_ + sizeof(rk_ring) + (fetched_ & (output_.capacity - 1)), bytes);
    position_read_ = reinterpret_cast<const rk_u64*>(both);
    staged_replies_ = both + bytes;
    return;
  }
  // Behind the position, so what lies below it is complete when it is fetched.
  position_read_ = copies.fetch_value<rk_u64>(output_offset_ + output_position);
  for_each_range(output_, fetched_, read_end_, [&](std::uint64_t index, std::uint64_t length) {
    copies.fetch(output_offset_ + sizeof(rk_ring) + index, length);
  });
}

KernelMirror::News KernelMirror::absorb() {
  News news;
  if (position_read_ != nullptr) absorb_replies(news);
  if (line_read_ != nullptr) absorb_line(news);
  if (position_read_ != nullptr) news.ring_self = note_blocked();
  const bool stalled = !news.any && unanswered_ != 0;
  news.ask_again = stalled && !stalled_;
  stalled_ = stalled;
  position_read_ = nullptr;
  staged_replies_ = nullptr;
  line_read_ = nullptr;
  return news;
}

void KernelMirror::absorb_replies(News& news) {
  known_ = *position_read_;
  if (staged_replies_ != nullptr)
    std::memcpy(output_.record(fetched_), staged_replies_, read_end_ - fetched_);
  const std::uint64_t end = known_ - fetched_ < read_end_ - fetched_ ? known_ : read_end_;
  std::uint64_t position = fetched_;
  while (end - position >= sizeof(rk_record_header)) {
    const rk_record_header& header = *output_.record(position);
    if (!output_.can_hold(position, known_, header.length)) {
      position = known_;  // the host's consumer finds out what is wrong
      fault_ = static_cast<std::uint32_t>(Errc::bad_record);
      break;
    }
    if (header.length > end - position) break;  // the rest comes with the next batch
    if (header.kind != RK_RECORD_PADDING) {
      count_reply();
      if (header.fault == RK_FAULT_program_overran) fault_ = header.fault;
    }
    position += header.length;
  }
  if (position == fetched_) return;
  fetched_ = position;
  // release: as on the device, it is there before the reply that says so; pairs with
  // Executor::fault
  if (fault_ == RK_FAULT_program_overran)
    atomic(device_.fault).store(fault_, std::memory_order_release);
  // release: the records; pairs with the acquire in Consumer::empty
  atomic(output_.lines->producer.position).store(position, std::memory_order_release);
  give_back_requests();
  news.any = news.ring_host = true;
}

void KernelMirror::count_reply() noexcept {
  if (unanswered_ == 0) return;  // a device that says more than it was asked
  --unanswered_;
  for (;;) {
    const rk_record_header& header = *input_.record(answered_);
    answered_ += header.length;
    if (header.kind == RK_RECORD_PADDING) continue;
    expected_bytes_ -= record_bytes(header.reply_bytes);
    return;
  }
}

/// Whoever publishes a reply has read its request for the last time (rk_drain), so the device need
/// not be asked how far it is.
void KernelMirror::give_back_requests() {
  // release: the copies of the records are done; pairs with the acquire in Producer::try_claim
  atomic(input_.lines->consumer.position).store(answered_, std::memory_order_release);
}

void KernelMirror::absorb_line(News& news) {
  // An overrun is told by its reply, without which nobody could say whose it was.
  if (line_read_->fault != 0 && line_read_->fault != RK_FAULT_program_overran && fault_ == 0) {
    fault_ = line_read_->fault;
    atomic(device_.fault).store(fault_, std::memory_order_release);  // pairs with Executor::fault
    news.any = news.ring_host = true;
  }
  // The line was asked for before the output's position: what the device published before it
  // obeyed lies below that, and has to be here first.
  if (line_read_->state_epoch != epoch_ || obeyed_ == epoch_) return;
  if (fetched_ != known_ && !is_broken()) return;
  obeyed_ = epoch_;
  if (state_ == RK_KERNEL_ABSENT) {
    fault_ = 0;
    unanswered_ = expected_bytes_ = 0;
    output_ = input_ = {};
    position_read_ = nullptr;
    atomic(device_.fault).store(0, std::memory_order_relaxed);  // as the device does in rk_visit
    atomic(device_.backpressured).store(0, std::memory_order_relaxed);
  }
  // release: the rings are left alone from here on unless running; pairs with Executor::obeys
  atomic(device_.state_epoch).store(epoch_, std::memory_order_release);
  news.any = true;
}

bool KernelMirror::is_blocked() const noexcept {
  if (unanswered_ == 0 || fetched_ != known_) return false;
  std::uint64_t position = answered_;
  while (input_.record(position)->kind == RK_RECORD_PADDING)
    position += input_.record(position)->length;
  // As rk_output_claim reckons.
  const std::uint64_t length = record_bytes(input_.record(position)->reply_bytes);
  const std::uint64_t to_end = output_.bytes_to_end(known_);
  const std::uint64_t padding = length > to_end ? to_end : 0;
  return output_.capacity - (known_ - released_) < padding + length;
}

/// The device's half of "Back-pressure" in docs/PROTOCOL.md: the note, a full fence, one more look.
bool KernelMirror::note_blocked() {
  const bool blocked = is_blocked();
  if (blocked != blocked_noted_)
    atomic(device_.backpressured).store(blocked ? 1 : 0, std::memory_order_relaxed);
  blocked_noted_ = blocked;
  if (!blocked) return false;
  full_fence();
  // relaxed: only "is there more"; send_released acquires
  return atomic(output_.lines->consumer.position).load(std::memory_order_relaxed) != released_;
}

bool KernelMirror::awaits_device() const noexcept {
  if (obeyed_ != epoch_) return true;
  if (state_ == RK_KERNEL_ABSENT || is_broken()) return false;
  return fetched_ != known_ || has_work_for_device();
}

bool KernelMirror::has_work_for_device() const noexcept {
  if (obeyed_ != epoch_) return true;
  return state_ == RK_KERNEL_RUNNING && !is_broken() && unanswered_ != 0 && fetched_ == known_ &&
         !is_blocked();
}

}  // namespace ringkernel::bridge
