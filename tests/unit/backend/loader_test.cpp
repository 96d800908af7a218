#include "backend/loader.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

namespace ringkernel::backend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(SharedLibrary, ListsEveryPathTriedWithItsReason) {
  const std::vector<std::string> candidates = {"/nowhere/libfirst.so", "libsecond-missing.so.7"};
  std::vector<std::string> tried;
  const auto library = SharedLibrary::open(candidates, {}, tried);
  ASSERT_FALSE(library.has_value());
  EXPECT_TRUE(library.error() == Errc::library_not_found);
  EXPECT_THAT(library.error().detail, StartsWith("tried: /nowhere/libfirst.so - "));
  EXPECT_THAT(library.error().detail, HasSubstr("; libsecond-missing.so.7 - "));
  EXPECT_THAT(library.error().detail, HasSubstr("No such file"));
  EXPECT_EQ(tried.size(), 2u);
}

TEST(SharedLibrary, TakesTheFirstCandidateThatLoads) {
  const std::vector<std::string> candidates = {"/nowhere/libm.so", "libm.so.6", "libc.so.6"};
  std::vector<std::string> tried;
  const auto library = SharedLibrary::open(candidates, {}, tried);
  ASSERT_TRUE(library.has_value()) << library.error().text();
  EXPECT_EQ(library->name(), "libm.so.6");
  EXPECT_NE(library->find("cos"), nullptr);
  EXPECT_EQ(library->find("no_such_function"), nullptr);
  EXPECT_THAT(tried, ElementsAre(StartsWith("/nowhere/libm.so - ")));
}

TEST(SharedLibrary, PassesOverALibraryThatLacksASymbol) {
  const std::vector<std::string> candidates = {"libc.so.6", "libm.so.6"};
  const std::array<const char*, 1> symbols = {"cos"};
  std::vector<std::string> tried;
  const auto library = SharedLibrary::open(candidates, symbols, tried);
  ASSERT_TRUE(library.has_value()) << library.error().text();
  EXPECT_EQ(library->name(), "libm.so.6");
  EXPECT_THAT(tried, ElementsAre("libc.so.6 - has no symbol cos"));
}

TEST(SharedLibrary, NamesTheMissingSymbolWhenNoCandidateHasIt) {
  const std::vector<std::string> candidates = {"libm.so.6"};
  const std::array<const char*, 2> symbols = {"cos", "clGetPlatformIDs"};
  std::vector<std::string> tried;
  const auto library = SharedLibrary::open(candidates, symbols, tried);
  ASSERT_FALSE(library.has_value());
  EXPECT_TRUE(library.error() == Errc::symbol_not_found);
  EXPECT_THAT(library.error().detail, HasSubstr("libm.so.6 - has no symbol clGetPlatformIDs"));
}

TEST(SharedLibrary, ReportsNoCandidatesAsNotFound) {
  std::vector<std::string> tried;
  const auto library = SharedLibrary::open({}, {}, tried);
  ASSERT_FALSE(library.has_value());
  EXPECT_TRUE(library.error() == Errc::library_not_found);
  EXPECT_THAT(tried, IsEmpty());
}

}  // namespace
}  // namespace ringkernel::backend
