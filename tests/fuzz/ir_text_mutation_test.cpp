// Texts of the IR grammar, each changed many times from a fixed seed: refused with a place and one
// of three codes, or accepted with a meaning that survives being written down and read again.
// Modules likewise, refused with a place.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "ops/ir_text.hpp"
#include "ringkernel/graph.hpp"

namespace ringkernel::ops {
namespace {

constexpr std::string_view originals[] = {
    "Add(%0, %1)",
    "BinOp(Mul, %a, %b)",
    "tensor.matmul(%0, %1)",
    "Sum(%0, [1, -1], true)",
    "Reshape(%x, [2, -1, 3,])",
    "Transpose(%0, [1,0])",
    "Index(%0, [3, 4])",
    "Slice(%0, [0:4:2, 1:3])",
    "Conv2d(%0, %1, [1,2], Same)",
    "Conv2d(%0, %1, [1,1], Custom([[0,1],[2,3]]))",
    "Compare(%0, %1, LessEqual)",
    "Cast(%0, i64)",
    "Concat(%0, %1, [-1])",
    "Softmax(%0, [1])",
    "Conv2d(%0, %1, [1,1], Valid, 4)",
    "Pad(%0, %1, [1, 0], [0, 2])",
    "MaxPool(%0, [2,3], [1,2], Custom([[0,1],[2,0]]))",
};

std::string list(const IntList& values) {
  std::string text = "[";
  for (const std::int64_t value : values.values()) text += std::to_string(value) + ",";
  return text + "]";
}

/// The operation, written anew. Of lists that are too long it has what fits.
std::string write(const IrOperation& operation) {
  const OpAttributes& attributes = operation.attributes;
  std::string text(find_op(static_cast<std::uint16_t>(operation.op))->name);
  text += "(";
  const char* separator = "";
  const auto add = [&](const std::string& argument) {
    text += separator + argument;
    separator = ", ";
  };
  for (std::uint32_t i = 0; i < operation.operand_count; ++i)
    add("%" + std::string(operation.operands[i]));
  switch (operation.op) {
    case Op::sum:
    case Op::mean:
    case Op::reduce_max:
      add(list(attributes.axes));
      add(attributes.keepdims ? "true" : "false");
      break;
    case Op::expand_dims:
    case Op::squeeze:
    case Op::softmax:
    case Op::concat: add(list(attributes.axes)); break;
    case Op::reshape:
    case Op::fill: add(list(attributes.shape)); break;
    case Op::transpose: add(list(attributes.permutation)); break;
    case Op::index: add(list(attributes.indices)); break;
    case Op::slice: {
      std::string ranges = "[";
      for (std::size_t i = 0; i < attributes.slice.starts.values().size(); ++i)
        ranges += std::to_string(attributes.slice.starts.values()[i]) + ":" +
                  std::to_string(attributes.slice.ends.values()[i]) + ":" +
                  std::to_string(attributes.slice.steps.values()[i]) + ",";
      add(ranges + "]");
      break;
    }
    case Op::conv2d:
    case Op::max_pool: {
      if (operation.op == Op::max_pool) add(list(attributes.window));
      add(list(attributes.strides));
      std::string pads;
      for (std::size_t i = 0; i + 1 < attributes.pads.values().size(); i += 2)
        pads += "[" + std::to_string(attributes.pads.values()[i]) + "," +
                std::to_string(attributes.pads.values()[i + 1]) + "],";
      add(attributes.padding == Padding::same    ? "Same"
          : attributes.padding == Padding::valid ? "Valid"
                                                 : "Custom([" + pads + "])");
      if (attributes.groups != 1) add(std::to_string(attributes.groups));
      break;
    }
    case Op::compare: {
      constexpr std::array names{"Equal", "NotEqual", "Less", "LessEqual"};
      add(names.at(static_cast<std::size_t>(attributes.comparison)));
      break;
    }
    case Op::cast: add(name(attributes.dtype)); break;
    case Op::pad:
      add(list(attributes.low));
      add(list(attributes.high));
      break;
    default: break;
  }
  return text + ")";
}

class Mutator {
 public:
  std::string mutate(std::string text) {
    for (std::size_t edits = 1 + below(4); edits > 0 && !text.empty(); --edits) edit(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  void edit(std::string& text) {
    static constexpr std::string_view pieces[] = {
        "(", ")",  "[", "]",     ",",    ":",    "%",      "-",    "0",   "9",
        " ", "\n", "x", "false", "Same", "Sum(", "[1:2,]", "%0, ", "i32", "Less"};
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0: text[at] = static_cast<char>(random_()); break;
      case 1: text.insert(at, pieces[below(std::size(pieces))]); break;
      case 2: text.erase(at, 1 + below(3)); break;
      case 3: text.insert(at, text.substr(below(text.size()), below(8))); break;
      default: text.replace(at, 1, pieces[below(std::size(pieces))]); break;
    }
  }

  std::mt19937_64 random_{0x6972'7478};
};

TEST(IrTextMutation, IsAcceptedWithOneMeaningOrRefusedWithAPlace) {
  constexpr std::size_t mutations_per_text = 50'000;
  Mutator mutator;
  std::set<Errc> seen;
  for (const std::string_view original : originals) {
    ASSERT_TRUE(parse_operation(original)) << original;
    for (std::size_t i = 0; i < mutations_per_text; ++i) {
      const std::string text = mutator.mutate(std::string(original));
      const Result<IrOperation> operation = parse_operation(text);
      if (!operation) {
        seen.insert(static_cast<Errc>(operation.error().code.value()));
        ASSERT_TRUE(operation.error().detail.starts_with("line ")) << text;
        continue;
      }
      seen.insert(Errc::ok);
      const std::string written = write(*operation);
      const Result<IrOperation> again = parse_operation(written);
      ASSERT_TRUE(again) << text << " -> " << written << ": " << again.error().text();
      ASSERT_EQ(again->op, operation->op) << text;
      ASSERT_EQ(write(*again), written) << text;
    }
  }
  seen.erase(Errc::invalid_dtype);  // f64, which few changes make
  EXPECT_EQ(seen, (std::set{Errc::ok, Errc::invalid_argument, Errc::arity_mismatch,
                            Errc::unsupported_operation}));
}

TEST(IrTextMutation, ModulesAreAcceptedOrRefusedWithAPlace) {
  constexpr std::string_view module = R"(%0 = Input() {name: "x", axes: [1]} : Tensor<f32, [2, 2]>
%w = ConstTensor([[1, -2.5e1], [3, 4,]]) : Tensor<f32, [2, 2]>  # weights
%1 = MatMul(%0, %w) : Tensor<f32, [2, 2]>
%c = ConstI64(7) : Tensor<i64, []>
%2 = %1
%3 = Sum(%2, [0], false) : Tensor<f32, [2]>
outputs: %3, %1)";
  ASSERT_TRUE(Graph::parse("module", module));
  Mutator mutator;
  std::size_t accepted = 0;
  std::set<Errc> seen;
  for (std::size_t i = 0; i < 100'000; ++i) {
    const std::string text = mutator.mutate(std::string(module));
    const Result<Graph> graph = Graph::parse("module", text);
    accepted += graph ? 1 : 0;
    if (graph) continue;
    seen.insert(static_cast<Errc>(graph.error().code.value()));
    ASSERT_TRUE(graph.error().detail.starts_with("line ")) << text << "\n" << graph.error().text();
  }
  EXPECT_GT(accepted, 1'000u);  // what is changed may be a comment, or a number
  EXPECT_TRUE(seen.contains(Errc::undefined_value) && seen.contains(Errc::ragged_literal) &&
              seen.contains(Errc::constant_mismatch) && seen.contains(Errc::dimension_mismatch));
}

}  // namespace
}  // namespace ringkernel::ops
