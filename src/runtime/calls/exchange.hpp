/// What messages mean on one ring kernel: it checks and lays out what is sent, submits it, waits,
/// and makes replies of outcomes. The path of a call goes through here.
///
/// Threading: any thread.
/// Ownership: shares the channel; borrows the rest from its kernel and its runtime.
/// Errors: nothing is put into the error log here; the public functions do that.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "bridge/channel/channel.hpp"
#include "bridge/executor/executor.hpp"
#include "foundation/memory_error.hpp"
#include "message/codec.hpp"
#include "ringkernel/detail/operation.hpp"
#include "ringkernel/kernel.hpp"
#include "runtime/kernel_program.hpp"
#include "runtime/lifecycle.hpp"
#include "runtime/memory/tensor_table.hpp"

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

/// A message ready to be submitted: `write` fills its payload.
struct PreparedMessage {
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
  /// Takes over what is laid out already, its operands in pieces. `kind` is what the plan is of.
  void lay_out(const codec::Plan& laid_out, const Request& kind,
               std::span<const codec::Piece> operands) noexcept;
  /// The envelope is that of the plan.
  void lay_out(const codec::Plan& laid_out) noexcept;
};

class Exchange {
 public:
  /// What a kernel's exchange is made of. Zero timeouts: none.
  struct Parts {
    const std::string& id;
    std::shared_ptr<bridge::Channel> channel;
    const KernelProgram& program;
    const Lifecycle& lifecycle;
    TensorTable& tensors;
    const bridge::Clock& clock;
    std::chrono::nanoseconds call_timeout;
    std::chrono::nanoseconds send_timeout;
    bool runs_on_caller;      ///< whether slices can run on the thread that launches them
    bool runs_ops_on_caller;  ///< and that runs the ops themselves
  };
  explicit Exchange(Parts parts);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] Result<Reply> call(ContentView content, const SendOptions& options);
  [[nodiscard]] Result<MessageId> send(ContentView content, const SendOptions& options);
  /// `content(i)` gives message i of `count`.
  template <class Contents>
  [[nodiscard]] Result<std::size_t> send_all(std::size_t count, Contents&& content,
                                             const SendOptions& options);
  [[nodiscard]] Result<Reply> receive(std::chrono::nanoseconds timeout);
  [[nodiscard]] Result<std::size_t> receive_some(std::span<Result<Reply>> outcomes,
                                                 std::chrono::nanoseconds timeout);

  /// Checks the content against the program and lays it out; no deadline yet. The result borrows
  /// `content` and itself: do not move it. Where the host is copying one of its tensors it waits,
  /// or is answered busy if it is not to `wait`.
  Result<void> prepare(ContentView content, const SendOptions& options, PreparedMessage& prepared,
                       bool wait = true) const;
  /// Sends what was prepared, and waits for the reply.
  [[nodiscard]] Result<Reply> round_trip(PreparedMessage& prepared, const SendOptions& options);
  /// The same, again and again, with the reply in its place.
  [[nodiscard]] Result<void> round_trip(PreparedMessage& prepared, bridge::ReplyPlace& place,
                                        const SendOptions& options);
  /// What the receiver gets of an outcome. `asked`, if it is still at hand and this thread has
  /// prepared nothing since, makes errors richer and replies cheaper.
  [[nodiscard]] Result<Reply> to_reply(bridge::Outcome&& outcome,
                                       const PreparedMessage* asked = nullptr) const;

  /// Whether a call made now would be run by its thread, with nothing to wait for. Advice: what it
  /// looks at may change behind it.
  [[nodiscard]] bool can_run_here() const noexcept {
    return runs_ops_on_caller_ && lifecycle_.is_active() && channel_->can_run_here();
  }
  [[nodiscard]] Result<void> check_replies() const { return lifecycle_.check_replies(); }
  /// Until when a message without a deadline waits for room: the runtime's `send_timeout`.
  [[nodiscard]] bridge::Timeout patience(const SendOptions& options) const noexcept;
  /// When a message sent at this moment is too late.
  [[nodiscard]] std::uint64_t deadline_ns(const SendOptions& options,
                                          std::chrono::nanoseconds default_timeout) const noexcept;
  [[nodiscard]] bridge::Channel& channel() noexcept { return *channel_; }
  /// How a message is handed over whose sender has nothing else to do: on the sender's own thread
  /// where the device can.
  [[nodiscard]] bridge::Executor::Wake call_wake() const noexcept { return call_wake_; }

 private:
  /// `to_reply`, except that it may throw.
  [[nodiscard]] Result<Reply> read_reply(bridge::Outcome&& outcome,
                                         const PreparedMessage* asked) const;
  /// The same for an outcome that is an error.
  [[nodiscard]] Error to_error(bridge::Outcome&& outcome, const Request* request) const;
  /// What its sender is told of a handler's own fault. Out of the way of `read_reply`, where its
  /// texts, inlined, cost every native call 7 %.
  [[nodiscard, gnu::noinline, gnu::cold]] Error fault_of_handler(
      const bridge::Outcome& outcome) const;
  /// Of one that returned what none may return.
  [[nodiscard]] Error bad_outcome_of_handler(const bridge::Outcome& outcome) const;
  /// What its sender is told of a handler that wrote beyond its reply or its state.
  [[nodiscard]] Error overrun_of_handler(const bridge::Outcome& outcome) const;
  /// "kernel 'a', trading.Book.Submit": whose handler had the message.
  [[nodiscard]] std::string handler_of(const bridge::Outcome& outcome) const;
  [[nodiscard]] static bool is_too_late(const SendOptions& options) noexcept {
    return options.timeout.count() < 0;
  }
  [[nodiscard]] static Error too_late();
  /// Takes the tensors of what is laid out. As `prepare`.
  [[nodiscard]] Result<void> hold(PreparedMessage& prepared, bool wait) const {
    prepared.held.reset();
    prepared.envelope.lease = nullptr;
    if (prepared.plan.residents == 0) [[likely]]
      return {};
    return hold_residents(prepared, wait);
  }
  [[nodiscard]] Result<void> hold_residents(PreparedMessage& prepared, bool wait) const;
  /// Lays out what is no op.
  [[nodiscard]] Result<void> prepare_bytes(ContentView content, PreparedMessage& prepared) const;
  /// `read(bridge::Outcome&&)` makes a Result of how the message ended.
  template <class Read>
  auto round_trip_with(PreparedMessage& prepared, const SendOptions& options, Read&& read)
      -> decltype(read(bridge::Outcome()));

  const std::string& id_;
  const std::shared_ptr<bridge::Channel> channel_;
  const KernelProgram& program_;
  const Lifecycle& lifecycle_;
  TensorTable& tensors_;
  const bridge::Clock& clock_;
  const std::chrono::nanoseconds call_timeout_;
  const std::chrono::nanoseconds send_timeout_;
  const bridge::Executor::Wake call_wake_;
  const bool runs_ops_on_caller_;
  const bool takes_ops_;
};

template <class Contents>
Result<std::size_t> Exchange::send_all(std::size_t count, Contents&& content,
                                       const SendOptions& options) {
  const std::uint64_t deadline = deadline_ns(options, {});
  PreparedMessage prepared;  // of the message that is being written
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
      const Result<MessageId> single = send(content(sent), options);
      if (!single && sent == 0) return single.error();
      accepted = single ? Result<std::size_t>(1) : Result<std::size_t>(single.error());
    }
    if (!accepted && sent != 0) return sent;
    if (!accepted) return lifecycle_.explained(std::move(accepted).error());
    sent += *accepted;
  }
  return sent;
}

}  // namespace ringkernel::detail
