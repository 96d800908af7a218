/// The asynchronous operation that sends a message and waits for its reply.
///
/// Threading: an operation is completed or cancelled by any thread, ended by one of them.
#pragma once

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <mutex>
#include <utility>

#include "async/finish.hpp"
#include "runtime/edge.hpp"

namespace ringkernel::detail {

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

/// One message and its reply: the slot's completion. `convert(Reply&&)` gives a Result of what the
/// handler takes, on whichever thread brings the reply.
template <class Answer, class Convert>
class CallOperation final : public bridge::Completion,
                            public Abandonable,
                            public std::enable_shared_from_this<CallOperation<Answer, Convert>> {
 public:
  CallOperation(std::shared_ptr<KernelState> kernel, Convert convert, Handler<Answer> handler)
      : kernel_(std::move(kernel)), convert_(std::move(convert)), finish_(std::move(handler)) {}

  void start(PreparedMessage& prepared, const SendOptions& options) {
    if (finish_.is_abandoned()) return;
    self_ = this->shared_from_this();
    // What is submitted ends by itself; where this throws, nothing is.
    if (!with_memory([&] { submit(prepared, options); })) end(no_memory(), Answer());
  }

  void abandoned() noexcept override { cancel(); }

  void complete(bridge::Outcome outcome) noexcept override {
    Result<Answer> answer = or_no_memory([&]() -> Result<Answer> {
      RK_TRY(reply, kernel_->exchange().to_reply(std::move(outcome)));
      return convert_(std::move(reply));
    });
    if (answer)
      end({}, std::move(*answer));
    else
      end(std::move(answer).error(), Answer());
  }

 private:
  using Wake = bridge::Executor::Wake;

  void submit(PreparedMessage& prepared, const SendOptions& options) {
    prepared.envelope.deadline_ns =
        kernel_->exchange().deadline_ns(options, kernel_->runtime().options().call_timeout);
    // finish_ may end before submit does
    const boost::asio::any_io_executor executor = finish_.executor();
    const bool may_post = !finish_.calls_at_once();
    finish_.on_cancel([weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->cancel();
    });
    finish_.tell(this->weak_from_this());
    bridge::Channel& channel = kernel_->exchange().channel();
    prepared.envelope.assisted = channel.assist_pays();
    // A timeout of its own is kept by others: the thread that runs an op cannot. And whoever notes
    // answers at once is not to be kept from it.
    const bool may_run_here =
        prepared.envelope.assisted && options.timeout.count() == 0 && may_post;
    const auto how = may_run_here ? kernel_->exchange().call_wake() : Wake::launch;
    const std::uint64_t now_ns = kernel_->runtime().clock().now_ns();
    Result<bridge::Submission> sent =
        channel.submit(prepared.envelope, bridge::Receiver::completion, this, how,
                       [&](std::byte* payload) { prepared.write(payload); });
    if (!sent) {
      end(std::move(sent).error(), Answer());
    } else if (sent->room == bridge::Room::found) {
      if (whereabouts_.in_flight(sent->id)) (void)channel.cancel(sent->id);
      if (prepared.envelope.assisted) look(executor, may_post, how, sent->id, now_ns);
    } else {
      prepared.envelope.assisted = false;
      MessageBuffer payload(prepared.envelope.payload_bytes);
      bridge::Admission admission = [self = self_](Result<MessageId> admitted) {
        self->admitted(std::move(admitted));
      };
      prepared.write(payload.data());  // nothing throws behind it
      whereabouts_.waiting(channel.submit_later(prepared.envelope, bridge::Receiver::completion,
                                                this, std::move(payload), std::move(admission)));
    }
  }

  /// The thread would go to sleep until the bridge thread wakes it, which costs more than a short
  /// op: let it look first. If the op ran on this thread the reply is there; if nothing else is
  /// under way it soon will be. Otherwise more may be about to be sent, and the look comes behind.
  void look(const boost::asio::any_io_executor& executor, bool may_post, Wake how, MessageId id,
            std::uint64_t now_ns) noexcept {
    bridge::Channel& channel = kernel_->exchange().channel();
    if (how == Wake::run_on_caller || channel.in_flight() == 1) return channel.assist(id, now_ns);
    const bool is_posted =
        may_post && with_memory([&] {
          boost::asio::post(executor, [kernel = kernel_, id] {
            kernel->exchange().channel().assist(id, kernel->runtime().clock().now_ns());
          });
        });
    if (!is_posted) channel.leave_to_bridge(id);
  }
  void admitted(Result<MessageId> id) noexcept {
    if (!id)
      end(std::move(id).error(), Answer());
    else if (whereabouts_.in_flight(*id))
      (void)kernel_->exchange().channel().cancel(*id);
  }
  void cancel() {
    whereabouts_.cancel(kernel_->exchange().channel(), [this] { end(aborted, Answer()); });
  }
  /// The edge of the public interface, as the next operations' have one: the error goes into the
  /// log.
  void end(Error error, Answer answer) noexcept {
    if (error.code) kernel_->note(error);
    const std::shared_ptr<CallOperation> last = std::move(self_);
    finish_(std::move(error), std::move(answer));
  }

  const std::shared_ptr<KernelState> kernel_;
  Convert convert_;
  Finish<Answer> finish_;
  Whereabouts whereabouts_;
  std::shared_ptr<CallOperation> self_;  // until the end
};

/// Submits a prepared message, of which nothing is needed afterwards.
template <class Answer, class Convert>
void start_call_operation(std::shared_ptr<KernelState> kernel, PreparedMessage& prepared,
                          const SendOptions& options, Convert convert, Handler<Answer> handler) {
  std::make_shared<CallOperation<Answer, Convert>>(std::move(kernel), std::move(convert),
                                                   std::move(handler))
      ->start(prepared, options);
}

}  // namespace ringkernel::detail
