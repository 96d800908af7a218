// The asynchronous operations: each is an object that lives until its handler has been called.
#include "ringkernel/detail/operation.hpp"

#include <memory>
#include <utility>

#include "async/finish.hpp"
#include "runtime/calls/call_operation.hpp"
#include "runtime/edge.hpp"

namespace ringkernel::detail {
namespace {

/// async_send: over when the message is accepted.
class SendOperation final : public Abandonable, public std::enable_shared_from_this<SendOperation> {
 public:
  SendOperation(std::shared_ptr<KernelState> kernel, Handler<MessageId> handler)
      : kernel_(std::move(kernel)), finish_(std::move(handler)) {}

  void start(const Content& content, const SendOptions& options) {
    // Where this throws, the message was not accepted and nobody else ends the operation.
    if (!with_memory([&] { submit(content, options); })) end(no_memory());
  }

  void abandoned() noexcept override { cancel(); }

 private:
  void submit(const Content& content, const SendOptions& options) {
    Exchange& exchange = kernel_->exchange();
    PreparedMessage prepared;
    if (Result<void> ready = exchange.prepare(content, options, prepared); !ready)
      return end(std::move(ready).error());
    prepared.envelope.deadline_ns = exchange.deadline_ns(options, {});
    Result<bridge::Submission> sent = exchange.channel().submit(
        prepared.envelope, bridge::Receiver::mailbox, nullptr, bridge::Executor::Wake::launch,
        [&](std::byte* payload) { prepared.write(payload); });
    if (!sent) return end(std::move(sent).error());
    if (sent->room == bridge::Room::found) return end(sent->id);
    finish_.tell(weak_from_this());
    finish_.on_cancel([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->cancel();
    });
    MessageBuffer payload(prepared.envelope.payload_bytes);
    bridge::Admission admission = [self = shared_from_this()](Result<MessageId> admitted) {
      self->end(std::move(admitted));
    };
    prepared.write(payload.data());  // nothing throws behind it
    whereabouts_.waiting(exchange.channel().submit_later(
        prepared.envelope, bridge::Receiver::mailbox, nullptr, std::move(payload),
        std::move(admission),
        exchange.patience(options).deadline_ns(kernel_->runtime().clock().now_ns())));
  }

  void cancel() {
    whereabouts_.cancel(kernel_->exchange().channel(), [this] { end(Error(aborted)); });
  }
  void end(Result<MessageId> sent) noexcept {
    if (sent) return finish_({}, *sent);
    kernel_->note(sent.error());
    finish_(std::move(sent).error(), 0);
  }

  const std::shared_ptr<KernelState> kernel_;
  Finish<MessageId> finish_;
  Whereabouts whereabouts_;
};

/// async_receive: waits in the mailbox.
class ReceiveOperation final : public bridge::Completion,
                               public Abandonable,
                               public std::enable_shared_from_this<ReceiveOperation> {
 public:
  ReceiveOperation(std::shared_ptr<KernelState> kernel, Handler<Reply> handler)
      : kernel_(std::move(kernel)), finish_(std::move(handler)) {}

  void start(std::chrono::nanoseconds timeout) {
    if (finish_.is_abandoned()) return;
    self_ = shared_from_this();
    const bool is_waiting = with_memory([&] {
      finish_.tell(weak_from_this());
      finish_.on_cancel([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->cancel();
      });
      const std::uint64_t deadline_ns =
          timeout.count() == 0 ? bridge::no_deadline : kernel_->runtime().deadline_ns(timeout);
      ticket_ = kernel_->exchange().channel().receive_later(this, deadline_ns);
    });
    if (!is_waiting) end(no_memory(), Reply());
  }

  void abandoned() noexcept override { cancel(); }

  void complete(bridge::Outcome outcome) noexcept override {
    const MessageId id = outcome.id;
    Result<Reply> reply = kernel_->exchange().to_reply(std::move(outcome));
    if (reply)
      end({}, std::move(*reply));
    else
      end(std::move(reply).error(), Reply(id));
  }

 private:
  void cancel() {
    if (kernel_->exchange().channel().stop_receiving(ticket_)) end(aborted, Reply());
  }
  void end(Error error, Reply reply) noexcept {
    if (is_of_message(error)) kernel_->note(error);
    const std::shared_ptr<ReceiveOperation> last = std::move(self_);
    finish_(std::move(error), std::move(reply));
  }

  const std::shared_ptr<KernelState> kernel_;
  Finish<Reply> finish_;
  std::uint64_t ticket_ = 0;
  std::shared_ptr<ReceiveOperation> self_;
};

Error error_in(const Result<void>& result) noexcept { return result ? Error() : result.error(); }

/// Calls a posted handler from a callback that may be copied.
Done done_with(Handler<> handler) {
  auto finish = std::make_shared<Finish<>>(std::move(handler));
  return [finish](Result<void> result) { (*finish)(error_in(result)); };
}

}  // namespace

void start_call(std::shared_ptr<KernelState> kernel, const Content& content,
                const SendOptions& options, Handler<Reply> handler) {
  PreparedMessage prepared;
  Result<void> ready = at_edge(kernel, [&]() -> Result<void> {
    RK_TRY_VOID(kernel->exchange().prepare(content, options, prepared));
    return kernel->exchange().check_replies();
  });
  if (!ready) return Finish<Reply>(std::move(handler))(std::move(ready).error(), Reply());
  const auto as_it_is = [](Reply&& reply) -> Result<Reply> { return std::move(reply); };
  start_call_operation(std::move(kernel), prepared, options, as_it_is, std::move(handler));
}

void start_send(std::shared_ptr<KernelState> kernel, const Content& content,
                const SendOptions& options, Handler<MessageId> handler) {
  if (!usable(kernel)) return Finish<MessageId>(std::move(handler))(refusal(kernel), 0);
  std::make_shared<SendOperation>(std::move(kernel), std::move(handler))->start(content, options);
}

void start_receive(std::shared_ptr<KernelState> kernel, std::chrono::nanoseconds timeout,
                   Handler<Reply> handler) {
  if (!usable(kernel)) return Finish<Reply>(std::move(handler))(refusal(kernel), Reply());
  std::make_shared<ReceiveOperation>(std::move(kernel), std::move(handler))->start(timeout);
}

void start_activate(std::shared_ptr<KernelState> kernel, Handler<> handler) {
  Finish<> finish(std::move(handler));
  finish(error_in(at_edge(kernel, [&] { return kernel->lifecycle().activate(); })));
}

void start_deactivate(std::shared_ptr<KernelState> kernel, Handler<> handler) {
  const Done done = done_with(std::move(handler));
  const auto ended = [done, of = kernel.get()](Result<void> result) {  // the watch keeps it
    if (!result) of->note(result.error());
    done(std::move(result));
  };
  auto watch = at_edge(kernel, [&] { return kernel->lifecycle().start_deactivate(ended); });
  if (watch)
    kernel->runtime().bridge().watch(std::move(*watch));
  else
    done(watch.error());
}

void start_terminate(std::shared_ptr<KernelState> kernel, const TerminateOptions& options,
                     Handler<> handler) {
  const Done done = done_with(std::move(handler));
  if (!usable(kernel)) return done(refusal(kernel));
  Lifecycle& lifecycle = kernel->lifecycle();
  if (auto watch = lifecycle.start_terminate(options, lifecycle.terminated_reason(), done))
    kernel->runtime().bridge().watch(std::move(watch));
}

void start_launch(std::shared_ptr<RuntimeState> runtime, std::string id, KernelOptions options,
                  Handler<Kernel> handler) {
  if (runtime->is_foreign())
    return Finish<Kernel>(std::move(handler))(made_before_fork(), Kernel());
  auto finish = std::make_shared<Finish<Kernel>>(std::move(handler));
  bool is_posted = false;
  const bool has_memory = with_memory([&] {
    is_posted =
        runtime->post_build([runtime, id = std::move(id), options = std::move(options), finish] {
          auto kernel = or_no_memory([&] { return runtime->launch(id, options); });
          if (kernel) return (*finish)({}, Kernel(*kernel));
          runtime->reporting().note(id, kernel.error());
          (*finish)(std::move(kernel).error(), Kernel());
        });
  });
  if (!has_memory) return (*finish)(no_memory(), Kernel());
  if (!is_posted) (*finish)(make_error_code(Errc::runtime_closed), Kernel());
}

}  // namespace ringkernel::detail
