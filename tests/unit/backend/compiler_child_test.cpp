// The compiler as a child: whatever it does, its caller gets an answer, and nothing stays behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "backend/native/child.hpp"
#include "compiler_fixture.hpp"
#include "foundation/file.hpp"

namespace ringkernel::native {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Result<Ended> shell(const std::string& script, std::chrono::milliseconds deadline) {
  return run_child(
      {{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "COLOUR=blue"}, "/usr", deadline});
}
constexpr std::chrono::seconds patience{60};

TEST(ChildProgram, GivesStatusAndBothOutputs) {
  const auto ended = shell("echo to one; echo to two >&2; exit 3", patience);
  ASSERT_TRUE(ended.has_value()) << ended.error().text();
  EXPECT_TRUE(ended->has_failed());
  EXPECT_THAT(ended->output, AllOf(HasSubstr("to one"), HasSubstr("to two")));
  EXPECT_FALSE(ended->is_cut);
  EXPECT_FALSE(shell("exit 0", patience)->has_failed());
  EXPECT_TRUE(shell("kill -9 $$", patience)->has_failed());
}

TEST(ChildProgram, SeesTheEnvironmentThatItIsGivenAndNoInput) {
  const auto ended = shell("echo $COLOUR $HOME; pwd; cat; echo end", patience);
  ASSERT_TRUE(ended.has_value()) << ended.error().text();
  EXPECT_EQ(ended->output, "blue\n/usr\nend\n");
}

TEST(ChildProgram, HasNoneOfOurDescriptors) {
  const File ours(open("/dev/null", O_RDONLY));  // as a careless program opens it
  const auto ended = shell("for f in /proc/self/fd/*; do readlink $f; done", patience);
  ASSERT_TRUE(ended.has_value()) << ended.error().text();
  const std::string& names = ended->output;
  EXPECT_EQ(names.find("/dev/null", names.find("/dev/null") + 1), std::string::npos) << names;
}

TEST(ChildProgram, HasSignalsAtTheirDefaults) {
  void (*const before)(int) = signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &old);
  const auto ended = shell("grep -E 'SigBlk|SigIgn' /proc/self/status", patience);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  signal(SIGPIPE, before);
  ASSERT_TRUE(ended.has_value()) << ended.error().text();
  // But for those two of the C library, which no program has a word in.
  EXPECT_TRUE(ended->output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n" ||
              ended->output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000180000000\n")
      << ended->output;
}

TEST(ChildProgram, IsKilledWithAllItsOwnWhereItDoesNotEnd) {
  const auto ended =
      shell("echo before; sleep 1000 & echo $!; sleep 1000", std::chrono::milliseconds(300));
  ASSERT_FALSE(ended.has_value());
  EXPECT_TRUE(ended.error() == Errc::execution_timeout);
  EXPECT_THAT(ended.error().detail, AllOf(HasSubstr("within 300 ms"), HasSubstr("before")));
  const std::string& said = ended.error().detail;
  const pid_t other = std::stoi(said.substr(said.find("before\n") + 7));
  // Killed; somebody else reaps it.
  const auto is_gone = [other] {
    std::ifstream file("/proc/" + std::to_string(other) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    return text.empty() || text.find(") Z") != std::string::npos;
  };
  while (!is_gone()) usleep(1000);
}

TEST(ChildProgram, IsKilledWhereItClosesItsOutputAndStays) {
  const auto ended = shell("exec >&- 2>&-; sleep 1000", std::chrono::milliseconds(200));
  ASSERT_FALSE(ended.has_value());
  EXPECT_TRUE(ended.error() == Errc::execution_timeout);
}

TEST(ChildProgram, HasItsOutputCutAndIsReadToItsEnd) {
  const auto ended = shell("head -c 1000000 /dev/zero | tr '\\0' x; exit 4", patience);
  ASSERT_TRUE(ended.has_value()) << ended.error().text();
  EXPECT_EQ(ended->output, std::string(child_output_bytes_max, 'x'));
  EXPECT_TRUE(ended->is_cut);
  EXPECT_TRUE(ended->has_failed());
}

TEST(ChildProgram, EndsAlsoWhereItsStatusGoesElsewhere) {
  void (*const before)(int) = signal(SIGCHLD, SIG_IGN);
  const auto ended = shell("echo done; exit 3", patience);
  signal(SIGCHLD, before);
  ASSERT_TRUE(ended.has_value()) << ended.error().text();
  EXPECT_FALSE(ended->status.has_value());
  EXPECT_EQ(ended->output, "done\n");
}

TEST(ChildProgram, SaysWhyItCouldNotBeStarted) {
  const auto ended = run_child({{"/no/such/program"}, {}, "/", patience});
  ASSERT_FALSE(ended.has_value());
  EXPECT_TRUE(ended.error() == Errc::build_failed);
  EXPECT_THAT(ended.error().detail, HasSubstr("/no/such/program could not be started: No such"));
}

TEST_F(CompilerTest, ACompilerThatHangsIsGivenUp) {
  pretend(
      "touch \"$TMPDIR/left\"; mkdir \"$TMPDIR/folder\"; touch \"$TMPDIR/folder/file\"; sleep "
      "1000");
  here_.deadline = std::chrono::milliseconds(300);
  const auto program = compile("");
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::execution_timeout);
  EXPECT_THAT(program.error().detail, HasSubstr("program 'book': "));
  EXPECT_EQ(left_behind(), 0u);
}

TEST_F(CompilerTest, ACompilerThatTalksTooMuchIsCutShort) {
  pretend("yes 'this is wrong' | head -n 100000; exit 1");
  const auto program = compile("");
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::build_failed);
  EXPECT_THAT(program.error().detail, AllOf(HasSubstr("this is wrong\n"), HasSubstr("(and more)")));
  EXPECT_LT(program.error().detail.size(), 9000u);
}

TEST_F(CompilerTest, ACompilerThatWritesNoObjectHasFailed) {
  pretend("exit 0");
  const auto program = compile("");
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::build_failed);
  EXPECT_THAT(program.error().detail, HasSubstr("wrote no object"));
  EXPECT_EQ(left_behind(), 0u);
}

TEST_F(CompilerTest, ACompilerThatFailsIsNotBelievedForItsObject) {
  pretend("while [ \"$1\" != -o ]; do shift; done; echo half > \"$2\"; echo broken; exit 1");
  const auto program = compile("");
  ASSERT_FALSE(program.has_value());
  EXPECT_THAT(program.error().detail, HasSubstr("broken"));
}

TEST_F(CompilerTest, SaysWhereNoFilesCanBeWritten) {
  here_.cache_folder.clear();
  here_.scratch = {"/no/such/place", "/dev/null"};
  const auto program = compile("");
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::build_failed);
  EXPECT_THAT(program.error().detail, AllOf(HasSubstr("/no/such/place - No such file"),
                                            HasSubstr("/dev/null - Not a directory")));
  here_.scratch = {"", scratch()};
  chmod(scratch().c_str(), 0777);  // where others could put a folder of theirs for ours
  EXPECT_THAT(compile("").error().detail, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace ringkernel::native
