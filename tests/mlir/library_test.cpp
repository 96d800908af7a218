#include "mlir/library.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::mlir {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A folder with copies of the libraries.
class MlirLibrary : public ::testing::Test {
 protected:
  /// A copy of `library` under this name, that only its owner may write.
  std::string put(const std::string& library, const std::string& name) {
    const fs::path copy = folder_.path() / name;
    fs::create_directories(copy.parent_path());
    fs::copy_file(library, copy);
    fs::permissions(copy, fs::perms(0755));
    return copy.string();
  }

  [[nodiscard]] std::string folder() const { return folder_.path().string(); }

  testing::TempFolder folder_;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// What a program finds that names no library. The system may have one of its own.
testing::ChildResult run(const std::string& variable, const std::string& system = {},
                         const std::string& program = RK_CHILD) {
  return testing::run_child(
      {program}, Environment{{"MLIR_LIBRARY_PATH", variable}, {"LD_LIBRARY_PATH", system}});
}

std::string found(const std::string& path, const char* version) {
  return "found " + path + " " + version + " as user " + std::to_string(geteuid()) + "\n";
}

#define RK_SKIP_WHERE_THE_SYSTEM_HAS_ONE(child) \
  if ((child).exit_code == 0) RK_SKIP_UNSUPPORTED("the system has an MLIR: " << (child).output)

TEST_F(MlirLibrary, IsTheOneAtThePathAndNoOther) {
  const auto one = find_library(put(RK_OLD, "one.so"));
  ASSERT_TRUE(one.has_value()) << one.error().text();
  EXPECT_EQ(one->path, folder() + "/one.so");
  EXPECT_EQ(one->major, 19u);
  EXPECT_EQ(one->minor, 1u);
  EXPECT_EQ(one->patch, 7u);
  const auto none = find_library(folder() + "/none.so");
  ASSERT_FALSE(none.has_value());
  EXPECT_TRUE(none.error() == Errc::library_not_found);
  EXPECT_THAT(none.error().detail,
              AllOf(HasSubstr("tried: " + folder() + "/none.so - "), HasSubstr("No such file"),
                    Not(HasSubstr("libringkernel"))));
}

TEST_F(MlirLibrary, HasEveryFunctionOfTheTable) {
  const auto library = Library::find(put(RK_NEW, "new.so"));
  ASSERT_TRUE(library.has_value()) << library.error().text();
#define RK_MLIR(result, name, arguments) EXPECT_NE((*library)->api.name, nullptr) << #name;
#include "mlir/api.def"
#undef RK_MLIR
}

TEST_F(MlirLibrary, WithoutAFunctionIsRefusedAndTheFunctionNamed) {
  const std::string path = put(RK_PARTIAL, "partial.so");
  const auto library = find_library(path);
  ASSERT_FALSE(library.has_value());
  EXPECT_TRUE(library.error() == Errc::symbol_not_found);
  EXPECT_THAT(library.error().detail,
              EndsWith("tried: " + path + " - MLIR 19.1.7 has no symbol mlirTypeIsAMemRef"));
}

TEST_F(MlirLibrary, OfAnotherVersionIsRefusedAndAllVersionsNamed) {
  const std::string path = put(RK_ANCIENT, "ancient.so");
  const auto library = find_library(path);
  ASSERT_FALSE(library.has_value());
  EXPECT_TRUE(library.error() == Errc::unsupported);
  EXPECT_THAT(library.error().detail,
              EndsWith("tried: " + path + " - MLIR 16.0.6: 19 and 22 are read"));
}

TEST_F(MlirLibrary, ThatTellsNoVersionIsNone) {
  const auto library = find_library("libm.so.6");
  ASSERT_FALSE(library.has_value());
  EXPECT_TRUE(library.error() == Errc::symbol_not_found);
  EXPECT_THAT(library.error().detail, EndsWith("libm.so.6 - has no symbol LLVMGetVersion"));
}

/// In one with other libraries beside them, too.
TEST_F(MlirLibrary, OfAFolderIsTheNewestOfOursAndThenUpstreams) {
  put(RK_ANCIENT, "libMLIR.so.22.1");
  put(RK_NEW, "upstream/libMLIR-C.so.22.1");
  put(RK_OLD, "old/libringkernel_mlir-19.so");
  put(RK_OLD, "both/libringkernel_mlir-19.so");
  put(RK_OLD, "both/libMLIR-C.so");
  put(RK_NEW, "both/libringkernel_mlir-22.so");
  const auto path_of = [&](const std::string& name) {
    const auto library = find_library(folder() + name);
    return library.has_value() ? library->path : library.error().text();
  };
  EXPECT_EQ(path_of("/upstream"), folder() + "/upstream/libMLIR-C.so.22.1");
  EXPECT_EQ(path_of("/old"), folder() + "/old/libringkernel_mlir-19.so");
  EXPECT_EQ(path_of("/both"), folder() + "/both/libringkernel_mlir-22.so");
  EXPECT_THAT(path_of(""), AllOf(HasSubstr(folder() + "/libringkernel_mlir-22.so - "),
                                 HasSubstr(folder() + "/libringkernel_mlir-19.so - "),
                                 Not(HasSubstr("libMLIR"))));
}

TEST_F(MlirLibrary, IsFoundByTheVariable) {
  const std::string file = put(RK_OLD, "file/mine.so");
  const std::string of_folder = put(RK_NEW, "folder/libringkernel_mlir-22.so");
  EXPECT_EQ(run(file).output, found(file, "19.1.7"));
  EXPECT_EQ(run(folder() + "/folder").output, found(of_folder, "22.1.8"));
  EXPECT_EQ(run(":/no/such/file:" + folder() + "/file:" + folder() + "/folder").output,
            found(of_folder, "22.1.8"));
}

TEST_F(MlirLibrary, ThatWouldNotDoIsPassedOver) {
  const std::string list = put(RK_ANCIENT, "a.so") + ":" + put(RK_PARTIAL, "p.so");
  EXPECT_EQ(run(list + ":" + put(RK_NEW, "n.so")).output, found(folder() + "/n.so", "22.1.8"));
  const auto none = run(list);
  RK_SKIP_WHERE_THE_SYSTEM_HAS_ONE(none);
  // What the first one was refused for is the error.
  EXPECT_THAT(none.output, HasSubstr(": unsupported: "));
  EXPECT_THAT(none.output, HasSubstr("tried: " + folder() + "/a.so - MLIR 16.0.6: "));
  EXPECT_THAT(none.output, HasSubstr("; " + folder() + "/p.so - MLIR 19.1.7 has no symbol "));
}

TEST_F(MlirLibrary, ThatIsNowhereIsAnErrorWithEveryPath) {
  const auto none = run("/no/such/file:" + folder());
  RK_SKIP_WHERE_THE_SYSTEM_HAS_ONE(none);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.output, HasSubstr(": library_not_found: "));
  const fs::path beside = fs::path(RK_CHILD).parent_path() / RK_FOLDER_FROM_PROGRAM;
  std::size_t at = 0;
  for (const std::string& path :
       {std::string("/no/such/file"), folder() + "/libringkernel_mlir-22.so",
        folder() + "/libringkernel_mlir-19.so",
        (beside / "libringkernel_mlir-22.so").lexically_normal().string(),
        (beside / "libringkernel_mlir-19.so").lexically_normal().string(),
        std::string("libringkernel_mlir-22.so"), std::string("libringkernel_mlir-19.so"),
        std::string("libMLIR-C.so.22.1"), std::string("libMLIR-C.so.19.1"),
        std::string("libMLIR-C.so")}) {
    at = none.output.find(" " + path + " - ", at);
    ASSERT_NE(at, std::string::npos)
        << path << " is not there, or not behind the one before, in " << none.output;
  }
}

/// A program that was installed, and moved with all that lay beside it.
TEST_F(MlirLibrary, IsFoundWhereAnInstallationHasItsPlugins) {
  const std::string program = put(RK_CHILD, "bin/program");
  const std::string library =
      (fs::path("bin") / RK_FOLDER_FROM_PROGRAM / "libringkernel_mlir-19.so").lexically_normal();
  fs::create_directories((folder_.path() / library).parent_path());
  put(RK_OLD, library);
  EXPECT_EQ(run("", "", program).output, found(folder() + "/" + library, "19.1.7"));
  // The variable comes first.
  const std::string other = put(RK_NEW, "other.so");
  EXPECT_EQ(run(other, "", program).output, found(other, "22.1.8"));
}

TEST_F(MlirLibrary, IsFoundByTheSystemsSearch) {
  const std::string upstream = put(RK_OLD, "libMLIR-C.so");
  EXPECT_EQ(run("", folder()).output, found(upstream, "19.1.7"));
  const std::string ours = put(RK_NEW, "libringkernel_mlir-22.so");
  EXPECT_EQ(run("", folder()).output, found(ours, "22.1.8"));
}

TEST_F(MlirLibrary, IsRememberedOnceItWasFound) {
  const std::string path = folder() + "/late.so";
  EXPECT_FALSE(Library::find(path).has_value());
  put(RK_OLD, "late.so");
  const auto first = Library::find(path);
  ASSERT_TRUE(first.has_value()) << first.error().text();
  chmod(path.c_str(), 0757);  // it would be refused, if anybody looked at it again
  const auto second = Library::find(path);
  ASSERT_TRUE(second.has_value()) << second.error().text();
  EXPECT_EQ(*first, *second);
}

TEST_F(MlirLibrary, IsOneWhicheverPathLeadsToIt) {
  const std::string path = put(RK_OLD, "file.so");
  fs::create_symlink(path, folder() + "/link.so");
  const auto by_file = Library::find(path);
  const auto by_link = Library::find(folder() + "/link.so");
  ASSERT_TRUE(by_file.has_value() && by_link.has_value());
  EXPECT_EQ(*by_file, *by_link);
}

TEST_F(MlirLibrary, IsOneForEightThreadsAtOnce) {
  const std::string path = put(RK_OLD, "shared.so");
  std::array<const Library*, 8> libraries{};
  std::barrier together(std::ssize(libraries));
  std::vector<std::jthread> threads;
  for (const Library*& mine : libraries)
    threads.emplace_back([&] {
      together.arrive_and_wait();
      const auto library = Library::find(path);
      if (library.has_value()) mine = *library;
    });
  threads.clear();
  EXPECT_NE(libraries.front(), nullptr);
  EXPECT_THAT(libraries, ::testing::Each(libraries.front()));
}

TEST_F(MlirLibrary, ThatOthersMayWriteIsRefused) {
  const std::string path = put(RK_OLD, "open.so");
  chmod(path.c_str(), 0757);
  const auto library = find_library(path);
  ASSERT_FALSE(library.has_value());
  EXPECT_TRUE(library.error() == Errc::library_not_found);
  EXPECT_THAT(library.error().detail, EndsWith(path + " can be written by every user; chmod go-w"));
  chmod(path.c_str(), 0755);
  EXPECT_TRUE(find_library(path).has_value());
}

/// A copy of the child that is root's, whoever starts it.
TEST_F(MlirLibrary, OfTheEnvironmentIsNotForAProgramWithMoreRightsThanItsCaller) {
  if (geteuid() != 0) RK_SKIP_WITHOUT("root", "only root can give its rights to a program");
  const std::string library = put(RK_OLD, "named.so");
  const std::string program = put(RK_CHILD, "program");
  chmod(folder().c_str(), 0755);
  const auto with_mode = [&](mode_t mode) {
    chmod(program.c_str(), mode);
    return testing::run_child({program},
                              {{"MLIR_LIBRARY_PATH", library},
                               {"TSAN_OPTIONS", ""}},  // they name a file that nobody may read
                              testing::nobody);
  };
  EXPECT_THAT(with_mode(0755).output, HasSubstr("found " + library + " 19.1.7 as user 65534"));
  const auto as_root = with_mode(04755);
  if (as_root.output.find("as user 65534") != std::string::npos)
    RK_SKIP_UNSUPPORTED("programs get no rights from files in this folder");
  EXPECT_THAT(as_root.output, HasSubstr("as user 0"));
  EXPECT_THAT(as_root.output, Not(HasSubstr(library)));
}

#undef RK_SKIP_WHERE_THE_SYSTEM_HAS_ONE

}  // namespace
}  // namespace ringkernel::mlir
