#include "mind/state.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "async/service_task.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/reserve.hpp"
#include "foundation/scope_guard.hpp"
#include "foundation/timeout.hpp"

namespace ringkernel::detail {
namespace {

/// Ops that a thread hands out before it leaves the rest to another: those who give ops could keep
/// it for ever.
constexpr std::size_t handed_out_max = 64;

/// Whether a message that ended so may have been executed, or may still be, in part.
bool may_have_written(const Error& error) {
  return error == Errc::deadline_exceeded || error == Errc::execution_timeout ||
         error == Errc::device_error || error == Errc::bad_record || error == Errc::bad_ring ||
         error == Errc::kernel_terminated || error == Errc::runtime_closed ||
         error == Errc::malformed_message;
}

Error closed_error() noexcept { return make_error_code(Errc::runtime_closed); }

}  // namespace

Result<std::shared_ptr<MindState>> MindState::open(BackendTarget target, MindOptions options) {
  if (options.queues == 0 || options.queues > mind_queues_max)
    return Error(Errc::invalid_argument, "queues is " + std::to_string(options.queues) +
                                             "; it must be from 1 to " +
                                             std::to_string(mind_queues_max));
  if (options.op_timeout.count() < 0) return Error(Errc::invalid_argument, "op_timeout < 0");
  RuntimeBuilder builder;
  builder.target(target).backend(options.backend).options(options.runtime);
  if (options.device) builder.device(*options.device);
  RK_TRY(runtime, builder.build());
  mind::Place place{runtime.metrics().backend, target};
  auto state =
      std::make_shared<MindState>(std::move(runtime), std::move(options), std::move(place));
  RK_TRY_VOID(state->launch_queues());
  return state;
}

struct MindState::Answered {
  using CalledAtOnce = void;
  // NOLINTBEGIN(readability-identifier-naming): Asio asks for these names
  using executor_type = boost::asio::io_context::executor_type;
  executor_type get_executor() const noexcept { return state->context_.get_executor(); }
  // NOLINTEND(readability-identifier-naming)

  void operator()(Result<Reply> reply) const noexcept {
    Result<void> result;
    if (!reply) result = std::move(reply).error();
    state->answered(*op, std::move(result));
  }

  MindState* state;
  Given* op;
};

/// Gone from the service thread when the runtime has been shut down, and so before its state.
class MindState::NoteTaker final : public ServiceTask {
 public:
  NoteTaker(ServiceThread& thread, MindState& state) : ServiceTask(thread), state_(state) {}
  ~NoteTaker() = default;

 private:
  void run() noexcept override { state_.take_notes(); }

  MindState& state_;
};

MindState::MindState(RingKernelRuntime runtime, MindOptions options, mind::Place place)
    : runtime_(std::move(runtime)),
      options_(std::move(options)),
      place_(std::move(place)),
      schedule_(options_.queues),
      queues_(options_.queues),
      note_taker_(std::make_shared<NoteTaker>(service_of(runtime_), *this)),
      answers_([this] { note_taker_->post(); }) {
  try {
    service_of(runtime_).start();
  } catch (const std::system_error&) {  // for whoever asks it is the same: perhaps later
    throw std::bad_alloc();
  }
}

MindState::~MindState() = default;

Result<void> MindState::launch_queues() {
  KernelOptions options = options_.queue;
  options.program = "core";
  options.auto_activate = true;
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    RK_TRY(kernel, runtime_.launch("queue" + std::to_string(i), options));
    queues_[i].kernel = kernel;
  }
  return {};
}

// --- giving ops -------------------------------------------------------------------------------

Result<void> MindState::usable() const {
  if (closed_) return closed_error();
  if (poison_) return *poison_;
  return {};
}

MindState::Ticket MindState::give(MindCall call, Done done) {
  std::array<TensorId, inputs_max> reads{};
  for (std::size_t i = 0; i < call.request.input_count; ++i) reads[i] = call.inputs[i].id();
  mind::Schedule::Access access{std::span(reads).first(call.request.input_count), std::nullopt};
  if (call.request.output != 0) access.writes = call.request.output;
  // What its end will need is taken before it counts as given.
  reserve_growing(ready_, ops_.size() + 1);
  reserve_growing(doubtful_, doubtful_.size() + ops_.size() + 1);
  const Ticket ticket = schedule_.next();
  const std::optional<std::uint32_t> queue = call.options.queue;
  const auto place =
      ops_.emplace(ticket,
                   Given{.call = std::move(call), .done = std::move(done), .place = {ticket}})
          .first;
  ScopeGuard leaving([&]() noexcept { ops_.erase(place); });
  (void)schedule_.add(access, queue);
  leaving.dismiss();
  return ticket;
}

Result<void> MindState::run(MindCall call) {
  Lock lock(mutex_);
  RK_TRY_VOID(usable());
  const Ticket ticket = give(std::move(call), nullptr);
  Given& op = ops_.at(ticket);
  if (!schedule_.alone(ticket) || is_watched(op)) {
    // Behind others: in its place in the queue, so that the device need not wait for this thread.
    // And where this thread has to watch the time, another one has to run the op.
    std::optional<Result<void>> outcome;
    op.asynchronous = true;
    op.done = [&](Result<void> result) {
      const std::lock_guard told(mutex_);
      outcome = std::move(result);
      ended_.notify_all();
    };
    if (schedule_.ready(ticket)) put_in_order(ticket);
    pump_and_tell(lock);
    ended_.wait(lock, [&] { return outcome.has_value(); });
    return std::move(*outcome);
  }
  Result<void> result = call_here(lock, ticket);
  std::optional<Result<void>> outcome;
  op.done = [&](Result<void> ended) { outcome = std::move(ended); };
  end(lock, ticket, std::move(result));
  return std::move(*outcome);
}

void MindState::start(MindCall call, Done done) {
  Lock lock(mutex_);
  if (Result<void> result = usable(); !result) {
    if (!first_error_) first_error_ = result.error();
    lock.unlock();
    if (done) done(std::move(result));
    return;
  }
  const Ticket ticket = give(std::move(call), std::move(done));
  Given& op = ops_.at(ticket);
  op.asynchronous = true;
  if (pays_here(op)) {
    const auto begin = std::chrono::steady_clock::now();
    Result<void> result = call_here(lock, ticket);
    short_ops_.note(std::chrono::steady_clock::now() - begin);
    return end(lock, ticket, std::move(result));
  }
  if (schedule_.ready(ticket)) put_in_order(ticket);
  pump_and_tell(lock);
}

Result<void> MindState::call_here(Lock& lock, Ticket ticket) {
  // Not put in order: nobody relies on its place, which only `call` knows.
  Given& op = ops_.at(ticket);
  op.handed_out = true;
  Kernel kernel = queues_[schedule_.queue_of(ticket)].kernel;
  lock.unlock();
  Result<Reply> reply = kernel.call(op.call.request, {.timeout = timeout_of(op)});
  lock.lock();
  if (!reply) return std::move(reply).error();
  return {};
}

// An op beside others would wait here until the executor is free, however long they are.
bool MindState::pays_here(const Given& op) noexcept {
  if (place_.backend != "native" || ops_.size() != 1 || is_watched(op)) return false;
  return short_ops_.expects_one();
}

void MindState::pump_and_tell(Lock& lock) noexcept {
  Told told;
  pump(lock, told);
  if (told.empty()) return;
  tell(lock, told);
  told.clear();  // what users gave goes without the lock
  lock.lock();
}

void MindState::refuse(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!first_error_) first_error_ = error;
}

std::chrono::nanoseconds MindState::timeout_of(const Given& op) const noexcept {
  const std::chrono::nanoseconds own = op.call.options.timeout;
  return own.count() != 0 ? own : options_.op_timeout;
}

bool MindState::is_watched(const Given& op) const noexcept {
  return place_.backend == "native" && timeout_of(op).count() != 0;
}

void MindState::put_in_order(Ticket ready) noexcept {
  schedule_.put_in_order(ready);
  std::list<Ticket>& order = queues_[schedule_.queue_of(ready)].order;
  order.splice(order.end(), ops_.at(ready).place);
}

void MindState::pump(Lock& lock, Told& told) noexcept {
  answers_.begin_taking();
  std::size_t left = handed_out_max;
  do {
    std::size_t ended = 0;
    do {  // what has ended may have put another one in order
      ended = told.size();
      for (Queue& queue : queues_)
        if (!queue.order.empty() && !queue.being_pumped) pump_queue(lock, queue, told, left);
    } while (told.size() != ended && left != 0);
  } while (take_answers(told, left == 0));
}

void MindState::pump_queue(Lock& lock, Queue& queue, Told& told, std::size_t& left) noexcept {
  queue.being_pumped = true;  // the ring takes ops in the order of these calls: one thread's
  for (; !queue.order.empty() && left != 0; --left) {
    const Ticket ticket = queue.order.front();
    Given& op = ops_.at(ticket);
    op.place.splice(op.place.end(), queue.order, queue.order.begin());
    op.handed_out = true;
    const Kernel kernel = queue.kernel;
    lock.unlock();
    const bool is_handed_out = hand_out(kernel, op);
    lock.lock();
    if (is_handed_out) continue;  // and may have ended
    op.handed_out = false;
    end_one(ticket, no_memory(), told);
  }
  queue.being_pumped = false;
}

bool MindState::hand_out(Kernel queue, Given& op) noexcept {
  // By value: the op may have ended, and be gone, before async_call returns.
  const Request request = op.call.request;
  const SendOptions options{.timeout = timeout_of(op)};
  return with_memory([&] { queue.async_call(request, options, as_result(Answered{this, &op})); });
}

// --- ends -------------------------------------------------------------------------------------

void MindState::answered(Given& op, Result<void> result) noexcept {
  op.result = std::move(result);
  answers_.add(op.place);
}

bool MindState::take_answers(Told& told, bool leaves) noexcept {
  for (const Ticket ticket : answers_.take(leaves))
    end_one(ticket, std::move(ops_.at(ticket).result), told);
  const bool some_wait = std::ranges::any_of(
      queues_, [](const Queue& queue) { return !queue.order.empty() && !queue.being_pumped; });
  if (leaves && some_wait) answers_.call();
  return !leaves;
}

void MindState::take_notes() noexcept {
  Lock lock(mutex_);
  pump_and_tell(lock);
}

void MindState::end(Lock& lock, Ticket ticket, Result<void> result) noexcept {
  Told told;
  end_one(ticket, std::move(result), told);
  pump(lock, told);
  tell(lock, told);
}

Error MindState::noted(const Given& op, Error error, bool& doubtful) noexcept {
  doubtful = op.handed_out && may_have_written(error);
  const bool is_late = doubtful && error == Errc::deadline_exceeded;
  if (is_late) error.code = make_error_code(Errc::execution_timeout);
  (void)with_memory([&] {
    const std::string what = mind::describe(op.call.request);
    if (is_late)
      error.detail = what + ": no answer within its timeout";
    else if (error.detail.empty())
      error.detail = what;
    else if (op.asynchronous)  // whoever waits knows what for, and its error says so
      error.detail = what + ": " + error.detail;
  });
  if (op.asynchronous && !first_error_) first_error_ = error;
  return error;
}

void MindState::end_one(Ticket ticket, Result<void> result, Told& told) noexcept {
  auto node = ops_.extract(ticket);
  Given& op = node.mapped();
  if (!result) {
    bool doubtful = false;
    Error error = noted(op, std::move(result).error(), doubtful);
    if (doubtful && op.call.request.output != 0) doubtful_.push_back(op.call.output);
    if (doubtful && !closed_ && !poison_) poison(error, told);
    result = std::move(error);
  }
  op.result = std::move(result);
  told.insert(std::move(node));
  ready_.clear();
  schedule_.end(ticket, ready_);
  for (const Ticket next : ready_)
    if (ops_.contains(next)) put_in_order(next);
}

void MindState::poison(const Error& reason, Told& told) noexcept {
  poison_ = Error(make_error_code(Errc::device_error));
  (void)with_memory([&] {
    poison_->detail = "the context is poisoned until recover(), since: " + reason.text();
  });
  end_waiting(*poison_, told);
}

void MindState::end_waiting(const Error& reason, Told& told) noexcept {
  for (Queue& queue : queues_) queue.order.clear();
  for (auto next = ops_.begin(); next != ops_.end();) {
    const auto here = next++;  // the end of this one takes no other along
    if (!here->second.handed_out) end_one(here->first, reason, told);
  }
  for (Queue& queue : queues_) queue.order.clear();
}

void MindState::tell(Lock& lock, Told& told) noexcept {
  ended_.notify_all();
  if (closed_) answers_.call();  // `close` waits for the last one
  lock.unlock();
  for (auto& [ticket, op] : told)
    if (op.done) op.done(std::move(op.result));
}

// --- waiting ----------------------------------------------------------------------------------

template <class Settled>
Result<void> MindState::wait_until(Lock& lock, std::chrono::nanoseconds timeout, Settled settled) {
  if (timeout.count() <= 0) {
    ended_.wait(lock, settled);
    return {};
  }
  if (ended_.wait_for(lock, std::chrono::nanoseconds(bounded_ns(timeout)), settled)) return {};
  return Error(Errc::deadline_exceeded, "while ops are unfinished");
}

Result<void> MindState::settle(const Tensor& tensor, bool for_write,
                               std::chrono::nanoseconds timeout) {
  if (timeout.count() <= 0) timeout = options_.runtime.call_timeout;
  Lock lock(mutex_);
  const std::vector<Ticket> users = schedule_.users(tensor.id(), for_write);
  return wait_until(lock, timeout, [&] {
    return std::ranges::none_of(users, [&](Ticket user) { return schedule_.unfinished(user); });
  });
}

Result<void> MindState::synchronize(std::chrono::nanoseconds timeout) {
  Lock lock(mutex_);
  const Ticket next = schedule_.next();
  RK_TRY_VOID(wait_until(lock, timeout, [&] { return schedule_.oldest() >= next; }));
  if (!first_error_) return usable();
  return *std::exchange(first_error_, std::nullopt);
}

// --- failure and end --------------------------------------------------------------------------

Result<void> MindState::check(const OpOptions& options) const {
  if (options.queue.value_or(0) >= queues_.size())
    return Error(Errc::invalid_argument, "queue " + std::to_string(*options.queue) +
                                             "; there are " + std::to_string(queues_.size()));
  if (options.timeout.count() < 0) return Error(Errc::invalid_argument, "timeout < 0");
  return health();
}

Result<void> MindState::health() const {
  const std::lock_guard lock(mutex_);
  return usable();
}

Result<void> MindState::recover() {
  const std::lock_guard one_at_a_time(recover_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return closed_error();
    if (!poison_) return {};
  }
  // Ends every op that was handed out; nothing is, meanwhile. Behind it the device touches nothing.
  RK_TRY_VOID(runtime_.restart("core"));
  std::vector<Tensor> doubtful;
  {
    Lock lock(mutex_);
    ended_.wait(lock, [this] { return schedule_.empty(); });
    doubtful.swap(doubtful_);
  }
  for (Tensor& tensor : doubtful) (void)tensor.deallocate();  // gone already: as well
  RK_TRY_VOID(launch_queues());
  const std::lock_guard lock(mutex_);
  if (closed_) return closed_error();
  poison_.reset();
  first_error_.reset();
  return {};
}

void MindState::close() noexcept {
  {
    Lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    Told told;
    end_waiting(closed_error(), told);
    tell(lock, told);
  }
  if (options_.on_metrics) (void)with_memory([this] { options_.on_metrics(runtime_.metrics()); });
  answers_.end_calls();       // the service thread ends with the runtime
  (void)runtime_.shutdown();  // answers what was handed out
  Lock lock(mutex_);
  while (!ops_.empty()) {
    lock.unlock();
    answers_.wait_for_call();
    lock.lock();
    pump_and_tell(lock);
  }
}

}  // namespace ringkernel::detail
