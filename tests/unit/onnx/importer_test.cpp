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
                              .message(1, node("ArgMax", {"y"}, "label"))
                              .message(1, node("Mul", {"y", "other"}, "product"))
                              .message(11, info("other", {2, 2}))
                              .message(12, info("label", {2, 1}, 7))
                              .message(12, info("product", {2, 2})));
  EXPECT_THAT(read(bytes).error().text(), HasSubstr("node 'the ArgMax' (ArgMax)"));
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
  EXPECT_EQ(graph->outputs().size(), 1u);
  EXPECT_EQ(read(bytes, {.state = {{"h", "hn"}}, .outputs = {"y", "hn"}})->outputs().size(), 2u);
  EXPECT_THAT(read(bytes, {.state = {{"c", "hn"}}}).error().text(),
              HasSubstr("the model has no input 'c'; it has 'x', 'h'"));
  EXPECT_THAT(read(bytes, {.state = {{"h", "cn"}}}).error().text(), HasSubstr("no output 'cn'"));
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
  const auto graph = read(file(dense()
                                   .message(1, node("Scaler", {"y"}, "scaled", {}, "ai.onnx.ml"))
                                   .message(1, node("TopK", {"scaled"}, "z"))
                                   .message(12, info("z", {2, 2}))));
  EXPECT_EQ(graph.error(), Errc::unsupported_operation);
  EXPECT_THAT(graph.error().detail,
              AllOf(HasSubstr("2 of 5 nodes cannot be imported"),
                    HasSubstr("node 'the Scaler' (ai.onnx.ml.Scaler): no such op here"),
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
  EXPECT_THAT(read_with({5, 4}).error().text(), HasSubstr("other extents in the file"));
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

TEST(OnnxImport, SurvivesAnyDamage) {
  const std::vector<std::byte> whole = file(dense());
  ringkernel::test::Dice dice(20261127, 0);
  int refused = 0;
  constexpr int rounds = 20'000;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::byte> damaged = whole;
    for (std::uint64_t hits = 1 + dice.below(4); hits > 0; --hits)
      damaged[dice.below(damaged.size())] = static_cast<std::byte>(dice.below(256));
    if (dice.below(2) == 0) damaged.resize(dice.below(damaged.size() + 1));
    refused += read(damaged).has_error() ? 1 : 0;
  }
  EXPECT_GT(refused, rounds / 2);
}

}  // namespace
}  // namespace ringkernel::onnx
