#include "conformance/cases.hpp"

#include <cmath>
#include <numeric>

#include "support/attributes.hpp"
#include "support/elements.hpp"

namespace ringkernel::test {

namespace {

using Dims = std::vector<std::int64_t>;

constexpr int rounds = 24;

std::int64_t up_to(Dice& dice, std::uint64_t most) {
  return static_cast<std::int64_t>(1 + dice.below(most));
}

/// `rank` extents, together at most about 2000 elements.
Dims random_dims(Dice& dice, std::size_t rank) {
  constexpr std::uint64_t most[] = {1, 2000, 44, 12, 6, 4, 3, 3, 2};
  Dims dims(rank);
  for (std::int64_t& dim : dims) dim = up_to(dice, most[rank]);
  return dims;
}

/// `dims` with some extents made 1 and some leading dims left out: broadcasts to `dims`.
Dims random_part(Dims dims, Dice& dice) {
  for (std::int64_t& dim : dims)
    if (dice.hits(30)) dim = 1;
  dims.erase(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(dice.below(dims.size() + 1)));
  return dims;
}

void shuffle(Dims& list, Dice& dice) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[dice.below(i)]);
}

// One function for each rule of ops.def: the cases of an op with that rule.

std::vector<Case> none_cases(Op, Dice&) { return {}; }

std::vector<Case> unary_cases(Op op, Dice& dice) {
  const bool takes_negatives = op != Op::log && op != Op::sqrt;
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    for (int round = 0; round < 3; ++round)
      cases.push_back({op, {random_tensor(random_dims(dice, rank), dice, takes_negatives)}, {}});
  return cases;
}

std::vector<Case> binary_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank) {
    const Dims dims = random_dims(dice, rank);
    const Tensor whole = random_tensor(dims, dice);
    const Tensor part = random_tensor(random_part(dims, dice), dice);
    cases.push_back({op, {whole, random_tensor(dims, dice)}, {}});
    cases.push_back({op, {whole, random_tensor({}, dice)}, {}});
    cases.push_back({op, {whole, part}, {}});
    cases.push_back({op, {part, whole}, {}});
    cases.push_back({op, {part, random_tensor(random_part(dims, dice), dice)}, {}});
  }
  // Each operand broadcasts the other.
  cases.push_back({op, {random_tensor({3, 1, 5}, dice), random_tensor({4, 1}, dice)}, {}});
  return cases;
}

std::vector<Case> compare_cases(Op op, Dice& dice) {
  std::vector<Case> cases = binary_cases(op, dice);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].attributes = comparing(static_cast<Comparison>(i % 4));
    for (Tensor& input : cases[i].inputs)  // so few numbers that many are equal
      for (float& element : input.elements) element = std::trunc(element * 4) / 8;
  }
  return cases;
}

/// Every operand in part or as a whole.
std::vector<Case> select_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    for (int round = 0; round < 4; ++round) {
      const Dims dims = random_dims(dice, rank);
      const auto some = [&](int whole) {
        return random_tensor(round == 0 || round == whole ? dims : random_part(dims, dice), dice);
      };
      Tensor condition = some(1);
      for (float& element : condition.elements) element = element > 0 ? 1.0f : 0.0f;
      cases.push_back({op, {condition.as(DType::i32), some(2), some(3)}, {}});
    }
  return cases;
}

std::vector<Case> cast_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (Case& example : unary_cases(op, dice))
    for (const DType dtype : {DType::f32, DType::i32, DType::i64}) {
      example.attributes = casting(dtype);
      for (float& element : example.inputs[0].elements) element *= 3;
      cases.push_back(example);
    }
  return cases;
}

std::vector<Case> concat_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 1; rank <= rank_max; ++rank)
    for (int round = 0; round < 4; ++round) {
      const Dims dims = random_dims(dice, rank);
      Dims other = dims;
      const auto axis = static_cast<std::int64_t>(dice.below(rank));
      other[static_cast<std::size_t>(axis)] = up_to(dice, 40);
      const std::int64_t named = dice.hits(50) ? axis : axis - static_cast<std::int64_t>(rank);
      cases.push_back(
          {op, {random_tensor(dims, dice), random_tensor(other, dice)}, reducing({named})});
    }
  return cases;
}

/// Batches of small matrices; in every third round one pair whose depth can take several blocks of
/// the sum. At last one with more rows, columns and terms than a kernel holds at a time, and a rest
/// of each.
std::vector<Case> matmul_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (int round = 0; round < rounds; ++round) {
    const bool is_deep = round % 3 == 0;
    Dims batch(is_deep ? 0 : dice.below(4));
    for (std::int64_t& dim : batch) dim = up_to(dice, 3);
    const std::int64_t depth = up_to(dice, is_deep ? 300 : 24);
    Dims a = random_part(batch, dice);
    Dims b = random_part(batch, dice);
    a.insert(a.end(), {up_to(dice, 12), depth});
    b.insert(b.end(), {depth, up_to(dice, is_deep ? 40 : 20)});
    const bool is_signed = dice.hits(50);
    cases.push_back(
        {op, {random_tensor(a, dice, is_signed), random_tensor(b, dice, is_signed)}, {}});
  }
  cases.push_back({op, {random_tensor({199, 530}, dice), random_tensor({530, 39}, dice)}, {}});
  return cases;
}

/// Every kind of padding, with strides up to 3; every third round is deep enough for several blocks
/// of the sum, and the last one has more windows and terms than a kernel holds at a time.
std::vector<Case> conv2d_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t channels = up_to(dice, round % 3 == 0 ? 40 : 5);
    const Dims filter{up_to(dice, 4), up_to(dice, 4), channels, up_to(dice, 36)};
    const Dims images{up_to(dice, 2), 3 + up_to(dice, 7), 3 + up_to(dice, 7), channels};
    const auto pad = [&] { return static_cast<std::int64_t>(dice.below(4)); };
    cases.push_back({op,
                     {random_tensor(images, dice, dice.hits(50)), random_tensor(filter, dice)},
                     sliding({up_to(dice, 3), up_to(dice, 3)}, static_cast<Padding>(round % 3),
                             {pad(), pad(), pad(), pad()})});
  }
  cases.push_back({op,
                   {random_tensor({2, 12, 12, 60}, dice), random_tensor({3, 3, 60, 20}, dice)},
                   sliding({1, 1})});
  // In groups: depthwise in every other round.
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t groups = up_to(dice, round % 2 == 0 ? 40 : 5);
    const std::int64_t channels = round % 2 == 0 ? 1 : up_to(dice, 30);
    const std::int64_t outputs = round % 2 == 0 ? 1 : up_to(dice, 9);
    const Dims filter{up_to(dice, 4), up_to(dice, 4), channels, groups * outputs};
    const Dims images{up_to(dice, 2), 3 + up_to(dice, 5), 3 + up_to(dice, 20), groups * channels};
    const auto pad = [&] { return static_cast<std::int64_t>(dice.below(4)); };
    cases.push_back(
        {op,
         {random_tensor(images, dice, dice.hits(50)), random_tensor(filter, dice)},
         grouped(groups, sliding({up_to(dice, 3), up_to(dice, 3)}, static_cast<Padding>(round % 3),
                                 {pad(), pad(), pad(), pad()}))});
  }
  return cases;
}

/// Every kind of padding, with windows up to 4 x 4 and strides up to 3.
std::vector<Case> pool_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t rows = up_to(dice, 4), columns = up_to(dice, 4);
    const Dims images{up_to(dice, 2), 3 + up_to(dice, 7), 3 + up_to(dice, 7),
                      up_to(dice, round % 2 == 0 ? 36 : 3)};
    const auto pad = [&](std::int64_t extent) {
      return up_to(dice, static_cast<std::uint64_t>(extent)) - 1;
    };
    cases.push_back(
        {op,
         {random_tensor(images, dice)},
         pooling({rows, columns},
                 sliding({up_to(dice, 3), up_to(dice, 3)}, static_cast<Padding>(round % 3),
                         {pad(rows), pad(rows), pad(columns), pad(columns)}))});
  }
  return cases;
}

/// Every rank, with random axes in random spelling, and without axes.
std::vector<Case> reduce_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank) {
    for (int round = 0; round < 4; ++round) {
      Dims axes;
      for (std::size_t axis = 0; axis < rank && round != 0; ++axis)
        if (dice.hits(50))
          axes.push_back(static_cast<std::int64_t>(axis) -
                         (dice.hits(50) ? static_cast<std::int64_t>(rank) : 0));
      const Dims dims = random_dims(dice, rank);
      cases.push_back(
          {op, {random_tensor(dims, dice, dice.hits(50))}, reducing(IntList(axes), dice.hits(50))});
    }
  }
  return cases;
}

std::vector<Case> softmax_cases(Op op, Dice& dice) { return reduce_cases(op, dice); }

std::vector<Case> reduce_all_cases(Op op, Dice& dice) {
  std::vector<Case> cases = unary_cases(op, dice);
  // Around the ends of the chunks that a sum is made of.
  for (const std::int64_t count : {255, 256, 257, 512, 8191, 16'000})
    cases.push_back({op, {random_tensor({count}, dice, dice.hits(50))}, {}});
  return cases;
}

std::vector<Case> reshape_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (int round = 0; round < rounds; ++round) {
    const Tensor x = random_tensor(random_dims(dice, dice.below(5)), dice);
    const auto count = static_cast<std::int64_t>(x.shape.element_count());
    std::int64_t factor = up_to(dice, 8);
    while (count % factor != 0) --factor;
    cases.push_back({op, {x}, shaped({count / factor, 1, factor})});
    cases.push_back({op, {x}, shaped({factor, -1})});
  }
  cases.push_back({op, {random_tensor({1, 1}, dice)}, shaped({})});
  return cases;
}

std::vector<Case> dot_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t rows = up_to(dice, 20), depth = up_to(dice, 400), columns = up_to(dice, 20);
    const bool is_signed = dice.hits(50);
    const auto random = [&](const Dims& dims) { return random_tensor(dims, dice, is_signed); };
    cases.push_back({op, {random({depth}), random({depth})}, {}});
    cases.push_back({op, {random({rows, depth}), random({depth})}, {}});
    cases.push_back({op, {random({depth}), random({depth, columns})}, {}});
    cases.push_back({op, {random({rows, depth}), random({depth, columns})}, {}});
  }
  return cases;
}

std::vector<Case> expand_dims_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    for (std::size_t count = 0; rank + count <= rank_max; ++count) {
      Dims axes(rank + count);
      std::iota(axes.begin(), axes.end(), 0);
      shuffle(axes, dice);
      axes.resize(count);
      cases.push_back(
          {op, {random_tensor(random_dims(dice, rank), dice)}, reducing(IntList(axes))});
    }
  return cases;
}

std::vector<Case> squeeze_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    for (int round = 0; round < 3; ++round) {
      Dims dims = random_dims(dice, rank);
      Dims axes;
      for (std::size_t dim = 0; dim < rank; ++dim) {
        if (dice.hits(50)) continue;
        dims[dim] = 1;
        if (round != 0 && dice.hits(70)) axes.push_back(static_cast<std::int64_t>(dim));
      }
      cases.push_back({op, {random_tensor(dims, dice)}, reducing(IntList(axes))});
    }
  return cases;
}

/// Random orders of the dims, and matrices large enough for several tiles.
std::vector<Case> transpose_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    for (int round = 0; round < 4; ++round) {
      Dims permutation(rank);
      std::iota(permutation.begin(), permutation.end(), 0);
      shuffle(permutation, dice);
      cases.push_back(
          {op, {random_tensor(random_dims(dice, rank), dice)}, permuting(IntList(permutation))});
    }
  cases.push_back({op, {random_tensor({33, 50}, dice)}, permuting({1, 0})});
  cases.push_back({op, {random_tensor({3, 20, 37}, dice)}, permuting({0, 2, 1})});
  cases.push_back({op, {random_tensor({18, 3, 35}, dice)}, permuting({2, 1, 0})});
  return cases;
}

std::vector<Case> index_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    for (int round = 0; round < 3; ++round) {
      const Dims dims = random_dims(dice, rank);
      Dims indices;
      for (const std::int64_t dim : dims)
        indices.push_back(up_to(dice, static_cast<std::uint64_t>(dim)) - 1);
      cases.push_back({op, {random_tensor(dims, dice)}, indexing(IntList(indices))});
    }
  return cases;
}

std::vector<Case> slice_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    for (int round = 0; round < 4; ++round) {
      const Dims dims = random_dims(dice, rank);
      Dims starts, ends, steps;
      for (const std::int64_t dim : dims) {
        ends.push_back(up_to(dice, static_cast<std::uint64_t>(dim)));
        starts.push_back(up_to(dice, static_cast<std::uint64_t>(ends.back())) - 1);
        steps.push_back(dice.hits(50) ? 1 : up_to(dice, 4));
      }
      const SliceRanges ranges{IntList(starts), IntList(ends), IntList(steps)};
      cases.push_back({op, {random_tensor(dims, dice)}, slicing(ranges)});
    }
  return cases;
}

/// Indices of several ranks, i32 and i64 in turn, so few that their rows fit into a message.
std::vector<Case> gather_cases(Op op, Dice& dice) {
  constexpr std::uint64_t most[] = {1, 40, 6, 3, 2};
  std::vector<Case> cases;
  for (std::size_t rank = 1; rank <= 4; ++rank)
    for (std::size_t index_rank = 0; index_rank <= 4; ++index_rank) {
      const Dims dims = random_dims(dice, rank);
      Dims index_dims(index_rank);
      for (std::int64_t& dim : index_dims) dim = up_to(dice, most[index_rank]);
      Tensor indices = random_tensor(index_dims, dice);
      for (float& index : indices.elements)
        index = static_cast<float>(dice.below(static_cast<std::uint64_t>(dims[0])));
      const DType dtype = index_rank % 2 == 0 ? DType::i32 : DType::i64;
      cases.push_back({op, {random_tensor(dims, dice), indices.as(dtype)}, {}});
    }
  return cases;
}

/// Every rank, in every other round in some dims only, to at most 4000 elements. The value is a
/// scalar, or the first of several elements.
std::vector<Case> pad_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    for (int round = 0; round < 4; ++round) {
      const Dims dims = random_dims(dice, rank);
      Dims low(rank), high(rank);
      auto count = static_cast<std::int64_t>(Shape::make(dims).value().element_count());
      for (std::size_t dim = 0; dim < rank; ++dim) {
        for (std::int64_t* pad : {&low[dim], &high[dim]})
          if (round % 2 == 0 || dice.hits(40)) *pad = up_to(dice, rank == 1 ? 300 : 5) - 1;
        const std::int64_t padded = count / dims[dim] * (dims[dim] + low[dim] + high[dim]);
        if (padded > 4000) low[dim] = high[dim] = 0;
        if (padded <= 4000) count = padded;
      }
      const Tensor value = round < 2 ? random_tensor({}, dice) : random_tensor({3}, dice);
      cases.push_back(
          {op, {random_tensor(dims, dice), value}, enclosing(IntList(low), IntList(high))});
    }
  return cases;
}

std::vector<Case> fill_cases(Op op, Dice& dice) {
  std::vector<Case> cases;
  for (std::size_t rank = 0; rank <= rank_max; ++rank)
    cases.push_back({op, {random_tensor({}, dice)}, shaped(IntList(random_dims(dice, rank)))});
  return cases;
}

std::vector<Values> values_of(const std::vector<Tensor>& tensors) {
  std::vector<Values> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.values());
  return values;
}

/// The case with its values, but not its indices, as whole numbers of another type.
Case as_integers(Case example, DType dtype) {
  for (Tensor& input : example.inputs) {
    if (input.dtype != DType::f32) continue;
    for (float& element : input.elements) element = std::trunc(element * 1000);
    input = input.as(dtype);
  }
  return example;
}

std::vector<Case> f32_cases_of(Op op) {
  Dice dice(cases_seed, static_cast<std::uint64_t>(op));
  switch (op) {
#define RK_OP(id, name, inputs, types, attrs, rule, rereads) \
  case Op::name:                                             \
    return rule##_cases(op, dice);
#include "ringkernel/protocol/ops.def"
#undef RK_OP
  }
  return {};
}

}  // namespace

Tensor Tensor::as(DType other) const { return {shape, elements, other, encoded(elements, other)}; }

TensorView Tensor::view() const {
  if (dtype == DType::f32) return {shape, elements};
  return {{dtype, shape}, integers.data()};
}

Request Case::request() const {
  Request request;
  request.op = op;
  request.input_count = static_cast<std::uint32_t>(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) request.inputs[i] = inputs[i].view();
  request.attributes = attributes;
  return request;
}

DType Case::result_dtype() const {
  switch (find_op(static_cast<std::uint16_t>(op))->types) {
    case OperandTypes::compared: return DType::i32;
    case OperandTypes::converted: return attributes.dtype;
    case OperandTypes::selected: return inputs[1].dtype;
    default: return inputs[0].dtype;
  }
}

Values Case::expected() const { return reference(op, values_of(inputs), attributes); }

Values Case::magnitudes() const {
  std::vector<Values> values = values_of(inputs);
  for (Values& input : values)
    for (double& element : input.elements) element = std::abs(element);
  return reference(op, values, attributes);
}

std::string Case::text() const {
  std::string text(name_of(op));
  for (const Tensor& input : inputs) text += " " + input.view().desc.text();
  return text;
}

Tensor random_tensor(const std::vector<std::int64_t>& dims, Dice& dice, bool is_signed) {
  Tensor tensor{Shape::make(dims).value(), {}};
  tensor.elements.resize(tensor.shape.element_count());
  for (float& element : tensor.elements) {
    element = static_cast<float>(dice.below(1 << 24)) / (1 << 24);
    if (is_signed && dice.hits(50)) element = -element;
  }
  return tensor;
}

std::string_view name_of(Op op) { return find_op(static_cast<std::uint16_t>(op))->name; }

std::vector<Case> cases_of(Op op) {
  std::vector<Case> cases = f32_cases_of(op);
  if (find_op(static_cast<std::uint16_t>(op))->types == OperandTypes::f32) return cases;
  const std::size_t count = cases.size();
  for (std::size_t i = 0; i < count; ++i)
    for (const DType dtype : {DType::i32, DType::i64})
      cases.push_back(as_integers(cases[i], dtype));
  return cases;
}

}  // namespace ringkernel::test
