// Files whose operands have no elements, too many, or not the same number of dims: each is refused
// with a reason.
#include <gmock/gmock.h>

#include "ringkernel/onnx.hpp"
#include "unit/onnx/file_writer.hpp"

namespace ringkernel::onnx {
namespace {

using test::file;
using test::floats;
using test::info;
using test::integer_attribute;
using test::Message;
using test::node;
using ::testing::HasSubstr;

Message list_attribute(const char* name, const std::vector<std::int64_t>& numbers) {
  Message message = Message().text(1, name).number(20, 7);
  for (const std::int64_t number : numbers) message.number(8, static_cast<std::uint64_t>(number));
  return message;
}

/// Of a graph with input x and output y.
std::string reason_of(Message graph, test::Extents extents, std::uint64_t version = 17) {
  graph.message(11, info("x", extents)).message(12, info("y", {}));
  const auto read_graph = read(file(graph, version));
  return read_graph ? "none" : read_graph.error().text();
}

TEST(OddShapes, WindowsOverNothing) {
  for (const char* const op : {"AveragePool", "MaxPool"})
    EXPECT_THAT(reason_of(Message()
                              .message(1, node(op, {"nothing"}, "pooled",
                                               {list_attribute("kernel_shape", {2, 2})}))
                              .message(1, node("Add", {"x", "pooled"}, "y"))
                              .message(5, floats("nothing", {1, 0, 4, 4}, {})),
                          {1}),
                HasSubstr("of an operand without elements"));
}

TEST(OddShapes, JoinsOfOtherRanks) {
  const auto joined = [](std::initializer_list<std::string> parts, std::int64_t axis) {
    return reason_of(Message()
                         .message(1, node("Conv", {"x", "filter"}, "images"))
                         .message(1, node("Concat", parts, "y", {integer_attribute("axis", axis)}))
                         .message(5, floats("filter", {1, 1, 1, 1}, {2}))
                         .message(5, floats("nothing", {1, 0, 1, 1, 1, 1}, {}))
                         .message(5, floats("plane", {4, 4}, std::vector<float>(16))),
                     {1, 1, 4, 4});
  };
  EXPECT_THAT(joined({"nothing", "images"}, 5), HasSubstr("no such axis"));
  EXPECT_THAT(joined({"plane", "images"}, -1), HasSubstr("of other ranks"));
  EXPECT_THAT(joined({"nothing", "nothing"}, 1), HasSubstr("of nothing"));
  EXPECT_THAT(joined({"images", ""}, 0), HasSubstr("operand 1 is missing"));
  EXPECT_EQ(joined({"nothing", "images", "images"}, -1), "none");
}

TEST(OddShapes, PlacesInRowsThatAreTooLong) {
  for (const std::int64_t extent : {std::int64_t{400'000'000}, std::int64_t{3'000'000'000}})
    EXPECT_THAT(reason_of(Message().message(1, node("ArgMax", {"x"}, "y")), {extent}),
                HasSubstr("of so many elements in a row"));
}

TEST(OddShapes, ExtentsThatNoTensorHas) {
  EXPECT_THAT(reason_of(Message()
                            .message(1, node("Transpose", {"nothing"}, "y"))
                            .message(5, floats("nothing", {0, std::int64_t{1} << 40}, {})),
                        {1}),
              HasSubstr("an extent of 1099511627776"));
}

TEST(OddShapes, NumbersForColumnsThatAreNotThere) {
  Message three = Message().text(1, "offset").number(20, 6);
  for (int i = 0; i < 3; ++i) three.floating(7, 1);
  EXPECT_THAT(
      reason_of(Message().message(1, node("Scaler", {"x"}, "y", {three}, "ai.onnx.ml")), {4, 1}),
      HasSubstr("'offset' that is not one number for each column"));
}

}  // namespace
}  // namespace ringkernel::onnx
