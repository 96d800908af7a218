// What a process has read from a text, the next one has without MLIR.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ringkernel/mlir.hpp"
#include "ringkernel/ringkernel.hpp"
#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

constexpr std::string_view doubled_text = R"(
func.func @doubled(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = arith.addf %x, %x : tensor<3xf32>
  return %y : tensor<3xf32>
})";

/// Runs in a child of the test below: says what became of the text, or why it could not be read.
TEST(MlirStoreChild, DISABLED_ReadsTheText) {
  auto runtime = RingKernelRuntime::builder().backend("native").build().value();
  const TensorDesc three{DType::f32, {3}};
  const auto function = mlir::get_or_compile(runtime, doubled_text, {&three, 1});
  if (!function) {
    std::cout << "refused: " << function.error().text() << '\n';
    return;
  }
  const auto result = function->execute(std::vector<float>{1, 2, 3}).value();
  for (const float element : result.elements<float>(0)) std::cout << "element " << element << '\n';
}

TEST(MlirStore, TheNextProcessNeedsNoMlirForTheSameText) {
  if (const auto library = mlir::find_library(); !library)
    RK_SKIP_WITHOUT("mlir", library.error().text());
  const testing::TempFolder cache;
  const std::string own = ringkernel::mlir::find_library()->path;
  const auto run = [&](const std::string& library, const char* is_kept) {
    return testing::run_child({"/proc/self/exe", "--gtest_also_run_disabled_tests",
                               "--gtest_filter=MlirStoreChild.*"},
                              {{"MLIR_LIBRARY_PATH", library},
                               {"RINGKERNEL_CACHE", is_kept},
                               {"XDG_CACHE_HOME", cache.path().string()}})
        .output;
  };
  const auto is_doubled = ::testing::HasSubstr("element 2\nelement 4\nelement 6\n");
  const std::string none = cache.path().string() + "/none";
  EXPECT_THAT(run(none, "1"), ::testing::HasSubstr("refused: library_not_found"));
  EXPECT_THAT(run(own, "0"), is_doubled);
  EXPECT_THAT(run(none, "1"), ::testing::HasSubstr("refused: library_not_found"));
  EXPECT_THAT(run(own, "1"), is_doubled);
  EXPECT_THAT(run(none, "1"), is_doubled);
  EXPECT_THAT(run(none, "0"), ::testing::HasSubstr("refused: library_not_found"));
}

}  // namespace
}  // namespace ringkernel::test
