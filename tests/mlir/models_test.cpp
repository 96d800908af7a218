// A real model: what torch-mlir makes of an ONNX file gives what the file itself gives.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ringkernel/mlir.hpp"
#include "ringkernel/onnx.hpp"
#include "ringkernel/ringkernel.hpp"
#include "support/skip.hpp"

namespace ringkernel::test {
namespace {

std::string content_of(const std::string& name) {
  std::ifstream file(name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MlirModels, AClassifierOfDigitsIsThatOfItsOnnxFile) {
  if (const auto library = mlir::find_library(); !library)
    RK_SKIP_WITHOUT("mlir", library.error().text());
  const std::string name = RK_MODELS "/digits_mlp_bare";
  const Graph by_mlir = mlir::read(content_of(name + ".mlir")).value();
  const Graph by_onnx = onnx::read_file(name + ".onnx", {.inputs = {{"input", {1, 64}}}}).value();
  EXPECT_EQ(by_mlir.inputs(), by_onnx.inputs());
  auto runtime = RingKernelRuntime::builder().backend("native").build().value();
  const CompiledFunction ours = runtime.compile(by_mlir).value();
  const CompiledFunction same = runtime.compile(by_onnx).value();
  for (int row = 0; row < 20; ++row) {
    std::vector<float> pixels(64);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(row) * 13) % 17);
    const auto a = ours.execute(pixels).value();
    const auto b = same.execute(pixels).value();
    ASSERT_EQ(a.elements<float>(0).size(), 10u);
    for (std::size_t i = 0; i < 10; ++i)
      EXPECT_NEAR(a.elements<float>(0)[i], b.elements<float>(0)[i], 1e-6) << row << ", " << i;
  }
}

}  // namespace
}  // namespace ringkernel::test
