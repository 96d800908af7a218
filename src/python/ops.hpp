/// The ops as methods, for whatever takes a request: a kernel, which runs it, and a graph, which
/// adds it.
///
/// `Target::run(request, operands, options...)` takes what a method was given; `Options` are
/// the types of what follows the op's own arguments, and `annotations` name those.
#pragma once

#include <initializer_list>

#include "python/operands.hpp"
#include "ringkernel/message.hpp"

namespace ringkernel::python {

/// By the members of `OpAttributes`; of a slice by starts, ends and steps; axes also by axis.
/// TypeError for other words. What is left out is as the op's method has it.
[[nodiscard]] OpAttributes attributes_from(Op op, const nb::dict& words);
[[nodiscard]] Padding padding_from(nb::handle object);
[[nodiscard]] Comparison comparison_from(nb::handle object);
/// By its name. NotFound, with the names that there are.
[[nodiscard]] Op op_from(std::string_view name);

using OperandList = std::initializer_list<nb::handle>;

/// Without operands and attributes, which are written into it: it is a kilobyte.
[[nodiscard]] inline Request request_of(Op op) noexcept {
  Request request;
  request.op = op;
  return request;
}

template <class Target, class... Options>
struct OpMethods {
  template <class Class, class... Annotations>
  static void bind(Class& cls, const Annotations&... annotations) {
    bind_elementwise(cls, annotations...);
    bind_reductions(cls, annotations...);
    bind_shapes(cls, annotations...);
    bind_windows(cls, annotations...);
  }

 private:
  template <Op op, class Class, class... Annotations>
  static void unary(Class& cls, const char* name, const char* doc,
                    const Annotations&... annotations) {
    cls.def(
        name,
        [](Target& target, nb::handle x, Options... options) {
          Request request = request_of(op);
          return target.run(request, OperandList{x}, options...);
        },
        "x"_a, annotations..., doc);
  }

  template <Op op, class Class, class... Annotations>
  static void binary(Class& cls, const char* name, const char* doc,
                     const Annotations&... annotations) {
    cls.def(
        name,
        [](Target& target, nb::handle a, nb::handle b, Options... options) {
          Request request = request_of(op);
          return target.run(request, OperandList{a, b}, options...);
        },
        "a"_a, "b"_a, annotations..., doc);
  }

  template <class Class, class... Annotations>
  static void bind_elementwise(Class& cls, const Annotations&... annotations) {
    binary<Op::add>(cls, "add", "a + b, with broadcasting; integers wrap.", annotations...);
    binary<Op::sub>(cls, "sub", "a - b, with broadcasting; integers wrap.", annotations...);
    binary<Op::mul>(cls, "mul", "a * b, with broadcasting; integers wrap.", annotations...);
    binary<Op::div>(cls, "div", "a / b of float32, with broadcasting.", annotations...);
    binary<Op::max>(cls, "max", "The larger of both; NaN if one is.", annotations...);
    binary<Op::min>(cls, "min", "The smaller of both; NaN if one is.", annotations...);
    unary<Op::relu>(cls, "relu", "x where it is above 0, else 0, for NaN too.", annotations...);
    unary<Op::neg>(cls, "neg", "-x", annotations...);
    unary<Op::exp>(cls, "exp", "e to the power of x.", annotations...);
    unary<Op::log>(cls, "log", "The natural logarithm; NaN below 0.", annotations...);
    unary<Op::sqrt>(cls, "sqrt", "The square root, rounded correctly.", annotations...);
    unary<Op::tanh>(cls, "tanh", "The hyperbolic tangent.", annotations...);
    unary<Op::erf>(cls, "erf", "The error function.", annotations...);
    unary<Op::sum_all>(cls, "sum_all", "The sum of all elements.", annotations...);
    unary<Op::mean_all>(cls, "mean_all", "The mean of all elements.", annotations...);
    unary<Op::copy>(cls, "copy", "The same elements.", annotations...);
    cls.def(
        "compare",
        [](Target& target, nb::handle a, nb::handle b, nb::handle comparison, Options... options) {
          Request request = request_of(Op::compare);
          request.attributes.comparison = comparison_from(comparison);
          return target.run(request, OperandList{a, b}, options...);
        },
        "a"_a, "b"_a, "comparison"_a, annotations...,
        "1 where it holds, else 0, as int32. `comparison`: '==', '!=', '<' or '<='.");
    cls.def(
        "select",
        [](Target& target, nb::handle condition, nb::handle a, nb::handle b, Options... options) {
          Request request = request_of(Op::select);
          return target.run(request, OperandList{condition, a, b}, options...);
        },
        "condition"_a, "a"_a, "b"_a, annotations...,
        "a where the int32 `condition` is not 0, and b elsewhere.");
    cls.def(
        "cast",
        [](Target& target, nb::handle x, nb::handle dtype, Options... options) {
          Request request = request_of(Op::cast);
          request.attributes.dtype = dtype_from(dtype);
          return target.run(request, OperandList{x}, options...);
        },
        "x"_a, "dtype"_a, annotations...,
        "The same numbers as `dtype`; float32 to integers: towards 0, within their range.");
    cls.def(
        "fill",
        [](Target& target, nb::handle value, nb::handle shape, Options... options) {
          Request request = request_of(Op::fill);
          request.attributes.shape = ints_from(shape);
          return target.run(request, OperandList{value}, options...);
        },
        "value"_a, "shape"_a, annotations..., "`shape` elements, all the first one of `value`.");
  }

  template <Op op, class Class, class... Annotations>
  static void reduction(Class& cls, const char* name, const char* doc,
                        const Annotations&... annotations) {
    cls.def(
        name,
        [](Target& target, nb::handle x, nb::handle axes, bool keepdims, Options... options) {
          Request request = request_of(op);
          request.attributes.axes = ints_from(axes);
          request.attributes.keepdims = keepdims;
          return target.run(request, OperandList{x}, options...);
        },
        "x"_a, "axes"_a = nb::tuple(), "keepdims"_a = false, annotations..., doc);
  }

  template <class Class, class... Annotations>
  static void bind_reductions(Class& cls, const Annotations&... annotations) {
    reduction<Op::sum>(cls, "sum", "The sum over `axes`; none: over all.", annotations...);
    reduction<Op::mean>(cls, "mean", "The mean over `axes`; none: over all.", annotations...);
    reduction<Op::reduce_max>(cls, "reduce_max", "The largest over `axes`; NaN if one is.",
                              annotations...);
    cls.def(
        "softmax",
        [](Target& target, nb::handle x, nb::handle axes, Options... options) {
          Request request = request_of(Op::softmax);
          request.attributes.axes = ints_from(axes);
          return target.run(request, OperandList{x}, options...);
        },
        "x"_a, "axes"_a = -1, annotations..., "exp(x), divided by its sum along `axes`.");
    binary<Op::matmul>(cls, "matmul", "[..., M, K] x [..., K, N] -> [..., M, N].", annotations...);
    binary<Op::dot>(cls, "dot", "Products of vectors and matrices.", annotations...);
  }

  /// An op of one operand and one list of integers, `word`.
  template <Op op, IntList OpAttributes::*field, class Class, class... Annotations>
  static void listed(Class& cls, const char* name, const char* word, const char* doc,
                     const Annotations&... annotations) {
    cls.def(
        name,
        [](Target& target, nb::handle x, nb::handle list, Options... options) {
          Request request = request_of(op);
          request.attributes.*field = ints_from(list);
          return target.run(request, OperandList{x}, options...);
        },
        "x"_a, nb::arg(word), annotations..., doc);
  }

  template <class Class, class... Annotations>
  static void bind_shapes(Class& cls, const Annotations&... annotations) {
    listed<Op::reshape, &OpAttributes::shape>(
        cls, "reshape", "shape", "The same elements; one extent may be -1.", annotations...);
    listed<Op::expand_dims, &OpAttributes::axes>(cls, "expand_dims", "axes",
                                                 "Inserts dims of extent 1: dims of the result.",
                                                 annotations...);
    listed<Op::transpose, &OpAttributes::permutation>(
        cls, "transpose", "permutation", "Dim d of the result is dim permutation[d] of x.",
        annotations...);
    listed<Op::index, &OpAttributes::indices>(cls, "index", "indices", "One element.",
                                              annotations...);
    cls.def(
        "squeeze",
        [](Target& target, nb::handle x, nb::handle axes, Options... options) {
          Request request = request_of(Op::squeeze);
          request.attributes.axes = ints_from(axes);
          return target.run(request, OperandList{x}, options...);
        },
        "x"_a, "axes"_a = nb::tuple(), annotations...,
        "Removes dims of extent 1; none named: all of them.");
    cls.def(
        "slice",
        [](Target& target, nb::handle x, nb::handle starts, nb::handle ends, nb::handle steps,
           Options... options) {
          Request request = request_of(Op::slice);
          request.attributes.slice.starts = ints_from(starts);
          request.attributes.slice.ends = ints_from(ends);
          request.attributes.slice.steps = ints_from(steps);
          return target.run(request, OperandList{x}, options...);
        },
        "x"_a, "starts"_a, "ends"_a, "steps"_a, annotations...,
        "In each dim the elements from its start on, step by step, below its end.");
    binary<Op::gather>(cls, "gather", "Rows of a, by the indices b (int32 or int64).",
                       annotations...);
    cls.def(
        "concat",
        [](Target& target, nb::handle a, nb::handle b, nb::handle axis, Options... options) {
          Request request = request_of(Op::concat);
          request.attributes.axes = ints_from(axis);
          return target.run(request, OperandList{a, b}, options...);
        },
        "a"_a, "b"_a, "axis"_a = 0, annotations..., "b behind a, along one axis.");
    cls.def(
        "pad",
        [](Target& target, nb::handle x, nb::handle value, nb::handle low, nb::handle high,
           Options... options) {
          Request request = request_of(Op::pad);
          request.attributes.low = ints_from(low);
          request.attributes.high = ints_from(high);
          return target.run(request, OperandList{x, value}, options...);
        },
        "x"_a, "value"_a, "low"_a, "high"_a, annotations...,
        "x with low[d] elements before it and high[d] behind it in each dim d, all the first one "
        "of `value`.");
  }

  template <class Class, class... Annotations>
  static void bind_windows(Class& cls, const Annotations&... annotations) {
    cls.def(
        "conv2d",
        [](Target& target, nb::handle images, nb::handle filter, nb::handle strides,
           nb::handle padding, nb::handle pads, std::int64_t groups, Options... options) {
          Request request = request_of(Op::conv2d);
          request.attributes.strides = ints_from(strides);
          request.attributes.padding = padding_from(padding);
          request.attributes.pads = ints_from(pads);
          request.attributes.groups = groups;
          return target.run(request, OperandList{images, filter}, options...);
        },
        "images"_a, "filter"_a, "strides"_a = nb::make_tuple(1, 1), "padding"_a = "valid",
        "pads"_a = nb::tuple(), "groups"_a = 1, annotations...,
        "Images [N, H, W, C] x filter [rows, columns, C / groups, outputs]. `padding`: 'valid', "
        "'same', or 'custom' with `pads` (top, bottom, left, right).");
    cls.def(
        "max_pool",
        [](Target& target, nb::handle images, nb::handle window, nb::handle strides,
           nb::handle padding, nb::handle pads, Options... options) {
          Request request = request_of(Op::max_pool);
          request.attributes.window = ints_from(window);
          request.attributes.strides = ints_from(strides);
          request.attributes.padding = padding_from(padding);
          request.attributes.pads = ints_from(pads);
          return target.run(request, OperandList{images}, options...);
        },
        "images"_a, "window"_a, "strides"_a = nb::make_tuple(1, 1), "padding"_a = "valid",
        "pads"_a = nb::tuple(), annotations...,
        "The largest of each window of images [N, H, W, C]; padding as of `conv2d`.");
  }
};

}  // namespace ringkernel::python
