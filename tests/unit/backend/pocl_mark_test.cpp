// PoCL's cache folder. Marks there: those of the living are no finding, those of the dead are. And
// the room that is left.
#include "backend/opencl/cache/pocl_mark.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "backend/opencl/cache/pocl_cache.hpp"
#include "support/skip.hpp"
#include "support/temp_folder.hpp"

namespace ringkernel::opencl {
namespace {

namespace fs = std::filesystem;

class PoclMarks : public ::testing::Test {
 protected:
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }
  /// A process that ends with a mark.
  void die() const {
    const pid_t child = fork();
    if (child == 0) {
      const PoclMark mark(folder());
      _exit(0);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  /// One that leaves while a thread still has a mark.
  void exit_meanwhile() const {
    const pid_t child = fork();
    if (child == 0) {
      static const PoclMark* const mark = new PoclMark(folder());
      std::quick_exit(mark == nullptr ? 1 : 0);  // not the handlers of drivers in the parent
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  /// As LLVM ends a process, from a thread that compiles.
  void exit_within() const {
    const pid_t child = fork();
    if (child == 0) {
      std::thread([this] {
        const PoclMark mark(folder());
        std::quick_exit(1);
      }).join();
      _exit(2);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }
  void add(const std::string& name) const { std::ofstream(folder_.path() / name) << name; }

 private:
  testing::TempFolder folder_;
};

TEST_F(PoclMarks, OfTheLivingAreNoFinding) {
  EXPECT_FALSE(has_dead_mark(folder()));
  {
    const PoclMark one(folder());
    const PoclMark other(folder());
    EXPECT_FALSE(has_dead_mark(folder()));
  }
  EXPECT_FALSE(has_dead_mark(folder()));
}

TEST_F(PoclMarks, OfTheDeadAreFoundWhenNobodyElseIsThere) {
  std::optional<PoclMark> mark(std::in_place, folder());
  ASSERT_NO_FATAL_FAILURE(die());
  EXPECT_FALSE(has_dead_mark(folder()));
  mark.reset();
  EXPECT_TRUE(has_dead_mark(folder()));
  EXPECT_TRUE(has_dead_mark(folder()));
}

TEST_F(PoclMarks, OfThoseWhoExitAreNoFinding) {
  ASSERT_NO_FATAL_FAILURE(exit_meanwhile());
  EXPECT_FALSE(has_dead_mark(folder()));
}

TEST_F(PoclMarks, OfThoseWhomACompilerEndsAreFound) {
#if defined(__SANITIZE_THREAD__)
  RK_SKIP_UNSUPPORTED("ThreadSanitizer knows no threads behind a fork");
#endif
  ASSERT_NO_FATAL_FAILURE(exit_within());
  EXPECT_TRUE(has_dead_mark(folder()));
}

TEST_F(PoclMarks, AFolderIsEmptiedWhereSomebodyDied) {
  add("entry");
  { const PoclMark mark(folder()); }
  empty_marked_folder(folder());
  EXPECT_TRUE(fs::exists(folder() + "/entry"));
  ASSERT_NO_FATAL_FAILURE(die());
  {
    const PoclMark mark(folder());
    empty_marked_folder(folder());
    EXPECT_TRUE(fs::exists(folder() + "/entry"));
  }
  empty_marked_folder(folder());
  EXPECT_FALSE(fs::exists(folder() + "/entry"));
  EXPECT_FALSE(has_dead_mark(folder()));
}

TEST_F(PoclMarks, AreNotWhereNothingCanBeWritten) {
  const PoclMark mark("/dev/null/kcache");
  EXPECT_FALSE(has_dead_mark("/dev/null/kcache"));
  const PoclMark none("");
  EXPECT_FALSE(has_dead_mark(""));
}

TEST(PoclRoom, IsLookedAtWhereTheFolderIsOrWillBe) {
  const testing::TempFolder folder;
  const std::string path = folder.path().string() + "/pocl/kcache";
  EXPECT_TRUE(check_pocl_room(path, 1));
  EXPECT_TRUE(check_pocl_room(""));
  constexpr std::uint64_t much = std::uint64_t{1} << 62;
  const auto refused = check_pocl_room(path, much);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::backend_unavailable);
  EXPECT_THAT(refused.error().detail,
              ::testing::ContainsRegex("its cache folder '" + path + "' has [0-9]+ KiB left"));
}

}  // namespace
}  // namespace ringkernel::opencl
