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
  explicit KernelObject(Kernel kernel) noexcept : kernel_(std::move(kernel)) {}

  [[nodiscard]] Kernel& kernel() noexcept { return kernel_; }
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

  Kernel kernel_;
  PreparedCalls prepared_;
};

void bind_kernel(nb::module_& module);

}  // namespace ringkernel::python
