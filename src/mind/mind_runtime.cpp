#include "ringkernel/mind_runtime.hpp"

#include "async/finish.hpp"
#include "foundation/memory_error.hpp"
#include "mind/state.hpp"

namespace ringkernel {

namespace detail {

namespace {

void start_op(const std::shared_ptr<MindState>& runtime, Result<MindCall> call,
              MindState::Done done) {
  if (call) return runtime->start(std::move(*call), std::move(done));
  if (runtime != nullptr && !runtime->is_foreign()) runtime->refuse(call.error());
  if (done) done(std::move(call).error());
}

}  // namespace

void start_op(const std::shared_ptr<MindState>& runtime, Result<MindCall> call, Handler<> handler) {
  const auto finish = std::make_shared<Finish<>>(std::move(handler));
  start_op(runtime, std::move(call), [finish](Result<void> result) {
    (*finish)(result ? Error() : std::move(result).error());
  });
}

void start_op(const std::shared_ptr<MindState>& runtime, Result<MindCall> call) {
  start_op(runtime, std::move(call), MindState::Done());
}

}  // namespace detail

Result<MindRuntime> MindRuntime::open(BackendTarget target, MindOptions options) {
  return or_no_memory([&]() -> Result<MindRuntime> {
    RK_TRY(state, detail::MindState::open(target, std::move(options)));
    return MindRuntime(std::move(state));
  });
}

MindRuntime& MindRuntime::operator=(MindRuntime&& other) noexcept {
  if (this == &other) return *this;
  end();
  state_ = std::move(other.state_);
  return *this;
}

MindRuntime::~MindRuntime() { end(); }

void MindRuntime::end() noexcept {
  if (state_ != nullptr && state_->is_foreign())
    keep_for_ever(std::move(state_));
  else if (state_ != nullptr)
    state_->close();
}

Result<Tensor> MindRuntime::allocate(const TensorDesc& desc) {
  return state_->runtime().allocate(desc);
}

Result<void> MindRuntime::settle(const Tensor& tensor, bool for_write,
                                 std::chrono::nanoseconds timeout) {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&] { return state_->settle(tensor, for_write, timeout); });
}

Result<detail::MindCall> MindRuntime::check(const detail::MindOpName& op, TensorList inputs,
                                            TensorList outputs, const OpOptions& options) const {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&]() -> Result<detail::MindCall> {
    RK_TRY_VOID(state_->check(options));
    return mind::make_call(op, inputs.tensors(), outputs.tensors(), options, state_->place());
  });
}

Result<void> MindRuntime::run(Result<detail::MindCall> call) {
  if (!call) return std::move(call).error();
  return or_no_memory([&] { return state_->run(std::move(*call)); });
}

Result<void> MindRuntime::synchronize(std::chrono::nanoseconds timeout) {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([&] { return state_->synchronize(timeout); });
}

Result<void> MindRuntime::health() const {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([this] { return state_->health(); });
}

Result<void> MindRuntime::recover() {
  if (state_->is_foreign()) return made_before_fork();
  return or_no_memory([this] { return state_->recover(); });
}

RuntimeMetrics MindRuntime::metrics() const { return state_->runtime().metrics(); }

Result<Defragmentation> MindRuntime::defragment() { return state_->runtime().defragment(); }

}  // namespace ringkernel
