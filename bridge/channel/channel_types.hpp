/// What a channel is given and what it counts: messages and how they want to be treated, limits,
/// counters.
///
/// Threading: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "bridge/channel/leases.hpp"
#include "bridge/clock.hpp"
#include "foundation/trace_log.hpp"
#include "ringkernel/message_buffer.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::bridge {

struct ReplyPlace;  // pending.hpp

/// The numbers of a record header, and how the message wants to be treated on the host.
struct Envelope {
  std::uint32_t payload_bytes = 0;
  std::uint32_t selector = 0;  ///< what is asked for (rk_record_header)
  std::uint32_t prefix_offset = 0;
  std::uint32_t prefix_bytes = 0;
  std::uint32_t reply_bytes = 0;
  std::int32_t priority = 0;  ///< higher first, among what is still queued on the host
  std::uint64_t deadline_ns = no_deadline;
  /// Of a message without a deadline, whose sender watches the time itself: how long the device may
  /// take.
  std::uint64_t timeout_ns = no_deadline;
  std::uint64_t waits_since_ns = 0;  ///< when it first found no room; 0: this is the first try
  bool assisted = false;  ///< Receiver::completion: the sender is about to call `Channel::assist`
  /// What must stay in place until the device is done with the message; may be null. The channel's
  /// from the moment that the payload is written, or given to `submit_later`.
  Lease* lease = nullptr;
  ReplyPlace* reply_place = nullptr;  ///< Receiver::waiter, who has it until `wait` returns

  void release_lease() const noexcept {
    if (lease != nullptr) lease->release();
  }
};

/// Whether there was room for a message. Without it the message may be tried again.
enum class Room : std::uint8_t { none, found };

/// What became of a message that was to be accepted: its id, if there was room.
struct Submission {
  Room room = Room::none;
  MessageId id = 0;
};

/// Messages that one publication covers at most (Channel::submit_batch).
inline constexpr std::size_t batch_max = 64;

/// What happens to a message for which there is no room.
enum class Policy : std::uint8_t { block, reject, drop_oldest, drop_newest };

struct ChannelLimits {
  std::uint32_t in_flight_max = 1024;  ///< accepted and not yet taken by their receiver
  std::uint32_t queue_max = 256;       ///< of these, waiting on the host for ring space
  Policy policy = Policy::block;
  std::uint64_t spin_ns = 50'000;  ///< how long a waiting thread polls before it sleeps
  std::uint32_t sample_every = 0;  ///< messages for one whose way is timed; 0: no time is taken
  TraceLog* trace = nullptr;       ///< is told of these; nullptr: nobody is
  std::string name = {};           ///< of the kernel, there
};

/// Wakes the bridge thread; implemented by Bridge.
class Waker {
 public:
  virtual void wake() noexcept = 0;

 protected:
  ~Waker() = default;
};

/// An asynchronous send that found no room: it enters when there is some. Called with the id, or
/// with the error that ended the wait.
using Admission = std::function<void(Result<MessageId>)>;

}  // namespace ringkernel::bridge
