// Programs, and the result of the self-test, that are kept on disk for the next process. Each
// process has a cache folder of the test's own, and PoCL's own cache in the build folder, so that
// it compiles once.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "backend/cache/cache_folder.hpp"
#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

namespace fs = std::filesystem;
using ringkernel::backend::CacheFolder;
using ::testing::HasSubstr;
using ::testing::Not;

using Environment = std::vector<std::pair<std::string, std::string>>;

std::string counts(std::size_t hits, std::size_t misses, std::size_t rejected) {
  return "hits " + std::to_string(hits) + " misses " + std::to_string(misses) + " rejected " +
         std::to_string(rejected);
}
const std::string none_kept = counts(0, 0, 0);

class ProgramCache : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(RK_POCL_CACHE);
    const auto child = run("open", {{"RINGKERNEL_CACHE", "0"}});
    if (child.exit_code == 77) RK_SKIP_WITHOUT("opencl", child.output);
    ASSERT_EQ(child.exit_code, 0) << child.output;
    ASSERT_FALSE(fs::exists(folder()));
    is_pocl_ = child.output.find("device pthread") != std::string::npos ||
               child.output.find("device cpu") != std::string::npos;
  }

  /// What a first process builds: the layout probe, the self-test and "core"; on PoCL the probe of
  /// host threads, too. The next one finds the result of the tests, and needs two of them.
  [[nodiscard]] std::size_t programs() const { return is_pocl_ ? 4 : 3; }
  static constexpr std::size_t programs_later = 2;
  /// In the folder: they, and that result.
  [[nodiscard]] std::size_t all_entries() const { return programs() + 1; }

  /// `changes` come last, so they win. An empty value removes the variable. PoCL loses some memory
  /// whenever it compiles.
  [[nodiscard]] ringkernel::testing::ChildResult run(const char* what, Environment changes = {}) {
    Environment environment{{"XDG_CACHE_HOME", home_.path()},
                            {"POCL_CACHE_DIR", RK_POCL_CACHE},
                            {"RINGKERNEL_CACHE", "1"},
                            {"ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0"}};
    environment.insert(environment.end(), changes.begin(), changes.end());
    return ringkernel::testing::run_child({RK_CACHE_CHILD, what}, environment);
  }

  /// A process in which an op works and the cache does what `counts` says.
  void expect_call(const std::string& expected) {
    const auto child = run("call");
    EXPECT_EQ(child.exit_code, 0) << child.output;
    EXPECT_THAT(child.output, HasSubstr("sums 11 22"));
    EXPECT_THAT(child.output, HasSubstr(expected));
  }

  [[nodiscard]] fs::path folder() const { return home_.path() / "ringkernel"; }
  [[nodiscard]] std::vector<fs::path> entries() const {
    std::vector<fs::path> paths;
    for (const auto& file : fs::directory_iterator(folder())) paths.push_back(file.path());
    return paths;
  }

  ringkernel::testing::TempFolder home_;
  bool is_pocl_ = false;
};

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(ProgramCache, ServesTheNextProcess) {
  expect_call(counts(0, programs(), 0));
  EXPECT_EQ(entries().size(), all_entries());
  expect_call(counts(programs_later, 0, 0));
  expect_call(counts(programs_later, 0, 0));
}

TEST_F(ProgramCache, RebuildsWhatIsDamagedAndReplacesIt) {
  expect_call(counts(0, programs(), 0));
  for (const fs::path& entry : entries()) {
    std::string text = read_file(entry);
    text[text.size() / 2] ^= 1;
    std::ofstream(entry, std::ios::binary) << text;
  }
  expect_call(counts(0, 0, programs()));
  expect_call(counts(programs_later, 0, 0));
}

/// The entry is as it should be, its content is no binary of this driver.
TEST_F(ProgramCache, RebuildsWhatTheDriverRefusesAndReplacesIt) {
  expect_call(counts(0, programs(), 0));
  const auto cache = CacheFolder::open(folder(), 1 << 24);
  ASSERT_TRUE(cache);
  for (const fs::path& entry : entries()) {
    const std::string text = read_file(entry);
    uint64_t key_bytes = 0;
    std::copy_n(text.data() + 16, sizeof key_bytes, reinterpret_cast<char*>(&key_bytes));
    ASSERT_TRUE(cache->store(text.substr(40, key_bytes), "this is the binary of no device"));
  }
  EXPECT_EQ(entries().size(), all_entries());
  expect_call(counts(0, 0, programs()));
  expect_call(counts(programs_later, 0, 0));
}

TEST_F(ProgramCache, ServesAUsersProgramToTheNextProcess) {
  const auto first = run("program");
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("answer 42"));
  EXPECT_THAT(first.output, HasSubstr(counts(0, programs(), 0)));
  const auto next = run("program");
  EXPECT_EQ(next.exit_code, 0) << next.output;
  EXPECT_THAT(next.output, HasSubstr("answer 42"));
  EXPECT_THAT(next.output, HasSubstr(counts(programs_later, 0, 0)));
}

/// A driver brings its own, and none of its caches helps it here. PoCL does not bring the linker,
/// without which it ends the process.
TEST_F(ProgramCache, AUsersProgramNeedsNoCompilerOfTheSystem) {
  const fs::path linker = "/usr/bin/ld";
  if (is_pocl_ && !fs::exists(linker))
    RK_SKIP_UNSUPPORTED("PoCL's linker is not " + linker.string());
  EXPECT_EQ(run("open").exit_code, 0);  // builds all but the program
  const ringkernel::testing::TempFolder folder;
  if (is_pocl_) fs::create_symlink(linker, folder.path() / "ld");
  const auto child = run("program", {{"PATH", folder.path()},
                                     {"RINGKERNEL_CXX", "/nonexistent"},
                                     {"POCL_CACHE_DIR", folder.path()}});
  EXPECT_EQ(child.exit_code, 0) << child.output;
  EXPECT_THAT(child.output, HasSubstr("answer 42"));
  EXPECT_THAT(child.output, HasSubstr(counts(programs_later - 1, 1, 0)));
}

/// Natively the system's compiler is not asked again: this one notes whenever it is.
TEST(NativePrograms, AUsersProgramIsServedToTheNextProcess) {
  const ringkernel::testing::TempFolder folder;
  const fs::path compiler = folder.path() / "noting-c++", notes = folder.path() / "notes";
  std::ofstream(compiler) << "#!/bin/sh\necho \"$@\" >> " << notes.string()
                          << "\nexec c++ \"$@\"\n";
  fs::permissions(compiler, fs::perms::owner_all);
  const auto run = [&] {
    return ringkernel::testing::run_child({RK_CACHE_CHILD, "program", "native"},
                                          {{"XDG_CACHE_HOME", folder.path()},
                                           {"RINGKERNEL_CACHE", "1"},
                                           {"RINGKERNEL_CXX", compiler}});
  };
  const auto first = run();
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("answer 42"));
  EXPECT_THAT(read_file(notes), HasSubstr("program.cpp"));
  fs::remove(notes);
  const auto next = run();
  EXPECT_EQ(next.exit_code, 0) << next.output;
  EXPECT_THAT(next.output, HasSubstr("answer 42"));
  EXPECT_THAT(read_file(notes), Not(HasSubstr("program.cpp")));
}

/// The key is text behind the header of 40 bytes.
TEST_F(ProgramCache, KeepsAProgramUnderAllThatItsBuildDependsOn) {
  const auto child = run("open");
  const std::size_t name_begin = child.output.find("device ") + 7;
  const std::string device =
      child.output.substr(name_begin, child.output.find('\n', name_begin) - name_begin);
  ASSERT_EQ(entries().size(), all_entries() - 1);  // without "core"
  for (const fs::path& entry : entries()) {
    const std::string text = read_file(entry);
    EXPECT_EQ(text.find("ringkernel protocol"), 40u);
    for (const std::string& part : {device, std::string("\nOpenCL 3."),
                                    std::string("\n-cl-std=CL3.0"), std::string("__kernel")})
      EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST_F(ProgramCache, KeepsNothingWhereItIsTurnedOff) {
  const auto child = run("open", {{"RINGKERNEL_CACHE", "0"}, {"POCL_KERNEL_CACHE", "0"}});
  EXPECT_THAT(child.output, HasSubstr(none_kept));
  EXPECT_FALSE(fs::exists(folder()));
}

/// Unless it is told to, it leaves programs to the cache of a driver that has one.
TEST_F(ProgramCache, LeavesItToPoclsOwnCache) {
  const auto left = run("open", {{"RINGKERNEL_CACHE", ""}, {"POCL_KERNEL_CACHE", ""}});
  if (!is_pocl_) RK_SKIP_WITHOUT("pocl", left.output);
  EXPECT_THAT(left.output, HasSubstr(none_kept));
  EXPECT_EQ(entries().size(), 1u) << "the result of the self-test";
  const auto without = run("open", {{"RINGKERNEL_CACHE", ""}, {"POCL_KERNEL_CACHE", "0"}});
  EXPECT_THAT(without.output, HasSubstr(counts(0, 1, 0))) << "the layout probe";
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(ProgramCache, LiesInTheHomeFolderWhereNoOtherIsNamed) {
  for (const char* const no_folder : {"", "relative/path"}) {
    const ringkernel::testing::TempFolder user;
    const auto child = run("open", {{"XDG_CACHE_HOME", no_folder}, {"HOME", user.path()}});
    EXPECT_THAT(child.output, HasSubstr(counts(0, programs() - 1, 0)));
    EXPECT_TRUE(fs::is_directory(user.path() / ".cache" / "ringkernel"));
  }
}

TEST_F(ProgramCache, DoesWithoutAFolder) {
  std::ofstream(folder()) << "a file";
  const auto blocked = run("open");
  EXPECT_EQ(blocked.exit_code, 0);
  EXPECT_THAT(blocked.output, HasSubstr(none_kept));
  const auto homeless = run("open", {{"XDG_CACHE_HOME", ""}, {"HOME", ""}});
  EXPECT_EQ(homeless.exit_code, 0);
  EXPECT_THAT(homeless.output, HasSubstr(none_kept));
}

}  // namespace
}  // namespace ringkernel::test
