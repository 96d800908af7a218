#include "support/reference_ops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace ringkernel::test {

namespace {

using Index = std::vector<std::size_t>;
using Inputs = std::span<const Values>;

Shape shape_of(const Index& dims) {
  const std::vector<std::int64_t> extents(dims.begin(), dims.end());
  return Shape::make(extents).value();
}

Index dims_of(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

/// The index of the element that lies at `position` in row-major order.
Index index_at(const Index& dims, std::size_t position) {
  Index index(dims.size());
  for (std::size_t dim = dims.size(); dim-- > 0; position /= dims[dim])
    index[dim] = position % dims[dim];
  return index;
}

/// `dims` is a list of extents or a shape.
std::size_t position_of(const auto& dims, const Index& index) {
  std::size_t position = 0;
  for (std::size_t dim = 0; dim < index.size(); ++dim) position = position * dims[dim] + index[dim];
  return position;
}

/// A tensor of shape `dims`, element by element.
Values build(const Index& dims, const std::function<double(const Index&)>& element) {
  Values result{shape_of(dims), {}};
  for (std::size_t i = 0; i < result.shape.element_count(); ++i)
    result.elements.push_back(element(index_at(dims, i)));
  return result;
}

double at(const Values& tensor, const Index& index) {
  return tensor.elements[position_of(tensor.shape, index)];
}

/// The element of `dims` that stands for `index` of a shape that `dims` is broadcast to.
Index unbroadcast(const Index& dims, const Index& index) {
  Index own(dims.size());
  for (std::size_t dim = 0; dim < dims.size(); ++dim)
    own[dim] = dims[dim] == 1 ? 0 : index[index.size() - dims.size() + dim];
  return own;
}

Index broadcast(Index a, Index b) {
  if (a.size() < b.size()) std::swap(a, b);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (std::size_t dim = 0; dim < a.size(); ++dim) a[dim] = std::max(a[dim], b[dim]);
  return a;
}

Values binary(Inputs inputs, const std::function<double(double, double)>& combine) {
  const Index a = dims_of(inputs[0].shape);
  const Index b = dims_of(inputs[1].shape);
  return build(broadcast(a, b), [&](const Index& index) {
    return combine(at(inputs[0], unbroadcast(a, index)), at(inputs[1], unbroadcast(b, index)));
  });
}

Values unary(Inputs inputs, const std::function<double(double)>& map) {
  Values result = inputs[0];
  std::ranges::transform(result.elements, result.elements.begin(), map);
  return result;
}

/// What elements are reduced to, and how many made one.
struct Reduced {
  Values values;
  double count;
};

/// Begins with `first`, and takes in element after element by `combine`.
Reduced reduce(const Values& input, const OpAttributes& attributes, double first,
               const std::function<double(double, double)>& combine) {
  const Index dims = dims_of(input.shape);
  const bool all = attributes.axes.count() == 0;
  std::vector<bool> is_reduced(dims.size(), all);
  for (const std::int64_t axis : attributes.axes.values())
    is_reduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(dims.size())
                                                 : axis)] = true;
  const auto project = [&](const Index& index, bool extents) {
    Index kept;
    for (std::size_t dim = 0; dim < dims.size(); ++dim) {
      if (!is_reduced[dim]) kept.push_back(index[dim]);
      if (is_reduced[dim] && attributes.keepdims && !all) kept.push_back(extents ? 1 : 0);
    }
    return kept;
  };
  const Index out_dims = project(dims, true);
  Reduced reduced{build(out_dims, [first](const Index&) { return first; }), 0};
  for (std::size_t i = 0; i < input.elements.size(); ++i) {
    double& result =
        reduced.values.elements[position_of(out_dims, project(index_at(dims, i), false))];
    result = combine(result, input.elements[i]);
  }
  reduced.count = static_cast<double>(input.elements.size() / reduced.values.elements.size());
  return reduced;
}

Reduced sum_over(const Values& input, const OpAttributes& attributes) {
  return reduce(input, attributes, 0, std::plus<>());
}

Values reference_noop(Inputs, const OpAttributes&) { return {}; }

Values reference_add(Inputs inputs, const OpAttributes&) { return binary(inputs, std::plus<>()); }

Values reference_mul(Inputs inputs, const OpAttributes&) {
  return binary(inputs, std::multiplies<>());
}

Values reference_sub(Inputs inputs, const OpAttributes&) { return binary(inputs, std::minus<>()); }

Values reference_div(Inputs inputs, const OpAttributes&) {
  return binary(inputs, std::divides<>());
}

double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

Values reference_max(Inputs inputs, const OpAttributes&) { return binary(inputs, larger); }

Values reference_min(Inputs inputs, const OpAttributes&) {
  return binary(inputs, [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}

Values reference_compare(Inputs inputs, const OpAttributes& attributes) {
  return binary(inputs, [&](double a, double b) -> double {
    switch (attributes.comparison) {
      case Comparison::equal: return a == b;
      case Comparison::not_equal: return a != b;
      case Comparison::less: return a < b;
      default: return a <= b;
    }
  });
}

Values reference_relu(Inputs inputs, const OpAttributes&) {
  return unary(inputs, [](double x) { return x > 0 ? x : 0.0; });
}

Values reference_neg(Inputs inputs, const OpAttributes&) { return unary(inputs, std::negate<>()); }

Values reference_exp(Inputs inputs, const OpAttributes&) {
  return unary(inputs, [](double x) { return std::exp(x); });
}

Values reference_log(Inputs inputs, const OpAttributes&) {
  return unary(inputs, [](double x) { return std::log(x); });
}

Values reference_sqrt(Inputs inputs, const OpAttributes&) {
  return unary(inputs, [](double x) { return std::sqrt(x); });
}

Values reference_tanh(Inputs inputs, const OpAttributes&) {
  return unary(inputs, [](double x) { return std::tanh(x); });
}

Values reference_erf(Inputs inputs, const OpAttributes&) {
  return unary(inputs, [](double x) { return std::erf(x); });
}

Values reference_matmul(Inputs inputs, const OpAttributes&) {
  Index a_batch = dims_of(inputs[0].shape);
  Index b_batch = dims_of(inputs[1].shape);
  const std::size_t rows = a_batch[a_batch.size() - 2];
  const std::size_t depth = a_batch.back();
  const std::size_t columns = b_batch.back();
  a_batch.resize(a_batch.size() - 2);
  b_batch.resize(b_batch.size() - 2);
  Index dims = broadcast(a_batch, b_batch);
  dims.insert(dims.end(), {rows, columns});
  return build(dims, [&](const Index& index) {
    const Index batch(index.begin(), index.end() - 2);
    Index a = unbroadcast(a_batch, batch);
    Index b = unbroadcast(b_batch, batch);
    a.insert(a.end(), {index[index.size() - 2], 0});
    b.insert(b.end(), {0, index.back()});
    double sum = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      a.back() = k;
      b[b.size() - 2] = k;
      sum += at(inputs[0], a) * at(inputs[1], b);
    }
    return sum;
  });
}

Values reference_dot(Inputs inputs, const OpAttributes&) {
  const Index a = dims_of(inputs[0].shape);
  const Index b = dims_of(inputs[1].shape);
  Index dims;
  if (a.size() == 2) dims.push_back(a[0]);
  if (b.size() == 2) dims.push_back(b[1]);
  return build(dims, [&](const Index& index) {
    double sum = 0;
    for (std::size_t k = 0; k < b[0]; ++k)
      sum += at(inputs[0], a.size() == 2 ? Index{index[0], k} : Index{k}) *
             at(inputs[1], b.size() == 2 ? Index{k, index.back()} : Index{k});
    return sum;
  });
}

/// Zeros before the first element of an axis, and how many outputs the axis gives.
struct Sliding {
  std::size_t before;
  std::size_t outputs;
};

Sliding slide(std::size_t extent, std::size_t filter, std::size_t axis,
              const OpAttributes& attributes) {
  const auto stride = static_cast<std::size_t>(attributes.strides.values()[axis]);
  if (attributes.padding == Padding::same) {
    const std::size_t outputs = (extent + stride - 1) / stride;
    const std::size_t reached = (outputs - 1) * stride + filter;
    return {reached > extent ? (reached - extent) / 2 : 0, outputs};
  }
  std::size_t before = 0;
  std::size_t padded = extent;
  if (attributes.padding == Padding::custom) {
    before = static_cast<std::size_t>(attributes.pads.values()[2 * axis]);
    padded += before + static_cast<std::size_t>(attributes.pads.values()[2 * axis + 1]);
  }
  return {before, (padded - filter) / stride + 1};
}

Values reference_conv2d(Inputs inputs, const OpAttributes& attributes) {
  const Index image = dims_of(inputs[0].shape);
  const Index filter = dims_of(inputs[1].shape);
  const Sliding rows = slide(image[1], filter[0], 0, attributes);
  const Sliding columns = slide(image[2], filter[1], 1, attributes);
  const auto stride = [&](std::size_t axis) {
    return static_cast<std::size_t>(attributes.strides.values()[axis]);
  };
  const auto padded = [&](std::size_t n, std::size_t row, std::size_t column, std::size_t channel) {
    if (row < rows.before || row - rows.before >= image[1] || column < columns.before ||
        column - columns.before >= image[2])
      return 0.0;
    return at(inputs[0], {n, row - rows.before, column - columns.before, channel});
  };
  const std::size_t group_outputs = filter[3] / static_cast<std::size_t>(attributes.groups);
  return build({image[0], rows.outputs, columns.outputs, filter[3]}, [&](const Index& index) {
    const std::size_t first_channel = index[3] / group_outputs * filter[2];
    double sum = 0;
    for (std::size_t row = 0; row < filter[0]; ++row)
      for (std::size_t column = 0; column < filter[1]; ++column)
        for (std::size_t channel = 0; channel < filter[2]; ++channel)
          sum += padded(index[0], index[1] * stride(0) + row, index[2] * stride(1) + column,
                        first_channel + channel) *
                 at(inputs[1], {row, column, channel, index[3]});
    return sum;
  });
}

/// Places in the padding are none of a window's.
Values reference_max_pool(Inputs inputs, const OpAttributes& attributes) {
  const Index image = dims_of(inputs[0].shape);
  const std::span<const std::int64_t> window = attributes.window.values();
  const std::span<const std::int64_t> strides = attributes.strides.values();
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(window[axis]); };
  const std::array<Sliding, 2> slid{slide(image[1], extent(0), 0, attributes),
                                    slide(image[2], extent(1), 1, attributes)};
  const auto places = [&](std::size_t axis, std::size_t output) {
    Index inside;
    const std::size_t first = output * static_cast<std::size_t>(strides[axis]);
    for (std::size_t place = first; place < first + extent(axis); ++place)
      if (place >= slid[axis].before && place - slid[axis].before < image[1 + axis])
        inside.push_back(place - slid[axis].before);
    return inside;
  };
  const Index dims{image[0], slid[0].outputs, slid[1].outputs, image[3]};
  return build(dims, [&](const Index& index) {
    std::vector<double> elements;
    for (const std::size_t row : places(0, index[1]))
      for (const std::size_t column : places(1, index[2]))
        elements.push_back(at(inputs[0], {index[0], row, column, index[3]}));
    for (const double element : elements)
      if (std::isnan(element)) return element;
    const double largest = std::ranges::max(elements);
    return largest == 0 ? 0.0 : largest;
  });
}

Values reference_sum(Inputs inputs, const OpAttributes& attributes) {
  return sum_over(inputs[0], attributes).values;
}

Values reference_mean(Inputs inputs, const OpAttributes& attributes) {
  Reduced sums = sum_over(inputs[0], attributes);
  for (double& element : sums.values.elements) element /= sums.count;
  return sums.values;
}

Values reference_reduce_max(Inputs inputs, const OpAttributes& attributes) {
  constexpr double least = -std::numeric_limits<double>::infinity();
  Values result = reduce(inputs[0], attributes, least, larger).values;
  for (double& element : result.elements) element += 0.0;  // of zeros it is +0
  return result;
}

Values reference_softmax(Inputs inputs, const OpAttributes& attributes) {
  OpAttributes keeping = attributes;
  keeping.keepdims = true;
  const Values most = reference_reduce_max(inputs, keeping);
  const Values pair[] = {inputs[0], most};
  const bool all = attributes.axes.count() == 0;  // `most` is a scalar then
  const Values powers = binary(pair, [](double x, double peak) { return std::exp(x - peak); });
  const Values sums = reduce(powers, all ? attributes : keeping, 0, std::plus<>()).values;
  const Values quotient[] = {powers, sums};
  return binary(quotient, std::divides<>());
}

Values reference_sum_all(Inputs inputs, const OpAttributes&) {
  return sum_over(inputs[0], {}).values;
}

Values reference_mean_all(Inputs inputs, const OpAttributes&) { return reference_mean(inputs, {}); }

Values reference_reshape(Inputs inputs, const OpAttributes& attributes) {
  const std::span<const std::int64_t> wanted = attributes.shape.values();
  Index dims(wanted.begin(), wanted.end());
  std::size_t known = 1;
  for (const std::int64_t extent : wanted)
    if (extent > 0) known *= static_cast<std::size_t>(extent);
  for (std::size_t dim = 0; dim < dims.size(); ++dim)
    if (wanted[dim] == -1) dims[dim] = inputs[0].elements.size() / known;
  return {shape_of(dims), inputs[0].elements};
}

std::vector<std::size_t> ascending(const IntList& axes) {
  std::vector<std::size_t> sorted(axes.values().begin(), axes.values().end());
  std::ranges::sort(sorted);
  return sorted;
}

Values reference_expand_dims(Inputs inputs, const OpAttributes& attributes) {
  Index dims = dims_of(inputs[0].shape);
  for (const std::size_t axis : ascending(attributes.axes))
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return {shape_of(dims), inputs[0].elements};
}

Values reference_squeeze(Inputs inputs, const OpAttributes& attributes) {
  const Index before = dims_of(inputs[0].shape);
  const std::vector<std::size_t> axes = ascending(attributes.axes);
  Index dims;
  for (std::size_t dim = 0; dim < before.size(); ++dim)
    if (axes.empty() ? before[dim] != 1 : !std::ranges::count(axes, dim))
      dims.push_back(before[dim]);
  return {shape_of(dims), inputs[0].elements};
}

Values reference_transpose(Inputs inputs, const OpAttributes& attributes) {
  const auto permutation = attributes.permutation.values();
  const Index before = dims_of(inputs[0].shape);
  Index dims;
  for (const std::int64_t from : permutation)
    dims.push_back(before[static_cast<std::size_t>(from)]);
  return build(dims, [&](const Index& index) {
    Index source(index.size());
    for (std::size_t dim = 0; dim < index.size(); ++dim)
      source[static_cast<std::size_t>(permutation[dim])] = index[dim];
    return at(inputs[0], source);
  });
}

Values reference_index(Inputs inputs, const OpAttributes& attributes) {
  const auto indices = attributes.indices.values();
  return {{}, {at(inputs[0], Index(indices.begin(), indices.end()))}};
}

Values reference_slice(Inputs inputs, const OpAttributes& attributes) {
  const auto& [starts, ends, steps] = attributes.slice;
  std::vector<Index> taken;  // of each dim, the indices
  Index dims;
  for (std::size_t dim = 0; dim < inputs[0].shape.rank(); ++dim) {
    taken.emplace_back();
    for (std::int64_t i = std::max<std::int64_t>(starts.values()[dim], 0); i < ends.values()[dim];
         i += steps.values()[dim])
      taken.back().push_back(static_cast<std::size_t>(i));
    dims.push_back(taken.back().size());
  }
  return build(dims, [&](const Index& index) {
    Index source;
    for (std::size_t dim = 0; dim < index.size(); ++dim) source.push_back(taken[dim][index[dim]]);
    return at(inputs[0], source);
  });
}

Values reference_gather(Inputs inputs, const OpAttributes&) {
  const Index rows = dims_of(inputs[1].shape);
  const Index input = dims_of(inputs[0].shape);
  Index dims = rows;
  dims.insert(dims.end(), input.begin() + 1, input.end());
  return build(dims, [&](const Index& index) {
    const auto split = index.begin() + static_cast<std::ptrdiff_t>(rows.size());
    Index source{static_cast<std::size_t>(at(inputs[1], Index(index.begin(), split)))};
    source.insert(source.end(), split, index.end());
    return at(inputs[0], source);
  });
}

Values reference_concat(Inputs inputs, const OpAttributes& attributes) {
  const std::int64_t named = attributes.axes.values()[0];
  Index dims = dims_of(inputs[0].shape);
  const auto axis =
      static_cast<std::size_t>(named < 0 ? named + static_cast<std::int64_t>(dims.size()) : named);
  const std::size_t before = dims[axis];
  dims[axis] += inputs[1].shape[axis];
  return build(dims, [&](Index index) {
    if (index[axis] < before) return at(inputs[0], index);
    index[axis] -= before;
    return at(inputs[1], index);
  });
}

Values reference_pad(Inputs inputs, const OpAttributes& attributes) {
  const auto low = attributes.low.values();
  const auto high = attributes.high.values();
  Index dims = dims_of(inputs[0].shape);
  for (std::size_t dim = 0; dim < dims.size(); ++dim)
    dims[dim] += static_cast<std::size_t>(low[dim] + high[dim]);
  return build(dims, [&](Index index) {
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      const auto before = static_cast<std::size_t>(low[dim]);
      if (index[dim] < before || index[dim] >= before + inputs[0].shape[dim])
        return inputs[1].elements[0];
      index[dim] -= before;
    }
    return at(inputs[0], index);
  });
}

/// Of numbers that an f32 holds.
Values reference_cast(Inputs inputs, const OpAttributes& attributes) {
  if (attributes.dtype == DType::f32) return inputs[0];
  return unary(inputs, [](double x) { return std::trunc(x) + 0.0; });  // no -0
}

Values reference_select(Inputs inputs, const OpAttributes&) {
  const Index condition = dims_of(inputs[0].shape);
  const Index a = dims_of(inputs[1].shape);
  const Index b = dims_of(inputs[2].shape);
  return build(broadcast(condition, broadcast(a, b)), [&](const Index& index) {
    return at(inputs[0], unbroadcast(condition, index)) != 0 ? at(inputs[1], unbroadcast(a, index))
                                                             : at(inputs[2], unbroadcast(b, index));
  });
}

Values reference_copy(Inputs inputs, const OpAttributes&) { return inputs[0]; }

Values reference_fill(Inputs inputs, const OpAttributes& attributes) {
  const std::span<const std::int64_t> dims = attributes.shape.values();
  return build(Index(dims.begin(), dims.end()),
               [&](const Index&) { return inputs[0].elements[0]; });
}

}  // namespace

Values reference(Op op, std::span<const Values> inputs, const OpAttributes& attributes) {
  switch (op) {
#define RK_OP(id, name, input_count, types, attrs, rule, rereads) \
  case Op::name:                                                  \
    return reference_##name(inputs, attributes);
#include "ringkernel/protocol/ops.def"
#undef RK_OP
  }
  return {};
}

}  // namespace ringkernel::test
