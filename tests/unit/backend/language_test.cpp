// Which OpenCL C a device is given, as far as it follows from what devices say of themselves.
#include <gmock/gmock.h>

#include "backend/opencl/program.hpp"
#include "backend/opencl/query.hpp"

namespace ringkernel::opencl {
namespace {

using testing::HasSubstr;

TEST(Language, ReadsTheVersionInADevicesText) {
  EXPECT_EQ(version_number("OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu"), 300u);
  EXPECT_EQ(version_number("OpenCL C 1.2 (Oclgrind 21.10)"), 120u);
  EXPECT_EQ(version_number("OpenCL C 2.0 "), 200u);
  for (const char* text : {"", ".", "OpenCL", "OpenCL .2", "OpenCL 1.", "OpenCL C one.two"})
    EXPECT_EQ(version_number(text), 0u) << text;
}

TEST(Language, IsOpenClC3OrWhatEveryNewerCompilerThan12Knows) {
  EXPECT_EQ(language_option(300).value(), "-cl-std=CL3.0");
  EXPECT_EQ(language_option(200).value(), "-cl-std=CL1.2");
  EXPECT_EQ(language_option(120).value(), "-cl-std=CL1.2");
}

TEST(Language, TellsKernelsThatTheyRunOnAGpu) {
  EXPECT_EQ(class_option(CL_DEVICE_TYPE_CPU), "");
  EXPECT_EQ(class_option(CL_DEVICE_TYPE_GPU), " -DRK_GPU");
  EXPECT_EQ(class_option(CL_DEVICE_TYPE_ACCELERATOR), " -DRK_GPU");
  EXPECT_EQ(class_option(CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU), "");  // as Oclgrind says
}

TEST(Language, RefusesACompilerThatIsOlder) {
  const auto old = language_option(110);
  ASSERT_FALSE(old.has_value());
  EXPECT_TRUE(old.error() == Errc::backend_unavailable);
  EXPECT_THAT(old.error().detail,
              HasSubstr("need OpenCL C 1.2 or newer; the device's compiler has 1.1"));
  EXPECT_THAT(language_option(0).error().detail, HasSubstr("has none that it names"));
}

}  // namespace
}  // namespace ringkernel::opencl
