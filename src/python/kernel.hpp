/// Ring kernels in Python: `Kernel`, and `Outcome` of plain messages.
///
/// Threading: with the interpreter's lock held, which is given up while a call waits.
#pragma once

#include "python/ops.hpp"
#include "python/prepared_calls.hpp"
#include "ringkernel/kernel.hpp"

namespace ringkernel::python {

class KernelObject {
 public:
  /// `owner`: the runtime, which it keeps. `takes_ops`: it is of the program `core`.
  KernelObject(Kernel kernel, nb::object owner, bool takes_ops) noexcept
      : owner_(std::move(owner)), kernel_(std::move(kernel)), takes_ops_(takes_ops) {}

  [[nodiscard]] Kernel& kernel() noexcept { return kernel_; }
  /// For the collector.
  template <class Visit>
  int each(Visit&& visit) {
    return visit(owner_);
  }
  [[nodiscard]] bool takes_ops() const noexcept { return takes_ops_; }
  /// One op: `request` has its attributes, and gets its operands. The result is a new array, `out`
  /// with it, or None of an op without one.
  Array run(Request& request, std::span<const nb::handle> operands, nb::handle out,
            nb::handle timeout, int priority);
  Array run(Request& request, OperandList operands, nb::handle out, nb::handle timeout,
            int priority) {
    return run(request, std::span(operands.begin(), operands.size()), out, timeout, priority);
  }
  /// By the op's name; the words are attributes and options.
  Array call(const std::string& op, const nb::args& operands, nb::kwargs words);
  nb::object start(const std::string& op, const nb::args& operands, nb::kwargs words);
  MessageId send(const std::string& op, const nb::args& operands, nb::kwargs words);

 private:
  /// By a prepared call. Null: it is not prepared, or would have had to wait, which it was not to.
  nb::object run_prepared(const Request& request, const SendOptions& options, nb::handle out,
                          bool may_wait);

  nb::object owner_;
  Kernel kernel_;
  const bool takes_ops_;
  PreparedCalls prepared_;
};

void bind_kernel(nb::module_& module);

}  // namespace ringkernel::python
