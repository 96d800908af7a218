// The asynchronous operations: each is an object that lives until its handler has been called.
#include "ringkernel/detail/operation.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/finish.hpp"
#include "runtime/kernel_state.hpp"

namespace ringkernel::detail {
namespace {

namespace asio = boost::asio;

/// Where an operation is, for a cancellation that may come at any moment: waiting for room
/// (ticket), in flight (id), or neither yet. The first cancellation that finds nothing is
/// remembered.
class Whereabouts {
 public:
  void waiting(std::uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    ticket_ = ticket;
  }
  /// True if a cancellation came before.
  [[nodiscard]] bool in_flight(MessageId id) {
    const std::lock_guard lock(mutex_);
    id_ = id;
    return cancelled_;
  }
  void cancel(bridge::Channel& channel, const std::function<void()>& withdrawn) {
    MessageId id = 0;
    std::uint64_t ticket = 0;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      id = id_;
      ticket = ticket_;
    }
    if (id != 0)
      (void)channel.cancel(id);
    else if (ticket != 0 && channel.withdraw(ticket))
      withdrawn();
  }

 private:
  std::mutex mutex_;
  std::uint64_t ticket_ = 0;
  MessageId id_ = 0;
  bool cancelled_ = false;
};

const error_code aborted = asio::error::operation_aborted;

/// async_call: the slot's completion.
class CallOperation final : public bridge::Completion,
                            public std::enable_shared_from_this<CallOperation> {
 public:
  CallOperation(std::shared_ptr<KernelState> kernel, Handler<Reply> handler)
      : kernel_(std::move(kernel)), finish_(std::move(handler)) {}

  void start(const Content& content, const SendOptions& options) {
    KernelState::Prepared prepared;
    if (Result<void> ready = kernel_->prepare(content, options, prepared); !ready)
      return finish_(ready.error().code, Reply());
    prepared.envelope.deadline_ns =
        kernel_->deadline_ns(options, kernel_->runtime().options().call_timeout);
    self_ = shared_from_this();
    const asio::any_io_executor executor =
        finish_.executor();  // finish_ may end before submit does
    finish_.on_cancel([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->cancel();
    });
    bridge::Channel& channel = kernel_->channel();
    prepared.envelope.assisted = channel.assist_pays();
    const Result<MessageId> id = channel.submit(
        prepared.envelope, bridge::Receiver::completion, this, bridge::Executor::Wake::launch,
        [&](std::byte* payload) { prepared.write(payload); });
    if (id) {
      if (whereabouts_.in_flight(*id)) (void)channel.cancel(*id);
      // The handler's thread would go to sleep until the bridge thread wakes it: let it look first.
      if (prepared.envelope.assisted)
        asio::post(executor, [kernel = kernel_, id = *id] { kernel->channel().assist(id); });
    } else if (id.error() == Errc::busy) {
      prepared.envelope.assisted = false;
      MessageBuffer payload(prepared.envelope.payload_bytes);
      prepared.write(payload.data());
      whereabouts_.waiting(channel.submit_later(
          prepared.envelope, bridge::Receiver::completion, this, std::move(payload),
          [self = self_](Result<MessageId> admitted) { self->admitted(std::move(admitted)); }));
    } else {
      end(id.error().code, Reply());
    }
  }

  void complete(bridge::Outcome outcome) noexcept override {
    Result<Reply> reply = kernel_->to_reply(std::move(outcome));
    if (reply)
      end({}, std::move(*reply));
    else
      end(reply.error().code, Reply());
  }

 private:
  void admitted(Result<MessageId> id) {
    if (!id)
      end(id.error().code, Reply());
    else if (whereabouts_.in_flight(*id))
      (void)kernel_->channel().cancel(*id);
  }
  void cancel() {
    whereabouts_.cancel(kernel_->channel(), [this] { end(aborted, Reply()); });
  }
  void end(error_code error, Reply reply) {
    const std::shared_ptr<CallOperation> last = std::move(self_);
    finish_(error, std::move(reply));
  }

  const std::shared_ptr<KernelState> kernel_;
  Finish<Reply> finish_;
  Whereabouts whereabouts_;
  std::shared_ptr<CallOperation> self_;  // until the end
};

/// async_send: over when the message is accepted.
class SendOperation final : public std::enable_shared_from_this<SendOperation> {
 public:
  SendOperation(std::shared_ptr<KernelState> kernel, Handler<MessageId> handler)
      : kernel_(std::move(kernel)), finish_(std::move(handler)) {}

  void start(const Content& content, const SendOptions& options) {
    KernelState::Prepared prepared;
    if (Result<void> ready = kernel_->prepare(content, options, prepared); !ready)
      return finish_(ready.error().code, 0);
    prepared.envelope.deadline_ns = kernel_->deadline_ns(options, {});
    bridge::Channel& channel = kernel_->channel();
    const Result<MessageId> id = channel.submit(
        prepared.envelope, bridge::Receiver::mailbox, nullptr, bridge::Executor::Wake::launch,
        [&](std::byte* payload) { prepared.write(payload); });
    if (id) return finish_({}, *id);
    if (!(id.error() == Errc::busy)) return finish_(id.error().code, 0);
    finish_.on_cancel([weak = weak_from_this()] {
      if (const auto self = weak.lock())
        self->whereabouts_.cancel(self->kernel_->channel(), [&] { self->finish_(aborted, 0); });
    });
    MessageBuffer payload(prepared.envelope.payload_bytes);
    prepared.write(payload.data());
    whereabouts_.waiting(channel.submit_later(
        prepared.envelope, bridge::Receiver::mailbox, nullptr, std::move(payload),
        [self = shared_from_this()](Result<MessageId> admitted) {
          if (admitted)
            self->finish_({}, *admitted);
          else
            self->finish_(admitted.error().code, 0);
        }));
  }

 private:
  const std::shared_ptr<KernelState> kernel_;
  Finish<MessageId> finish_;
  Whereabouts whereabouts_;
};

/// async_receive: waits in the mailbox.
class ReceiveOperation final : public bridge::Completion,
                               public std::enable_shared_from_this<ReceiveOperation> {
 public:
  ReceiveOperation(std::shared_ptr<KernelState> kernel, Handler<Reply> handler)
      : kernel_(std::move(kernel)), finish_(std::move(handler)) {}

  void start(std::chrono::nanoseconds timeout) {
    self_ = shared_from_this();
    finish_.on_cancel([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->kernel_->channel().stop_receiving(self->ticket_))
        self->end(aborted, Reply());
    });
    const std::uint64_t deadline_ns =
        timeout.count() == 0 ? bridge::no_deadline : kernel_->runtime().deadline_ns(timeout);
    ticket_ = kernel_->channel().receive_later(this, deadline_ns);
  }

  void complete(bridge::Outcome outcome) noexcept override {
    const MessageId id = outcome.id;
    Result<Reply> reply = kernel_->to_reply(std::move(outcome));
    if (reply)
      end({}, std::move(*reply));
    else
      end(reply.error().code, Reply(id));
  }

 private:
  void end(error_code error, Reply reply) {
    const std::shared_ptr<ReceiveOperation> last = std::move(self_);
    finish_(error, std::move(reply));
  }

  const std::shared_ptr<KernelState> kernel_;
  Finish<Reply> finish_;
  std::uint64_t ticket_ = 0;
  std::shared_ptr<ReceiveOperation> self_;
};

error_code code_of(const Result<void>& result) {
  return result ? error_code() : result.error().code;
}

/// Calls a posted handler from a callback that may be copied.
Done done_with(Handler<> handler) {
  auto finish = std::make_shared<Finish<>>(std::move(handler));
  return [finish](Result<void> result) { (*finish)(code_of(result)); };
}

const error_code not_found = make_error_code(Errc::kernel_not_found);

}  // namespace

void start_call(std::shared_ptr<KernelState> kernel, const Content& content,
                const SendOptions& options, Handler<Reply> handler) {
  if (kernel == nullptr) return Finish<Reply>(std::move(handler))(not_found, Reply());
  std::make_shared<CallOperation>(std::move(kernel), std::move(handler))->start(content, options);
}

void start_send(std::shared_ptr<KernelState> kernel, const Content& content,
                const SendOptions& options, Handler<MessageId> handler) {
  if (kernel == nullptr) return Finish<MessageId>(std::move(handler))(not_found, 0);
  std::make_shared<SendOperation>(std::move(kernel), std::move(handler))->start(content, options);
}

void start_receive(std::shared_ptr<KernelState> kernel, std::chrono::nanoseconds timeout,
                   Handler<Reply> handler) {
  if (kernel == nullptr) return Finish<Reply>(std::move(handler))(not_found, Reply());
  std::make_shared<ReceiveOperation>(std::move(kernel), std::move(handler))->start(timeout);
}

void start_activate(std::shared_ptr<KernelState> kernel, Handler<> handler) {
  Finish<> finish(std::move(handler));
  finish(kernel == nullptr ? not_found : code_of(kernel->activate()));
}

void start_deactivate(std::shared_ptr<KernelState> kernel, Handler<> handler) {
  const Done done = done_with(std::move(handler));
  if (kernel == nullptr) return done(Error(not_found));
  auto watch = kernel->start_deactivate(done);
  if (watch)
    kernel->runtime().bridge().watch(std::move(*watch));
  else
    done(watch.error());
}

void start_terminate(std::shared_ptr<KernelState> kernel, const TerminateOptions& options,
                     Handler<> handler) {
  const Done done = done_with(std::move(handler));
  if (kernel == nullptr) return done(Error(not_found));
  if (auto watch = kernel->start_terminate(options, kernel->terminated_reason(), done))
    kernel->runtime().bridge().watch(std::move(watch));
}

void start_launch(std::shared_ptr<RuntimeState> runtime, std::string id, KernelOptions options,
                  Handler<Kernel> handler) {
  auto finish = std::make_shared<Finish<Kernel>>(std::move(handler));
  const bool posted =
      runtime->post_build([runtime, id = std::move(id), options = std::move(options), finish] {
        const auto kernel = runtime->launch(id, options);
        if (kernel)
          (*finish)({}, Kernel(*kernel));
        else
          (*finish)(kernel.error().code, Kernel());
      });
  if (!posted) (*finish)(make_error_code(Errc::runtime_closed), Kernel());
}

}  // namespace ringkernel::detail
