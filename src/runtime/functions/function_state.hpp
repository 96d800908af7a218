/// An instance of a compiled function: the ring kernel that runs it, and its message.
///
/// Threading: any thread; what an execution reads does not change.
/// Ownership: owns the kernel, and with it states and workspace; shares the code.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/function_code.hpp"
#include "graph/function_layout.hpp"
#include "ringkernel/compiled_function.hpp"
#include "ringkernel/graph.hpp"
#include "runtime/calls/prepared_call.hpp"
#include "runtime/kernel_state.hpp"

namespace ringkernel::detail {

/// What all instances of a compiled function share. Their ring kernels own the region of the arena
/// together, until the device has let go of the last one, or the runtime is shut down.
struct ResidentCode {
  const std::shared_ptr<RuntimeState> runtime;
  const FunctionCode code;
  /// Where the commands begin; set with the first ring kernel. Null: none has it any more.
  std::weak_ptr<const Arena::Region> region;
};

class FunctionState {
 public:
  /// Errors: those of RingKernelRuntime::compile.
  [[nodiscard]] static Result<std::shared_ptr<FunctionState>> compile(
      const std::shared_ptr<RuntimeState>& runtime, const Graph& graph,
      const FunctionOptions& options);

  /// Errors: those of CompiledFunction::instance.
  [[nodiscard]] static Result<std::shared_ptr<FunctionState>> instantiate(
      std::shared_ptr<const ResidentCode> resident, const FunctionOptions& options);

  FunctionState(std::shared_ptr<KernelState> kernel, std::shared_ptr<const ResidentCode> resident,
                const FunctionOptions& options);
  FunctionState(const FunctionState&) = delete;
  FunctionState& operator=(const FunctionState&) = delete;
  ~FunctionState();

  [[nodiscard]] const FunctionSignature& signature() const noexcept { return *signature_; }
  [[nodiscard]] const std::shared_ptr<const ResidentCode>& resident() const noexcept {
    return resident_;
  }
  [[nodiscard]] const std::shared_ptr<KernelState>& kernel() const noexcept { return kernel_; }
  /// Of its executions. message_too_large.
  [[nodiscard]] Result<PreparedState::Layout> layout() const;
  [[nodiscard]] Result<FunctionResult> execute(std::span<const TensorView> inputs,
                                               const ExecuteOptions& options) const;
  void start_execute(std::span<const TensorView> inputs, const ExecuteOptions& options,
                     Handler<FunctionResult> handler) const;

  /// The number of the state of that name; invalid_argument with the names there are.
  [[nodiscard]] Result<std::size_t> find_state(std::string_view name) const;
  /// All elements of a state, out or in. `dtype` none: bytes. instance_states.cpp
  Result<void> read_state(std::size_t state, DType dtype, std::span<std::byte> elements,
                          std::chrono::nanoseconds timeout) const;
  Result<void> write_state(std::size_t state, DType dtype, std::span<const std::byte> elements,
                           std::chrono::nanoseconds timeout) const;
  Result<void> reset_states(std::chrono::nanoseconds timeout) const;

 private:
  using LayoutPointer = std::shared_ptr<const FunctionLayout>;
  /// What an execution borrows until its message is written, and until the reply is looked at.
  struct Parts {
    std::array<codec::Piece, graph_inputs_max + 1> pieces;  // the table is the last one
    std::array<std::uint64_t, RK_GRAPH_BINDINGS_MAX> table;
    const FunctionLayout* layout = nullptr;
    LayoutPointer other;  // it, where it is not the plain one
    PreparedMessage prepared;
  };

  /// The ring kernel, which is not active yet.
  [[nodiscard]] static Result<std::shared_ptr<FunctionState>> launch(
      std::shared_ptr<const ResidentCode> resident, const FunctionOptions& options);
  /// Takes its own region, lays out the message, and activates the kernel.
  Result<void> open();
  /// Which of the inputs are resident tensors, as bits of a layout.
  [[nodiscard]] Result<std::uint64_t> check(std::span<const TensorView> inputs) const;
  /// The same of outputs. That no two are in one tensor, and none in one that is read behind it.
  [[nodiscard]] Result<std::uint64_t> check_into(std::span<const TensorView> inputs,
                                                 std::span<const Into> into) const;
  [[nodiscard]] Result<void> check_separate(std::span<const TensorView> inputs, const Into& to,
                                            std::span<const Into> before) const;
  [[nodiscard]] Result<LayoutPointer> layout_of(std::uint64_t residents) const;
  /// Takes the tensors, and writes their places into the table.
  Result<void> bind(std::span<const TensorView> inputs, std::span<const Into> into,
                    Parts& parts) const;
  /// Checks the inputs and lays out their message.
  Result<void> prepare(std::span<const TensorView> inputs, const ExecuteOptions& options,
                       Parts& parts) const;
  [[nodiscard]] Result<void> check_state(std::size_t state, DType dtype, std::size_t bytes) const;
  /// Of states. Zero: the runtime's `call_timeout`.
  Result<void> copy(const KernelState::RegionCopy& copy, std::chrono::nanoseconds timeout) const;
  [[nodiscard]] Error mismatch(Errc code, const std::string& what, const std::string& expected,
                               const std::string& got) const;

  const std::shared_ptr<KernelState> kernel_;
  const std::shared_ptr<const ResidentCode> resident_;
  const FunctionCode& code_;  // its
  const std::shared_ptr<const FunctionSignature> signature_;
  const std::uint64_t message_bytes_max_;
  FunctionLayout::Place place_;  // once it is open
  LayoutPointer plain_;          // likewise, without residents; null: no message carries so much
  mutable std::mutex layouts_mutex_;
  mutable std::vector<LayoutPointer> layouts_;  // others that were used, the last ones
};

}  // namespace ringkernel::detail
