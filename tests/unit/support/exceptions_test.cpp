#include "support/exceptions.hpp"

#include <gtest/gtest-spi.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace ringkernel::test {
namespace {

constexpr Exception listed[] = {
    {"Suite.OfASlice", Where::sliced, "sliced"},
    {"Suite.OfASlice", Where::gpu, "gpu"},
    {"Whole.*", Where::beside_native, "elsewhere"},
};

TEST(Exceptions, AreFoundByTheSourcesNameAndTheDevice) {
  const DeviceTraits native{"native", "zero_copy", false};
  const DeviceTraits slices{"two_memories", "sliced", false};
  EXPECT_EQ(find_exception(listed, "Suite.OfASlice", native), nullptr);
  EXPECT_STREQ(find_exception(listed, "Suite.OfASlice", slices)->reason, "sliced");
  EXPECT_STREQ(find_exception(listed, "Suite.OfASlice", {"opencl", "dma", true})->reason, "gpu");
  EXPECT_EQ(find_exception(listed, "Suite.OfASlices", slices), nullptr);
  EXPECT_STREQ(find_exception(listed, "Whole.One", slices)->reason, "elsewhere");
  EXPECT_EQ(find_exception(listed, "Whole.One", native), nullptr);
  EXPECT_EQ(find_exception(listed, "Wholesome.One", slices), nullptr);
}

TEST(Exceptions, NamesAreThoseOfTheSource) {
  EXPECT_EQ(source_name("Backends/Suite", "Name/native"), "Suite.Name");
  EXPECT_EQ(source_name("Suite", "Name"), "Suite.Name");
}

TEST(Exceptions, AnExpectedFailureIsNone) {
  ExpectedFailure expected("it is open");
  EXPECT_TRUE(false) << "as expected";
  expected.end();
}

TEST(Exceptions, AnExpectedFailureThatPassesIsOne) {
  EXPECT_NONFATAL_FAILURE_ON_ALL_THREADS(
      {
        ExpectedFailure expected("it is open");
        EXPECT_TRUE(true);
      },
      "it passes, and is listed as an expected failure: it is open");
}

/// "Suite.Name" of every parameterised test, as the sources have them.
std::set<std::string> names_in_sources() {
  const std::regex test(R"(TEST_P\((\w+),\s*(\w+)\))");
  std::set<std::string> names;
  for (const auto& file : std::filesystem::recursive_directory_iterator(RK_TESTS)) {
    if (file.path().extension() != ".cpp") continue;
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at) {
      names.insert(at->str(1) + "." + at->str(2));
      names.insert(at->str(1) + ".*");
    }
  }
  return names;
}

TEST(Exceptions, AreOfTestsThatThereAre) {
  const std::set<std::string> names = names_in_sources();
  for (const Exception& exception : unsupported)
    EXPECT_TRUE(names.contains(std::string(exception.test))) << exception.test;
  for (const Exception& exception : expected_failures)
    EXPECT_TRUE(names.contains(std::string(exception.test))) << exception.test;
}

}  // namespace
}  // namespace ringkernel::test
