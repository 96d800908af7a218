/// Where the outputs of a function's call go.
///
/// Threading: with the interpreter's lock held; data are writable without it.
/// Errors: thrown as Python exceptions, before anything runs.
#pragma once

#include <boost/container/small_vector.hpp>
#include <string>
#include <vector>

#include "python/operands.hpp"
#include "python/tensor.hpp"
#include "ringkernel/compiled_function.hpp"

namespace ringkernel::python {

/// What takes the outputs: the caller's arrays or resident tensors, or new arrays.
class Places {
 public:
  /// `out`: None, the place of the only output, or a tuple.
  Places(const FunctionSignature& signature, nb::handle out) {
    const std::vector<TensorDesc>& outputs = signature.outputs;
    places_.reserve(outputs.size());
    if (out.is_none()) {
      for (const TensorDesc& output : outputs) add(out, output);
      return;
    }
    if (PyTuple_Check(out.ptr()) == 0) {
      if (outputs.size() != 1)
        raise(Error(Errc::arity_mismatch, "out is one place, and there are " +
                                              std::to_string(outputs.size()) +
                                              " outputs. Write out=(first, second)"));
      add(out, outputs[0]);
      return;
    }
    const auto given = nb::borrow<nb::tuple>(out);
    if (given.size() != outputs.size())
      raise(Error(Errc::arity_mismatch, "out: Expected: " + std::to_string(outputs.size()) +
                                            " places. Got: " + std::to_string(given.size())));
    for (std::size_t i = 0; i < outputs.size(); ++i) add(given[i], outputs[i]);
    check_apart(outputs);
  }
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  /// Null: it goes into a resident tensor.
  [[nodiscard]] void* data(std::size_t output) const noexcept { return places_[output].data; }
  [[nodiscard]] const std::vector<Into>& into() const noexcept { return into_; }
  /// The one object, or a tuple of several.
  [[nodiscard]] nb::object take() {
    if (places_.size() == 1) return std::move(places_[0].object);
    nb::list list;
    for (Place& place : places_) list.append(std::move(place.object));
    return nb::tuple(list);
  }

 private:
  /// Two outputs in one place would be one of them.
  void check_apart(const std::vector<TensorDesc>& outputs) const {
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const auto* const a = static_cast<const std::byte*>(data(i));
        const auto* const b = static_cast<const std::byte*>(data(j));
        if (a != nullptr && b != nullptr && a < b + outputs[j].bytes() &&
            b < a + outputs[i].bytes())
          raise(Error(Errc::invalid_argument,
                      "out " + std::to_string(j) + " and out " + std::to_string(i) + " overlap"));
      }
  }
  void add(nb::handle given, const TensorDesc& output) {
    const std::size_t number = places_.size();
    if (const Tensor* const tensor = tensor_in(given)) {
      into_.push_back({number, *tensor});
      places_.push_back({nb::borrow(given), nullptr, nullptr});
    } else {
      places_.push_back(place_for(given, output, number));
    }
  }

  boost::container::small_vector<Place, 2> places_;
  std::vector<Into> into_;
};

}  // namespace ringkernel::python
