/// Which op may be handed to the device when, so that ops on the same tensors run in the order in
/// which they were given, whatever queues they are on.
///
/// An op depends on the last op before it that writes one of its tensors, and on those that read
/// since then what it writes. It is handed out when each of these has ended, or stands in the order
/// of the op's own queue, which the device keeps. Why two queues never race on a tensor: of two ops
/// that are on the device at once and not in one queue, none depends on the other, directly or
/// through others; and ops that touch the same tensor, one of them writing, do depend on each
/// other. An op has ended when the device has answered it, which is after its last access.
///
/// An op that ends before one that it depends on (it was refused, and never went to the device)
/// goes on standing for that one here: who comes later and depends on it still waits for both.
///
/// Threading: distinct objects safe, shared objects unsafe: under the owner's lock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ringkernel/tensor.hpp"

namespace ringkernel::mind {

/// Numbers ops in the order in which they were given, from 1 on.
using Ticket = std::uint64_t;

class Schedule {
 public:
  explicit Schedule(std::uint32_t queues) : loads_(queues, 0) {}

  struct Access {
    std::span<const TensorId> reads;
    std::optional<TensorId> writes;
  };
  /// The next op. On `queue`; by default on that of what it depends on, or the one with the fewest
  /// ops.
  /// Changes nothing where it throws std::bad_alloc.
  Ticket add(const Access& access, std::optional<std::uint32_t> queue);

  [[nodiscard]] std::uint32_t queue_of(Ticket op) const { return ops_.at(op).queue; }
  /// Whether it may take its place in the order of its queue.
  [[nodiscard]] bool ready(Ticket op) const { return ops_.at(op).waits_for == 0; }
  /// Whether it depends on nothing that is unfinished.
  [[nodiscard]] bool alone(Ticket op) const { return ops_.at(op).behind == 0; }
  /// A ready op takes its place: what is put in order behind it on its queue need not wait for its
  /// end. One that never does is waited for.
  void put_in_order(Ticket op) { ops_.at(op).in_order = true; }

  /// The op has ended. Appends those that became ready, in the order in which they were given; with
  /// room for all that are unfinished it needs no memory.
  void end(Ticket op, std::vector<Ticket>& ready);

  /// Unfinished ops that a reader, or a writer, of the tensor has to wait for.
  [[nodiscard]] std::vector<Ticket> users(TensorId tensor, bool for_write) const;
  [[nodiscard]] bool unfinished(Ticket op) const { return ops_.contains(op); }
  /// The op given first of those unfinished; one that is yet to come if there is none.
  [[nodiscard]] Ticket oldest() const { return ops_.empty() ? next_ : ops_.begin()->first; }
  [[nodiscard]] Ticket next() const noexcept { return next_; }
  [[nodiscard]] bool empty() const noexcept { return ops_.empty(); }

 private:
  struct Follower {
    Ticket op;
    bool waits;  // is not to be handed out before the end
  };
  struct Scheduled {
    std::uint32_t queue = 0;
    std::uint32_t waits_for = 0;
    std::uint32_t behind = 0;  // unfinished ops that it depends on
    bool in_order = false;
    bool ended = false;
    std::vector<TensorId> reads{};
    std::optional<TensorId> writes{};
    std::vector<Follower> followers{};
  };
  /// The unfinished ops of one tensor.
  struct Users {
    Ticket last_writer = 0;         // 0: none
    std::vector<Ticket> readers{};  // since then
  };

  [[nodiscard]] std::vector<Ticket> dependencies(const Access& access) const;
  [[nodiscard]] std::uint32_t choose_queue(std::span<const Ticket> dependencies) const;
  void forget(Ticket op, const Scheduled& scheduled);

  std::map<Ticket, Scheduled> ops_;
  std::unordered_map<TensorId, Users> users_;
  std::vector<std::uint64_t> loads_;  // unfinished ops of each queue
  std::vector<Ticket> ending_;        // of `end`, with room for all unfinished ops
  Ticket next_ = 1;
};

}  // namespace ringkernel::mind
