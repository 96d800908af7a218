/// The resident tensors of a runtime: where each lies in the arena, and who uses it at the moment.
///
///   messages in flight  read it (an input) or write it (the output), several at once: those of one
///                       kernel run one after the other, and between kernels the order is the
///                       user's
///   the host            reads it (no message writes it), or has it alone: to write, move or wipe
///
/// A message that comes while the host copies waits for the copy, so that the host never waits with
/// something in its hands, and messages never wait for each other here. It takes all its tensors or
/// none. A tensor that was deallocated takes no new users and goes when the last one has left.
///
/// Threading: any thread. The lock is not held while bytes are copied, moved or wiped, and only the
/// arena's is taken inside it.
/// Ownership: borrows the arena until `close`; owns the leases, which outlive the channels that a
/// lost device keeps from releasing them.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bridge/channel/leases.hpp"
#include "message/codec.hpp"
#include "ringkernel/message.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/telemetry.hpp"
#include "runtime/memory/arena.hpp"
#include "runtime/memory/device_memory.hpp"

namespace ringkernel {

class TensorTable {
  struct Entry;

 public:
  /// The tensors of one message, held from its preparation until the device is done with it.
  class Held final : public bridge::Lease {
   public:
    explicit Held(TensorTable& table) noexcept : table_(table) {}
    void release() noexcept override { table_.release(*this); }
    [[nodiscard]] const codec::Offsets& offsets() const noexcept { return offsets_; }
    /// Those of a function's message, in the order of its bindings.
    [[nodiscard]] std::span<const std::uint64_t> bound_offsets() const noexcept {
      return bound_offsets_;
    }

   private:
    friend class TensorTable;
    TensorTable& table_;
    std::array<Entry*, inputs_max + 1> tensors_{};  // inputs, then the output; null: not resident
    codec::Offsets offsets_{};
    std::vector<std::pair<Entry*, bool>> bound_;  // of a function; true: written
    std::vector<std::uint64_t> bound_offsets_;
    Held* next_ = nullptr;  // while spare
  };

  /// `target` is cpu or gpu; on a gpu tensors keep the rules of that profile. `memory`: where the
  /// device has memory of its own; null: it works on the arena.
  TensorTable(Arena& arena, BackendTarget target, DeviceMemory* memory = nullptr)
      : arena_(arena), target_(target), memory_(memory) {}
  TensorTable(const TensorTable&) = delete;
  TensorTable& operator=(const TensorTable&) = delete;

  /// A new tensor, all zero. E2005, E3002, E3006, E6004, limit_exceeded, runtime_closed.
  [[nodiscard]] Result<TensorId> allocate(const TensorDesc& desc);
  /// Ends it, now or with the last message that uses it. tensor_not_found.
  Result<void> deallocate(TensorId id);
  /// The same where nobody asks whether it was there. Needs no memory.
  void give_up(TensorId id) noexcept;

  /// Takes the tensors of a request whose op gives `result`: for the channel, to be released. Each
  /// is alive, here, and what the request says of it; so no command names other bytes of the arena
  /// than those of its tensors.
  /// Errors: tensor_not_found, invalid_argument (the output is an input of an op that is not
  /// elementwise), E2004, E3003 (output and result differ), E2005 (on a gpu, an integer tensor that
  /// is not the indices of gather).
  /// Waits for host copies that are in the way; nullptr instead, if it is not to `wait`.
  [[nodiscard]] Result<Held*> hold(const Request& request, const TensorDesc& result,
                                   bool wait = true);

  /// A tensor in the place of an input or output of a function.
  struct Binding {
    TensorId tensor = 0;
    TensorDesc desc;  ///< of an input: what the view says; else what the function gives
    bool is_output = false;
    bool is_indices = false;  ///< of gather, and nothing else
    std::size_t number = 0;   ///< among inputs or outputs
    const std::string* name = nullptr;
  };
  /// The same for the message of a function. The caller has seen to it that no output is written
  /// while an input in the same tensor is still read. Errors with the place: tensor_not_found,
  /// invalid_argument, E2004, E3003, E2005 as above.
  [[nodiscard]] Result<Held*> hold(std::span<const Binding> bindings);

  /// Copies all elements, which are `bytes` long. False: messages in flight are in the way. E6001
  /// where the device does not copy.
  [[nodiscard]] Result<bool> try_read(TensorId id, std::span<std::byte> elements);
  [[nodiscard]] Result<bool> try_write(TensorId id, std::span<const std::byte> elements);

  /// Moves what is not in use towards the end of the arena, one tensor at a time, from the last.
  [[nodiscard]] Result<Defragmentation> defragment();

  /// Ends the use of the arena's memory: waits for copies, refuses whatever comes. Leases may still
  /// be released.
  void close();

  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Entry {
    TensorId id = 0;
    TensorDesc desc;
    std::uint64_t offset = 0;
    std::uint32_t readers = 0;       // messages in flight that have it as an input
    std::uint32_t writers = 0;       // messages in flight that have it as their output
    std::uint32_t host_readers = 0;  // copies out, under way
    bool host_only = true;           // being made, written or moved
    bool deallocated = false;

    [[nodiscard]] bool unused() const noexcept {
      return readers == 0 && writers == 0 && host_readers == 0 && !host_only;
    }
  };
  using Entries = std::unordered_map<TensorId, Entry>;
  using Lock = std::unique_lock<std::mutex>;

  /// Whether the target computes on no elements of this type: a gpu on f32 only.
  [[nodiscard]] bool breaks_profile(DType dtype) const noexcept {
    return target_ == BackendTarget::gpu && dtype != DType::f32;
  }

  // The lock is held by the callers of all below.
  [[nodiscard]] Result<Entry*> find(TensorId id);
  [[nodiscard]] Result<std::array<Entry*, inputs_max + 1>> find_all(const Request& request,
                                                                    const TensorDesc& result);
  [[nodiscard]] Result<Entry*> find_output(const Request& request, const TensorDesc& result);
  [[nodiscard]] Result<Entry*> find_bound(const Binding& binding);
  /// Whether an output of that desc takes such a result.
  [[nodiscard]] bool takes(const TensorDesc& output, const TensorDesc& result) const noexcept;
  /// One that nobody uses, with room for `bound` tensors of a function.
  [[nodiscard]] Held& spare(std::size_t bound);
  /// A copy, for which the lock is let go of, also where something throws.
  class Copying;
  /// Wipes a tensor that was deallocated if nobody uses it any more. The entry may be gone then.
  void bury_if_unused(Lock& lock, Entry& entry) noexcept;

  void release(Held& held) noexcept;

  /// Zeroed memory of the arena; the lock is not held.
  [[nodiscard]] Result<std::uint64_t> make_room(std::uint64_t bytes);
  Result<void> move_up(Lock& lock, Entry& entry, Defragmentation& result);
  /// Arena::raise, on the device too. `offset` becomes where the region is, also after an error.
  Result<void> raise(std::uint64_t& offset, std::uint64_t bytes);
  Result<void> to_device(std::uint64_t offset, std::uint64_t bytes) {
    return memory_ != nullptr ? memory_->to_device(offset, bytes) : Result<void>();
  }
  Result<void> to_host(std::uint64_t offset, std::uint64_t bytes) {
    return memory_ != nullptr ? memory_->to_host(offset, bytes) : Result<void>();
  }

  Arena& arena_;
  const BackendTarget target_;
  DeviceMemory* const memory_;
  mutable std::mutex mutex_;
  std::condition_variable copied_;
  Entries entries_;
  std::uint64_t bytes_ = 0;   // of all entries
  std::uint32_t copies_ = 0;  // begun and not ended
  bool closed_ = false;
  std::deque<Held> held_;  // as many as were ever needed at once
  Held* spare_ = nullptr;  // of these, not in use
};

}  // namespace ringkernel
