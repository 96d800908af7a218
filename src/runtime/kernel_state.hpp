/// One ring kernel: its lifecycle, its rings in the arena, its channel, and what messages mean on
/// it.
///
///     created --> launched --> active <--> deactivated
///                     \           \           /
///                      `--------> terminating --> terminated        failed: the device is lost
///
/// Threading: any thread. The state lock is held for a decision, never while waiting.
/// Memory ordering: whether it is active, or ever was, is advice, and relaxed; all else is locked.
/// Ownership: shares the runtime's state.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bridge/bridge.hpp"
#include "bridge/channel/channel.hpp"
#include "foundation/histogram.hpp"
#include "foundation/memory_error.hpp"
#include "message/codec.hpp"
#include "program/definition.hpp"
#include "ringkernel/detail/operation.hpp"
#include "ringkernel/kernel.hpp"
#include "runtime/program.hpp"
#include "runtime/runtime_state.hpp"

namespace ringkernel::detail {

/// What a message is made of, borrowed: an op with operands, plain bytes, or a method's request.
/// Two words, passed by value in registers: in memory, what is stored as words and loaded as a
/// vector waits for the stores before it, and those of a record take their time.
class ContentView {
 public:
  ContentView(const Request& op) : data_(&op), size_(of_request) {}            // NOLINT: a view
  ContentView(Bytes plain) : data_(plain.data()), size_(plain.size()) {}       // NOLINT: a view
  ContentView(const Message& message) : data_(&message), size_(of_message) {}  // NOLINT: a view
  ContentView(const Content& content)                                          // NOLINT: a view
      : ContentView(std::visit([](const auto& held) { return ContentView(held); }, content)) {}

  /// nullptr: no op.
  [[nodiscard]] const Request* request() const noexcept {
    return size_ == of_request ? static_cast<const Request*>(data_) : nullptr;
  }
  /// nullptr: no method's request.
  [[nodiscard]] const Message* message() const noexcept {
    return size_ == of_message ? static_cast<const Message*>(data_) : nullptr;
  }
  /// Of plain bytes.
  [[nodiscard]] Bytes bytes() const noexcept {
    return {static_cast<const std::byte*>(data_), size_};
  }

 private:
  static constexpr std::size_t of_request = ~std::size_t{0};  // more than memory has bytes
  static constexpr std::size_t of_message = of_request - 1;

  const void* data_;
  std::size_t size_;
};

/// Whether a handle can be used; `refusal` says why not.
[[nodiscard]] inline bool usable(const std::shared_ptr<KernelState>& kernel) noexcept;
[[nodiscard]] Error refusal(const std::shared_ptr<KernelState>& kernel);

/// Told how a deactivation or termination ended.
using Done = std::function<void(Result<void>)>;

class KernelState : public std::enable_shared_from_this<KernelState> {
 public:
  /// Whether the options are acceptable. invalid_argument with the reason.
  [[nodiscard]] static Result<void> check(const KernelOptions& options);

  KernelState(std::shared_ptr<RuntimeState> runtime, std::string id, const KernelOptions& options);
  KernelState(const KernelState&) = delete;
  KernelState& operator=(const KernelState&) = delete;
  ~KernelState() = default;

  /// created -> launched: rings, a place in the executor, a channel.
  Result<void> open(Program& program);
  /// Takes and zeroes a state and what a guard needs on either side of it; nothing of no bytes.
  [[nodiscard]] Result<Arena::Region> open_state(std::uint32_t bytes) const;
  /// Where the state lies that such a region is for; 0: it has none.
  [[nodiscard]] static std::uint64_t state_offset(const Arena::Region& region) noexcept {
    return region.bytes() != 0 ? region.offset() + state_margin_bytes : 0;
  }
  /// The program's definition was replaced by one that has its behaviour.
  void adopt(const DefinitionPointer& definition, std::uint32_t version,
             const program::Behaviour* behaviour);
  /// Counts those methods from here on.
  void count_methods(const program::Behaviour* behaviour);
  /// Of its program's schema; nullptr: it has none, or the kernel has ended.
  [[nodiscard]] const program::Behaviour* behaviour() const;
  /// Kernel::method; `request` and `reply`: their tables' full names, or null.
  [[nodiscard]] Result<Method> method(std::string_view name, const char* request,
                                      const char* reply) const;
  /// The messages with their methods instead of names, for `send_all`, which must not look them up:
  /// it has the channel's send lock then, which others take behind the state lock. Up to the first
  /// that names none; an error if that is the first of all.
  [[nodiscard]] Result<std::vector<Message>> find_methods(std::span<const Message> messages) const;
  /// Kernel::interface.
  [[nodiscard]] Result<KernelInterface> interface() const;
  Result<void> read_state(std::span<std::byte> bytes) const;
  Result<void> write_state(Bytes bytes);
  /// The state as JSON by the program's schema, or as hexadecimal digits in a string where it has
  /// none. An active kernel is paused for the copy: its messages wait, and go on behind it. Waits
  /// for the device, and for a change of state or a migration under way, for `timeout` at most:
  /// busy. Not noted.
  [[nodiscard]] Result<std::string> state_json(std::chrono::nanoseconds timeout);

  Result<void> activate();
  /// The same without a note of its error.
  Result<void> try_activate();
  /// Starts a deactivation that `Bridge` or `drive` polls to its end.
  [[nodiscard]] Result<std::unique_ptr<bridge::Watch>> start_deactivate(Done done);
  /// Starts a termination. nullptr: it is over or under way, and `done`, unless it is null, is
  /// called when it is. With a null `done` it needs no memory, as `terminate`.
  [[nodiscard]] std::unique_ptr<bridge::Watch> start_terminate(const TerminateOptions& options,
                                                               const Error& reason, Done done);
  Result<void> deactivate();
  Result<void> terminate(const TerminateOptions& options, const Error& reason) noexcept;
  /// Why a plain termination ends messages.
  [[nodiscard]] Error terminated_reason() const noexcept;

  [[nodiscard]] Result<Reply> call(ContentView content, const SendOptions& options);
  [[nodiscard]] Result<MessageId> send(ContentView content, const SendOptions& options);
  /// The same without a note of its error.
  [[nodiscard]] Result<MessageId> try_send(ContentView content, const SendOptions& options);
  /// `content(i)` gives message i of `count`.
  template <class Contents>
  [[nodiscard]] Result<std::size_t> send_all(std::size_t count, Contents&& content,
                                             const SendOptions& options);
  [[nodiscard]] Result<Reply> receive(std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<std::size_t> receive_some(std::span<Result<Reply>> outcomes,
                                                 std::chrono::nanoseconds timeout);

  /// A message ready to be submitted: `write` fills its payload.
  struct Prepared {
    bridge::Envelope envelope;
    codec::Plan plan;
    std::unique_ptr<const Request> parsed;  // of foreign bytes; a kilobyte that few need
    const Request* request = nullptr;
    std::span<const codec::Piece> pieces;  // of the operands, instead of the request's data
    bool in_pieces = false;
    std::span<const std::byte> bytes;
    struct Release {
      void operator()(TensorTable::Held* tensors) const noexcept { tensors->release(); }
    };
    std::unique_ptr<TensorTable::Held, Release> held;  // the channel's once the payload is written
    void write(std::byte* payload) noexcept;
  };
  /// Whether a reply can be waited for: invalid_state on a kernel that was never active.
  [[nodiscard]] Result<void> check_replies() const {
    // relaxed: whoever activates it while others call it cannot know which of them is first
    return was_active_.load(std::memory_order_relaxed) ? Result<void>() : check_launched();
  }
  /// Whether a call made now would be run by its thread, with nothing to wait for. Advice: what it
  /// looks at may change behind it.
  [[nodiscard]] bool can_run_here() const noexcept {
    return runs_ops_on_caller_ && is_active_.load(std::memory_order_relaxed) &&
           channel_->can_run_here();
  }
  [[nodiscard]] bool takes_ops() const noexcept { return takes_ops_; }
  /// What is answered where it takes none.
  [[nodiscard]] Error takes_no_ops() const;
  [[nodiscard]] Error has_no_methods() const;
  /// Checks the content against the program and lays it out; no deadline yet. The result borrows
  /// `content` and itself: do not move it. Where the host is copying one of its tensors it waits,
  /// or is answered busy if it is not to `wait`.
  Result<void> prepare(ContentView content, const SendOptions& options, Prepared& prepared,
                       bool wait = true) const;
  /// What is laid out already, its operands in pieces. `kind` is what the plan is of.
  static void prepare(const codec::Plan& plan, const Request& kind,
                      std::span<const codec::Piece> pieces, Prepared& prepared) noexcept;
  /// Sends what was prepared, and waits for the reply.
  [[nodiscard]] Result<Reply> exchange(Prepared& prepared, const SendOptions& options);
  /// The same, again and again, with the reply in its place.
  [[nodiscard]] Result<void> exchange(Prepared& prepared, bridge::ReplyPlace& place,
                                      const SendOptions& options);
  /// A region of the arena that lives as long as the rings of this ring kernel and of those that
  /// get it with `add_region`: `fill(std::byte*, offset)` writes it. Once, before the kernel is
  /// active. E6004, invalid_state.
  Result<std::shared_ptr<const Arena::Region>> share_region(
      std::uint64_t bytes, const std::function<void(std::byte*, std::uint64_t)>& fill);
  /// A region of its own, of zeros, that lives as long as the rings. Its offset; any where no bytes
  /// are wanted. Once, before the kernel is active. E6004, invalid_state.
  Result<std::uint64_t> add_region(std::uint64_t bytes,
                                   std::shared_ptr<const Arena::Region> shared);
  /// Bytes of that region, `offset` from its beginning, out or in.
  struct RegionCopy {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::byte* to = nullptr;          ///< out
    const std::byte* from = nullptr;  ///< in; if neither is there, zeros come in
  };
  /// Behind the messages that were accepted before, between two others: an active kernel is paused
  /// for the copy. Waits at most for `timeout`: deadline_exceeded. Not noted.
  Result<void> copy_region(std::chrono::nanoseconds timeout, const RegionCopy& copy);
  /// How long a message may take; bridge::no_deadline: for ever.
  [[nodiscard]] static std::uint64_t timeout_ns(const SendOptions& options,
                                                std::chrono::nanoseconds default_timeout) noexcept;
  /// Until when a message without a deadline waits for room: the runtime's `send_timeout`.
  [[nodiscard]] bridge::Timeout patience(const SendOptions& options) const noexcept;
  /// When a message sent at this moment is too late.
  [[nodiscard]] std::uint64_t deadline_ns(const SendOptions& options,
                                          std::chrono::nanoseconds default_timeout) const noexcept;
  /// What the receiver gets of an outcome. `asked`, if it is still at hand and this thread has
  /// prepared nothing since, makes errors richer and replies cheaper.
  [[nodiscard]] Result<Reply> to_reply(bridge::Outcome&& outcome,
                                       const Prepared* asked = nullptr) const;
  /// What waited in vain, with the state of the kernel where that is why.
  [[nodiscard]] Error explained(Error error) const;
  /// The same for an outcome that is an error.
  [[nodiscard]] Error to_error(bridge::Outcome&& outcome, const Request* request) const;

  /// After a termination that the device did not obey, once its slices have returned after all:
  /// gives back the rings, and the tensors of messages that were in flight.
  void give_back() noexcept;

  /// Whether it was made before a fork: then nothing but this and the id may be asked.
  [[nodiscard]] bool is_foreign() const noexcept { return mark_.is_foreign(); }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& program_name() const noexcept { return options_.program; }
  [[nodiscard]] KernelStatus status() const;
  /// If it has failed: as a change of state, once. Nobody else notices.
  void tell_failure();
  [[nodiscard]] KernelMetrics metrics() const;
  /// Kernel::calls.
  [[nodiscard]] std::vector<CallInFlight> calls(std::size_t count) const;
  /// Makes `latency` what it is at this moment; leaves it alone if no times are taken.
  void copy_latency(Histogram& latency) const;
  /// Keeps the error in the runtime's log, and gives it back.
  Error noted(Error error) const noexcept;
  /// What changes with the figures of `metrics`, except that the device may be at work on what is
  /// unanswered. Cheap: asks no device.
  struct Activity {
    std::uint64_t events = 0;
    std::uint64_t unanswered = 0;
    std::uint32_t in_flight = 0;
    KernelStatus status = KernelStatus::created;
    std::uint32_t version = 0;
    // The executor's and the mover's figures of KernelMetrics, which change without an event.
    std::uint64_t slices = 0;
    std::uint64_t parks = 0;
    std::uint64_t wake_ups = 0;
    std::uint64_t copies = 0;
    std::uint64_t copied_bytes = 0;
    bool operator==(const Activity&) const = default;
  };
  [[nodiscard]] Activity activity() const;
  /// After a termination that the device did not obey in time: gives the rings back if it has
  /// since. One thread at a time.
  [[nodiscard]] bool try_give_back() noexcept;
  /// Polls watches to their ends.
  static void drive(bridge::WatchList watches, const bridge::Clock& clock) noexcept;
  [[nodiscard]] bridge::Channel& channel() noexcept { return *channel_; }
  /// How a message is handed over whose sender has nothing else to do: on the sender's own thread
  /// where the device can.
  [[nodiscard]] bridge::Executor::Wake call_wake() const noexcept { return call_wake_; }
  [[nodiscard]] RuntimeState& runtime() const noexcept { return *runtime_; }

 private:
  /// Before a state: RK_GUARD_BYTES, and the state begins a line of its own.
  static constexpr std::uint64_t state_margin_bytes = RK_LINE_BYTES;
  static_assert(state_margin_bytes >= RK_GUARD_BYTES);

  friend class Deactivation;
  friend class Termination;
  friend class Migration;
  friend class RuntimeState;  // next_ending_

  /// What was counted since the channel began; the state lock is held, as for the next ones.
  [[nodiscard]] KernelMetrics all_metrics() const;
  void add_executor(KernelMetrics& metrics) const;
  void add_methods(KernelMetrics& metrics) const;
  /// `to_reply`, except that it may throw.
  [[nodiscard]] Result<Reply> read_reply(bridge::Outcome&& outcome, const Prepared* asked) const;
  [[nodiscard]] static std::unique_ptr<bridge::Watch> make_ending();  // lifecycle.cpp
  void begin_counting();
  [[nodiscard]] std::vector<CallInFlight> in_flight(std::size_t count) const;
  /// deadline_exceeded: a timeout below zero.
  [[nodiscard]] static Result<void> check_time(const SendOptions& options);
  static void lay_out(const codec::Plan& plan, Prepared& prepared) noexcept;
  /// Takes the tensors of what is laid out. As `prepare`.
  [[nodiscard]] Result<void> hold(Prepared& prepared, bool wait) const;
  /// `read(bridge::Outcome&&)` makes a Result of how the message ended.
  template <class Read>
  auto exchange_with(Prepared& prepared, const SendOptions& options, Read&& read)
      -> decltype(read(bridge::Outcome()));
  [[nodiscard]] Result<void> check_launched() const;
  /// That the device leaves the state alone, and that it has `bytes`; the state lock is held.
  [[nodiscard]] Result<void> check_state(std::size_t bytes) const;
  [[nodiscard]] Error is_migrating() const;  // state lock held
  /// What is said of a kernel whose state is that of another program for good.
  [[nodiscard]] Error unmigrated() const;
  /// If it has failed: why. The state lock is held.
  [[nodiscard]] Result<void> check_usable() const;
  /// A state and what it is.
  struct StateCopy {
    DefinitionPointer definition;
    const program::Behaviour* behaviour = nullptr;  // in its schema; nullptr: it has none
    std::vector<std::byte> bytes;
  };
  [[nodiscard]] Result<StateCopy> copy_state(std::chrono::nanoseconds timeout);
  /// The state lock is held.
  Result<void> fill(StateCopy& copy, std::chrono::nanoseconds patience);
  /// How a pause ended: `copy` was called, the device did not obey it, another's was in the way.
  enum class Pause : std::uint8_t { copied, not_obeyed, others };
  /// Calls `copy` between two messages, with the state lock.
  [[nodiscard]] Result<Pause> pause_for(std::uint64_t deadline_ns,
                                        const std::function<Result<void>()>& copy);
  /// False: not yet, and `pause` is the epoch of the kernel's pause. The state lock is held.
  [[nodiscard]] Result<bool> try_pause(std::optional<std::uint32_t>& pause);
  /// During a pause; the state lock is held.
  Result<void> copy_now(const RegionCopy& copy, std::chrono::nanoseconds patience);
  /// Until all that is accepted by now has its outcome. deadline_exceeded.
  Result<void> wait_for_accepted(std::uint64_t deadline_ns);
  void end_pause(std::uint32_t pause) noexcept;
  /// What its sender is told of a handler's own fault.
  [[nodiscard]] Error fault_of_handler(const bridge::Outcome& outcome) const;
  /// What its sender is told of a handler that wrote beyond its reply or its state.
  [[nodiscard]] Error overrun_of_handler(const bridge::Outcome& outcome) const;
  /// "kernel 'a', trading.Book.Submit": whose handler had the message.
  [[nodiscard]] std::string handler_of(const bridge::Outcome& outcome) const;
  /// Lays out what is no op.
  [[nodiscard]] Result<void> prepare_bytes(ContentView content, Prepared& prepared) const;
  /// The same as `method`, without a note of its error.
  [[nodiscard]] Result<Method> find_method(std::string_view name, const char* request = nullptr,
                                           const char* reply = nullptr) const;
  Result<void> wrong_state(const char* wanted) const;  // state lock held
  void set_status(KernelStatus status) noexcept;       // state lock held
  [[nodiscard]] bool has_failed() const;               // state lock held
  /// `epoch`: the one with which the device lets go of the rings, in case it has not.
  /// Where it throws, which is at its beginning, it can be called again.
  void finish_termination(bool released, std::uint32_t epoch, Result<void> result);

  const std::shared_ptr<RuntimeState> runtime_;
  const std::string id_;
  const KernelOptions options_;

  Program* program_ = nullptr;  // set by open, as are the seven below; gone after shutdown
  bool takes_ops_ = false;
  bool has_methods_ = false;
  std::string methods_;  // for an error that has no lock: as they were at launch
  bridge::Executor::Wake call_wake_ = bridge::Executor::Wake::launch;
  bool runs_ops_on_caller_ = false;
  std::atomic<bool> was_active_{false};
  std::atomic<bool> is_active_{false};
  const ForkMark mark_;
  std::uint32_t kernel_ = 0;
  bridge::KernelRings rings_;
  Arena::Region input_;
  Arena::Region output_;
  std::uint32_t reply_bytes_ = 0;  // without a schema; 0: the request's
  std::shared_ptr<bridge::Channel> channel_;
  std::unique_ptr<bridge::Watch> ending_;  // its Termination, made with it: to end needs no memory

  std::shared_ptr<KernelState> next_ending_;  // of those that shutdown or restart ends together

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  KernelStatus status_ = KernelStatus::created;
  bool deactivating_ = false;
  bool copying_ = false;    // the state: two who do would take each other's pause away
  bool migrating_ = false;  // its state is being made anew: nothing but a termination until then
  bool is_unmigrated_ = false;                     // for good: its state is another program's
  bool ending_told_ = false;                       // the device was told that it is absent
  DefinitionPointer definition_;                   // a swap changes it, and the three below
  std::uint32_t version_ = 0;                      // of the definition
  const program::Behaviour* behaviour_ = nullptr;  // in its schema; nullptr: it has none
  Arena::Region state_;
  Arena::Region old_state_;  // of which the device is making the new one
  bool failure_told_ = false;
  bool on_device_ = false;  // the device was told of it at least once
  Error end_reason_;        // set when it begins to terminate
  std::vector<Done> on_terminated_;
  Result<void> termination_;
  Arena::Region region_;                         // of add_region
  std::shared_ptr<const Arena::Region> shared_;  // likewise
  std::uint32_t last_epoch_ = 0;                 // of the termination; set with `terminated`
  std::optional<KernelMetrics> last_metrics_;
  // What was counted before it began, by the device for those who had this place.
  KernelMetrics metrics_before_;
};

inline bool usable(const std::shared_ptr<KernelState>& kernel) noexcept {
  return kernel != nullptr && !kernel->is_foreign();
}

template <class Contents>
Result<std::size_t> KernelState::send_all(std::size_t count, Contents&& content,
                                          const SendOptions& options) {
  const std::uint64_t deadline = deadline_ns(options, {});
  Prepared prepared;  // of the message that is being written
  std::size_t sent = 0;
  while (sent < count) {
    const auto describe = [&](std::size_t i) {
      return or_no_memory([&]() -> Result<const bridge::Envelope*> {
        // With the channel's send lock, which the bridge wants as well.
        RK_TRY_VOID(prepare(content(sent + i), options, prepared, false));
        prepared.envelope.deadline_ns = deadline;
        return &prepared.envelope;
      });
    };
    const auto write = [&](std::size_t, std::byte* payload) { prepared.write(payload); };
    Result<std::size_t> accepted = channel_->submit_batch(count - sent, describe, write);
    const bool is_busy = accepted ? *accepted == 0 : accepted.error() == Errc::busy;
    if (is_busy) {  // no room, or a tensor that is being copied: as a single message, which waits
      const Result<MessageId> single = try_send(content(sent), options);
      accepted = single ? Result<std::size_t>(1) : Result<std::size_t>(single.error());
    }
    if (!accepted && sent != 0) return sent;
    if (!accepted) return noted(explained(std::move(accepted).error()));
    sent += *accepted;
  }
  return sent;
}

}  // namespace ringkernel::detail
