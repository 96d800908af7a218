// Files of ONNX as graphs: what is folded, what is left out, and what every refusal says.
#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "ringkernel/onnx.hpp"
#include "support/stress.hpp"
#include "unit/onnx/file_writer.hpp"

namespace ringkernel::onnx {
namespace {

using test::file;
using test::floats;
using test::info;
using test::integer_attribute;
using test::integers;
using test::Message;
using test::node;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// y = relu(x W + b), 2 x 3 and 3 x 2.
Message dense() {
  return Message()
      .text(2, "dense")
      .message(1, node("MatMul", {"x", "W"}, "xW"))
      .message(1, node("Add", {"xW", "b"}, "sum"))
      .message(1, node("Relu", {"sum"}, "y"))
      .message(5, floats("W", {3, 2}, {1, 2, 3, 4, 5, 6}))
      .message(5, floats("b", {2}, {1, -1}))
      .message(11, info("x", {2, 3}))
      .message(12, info("y", {2, 2}));
}

TEST(OnnxImport, MakesAGraphOfItsNodes) {
  const auto graph = read(file(dense()));
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->name(), "dense");
  EXPECT_EQ(graph->op_count(), 3u);
  ASSERT_EQ(graph->inputs().size(), 1u);
  EXPECT_EQ(graph->inputs()[0], (TensorDesc{DType::f32, {2, 3}}));
  EXPECT_THAT(graph->input_names(), ElementsAre("x"));
  EXPECT_THAT(read(file(dense()), {.outputs = {"y", "y"}})->output_names(), ElementsAre("y", ""));
}

/// As exporters write x.view(x.shape[0], -1): none of it is left.
TEST(OnnxImport, ComputesShapesWhereItReads) {
  const auto scalar = Message().number(2, 7).text(8, "zero").number(7, 0);
  const auto graph = read(file(
      Message()
          .message(1, node("Shape", {"x"}, "shape"))
          .message(1, node("Gather", {"shape", "zero"}, "rows"))
          .message(1, node("Unsqueeze", {"rows", "axes"}, "row"))
          .message(1, node("Concat", {"row", "rest"}, "wanted", {integer_attribute("axis", 0)}))
          .message(1, node("Reshape", {"x", "wanted"}, "y"))
          .message(5, scalar)
          .message(5, integers("axes", {0}))
          .message(5, integers("rest", {-1}))
          .message(11, info("x", {2, 3, 4}))
          .message(12, info("y", {2, 12}))));
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->op_count(), 1u);
}

/// Images have their channels in front there. Between convolutions nothing turns them: one
/// transpose before, one behind, and weights are turned where they are read.
TEST(OnnxImport, TurnsNothingBackThatItHasTurned) {
  const std::vector<float> filter(4 * 4 * 3);
  const auto graph = read(file(Message()
                                   .message(1, node("Conv", {"x", "w"}, "a"))
                                   .message(1, node("Relu", {"a"}, "b"))
                                   .message(1, node("Add", {"a", "b"}, "c"))
                                   .message(1, node("Mul", {"c", "scale"}, "d"))
                                   .message(1, node("Conv", {"d", "w"}, "y"))
                                   .message(5, floats("w", {4, 4, 3}, filter))
                                   .message(5, floats("scale", {4, 1}, {1, 2, 3, 4}))
                                   .message(11, info("x", {1, 4, 16}))
                                   .message(12, info("y", {1, 4, 12}))));
  ASSERT_TRUE(graph) << graph.error().text();
  std::vector<Op> ops;
  for (const Graph::Node& node : graph->nodes())
    if (const auto* const step = std::get_if<Graph::Step>(&node.what)) ops.push_back(step->op);
  EXPECT_THAT(ops,
              ::testing::ElementsAre(Op::expand_dims, Op::transpose, Op::conv2d, Op::relu, Op::add,
                                     Op::mul, Op::conv2d, Op::transpose, Op::squeeze));
}

TEST(OnnxImport, LeavesOutWhatTheWantedOutputsDoNotNeed) {
  const auto bytes = file(dense()
                              .message(1, node("Hardmax", {"y"}, "label"))
                              .message(1, node("Mul", {"y", "other"}, "product"))
                              .message(11, info("other", {2, 2}))
                              .message(12, info("label", {2, 1}, 7))
                              .message(12, info("product", {2, 2})));
  EXPECT_THAT(read(bytes).error().text(), HasSubstr("node 'the Hardmax' (Hardmax)"));
  const auto graph = read(bytes, {.outputs = {"y"}});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->inputs().size(), 1u);
  EXPECT_EQ(graph->op_count(), 3u);
  EXPECT_THAT(read(bytes, {.outputs = {"z"}}).error().text(),
              HasSubstr("the model has no output 'z'; it has 'y', 'label', 'product'"));
}

/// h' = x + h, and y = relu(h'): h stays on the device.
TEST(OnnxImport, KeepsStateThatTheOptionsName) {
  const auto bytes = file(Message()
                              .message(1, node("Add", {"x", "h"}, "hn"))
                              .message(1, node("Relu", {"hn"}, "y"))
                              .message(11, info("x", {2}))
                              .message(11, info("h", {2}))
                              .message(12, info("y", {2}))
                              .message(12, info("hn", {2})));
  EXPECT_EQ(read(bytes)->inputs().size(), 2u);
  const auto graph = read(bytes, {.state = {{"h", "hn"}}});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->inputs().size(), 1u);
  EXPECT_THAT(graph->state_names(), ElementsAre("h"));
  EXPECT_THAT(graph->output_names(), ElementsAre("y"));
  EXPECT_EQ(read(bytes, {.state = {{"h", "hn"}}, .outputs = {"y", "hn"}})->outputs().size(), 2u);
  EXPECT_THAT(read(bytes, {.state = {{"c", "hn"}}}).error().text(),
              HasSubstr("the model has no input 'c'; it has 'x', 'h'"));
  EXPECT_THAT(read(bytes, {.state = {{"h", "cn"}}}).error().text(), HasSubstr("no output 'cn'"));
}

TEST(OnnxImport, RefusesAStateThatTheFileHasElementsFor) {
  const auto bytes = file(Message()
                              .message(1, node("Add", {"x", "h"}, "y"))
                              .message(5, floats("h", {2}, {1, 2}))
                              .message(11, info("x", {2}))
                              .message(11, info("h", {2}))
                              .message(12, info("y", {2})));
  EXPECT_THAT(read(bytes, {.state = {{"h", "y"}}, .outputs = {"y"}}).error().text(),
              HasSubstr("state 'h' has elements in the file"));
  EXPECT_EQ(read(bytes, {.state = {{"h", "y"}}}).error(), Errc::invalid_argument);
}

TEST(OnnxImport, RefusesAStateThatChangesItsShape) {
  const auto bytes = file(Message()
                              .message(1, node("Add", {"x", "h"}, "y"))
                              .message(11, info("x", {2}))
                              .message(11, info("h", {1}))
                              .message(12, info("y", {2})));
  EXPECT_THAT(read(bytes, {.state = {{"h", "y"}}, .outputs = {"y"}}).error().text(),
              HasSubstr("a state f32[1] gets f32[2]"));
}

TEST(OnnxImport, NamesAllNodesThatItCannotMap) {
  const auto graph =
      read(file(dense()
                    .message(1, node("SVMRegressor", {"y"}, "scaled", {}, "ai.onnx.ml"))
                    .message(1, node("TopK", {"scaled"}, "z"))
                    .message(12, info("z", {2, 2}))));
  EXPECT_EQ(graph.error(), Errc::unsupported_operation);
  EXPECT_THAT(graph.error().detail,
              AllOf(HasSubstr("2 of 5 nodes cannot be imported"),
                    HasSubstr("node 'the SVMRegressor' (ai.onnx.ml.SVMRegressor): no such op here"),
                    HasSubstr("node 'the TopK' (TopK): no such op here")));
}

TEST(OnnxImport, RefusesOtherOperatorSets) {
  EXPECT_THAT(read(file(dense(), 6)).error().text(),
              HasSubstr("node 'the Add' (Add): of operator set 6; 7 to"));
}

TEST(OnnxImport, AsksForExtentsThatTheFileLeavesOpen) {
  Message graph = Message()
                      .message(1, node("Relu", {"x"}, "y"))
                      .message(11, info("x", {-1, 3}))
                      .message(12, info("y", {-1, 3}));
  const auto bytes = file(graph);
  EXPECT_THAT(read(bytes).error().text(), HasSubstr("input 'x' leaves extent 0 ('N') open"));
  const auto read_with = [&](std::vector<std::int64_t> extents) {
    return read(bytes, {.inputs = {{"x", std::move(extents)}}});
  };
  ASSERT_TRUE(read_with({5, 3}));
  EXPECT_EQ(read_with({5, 3})->inputs()[0], (TensorDesc{DType::f32, {5, 3}}));
  EXPECT_THAT(read_with({5, 4}).error().text(), HasSubstr("extents [?, 3] in the file and [5, 4]"));
  EXPECT_THAT(read(bytes, {.inputs = {{"z", {1}}}}).error().text(), HasSubstr("no input 'z'"));
}

TEST(OnnxImport, RefusesElementsInAnotherFile) {
  Message tensor = Message().number(1, 2).number(2, 1).text(8, "b").number(14, 1);
  const auto graph = read(file(Message()
                                   .message(1, node("Add", {"x", "b"}, "y"))
                                   .message(5, tensor)
                                   .message(11, info("x", {2}))
                                   .message(12, info("y", {2}))));
  EXPECT_THAT(graph.error().text(), HasSubstr("tensor 'b' lies in another file"));
}

TEST(OnnxImport, RefusesTypesThatItDoesNotHave) {
  const auto graph = read(file(Message()
                                   .message(1, node("Relu", {"x"}, "y"))
                                   .message(11, info("x", {2}, 10))
                                   .message(12, info("y", {2}, 10))));
  EXPECT_EQ(graph.error(), Errc::invalid_dtype);
  EXPECT_THAT(graph.error().detail, HasSubstr("input 'x' is of float16"));
}

TEST(OnnxImport, FindsNamesThatNothingMakes) {
  const auto graph = read(file(Message()
                                   .message(1, node("Add", {"x", "ghost"}, "y"))
                                   .message(11, info("x", {2}))
                                   .message(12, info("y", {2}))));
  EXPECT_EQ(graph.error(), Errc::malformed_message);
  EXPECT_THAT(graph.error().detail, HasSubstr("nothing before it makes 'ghost'"));
  EXPECT_EQ(read({}).error(), Errc::malformed_message);
}

TEST(OnnxImport, ReadsFilesByTheirPaths) {
  const std::string path = ::testing::TempDir() + "dense.onnx";
  const std::vector<std::byte> bytes = file(dense());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(read_file(path));
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(read_file(path).error(), Errc::malformed_message);
  std::remove(path.c_str());
  EXPECT_EQ(read_file(path).error(), Errc::invalid_argument);
  EXPECT_THAT(read_file(path).error().text(),
              HasSubstr("dense.onnx' cannot be read: No such file"));
  EXPECT_THAT(read_file(::testing::TempDir()).error().text(), HasSubstr("Is a directory"));
}

/// One that lies in another file, with the bytes that a liar adds.
Message external(std::string_view name, std::uint64_t type, std::int64_t extent) {
  const std::vector<std::int64_t> one{1};
  return Message()
      .number(1, static_cast<std::uint64_t>(extent))
      .number(2, type)
      .text(8, name)
      .bytes(9, std::as_bytes(std::span(one)))
      .number(14, 1);
}

std::string refusal_of(Message graph, std::initializer_list<Message> parts) {
  for (const Message& part : parts) graph.message(1, part);
  graph.message(11, info("x", {2, 3})).message(12, info("y", {}));
  const auto result = read(file(graph));
  return result ? "none" : result.error().text();
}

TEST(OnnxImport, ReadsNoListFromAnotherFile) {
  constexpr std::uint64_t f32 = 1, i64 = 7;
  const auto list = Message().message(5, external("list", i64, 1));
  for (const char* const op : {"ReduceSum", "Squeeze", "Reshape", "Expand", "Pad", "Unsqueeze"})
    EXPECT_THAT(refusal_of(list, {node(op, {"x", "list"}, "y")}), HasSubstr("lies in another file"))
        << op;
  EXPECT_THAT(refusal_of(list, {node("Slice", {"x", "list", "list"}, "y")}),
              HasSubstr("lies in another file"));
  EXPECT_THAT(refusal_of(Message().message(5, external("list", i64, 50'000'000)),
                         {node("Gather", {"x", "list"}, "y")}),
              HasSubstr("lies in another file"));
  EXPECT_THAT(refusal_of(Message().message(5, external("power", f32, 1)),
                         {node("Pow", {"x", "power"}, "y")}),
              HasSubstr("a power that is not"));
  const auto value = Message().text(1, "value").message(5, external("", f32, 1)).number(20, 4);
  EXPECT_THAT(
      refusal_of(Message().message(5, integers("shape", {2})),
                 {node("ConstantOfShape", {"shape"}, "c", {value}), node("Add", {"x", "c"}, "y")}),
      HasSubstr("E6003"));
  EXPECT_THAT(refusal_of(Message().message(5, floats("list", {1}, {0})),
                         {node("ReduceSum", {"x", "list"}, "y")}),
              HasSubstr("operand 1 is a list of float"));
}

TEST(OnnxImport, MakesEachNameOnce) {
  const Message k = Message().message(5, floats("k", {3}, {1, 2, 3}));
  EXPECT_THAT(refusal_of(k, {node("Identity", {"k"}, "x"), node("Add", {"x", "x"}, "y")}),
              HasSubstr("makes 'x' once more"));
  EXPECT_THAT(refusal_of(k, {node("Relu", {"x"}, "a"), node("Neg", {"x"}, "a"),
                             node("Add", {"a", "x"}, "y")}),
              HasSubstr("makes 'a' once more"));
  EXPECT_THAT(refusal_of(Message(k).message(5, floats("k", {1}, {1})), {node("Relu", {"x"}, "y")}),
              HasSubstr("there are two of 'k'"));
  EXPECT_THAT(refusal_of(Message(k).message(11, info("x", {3})), {node("Relu", {"x"}, "y")}),
              HasSubstr("there are two of 'x'"));
}

/// What an optional operand leaves out is no name that somebody has to make.
TEST(OnnxImport, LeavesOutNodesBesideEmptyNames) {
  const Message nobody = Message().text(1, "x").text(2, "").text(2, "z").text(4, "TopK");
  EXPECT_EQ(refusal_of(Message()
                           .message(5, integers("p", {0}))
                           .message(5, integers("s", {1}))
                           .message(5, integers("e", {2})),
                       {nobody, node("Slice", {"x", "p", "e", "", "s"}, "y")}),
            "none");
}

TEST(OnnxImport, RefusesWhatWouldBeAddedToOtherElements) {
  const std::vector<float> filter(6), bias(4);
  EXPECT_THAT(read(file(Message()
                            .message(1, node("Conv", {"x", "w", "b"}, "y"))
                            .message(5, floats("w", {2, 3, 1}, filter))
                            .message(5, floats("b", {4, 1}, bias))
                            .message(11, info("x", {1, 3, 4}))
                            .message(12, info("y", {1, 2, 4}))))
                  .error()
                  .text(),
              HasSubstr("a bias that is not one number for each output"));
  EXPECT_THAT(refusal_of(Message().message(5, floats("two", {1, 1, 1}, {2})),
                         {node("Pow", {"x", "two"}, "y")}),
              HasSubstr("a power that is not"));
}

TEST(OnnxImport, RefusesPoolsThatItDoesNotHave) {
  const auto list = [](std::string_view name, const std::vector<std::uint64_t>& numbers) {
    Message message = Message().text(1, name);
    for (const std::uint64_t number : numbers) message.number(8, number);
    return message.number(20, 7);
  };
  const auto refused = [&](std::string_view op, std::initializer_list<Message> attributes) {
    const auto graph = read(file(Message()
                                     .message(1, node(op, {"x"}, "y", attributes))
                                     .message(11, info("x", {1, 3, 8, 8}))
                                     .message(12, info("y", {}))));
    return graph ? "none" : graph.error().text();
  };
  for (const char* const op : {"MaxPool", "AveragePool"}) {
    EXPECT_EQ(refused(op, {list("kernel_shape", {2, 2}), integer_attribute("ceil_mode", 1)}),
              "none");
    EXPECT_THAT(refused(op, {}), HasSubstr("kernel_shape, strides, pads or auto_pad"));
    EXPECT_THAT(refused(op, {list("kernel_shape", {2})}), HasSubstr("kernel_shape, strides"));
    EXPECT_THAT(refused(op, {list("kernel_shape", {2, 2}), list("strides", {0, 1})}),
                HasSubstr("kernel_shape, strides"));
    EXPECT_THAT(refused(op, {list("kernel_shape", {2, 2}), list("dilations", {2, 1})}),
                HasSubstr("dilations"));
    EXPECT_THAT(refused(op, {list("kernel_shape", {2, 2}), list("pads", {0, 2, 0, 0})}),
                HasSubstr("pads that are not less than the window"));
    EXPECT_THAT(refused(op, {list("kernel_shape", {9, 2})}), HasSubstr("9 rows"));
  }
  EXPECT_THAT(refused("AveragePool", {list("kernel_shape", {8, 1u << 31}),
                                      list("pads", {0, (1u << 31) - 1, 0, (1u << 31) - 1})}),
              HasSubstr("of such a window"));
  EXPECT_EQ(refused("GlobalMaxPool", {}), "none");
  EXPECT_EQ(refused("GlobalAveragePool", {}), "none");
  EXPECT_THAT(refused("MaxPool", {list("kernel_shape", {2, 2}),
                                  Message().text(1, "auto_pad").text(4, "SOMEHOW").number(20, 3)}),
              HasSubstr("or auto_pad"));
}

/// A few bytes of a file may not ask for gigabytes, or hours.
TEST(OnnxImport, BoundsWhatAFileAsksFor) {
  Message ones = Message().number(2, 1).text(8, "k");
  for (int dim = 0; dim < 65; ++dim) ones.number(1, 1);
  EXPECT_THAT(refusal_of(Message().message(5, ones.floating(4, 1)), {}), HasSubstr("has 65 dims"));
  const Message zeros = Message().message(5, integers("count", {65'536}));
  Message doubled = Message(zeros).message(1, node("ConstantOfShape", {"count"}, "zeros0"));
  for (int i = 0; i < 16; ++i) {
    const std::string from = "zeros" + std::to_string(i);
    doubled.message(1, node("Concat", {from, from}, "zeros" + std::to_string(i + 1),
                            {integer_attribute("axis", 0)}));
  }
  EXPECT_THAT(refusal_of(doubled, {node("Concat", {"x", "zeros16"}, "y")}), HasSubstr("E6004"));
  const std::vector<float> row(100'000);
  Message many = Message().message(5, floats("w", {1, 100'000}, row));
  for (int copy = 0; copy < 400; ++copy)
    many.message(1, node("Transpose", {copy == 0 ? "w" : "w" + std::to_string(copy - 1)},
                         "w" + std::to_string(copy)));
  EXPECT_THAT(refusal_of(many, {node("Add", {"x", "w399"}, "y")}),
              HasSubstr("many times as large as the file's"));
  EXPECT_THAT(read(file(Message()
                            .message(1, node("Pad", {"x", "p"}, "y",
                                             {Message().text(1, "mode").text(4, "edge")}))
                            .message(5, integers("p", {0, 1}))
                            .message(11, info("x", {100'000'000}))
                            .message(12, info("y", {100'000'001}))))
                  .error()
                  .text(),
              HasSubstr("or such pads"));
}

TEST(OnnxImport, PadsAllDimsByOneOp) {
  for (const std::int64_t pad : {0, 2})
    EXPECT_EQ(read(file(Message()
                            .message(1, node("Pad", {"x", "pads"}, "y"))
                            .message(5, integers("pads", {pad, pad, 0, pad}))
                            .message(11, info("x", {2, 3}))
                            .message(12, info("y", {2 + pad, 3 + 2 * pad}))))
                  ->op_count(),
              pad == 0 ? 0u : 1u);
}

/// Each op, with all its operands, some, and none.
TEST(OnnxImport, RefusesEachOpWithoutItsOperands) {
  constexpr const char* onnx = "";
  constexpr const char* ml = "ai.onnx.ml";
  const std::pair<const char*, const char*> ops[] = {
#define RK_ONNX(domain, name, since, until, operands, gives, lower, fold) {domain, #name},
#include "onnx/ops.def"
#undef RK_ONNX
  };
  const Message with = Message()
                           .message(5, floats("k", {2, 3}, {1, 2, 3, 4, 5, 6}))
                           .message(5, integers("list", {1, 1}))
                           .message(5, integers("axis", {0}));
  const std::vector<std::string_view> names{"x", "k", "list", "axis", ""};
  ringkernel::test::Dice dice(20261127, 0);
  for (const auto& [domain, op] : ops)
    for (int round = 0; round < 300; ++round) {
      const Message bare = Message().text(2, "y").text(4, op).text(7, domain);
      Message one = bare;
      for (std::uint64_t count = dice.below(6); count > 0; --count)
        one.text(1, names[dice.below(names.size())]);
      if (dice.below(2) == 0) one.message(5, integer_attribute("axis", 0));
      if (dice.below(3) == 0)
        one.message(5, Message().text(1, "axes").number(8, dice.below(4)).number(20, 7));
      for (const char* const list : {"coefficients", "intercepts", "offset", "scale"}) {
        Message numbers = Message().text(1, list).number(20, 6);
        for (std::uint64_t count = dice.below(9); count > 0; --count) numbers.floating(7, 0.5f);
        if (dice.below(2) == 0) one.message(5, numbers);
      }
      if (dice.below(2) == 0)
        one.message(5,
                    Message().text(1, "classlabels_ints").number(8, 3).number(8, 4).number(20, 7));
      for (const std::uint64_t version : {1u, 7u, 13u, 18u})
        (void)read(file(
            Message(with).message(1, one).message(11, info("x", {2, 3})).message(12, info("y", {})),
            version));
      EXPECT_NE(refusal_of(with, {bare}), "none") << op;
    }
}

/// Nodes of most kinds, one behind the other.
Message many_ops() {
  const std::vector<float> filter(12, 0.5f), gates(4 * 3 * 3, 0.1f), bias(24, 0.1f);
  return Message()
      .message(1, node("Pad", {"x", "pads"}, "padded", {Message().text(1, "mode").text(4, "edge")}))
      .message(1, node("Conv", {"padded", "filter", "two"}, "images"))
      .message(1, node("Slice", {"images", "zero", "six", "two_axis"}, "part"))
      .message(1, node("MaxPool", {"part"}, "most",
                       {Message().text(1, "kernel_shape").number(8, 1).number(20, 7)}))
      .message(1, node("BatchNormalization", {"most", "two", "two", "two", "two"}, "normal"))
      .message(1, node("Less", {"part", "normal"}, "less"))
      .message(1, node("Where", {"less", "part", "normal"}, "chosen"))
      .message(1, node("Softmax", {"chosen"}, "soft", {integer_attribute("axis", 1)}))
      .message(1, node("Clip", {"soft", "", "half"}, "bounded"))
      .message(1, node("ArgMax", {"bounded"}, "place", {integer_attribute("axis", 2)}))
      .message(1, node("Cast", {"place"}, "number", {integer_attribute("to", 1)}))
      .message(1, node("Max", {"number", "bounded", "part"}, "larger"))
      .message(1, node("Concat", {"larger", "larger"}, "joined", {integer_attribute("axis", 2)}))
      .message(1, node("Slice", {"joined", "zero", "six", "two_axis"}, "again"))
      .message(1, node("Sigmoid", {"again"}, "curve"))
      .message(1, node("Pow", {"curve", "square"}, "squares"))
      .message(1, node("Transpose", {"squares"}, "turned"))
      .message(1, node("Shape", {"turned"}, "extents"))
      .message(1, node("Gather", {"extents", "zero"}, "first"))
      .message(1, node("Concat", {"first", "rest"}, "wanted", {integer_attribute("axis", 0)}))
      .message(1, node("Reshape", {"turned", "wanted"}, "rows"))
      .message(1, node("ReduceMean", {"rows"}, "mean"))
      .message(1, node("Unsqueeze", {"rows", "zero"}, "sequence"))
      .message(1, node("Gather", {"sequence", "firsts"}, "three", {integer_attribute("axis", 2)}))
      .message(1, node("Slice", {"three", "zero", "one", "one"}, "steps"))
      .message(1, node("LSTM", {"steps", "gates", "gates", "bias"}, "y",
                       {integer_attribute("hidden_size", 3)}))
      .message(5, integers("pads", {0, 0, 1, 0, 0, 1}))
      .message(5, integers("zero", {0}))
      .message(5, integers("one", {1}))
      .message(5, integers("six", {6}))
      .message(5, integers("two_axis", {2}))
      .message(5, integers("rest", {-1}))
      .message(5, integers("firsts", {0, 1, 0}))
      .message(5, floats("filter", {2, 2, 3}, filter))
      .message(5, floats("two", {2}, {1, 2}))
      .message(5, floats("square", {}, {2}))
      .message(5, floats("half", {}, {0.5f}))
      .message(5, floats("gates", {1, 12, 3}, gates))
      .message(5, floats("bias", {1, 24}, bias))
      .message(11, info("x", {1, 2, 8}))
      .message(12, info("y", {}));
}

TEST(OnnxImport, SurvivesAnyDamage) {
  const std::vector<std::byte> files[] = {file(dense()), file(many_ops(), 13)};
  ringkernel::test::Dice dice(20261127, 0);
  for (const std::vector<std::byte>& whole : files) {
    const auto graph = read(whole);
    ASSERT_TRUE(graph) << graph.error().text();
    int refused = 0;
    constexpr int rounds = 10'000;
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::byte> damaged = whole;
      for (std::uint64_t hits = 1 + dice.below(4); hits > 0; --hits)
        damaged[dice.below(damaged.size())] = static_cast<std::byte>(dice.below(256));
      if (dice.below(4) == 0) damaged.resize(dice.below(damaged.size() + 1));
      refused += read(damaged).has_error() ? 1 : 0;
    }
    EXPECT_GT(refused, rounds / 3);
  }
}

}  // namespace
}  // namespace ringkernel::onnx
