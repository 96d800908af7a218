// The MIND runtime's ops: by name, as text and typed, and what is refused.
#include "ringkernel/mind_runtime.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "support/backends.hpp"
#include "support/mind.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RK_ON_EACH_BACKEND(Mind);

TEST_P(Mind, RunsAnOpByEachOfItsNames) {
  auto runtime = open_mind(GetParam());
  const Tensor a = filled(runtime, {4}, {1, 2, 3, 4});
  for (const char* const name : {"add", "tensor.add", "Add", "Add(%0, %1)", "BinOp(Add, %1, %0)"}) {
    const Tensor sum = runtime.allocate({DType::f32, {4}}).value();
    runtime.run_op(name, {a, a}, sum).value();
    EXPECT_THAT(contents(runtime, sum), ElementsAre(2, 4, 6, 8)) << name;
  }
  const Tensor typed = runtime.allocate({DType::f32, {4}}).value();
  runtime.run_op({Op::mul}, {a, a}, typed).value();
  EXPECT_THAT(contents(runtime, typed), ElementsAre(1, 4, 9, 16));
}

TEST_P(Mind, TakesOperandsInTheOrderOfTheText) {
  auto runtime = open_mind(GetParam());
  const Tensor a = filled(runtime, {4}, {5, 7, 9, 11});
  const Tensor b = filled(runtime, {4}, {1, 2, 3, 4});
  const Tensor out = runtime.allocate({DType::f32, {4}}).value();
  runtime.run_op("Sub(%1, %0)", {a, b}, out).value();
  EXPECT_THAT(contents(runtime, out), ElementsAre(-4, -5, -6, -7));
  runtime.run_op("Mul(%0, %0)", a, out).value();
  EXPECT_THAT(contents(runtime, out), ElementsAre(25, 49, 81, 121));
}

TEST_P(Mind, TakesAttributesFromTheTextOrTheStruct) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {4, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const Tensor rows = runtime.allocate({DType::f32, {4}}).value();
  runtime.run_op("Sum(%0, [1], false)", x, rows).value();
  EXPECT_THAT(contents(runtime, rows), ElementsAre(10, 26, 42, 58));
  const Tensor columns = runtime.allocate({DType::f32, {1, 4}}).value();
  runtime.run_op({Op::mean, {.axes = {0}, .keepdims = true}}, x, columns).value();
  EXPECT_THAT(contents(runtime, columns), ElementsAre(7, 8, 9, 10));
  const Tensor turned = runtime.allocate({DType::f32, {4, 4}}).value();
  runtime.run_op("Transpose(%0, [1,0])", x, turned).value();
  EXPECT_THAT(contents(runtime, turned),
              ElementsAre(1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 4, 8, 12, 16));
  const Tensor part = runtime.allocate({DType::f32, {2, 2}}).value();
  runtime.run_op("Slice(%0, [0:2, 0:4:2])", x, part).value();
  EXPECT_THAT(contents(runtime, part), ElementsAre(1, 3, 5, 7));
  const Tensor around = runtime.allocate({DType::f32, {3, 4}}).value();
  runtime.run_op("Pad(%0, %1, [1, 0], [0, 2])", {part, turned}, around).value();
  EXPECT_THAT(contents(runtime, around), ElementsAre(1, 1, 1, 1, 1, 3, 1, 1, 5, 7, 1, 1));
}

TEST_P(Mind, ConvolvesWithTheSamePaddingOfTheSpecification) {
  auto runtime = open_mind(GetParam());
  const Tensor image = filled(runtime, {1, 2, 2, 1}, {1, 2, 3, 4});
  const Tensor filter = filled(runtime, {3, 3, 1, 4}, std::vector<float>(36, 1));
  const Tensor out = runtime.allocate({DType::f32, {1, 2, 2, 4}}).value();
  runtime.run_op("Conv2d(%0, %1, [1,1], Same)", {image, filter}, out).value();
  EXPECT_THAT(contents(runtime, out), Each(10.0f));
}

TEST_P(Mind, TakesAttributesFromTheShapeOfTheOutput) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {1, 4}, {1, 2, 3, 4});
  const auto run = [&](const char* op, Shape shape) {
    const Tensor out = runtime.allocate({DType::f32, shape}).value();
    const Result<void> ran = runtime.run_op(op, x, out);
    EXPECT_TRUE(ran) << op << shape.text() << ran.error().text();
    return contents(runtime, out);
  };
  EXPECT_THAT(run("reshape", {2, 2}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run("expand_dims", {1, 1, 4, 1}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run("squeeze", {4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run("copy", {1, 4}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(run("fill", {8}), Each(1.0f));
  const Shape scalar = scalar_shape(runtime);
  EXPECT_EQ(run("sum_all", scalar)[0], 10);
  EXPECT_EQ(run("mean_all", scalar)[0], 2.5f);
  EXPECT_TRUE(runtime.run_op("noop", {}, {}));
}

TEST_P(Mind, WantsAttributesThatAShapeDoesNotTell) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {2, 2}, {1, 2, 3, 4});
  for (const char* const op : {"sum", "mean", "transpose", "index", "slice"}) {
    const Result<void> ran = runtime.run_op(op, x, x);
    ASSERT_TRUE(ran.has_error()) << op;
    EXPECT_EQ(ran.error(), Errc::invalid_argument) << op;
    EXPECT_THAT(ran.error().detail, AllOf(HasSubstr(op), HasSubstr("needs its attributes")));
  }
  const Result<void> padded = runtime.run_op("pad", {x, x}, x);
  EXPECT_THAT(padded.error().detail, HasSubstr("pad needs its attributes"));
}

struct Refusal {
  const char* op;
  std::size_t inputs;  ///< of f32[2, 2]
  std::size_t outputs;
  Errc code;
  const char* text;
};

TEST_P(Mind, RefusesWhatIsWrongAndLeavesTheOutputAlone) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {2, 2}, {1, 2, 3, 4});
  const Tensor vector = filled(runtime, {8}, std::vector<float>(8, 7));
  const Refusal refusals[] = {
      {"add", 1, 1, Errc::arity_mismatch, "takes 2 operands, got 1"},
      {"add", 9, 1, Errc::arity_mismatch, "takes 2 operands, got 9"},
      {"add", 2, 0, Errc::arity_mismatch, "has 1 outputs, got 0"},
      {"add", 2, 2, Errc::arity_mismatch, "has 1 outputs, got 2"},
      {"Add(%0, %0)", 2, 1, Errc::arity_mismatch, "input 1 is not named"},
      {"Add(%0, %2)", 2, 1, Errc::invalid_argument, "%2 is none of the inputs"},
      {"Add(%0, %x)", 2, 1, Errc::invalid_argument, "%x is none of the inputs"},
      {"add", 2, 1, Errc::dimension_mismatch, "result is f32[2, 2], the output f32[8]"},
      {"reshape", 1, 1, Errc::element_count_mismatch, "f32[2, 2]"},
      {"squeeze", 1, 1, Errc::not_squeezable, "extent 2"},
      {"Sum(%0, [2], false)", 1, 1, Errc::invalid_axis, "axis 2"},
      {"Sum(%0, [1]", 1, 1, Errc::invalid_argument, "line 1, column 12: expected ','"},
      {"", 1, 1, Errc::invalid_argument, "expected the name of an op"},
      {"add x", 2, 1, Errc::invalid_argument, "expected '(' or the end, found 'x'"},
      {"frobnicate", 1, 1, Errc::unsupported_operation, "'frobnicate'; backend '"},
      {"Frob(%0)", 1, 1, Errc::unsupported_operation, "'Frob'; backend '"},
  };
  for (const Refusal& refusal : refusals) {
    const Result<void> ran = runtime.run_op(refusal.op, std::vector<Tensor>(refusal.inputs, x),
                                            std::vector<Tensor>(refusal.outputs, vector));
    ASSERT_TRUE(ran.has_error()) << refusal.op;
    EXPECT_EQ(ran.error(), refusal.code) << refusal.op << ": " << ran.error().text();
    EXPECT_THAT(ran.error().detail, HasSubstr(refusal.text)) << refusal.op;
  }
  EXPECT_THAT(contents(runtime, vector), Each(7.0f));
  const Result<void> unknown = runtime.run_op({static_cast<Op>(999)}, x, x);
  EXPECT_EQ(unknown.error(), Errc::unsupported_operation);
  EXPECT_THAT(unknown.error().text(),
              AllOf(HasSubstr("E6003"), HasSubstr(label_of(std::string_view(GetParam())))));
  EXPECT_EQ(runtime.run_op("relu", x, x, {.queue = 2}).error(), Errc::invalid_argument);
  EXPECT_EQ(runtime.run_op("relu", x, x, {.timeout = -1ns}).error(), Errc::invalid_argument);
}

TEST_P(Mind, RefusesTensorsThatAreGoneOrOfAnotherType) {
  auto runtime = open_mind(GetParam());
  auto other = open_mind(GetParam());
  const Tensor x = filled(runtime, {4}, {1, 2, 3, 4});
  const Tensor integers = runtime.allocate({DType::i32, {4}}).value();
  EXPECT_EQ(runtime.run_op("relu", Tensor(), x).error(), Errc::tensor_not_found);
  EXPECT_EQ(runtime.run_op("relu", x, Tensor()).error(), Errc::tensor_not_found);
  EXPECT_EQ(runtime.run_op("copy", x, integers).error(), Errc::dtype_mismatch);
  EXPECT_EQ(runtime.run_op("relu", integers, integers).error(), Errc::invalid_dtype);
  EXPECT_EQ(other.run_op("relu", x, x).error(), Errc::tensor_not_found);
  Tensor gone = filled(runtime, {4}, {1, 2, 3, 4});
  gone.deallocate().value();
  EXPECT_EQ(runtime.run_op("relu", gone, x).error(), Errc::tensor_not_found);
  EXPECT_TRUE(runtime.run_op("relu", x, x)) << "none of this does harm";
}

TEST_P(Mind, AnswersAnIndexOutOfBoundsWithE6001AndGoesOn) {
  auto runtime = open_mind(GetParam());
  const Tensor x = filled(runtime, {4}, {1, 2, 3, 4});
  const Tensor indices = runtime.allocate({DType::i32, {4}}).value();
  runtime.write(indices, std::array<std::int32_t, 4>{0, 1, 2, 9}).value();
  const Tensor out = filled(runtime, {4}, {7, 7, 7, 7});
  EXPECT_EQ(runtime.run_op("gather", {x, indices}, out).error(), Errc::out_of_bounds);
  EXPECT_THAT(contents(runtime, out), Each(7.0f));
  EXPECT_TRUE(runtime.health());
  EXPECT_TRUE(runtime.run_op("copy", x, out));
}

TEST_P(Mind, IsMovedAndClosedByItsDestructorWhichTellsTheFiguresOnce) {
  std::vector<RuntimeMetrics> told;
  {
    MindOptions options{.backend = GetParam()};
    options.on_metrics = [&](const RuntimeMetrics& metrics) { told.push_back(metrics); };
    auto first = MindRuntime::open(BackendTarget::automatic, options).value();
    const Tensor x = filled(first, {4}, {1, 2, 3, 4});
    MindRuntime second = std::move(first);
    EXPECT_TRUE(second.run_op("relu", x, x));
    EXPECT_TRUE(told.empty());
    second = open_mind(GetParam());
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].tensors, 1u);
    EXPECT_EQ(told[0].kernels, 2u);
    EXPECT_EQ(told[0].backend, label_of(std::string_view(GetParam())));
    std::array<float, 4> elements{};
    EXPECT_EQ(x.read(elements).error(), Errc::runtime_closed);
  }
  EXPECT_EQ(told.size(), 1u);
}

TEST(MindTarget, AnswersE6002ForATargetThatIsNotThereBeforeAnythingRan) {
  bool told = false;
  MindOptions options{.backend = "native"};  // which is no gpu
  options.on_metrics = [&](const RuntimeMetrics&) { told = true; };
  const auto runtime = MindRuntime::open(BackendTarget::gpu, options);
  ASSERT_TRUE(runtime.has_error());
  EXPECT_EQ(runtime.error(), Errc::backend_unavailable);
  EXPECT_THAT(runtime.error().text(), AllOf(HasSubstr("E6002"), HasSubstr("'gpu'")));
  EXPECT_FALSE(told);
  EXPECT_EQ(MindRuntime::open(BackendTarget::cpu, {.queues = 0}).error(), Errc::invalid_argument);
  EXPECT_EQ(MindRuntime::open(BackendTarget::cpu, {.queues = 65}).error(), Errc::invalid_argument);
  EXPECT_EQ(MindRuntime::open(BackendTarget::cpu, {.op_timeout = -1ns}).error(),
            Errc::invalid_argument);
}

}  // namespace
}  // namespace ringkernel::test
