/// Where the outputs of a function's call go.
///
/// Threading: with the interpreter's lock held; data are writable without it.
/// Errors: thrown as Python exceptions, before anything runs.
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/operands.hpp"
#include "python/tensor.hpp"
#include "ringkernel/compiled_function.hpp"

namespace ringkernel::python {

/// What takes the outputs: the caller's arrays or resident tensors, or new arrays.
class Places {
 public:
  /// `shapes`: of the outputs, as Python has them.
  Places(const FunctionSignature& signature, const std::vector<nb::object>& shapes,
         nb::handle out) {
    const std::vector<TensorDesc>& outputs = signature.outputs;
    objects_.reserve(outputs.size());
    if (outputs.size() == 1)
      first_.emplace();
    else
      buffers_ = std::make_unique<Buffer[]>(outputs.size());
    if (out.is_none()) {
      for (std::size_t i = 0; i < outputs.size(); ++i) add_new(outputs[i], shapes[i]);
      return;
    }
    const bool is_one =
        outputs.size() == 1 && !nb::isinstance<nb::tuple>(out) && !nb::isinstance<nb::list>(out);
    const nb::tuple given = is_one ? nb::make_tuple(out) : nb::tuple(nb::borrow(out));
    if (given.size() != outputs.size())
      raise(Error(Errc::arity_mismatch, "out: Expected: " + std::to_string(outputs.size()) +
                                            " places. Got: " + std::to_string(given.size())));
    for (std::size_t i = 0; i < outputs.size(); ++i) add(given[i], outputs[i], shapes[i]);
    check_apart(outputs);
  }
  [[nodiscard]] std::size_t size() const noexcept { return objects_.size(); }
  [[nodiscard]] void* data(std::size_t output) noexcept { return buffer(output).data(); }
  /// The outputs that go into resident tensors, for which there are no data.
  [[nodiscard]] const std::vector<Into>& into() const noexcept { return into_; }
  /// The one object, or a tuple of several.
  [[nodiscard]] nb::object take() {
    first_.reset();
    buffers_.reset();
    if (objects_.size() == 1) return std::move(objects_[0]);
    nb::list list;
    for (nb::object& object : objects_) list.append(std::move(object));
    return nb::tuple(list);
  }

 private:
  [[nodiscard]] Buffer& buffer(std::size_t output) noexcept {
    return first_ ? *first_ : buffers_[output];
  }
  /// Two outputs in one place would be one of them.
  void check_apart(const std::vector<TensorDesc>& outputs) {
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
  void add_new(const TensorDesc& output, nb::handle shape) {
    const std::size_t number = objects_.size();
    objects_.push_back(new_array(output.dtype, shape));
    open_out(buffer(number), objects_.back(), number, output);
  }
  void add(nb::handle place, const TensorDesc& output, nb::handle shape) {
    if (place.is_none()) return add_new(output, shape);
    const std::size_t number = objects_.size();
    objects_.push_back(nb::borrow(place));
    if (const Tensor* const tensor = tensor_in(place))
      into_.push_back({number, *tensor});
    else
      open_out(buffer(number), place, number, output);
  }

  boost::container::small_vector<nb::object, 2> objects_;
  std::optional<Buffer> first_;  // where there are more, they are all in the next
  std::unique_ptr<Buffer[]> buffers_;
  std::vector<Into> into_;
};

}  // namespace ringkernel::python
