/// `Traced`: a Python function as a compiled function for each kind of operands.
///
/// Threading: with the interpreter's lock held. Its own lock, Python's, is held by the thread that
/// compiles; others wait for it.
/// Ownership: keeps its functions, those used last. One that it gives up ends with its last call.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "python/function.hpp"

namespace ringkernel::python {

class Traced {
 public:
  /// `compile` gives a `Function` for a list of (element type, shape). `names`: of the operands,
  /// of which the first `needed` have to be there; empty: it has none.
  Traced(nb::object compile, std::string name, std::vector<std::string> names, std::size_t needed,
         std::size_t kinds_max);

  /// The `Function` for such operands.
  [[nodiscard]] nb::object function_for(std::span<const TensorView> inputs);
  /// The one that it keeps for such operands, a tuple, if they are arrays that are used as they
  /// lie, which `taken` then has. Null: there is none.
  [[nodiscard]] nb::object function_taking(PyObject* operands, FunctionObject::Taken& taken);
  [[nodiscard]] nb::list functions() const;
  /// For the collector: `visit` each object that it holds.
  template <class Visit>
  int each(Visit&& visit) {
    for (Kind& kind : kinds_)
      if (const int stop = visit(kind.function)) return stop;
    return visit(compile_);
  }

  const std::string name;
  const std::vector<std::string> names;
  const std::size_t needed;

 private:
  struct Kind {
    std::vector<TensorDesc> inputs;
    nb::object function;
    bool takes_them = false;  ///< its inputs are those
    std::uint64_t used = 0;   ///< the use of all that was its last
  };

  /// Null: there is none.
  [[nodiscard]] nb::object find(std::span<const TensorView> inputs);
  /// Gives up the kind that was not used for longest, if there are as many as may be.
  void make_room();

  nb::object compile_;
  nb::object lock_;
  std::deque<Kind> kinds_;
  const std::size_t kinds_max_;
  std::uint64_t uses_ = 0;
};

/// (element type, shape) of each.
[[nodiscard]] nb::object descriptions(const std::vector<TensorDesc>& descs);

void bind_traced(nb::module_& module, const PyType_Slot* slots);

}  // namespace ringkernel::python
