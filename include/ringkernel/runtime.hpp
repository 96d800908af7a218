/// `RingKernelRuntime`: one device, its arena, its executors, and the ring kernels on them.
///
///     auto runtime = ringkernel::RingKernelRuntime::builder().build();
///     auto kernel = runtime->launch("adder");
///     kernel->activate();
///     auto reply = kernel->call(ringkernel::ops::add(a, b));
///
/// Threading: distinct and shared objects safe; a moved-from object may only be destroyed or
/// assigned.
/// Ownership: the runtime owns everything; its destructor is `shutdown`.
/// Errors: as in kernel.hpp; functions by id answer kernel_not_found.
/// Fork: a child has the handles of its parent and not the threads behind them. There everything
/// that was made before answers invalid_state at once, metrics are empty, destructors only forget.
/// A runtime that the child makes works, natively (docs/ARCHITECTURE.md, "Fork").
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ringkernel/compiled_function.hpp"
#include "ringkernel/events.hpp"
#include "ringkernel/graph.hpp"
#include "ringkernel/kernel.hpp"
#include "ringkernel/log.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/program.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/telemetry.hpp"
#include "ringkernel/tensor_handle.hpp"

namespace ringkernel {

class RingKernelRuntime;
class RuntimeBuilder;

namespace detail {
class ServiceThread;
/// Of the runtime, until it is shut down: for what is quick.
[[nodiscard]] ServiceThread& service_of(const RingKernelRuntime& runtime);
}  // namespace detail

/// A device, the programs on it, and their ring kernels.
class RingKernelRuntime {
 public:
  /// Begin here: `builder().build()`.
  [[nodiscard]] static RuntimeBuilder builder();

  RingKernelRuntime(RingKernelRuntime&&) noexcept = default;
  RingKernelRuntime& operator=(RingKernelRuntime&& other) noexcept;
  ~RingKernelRuntime();

  /// A ring kernel in state launched (active with `auto_activate`). The first kernel of a program
  /// builds the program, which can take a second; further ones are a table entry. The id is UTF-8
  /// without NUL, of at most `kernel_id_length_max` bytes, and can be used again once the kernel is
  /// terminated. Errors: invalid_argument, kernel_exists, program_not_found, build_failed,
  /// limit_exceeded, E6004 (arena), runtime_closed; what the program has failed with, until it is
  /// restarted.
  [[nodiscard]] Result<Kernel> launch(std::string_view id, const KernelOptions& options = {});

  /// A program of your own: checks its schema, builds it for the device, and keeps it. Takes some
  /// hundred milliseconds, or a few where it was built before; other launches wait meanwhile.
  /// Errors: invalid_argument (a name that is in use, schema, an unreadable file), build_failed
  /// with the compiler's words, E6002 (no compiler), limit_exceeded, E6004 (arena), runtime_closed.
  Result<ProgramInfo> add_program(const ProgramDesc& program);

  /// Puts another build in the place of one of your own programs while its kernels go on: builds it
  /// beside the one that runs, checks that it knows the behaviours and methods in use, and has the
  /// device run it. Messages and states stay; a state whose version differs is made anew by
  /// `RK_MIGRATE`, and one where there was none begins as zeros. Where `program` has no schema, or
  /// no sizes, they stay as they are. From the return on every message is handled by the new build,
  /// and until then by either one
  /// (`Reply::version`). Blocks for the build; launches of the program wait for the last part.
  /// Errors, with nothing changed: program_not_found, unsupported (a program of the library),
  /// incompatible_program with what differs, build_failed, E6002, E6004, busy (another swap, or the
  /// device with a message). Errors behind the swap: state_mismatch (a migration failed, and its
  /// kernel with it), E6007 (a slice of the old build does not end: the next one is of the new;
  /// kernels whose states had to be migrated can only be terminated).
  Result<SwapInfo> swap_program(const ProgramDesc& program);
  /// The same with the build before, as long as its states have the versions of now.
  /// invalid_state: there is none.
  Result<SwapInfo> swap_back(std::string_view program);
  /// What is known of a program: program_not_found.
  [[nodiscard]] Result<ProgramInfo> program(std::string_view name) const;
  /// With the number of work-groups and work-items that work on one message together. More than one
  /// of either is refused (limit_exceeded, with what the device has): the work-groups of an
  /// executor divide its ring kernels among them (RuntimeOptions::work_groups), not a message.
  [[nodiscard]] Result<Kernel> launch(std::string_view id, Dim3 grid, Dim3 block,
                                      const KernelOptions& options = {});

  /// Signature: void(error_code, Kernel). A build runs on a thread of the runtime. With GCC 12,
  /// name the options before a `co_await`: it destroys braced temporaries inside one twice.
  template <class Token>
  auto async_launch(std::string_view id, const KernelOptions& options, Token&& token) {
    return boost::asio::async_initiate<Token, void(error_code, Kernel)>(
        [](auto handler, auto state, std::string kernel_id, KernelOptions kernel_options) {
          detail::start_launch(std::move(state), std::move(kernel_id), std::move(kernel_options),
                               detail::Handler<Kernel>(std::move(handler)));
        },
        token, state_, std::string(id), options);
  }
  template <class Token>
  auto async_launch(std::string_view id, Token&& token) {
    return async_launch(id, KernelOptions{}, std::forward<Token>(token));
  }

  /// The kernel with this id, or kernel_not_found.
  [[nodiscard]] Result<Kernel> kernel(std::string_view id) const;
  /// Ids of all kernels that are not terminated, sorted.
  [[nodiscard]] std::vector<std::string> kernels() const;

  /// By id, for those who keep no handles: the function of that name of `Kernel`.
  ///@{
  Result<void> activate(std::string_view id) {
    return with(id, [](Kernel& kernel) { return kernel.activate(); });
  }
  Result<void> deactivate(std::string_view id) {
    return with(id, [](Kernel& kernel) { return kernel.deactivate(); });
  }
  Result<void> terminate(std::string_view id, const TerminateOptions& options = {}) {
    return with(id, [&](Kernel& kernel) { return kernel.terminate(options); });
  }
  template <class Content>
  [[nodiscard]] Result<Reply> call(std::string_view id, const Content& content,
                                   const SendOptions& options = {}) {
    return with(id, [&](Kernel& kernel) { return kernel.call(content, options); });
  }
  template <class Content>
  [[nodiscard]] Result<Reply> call(std::string_view id, const Content& content,
                                   std::chrono::nanoseconds timeout) {
    return call(id, content, SendOptions{.timeout = timeout});
  }
  template <class Content>
  Result<MessageId> send(std::string_view id, const Content& content,
                         const SendOptions& options = {}) {
    return with(id, [&](Kernel& kernel) { return kernel.send(content, options); });
  }
  [[nodiscard]] Result<Reply> receive(std::string_view id, std::chrono::nanoseconds timeout) {
    return with(id, [&](Kernel& kernel) { return kernel.receive(timeout); });
  }
  template <class Token>
  auto async_activate(std::string_view id, Token&& token) {
    return find(id).async_activate(std::forward<Token>(token));
  }
  template <class Token>
  auto async_deactivate(std::string_view id, Token&& token) {
    return find(id).async_deactivate(std::forward<Token>(token));
  }
  template <class Token>
  auto async_terminate(std::string_view id, const TerminateOptions& options, Token&& token) {
    return find(id).async_terminate(options, std::forward<Token>(token));
  }
  template <class Token>
  auto async_terminate(std::string_view id, Token&& token) {
    return find(id).async_terminate(std::forward<Token>(token));
  }
  template <class Content, class Token>
  auto async_call(std::string_view id, const Content& content, const SendOptions& options,
                  Token&& token) {
    return find(id).async_call(content, options, std::forward<Token>(token));
  }
  template <class Content, class Token>
  auto async_call(std::string_view id, const Content& content, Token&& token) {
    return find(id).async_call(content, std::forward<Token>(token));
  }
  template <class Content, class Token>
  auto async_send(std::string_view id, const Content& content, const SendOptions& options,
                  Token&& token) {
    return find(id).async_send(content, options, std::forward<Token>(token));
  }
  template <class Content, class Token>
  auto async_send(std::string_view id, const Content& content, Token&& token) {
    return find(id).async_send(content, std::forward<Token>(token));
  }
  template <class Token>
  auto async_receive(std::string_view id, std::chrono::nanoseconds timeout, Token&& token) {
    return find(id).async_receive(timeout, std::forward<Token>(token));
  }
  template <class Token>
  auto async_receive(std::string_view id, Token&& token) {
    return find(id).async_receive(std::forward<Token>(token));
  }
  [[nodiscard]] Result<KernelStatus> status(std::string_view id) const;
  [[nodiscard]] Result<KernelMetrics> metrics(std::string_view id) const;
  ///@}

  [[nodiscard]] RuntimeMetrics metrics() const;
  /// What went wrong so far, in the order in which it first did, of kernels that are gone too:
  /// outcomes of messages, refusals, lifecycle, programs that were not added or swapped. At most
  /// `errors_max` kinds; a receiver that waits in vain and a cancellation are no errors.
  [[nodiscard]] std::vector<ErrorRecord> errors() const;
  /// Changes of state and errors, from here on.
  [[nodiscard]] EventStream events(const EventOptions& options = {});

  // --- resident tensors (tensor_handle.hpp, docs/TENSORS.md) ----------------------------------

  /// A tensor in the arena, all zero, 64-byte aligned. Errors: E2005 (element type none), E3002 and
  /// E3006 (shape), E6004 (more than 2^32-1 elements; no room, with what is free and the largest
  /// block; on a gpu, an f32 count that is no multiple of 4), limit_exceeded (`tensors_max`),
  /// runtime_closed.
  [[nodiscard]] Result<Tensor> allocate(const TensorDesc& desc);

  /// Moves tensors that nothing uses at the moment, so that the free memory becomes one block as
  /// far as it can. Handles stay valid, contents unchanged. Other threads may go on: what needs a
  /// tensor or memory waits for the one copy under way. Errors: runtime_closed.
  Result<Defragmentation> defragment();

  // --- functions (graph.hpp, compiled_function.hpp, docs/GRAPHS.md) -----------------------------

  /// Makes a graph ready to be run by one message: its commands and constants go into the arena,
  /// and a ring kernel is launched for it. Errors: the graph's own; invalid_argument,
  /// limit_exceeded; E6004 (arena); those of `launch`.
  [[nodiscard]] Result<CompiledFunction> compile(const Graph& graph,
                                                 const FunctionOptions& options = {});

  /// The function made of `content` for inputs of these shapes: compiled at the first use, then
  /// remembered until others have been used since (`functions_cached_max`,
  /// `function_cache_bytes_max`). `content` stands for everything that the graph depends on besides
  /// the shapes: its text, or a name and the version of its weights. `make()` gives the Graph, or a
  /// Result<Graph>; it is called without a lock, by several threads if they come at once, of which
  /// one wins. Errors: those of `make` and `compile`, which are not remembered; invalid_argument if
  /// the graph has other inputs. `options` count where it compiles.
  template <class Make>
  [[nodiscard]] Result<CompiledFunction> get_or_compile(std::string_view content,
                                                        std::span<const TensorDesc> inputs,
                                                        Make&& make,
                                                        const FunctionOptions& options = {}) {
    if (std::optional<CompiledFunction> cached = cached_function(content, inputs))
      return *std::move(cached);
    Result<Graph> graph(std::forward<Make>(make)());
    if (!graph) return std::move(graph).error();
    return compile_and_keep(content, inputs, *graph, options);
  }

  /// The way back after a device error: terminates the kernels of a program and ends its executor,
  /// so that the next launch begins with a new one. Tensors stay, and messages let go of them. What
  /// was in flight ends with kernel_terminated and is not executed again. A launch meanwhile is
  /// busy. Errors: E6007 if a slice did not return within `termination_timeout`: then nothing of
  /// the program can be launched until another `restart` has found it returned; program_not_found,
  /// runtime_closed.
  Result<void> restart(std::string_view program);

  /// Terminates every kernel, ends the executors and gives the device back. Idempotent. Errors:
  /// E6007 if the device did not let go in time; its memory then stays allocated until the process
  /// ends.
  Result<void> shutdown();

 private:
  friend class RuntimeBuilder;
  friend detail::ServiceThread& detail::service_of(const RingKernelRuntime& runtime);
  explicit RingKernelRuntime(std::shared_ptr<detail::RuntimeState> state) noexcept
      : state_(std::move(state)) {}

  /// Shuts down; what was made before a fork is only forgotten.
  void end() noexcept;
  /// Of the kernel with this id; kernel_not_found names it.
  template <class Act>
  std::invoke_result_t<Act, Kernel&> with(std::string_view id, Act&& act) {
    Result<Kernel> found = kernel(id);
    if (!found) return std::move(found).error();
    return std::forward<Act>(act)(*found);
  }

  [[nodiscard]] std::optional<CompiledFunction> cached_function(
      std::string_view content, std::span<const TensorDesc> inputs) const;
  [[nodiscard]] Result<CompiledFunction> compile_and_keep(std::string_view content,
                                                          std::span<const TensorDesc> inputs,
                                                          const Graph& graph,
                                                          const FunctionOptions& options);
  /// An empty handle if there is no such kernel.
  [[nodiscard]] Kernel find(std::string_view id) const;

  std::shared_ptr<detail::RuntimeState> state_;
};

/// Chooses backend, device and options, and opens the runtime.
class RuntimeBuilder {
 public:
  /// Which kind of device it is for.
  RuntimeBuilder& target(BackendTarget target) noexcept {
    target_ = target;
    return *this;
  }
  /// Forces one backend: "native", "opencl", or a plugin (backend_abi.h), by its path or by the
  /// name of one in a folder of $RINGKERNEL_BACKEND_PATH or of the installation. Empty:
  /// $RINGKERNEL_BACKEND or, if that is empty, too, all of the first two and of every plugin in
  /// those folders of the variable, by target.
  RuntimeBuilder& backend(std::string name) {
    backend_ = std::move(name);
    return *this;
  }
  /// This one of the devices that fit the target: GPUs, best backend first, then the native
  /// backend's, then other ways to use a processor. Without it the first that opens, or where
  /// `backend` names none, either, that of $RINGKERNEL_DEVICE.
  RuntimeBuilder& device(std::uint32_t index) noexcept {
    device_ = index;
    return *this;
  }
  /// All options at once.
  RuntimeBuilder& options(const RuntimeOptions& options) noexcept {
    options_ = options;
    return *this;
  }

  /// Where the runtime tells what happens. Without: lines on the standard error stream if
  /// $RINGKERNEL_LOG is "info", "warning" or "error", else nowhere ("off").
  RuntimeBuilder& log(std::shared_ptr<LogSink> sink) noexcept {
    log_ = std::move(sink);
    return *this;
  }

  /// Errors: E6002 with the list of what is available and why the rest is not; E6004 (arena);
  /// protocol_mismatch; invalid_argument (options).
  [[nodiscard]] Result<RingKernelRuntime> build() const;

 private:
  [[nodiscard]] Result<RingKernelRuntime> open() const;

  BackendTarget target_ = BackendTarget::automatic;
  std::string backend_;
  std::optional<std::uint32_t> device_;
  RuntimeOptions options_;
  std::shared_ptr<LogSink> log_;
};

inline RuntimeBuilder RingKernelRuntime::builder() { return {}; }

}  // namespace ringkernel
