/// Compiled functions in Python: `Function`, and `Traced`, which compiles for each kind of
/// operands.
///
/// Threading: with the interpreter's lock held, which is given up while a call waits. Several
/// threads may call one function: the first is served by a prepared call, the others beside it.
#pragma once

#include <boost/container/static_vector.hpp>
#include <optional>

#include "python/operands.hpp"
#include "ringkernel/compiled_function.hpp"

namespace ringkernel::python {

/// Of one call: what its keywords say.
struct CallWords {
  nb::handle out = nb::handle(Py_None);
  nb::handle timeout = nb::handle(Py_None);
  bool check_nan = false;
  int priority = 0;
};

class FunctionObject {
 public:
  /// `owner`: the runtime, which it keeps.
  FunctionObject(CompiledFunction function, nb::object owner);
  /// Its end waits for an execution in hand, without the interpreter's lock.
  ~FunctionObject();

  [[nodiscard]] const CompiledFunction& function() const noexcept { return function_; }
  [[nodiscard]] const nb::object& owner() const noexcept { return owner_; }
  /// For the collector.
  template <class Visit>
  int each(Visit&& visit) {
    return visit(owner_);
  }
  /// Operands as the prepared call takes them.
  using Taken = boost::container::static_vector<Elements, graph_inputs_max>;
  /// False: of the operands, a tuple, some are no arrays that are used as they lie, or not of its
  /// inputs' types and shapes.
  [[nodiscard]] bool take(PyObject* operands, Taken& taken) const;
  /// By the prepared call, if nobody else has it. Null: it was not made, perhaps because it would
  /// have had to wait, which it was not to. Precondition: `take` was true.
  nb::object call_prepared(std::span<const Elements> operands, const CallWords& words,
                           bool may_wait);
  /// An array, or a tuple of several; what `out` is, with the elements in it. `was_tried`: the
  /// prepared call was not made.
  nb::object call(std::span<const TensorView> inputs, const CallWords& words, bool was_tried);
  /// The same for an event loop: the result if it can be had at once, else a `Pending`.
  nb::object start(std::span<const TensorView> inputs, const CallWords& words, bool was_tried);
  Array read_state(nb::handle state, nb::handle timeout) const;
  void write_state(nb::handle state, nb::handle elements, nb::handle timeout) const;

 private:
  /// The same of views, if they fit.
  nb::object call_prepared(std::span<const TensorView> inputs, const CallWords& words,
                           bool may_wait);
  /// By its name or its number.
  [[nodiscard]] std::size_t state_number(nb::handle state) const;
  [[nodiscard]] bool fits(std::span<const TensorView> inputs) const;

  nb::object owner_;
  CompiledFunction function_;
  std::optional<PreparedCall> prepared_;
  bool is_called_ = false;  // guarded by the interpreter's lock, or mutex_ where it has none
  bool is_short_ = false;   // of the prepared call: who calls it writes this
  nb::ft_mutex mutex_;
};

void bind_function(nb::module_& module);

}  // namespace ringkernel::python
