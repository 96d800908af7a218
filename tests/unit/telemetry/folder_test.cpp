#include "telemetry/folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sample_metrics.hpp"
#include "support/environment.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_file.hpp"
#include "telemetry/counters_writer.hpp"
#include "telemetry/process.hpp"

namespace ringkernel::telemetry {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ringkernel::testing::TempFolder;
using ringkernel::testing::Variable;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TelemetryFolder, IsInTheRuntimeFolderOrInSharedMemory) {
  const fs::path fallback = "/dev/shm/ringkernel-" + std::to_string(geteuid());
  {
    const Variable variable("XDG_RUNTIME_DIR", "/run/user/4711");
    EXPECT_THAT(telemetry_roots(), ElementsAre("/run/user/4711/ringkernel", fallback));
  }
  for (const char* const useless : {"", "relative"}) {
    const Variable variable("XDG_RUNTIME_DIR", useless);
    EXPECT_THAT(telemetry_roots(), ElementsAre(fallback));
  }
}

TEST(TelemetryFolder, IsMadeForThisUserAlone) {
  const TempFolder folder;
  const fs::path own = make_process_folder(folder.path() / "ringkernel").value();
  EXPECT_EQ(own, folder.path() / "ringkernel" / std::to_string(getpid()));
  EXPECT_EQ(fs::status(own).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(own.parent_path()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(make_process_folder(folder.path() / "ringkernel").value(), own) << "it is there";
}

TEST(TelemetryFolder, ThatOthersMayOpenOrThatIsNoneIsRefused) {
  const TempFolder folder;
  const fs::path open = folder.path() / "open";
  fs::create_directory(open);
  fs::permissions(open, fs::perms::owner_all | fs::perms::others_read);
  EXPECT_THAT(make_process_folder(open).error().detail,
              AllOf(HasSubstr(open.string()), HasSubstr("open to other users")));
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "no folder";
  EXPECT_THAT(make_process_folder(file).error().detail, HasSubstr("not a folder"));
  const fs::path link = folder.path() / "link";
  fs::create_directory(folder.path() / "target");
  fs::create_symlink(folder.path() / "target", link);
  EXPECT_THAT(make_process_folder(link).error().detail, HasSubstr("not a folder"));
  EXPECT_THAT(make_process_folder(folder.path() / "a" / "b").error().detail,
              HasSubstr("No such file"));
}

TEST(TelemetryFolder, ListsCountersFilesOnly) {
  const TempFolder folder;
  EXPECT_THAT(counters_files(folder.path() / "missing"), IsEmpty());
  for (const char* const process : {"12", "7"}) {
    fs::create_directory(folder.path() / process);
    for (const char* const name : {"runtime-1.counters", "runtime-1.tmp", "other"})
      std::ofstream(folder.path() / process / name) << "x";
  }
  const fs::path of_12 = folder.path() / "12" / "runtime-1.counters";
  const fs::path of_7 = folder.path() / "7" / "runtime-1.counters";
  EXPECT_THAT(counters_files(folder.path()), ElementsAre(of_12, of_7));
  const std::vector<fs::path> roots = {folder.path() / "missing", folder.path()};
  EXPECT_THAT(counters_files(Scope{roots, ""}), ElementsAre(of_12, of_7));
  EXPECT_THAT(counters_files(Scope{roots, "7"}), ElementsAre(of_7));
  EXPECT_THAT(counters_files(Scope{roots, "1"}), IsEmpty());
}

/// What goes meanwhile, or was never there, is no trouble.
TEST(TelemetryFolder, TellsWhatCannotBeListed) {
  const TempFolder folder;
  const auto unreadable = [](const fs::path& root) { return unreadable_folders({{root}, ""}); };
  EXPECT_THAT(unreadable(folder.path() / "missing"), IsEmpty());
  fs::create_directory(folder.path() / "12");
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "no folder";
  EXPECT_THAT(unreadable(folder.path()), IsEmpty()) << "files are nobody's folders";
  EXPECT_THAT(unreadable(file),
              ElementsAre("'" + file.string() + "' cannot be read: Not a directory"));
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_THAT(unreadable(folder.path() / "loop"), ElementsAre(HasSubstr("cannot be read")));
}

std::uint64_t ns(std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

template <class Word>
void overwrite(const fs::path& path, std::size_t offset, Word word) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(reinterpret_cast<const char*>(&word), sizeof word);
  file.close();
  EXPECT_TRUE(file);
}

/// A file in `root` whose process is gone, and published for the last time at that moment.
fs::path left_behind(const fs::path& root, std::chrono::nanoseconds heartbeat) {
  int path_pipe[2];
  EXPECT_EQ(pipe(path_pipe), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto folder = make_process_folder(root);
    const auto writer = CountersWriter::create(*folder, 100ms);
    const std::string path = (*writer)->path().string();
    const bool told = write(path_pipe[1], path.data(), path.size()) > 0;
    _exit(told ? 0 : 1);  // without its destructor, as if it had been killed
  }
  close(path_pipe[1]);
  char buffer[4096];
  const ssize_t bytes = read(path_pipe[0], buffer, sizeof buffer);
  close(path_pipe[0]);
  waitpid(child, nullptr, 0);
  const fs::path path = std::string(buffer, static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  overwrite(path, offsetof(CountersFile, heartbeat_ns), ns(heartbeat));
  return path;
}

TEST(TelemetryFolder, KeepsTheLastOfThoseThatDied) {
  const TempFolder folder;
  std::vector<fs::path> files;
  for (int heartbeat = 1; heartbeat <= 20; ++heartbeat)
    files.push_back(left_behind(folder.path(), 1s * (heartbeat * 7 % 20 + 1)));
  const fs::path beating = left_behind(folder.path(), 1h);
  remove_dead_files(folder.path(), ns(1h));
  EXPECT_EQ(counters_files(folder.path()).size(), 17u);
  for (std::uint64_t heartbeat = 1; heartbeat <= 20; ++heartbeat)
    EXPECT_EQ(fs::exists(files[heartbeat - 1]), heartbeat * 7 % 20 + 1 > 4) << heartbeat;
  EXPECT_TRUE(fs::exists(beating)) << "another container's process may be at work";
}

TEST(TelemetryFolder, KeepsWhatItDoesNotUnderstandForADay) {
  const TempFolder folder;
  const auto make = [&](const std::string& process, std::chrono::hours ago) {
    fs::create_directory(folder.path() / process);
    fs::path file = folder.path() / process / "runtime-1.counters";
    std::ofstream(file) << "x";
    fs::last_write_time(file, fs::file_time_type::clock::now() - ago);
    return file;
  };
  const fs::path old = make("99999999", 25h);  // more than an id can be
  const fs::path recent = make("99999998", 23h);
  const fs::path somebodys = make(std::to_string(getpid()), 25h);
  remove_dead_files(folder.path(), monotonic_ns());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(recent));
  EXPECT_TRUE(fs::exists(somebodys));
}

TEST(TelemetryFolder, IsRidOfWhatIsOldAndNobodys) {
  const TempFolder folder;
  const fs::path old = left_behind(folder.path(), 1h);
  const fs::path recent = left_behind(folder.path(), 3h);
  fs::last_write_time(recent, fs::file_time_type::clock::now() - 720h);
  const auto own =
      CountersWriter::create(make_process_folder(folder.path()).value(), 100ms).value();
  remove_dead_files(folder.path(), ns(26h));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(old.parent_path()));
  EXPECT_TRUE(fs::exists(recent)) << "made a month ago, but it died today";
  EXPECT_TRUE(fs::exists(own->path())) << "its process runs";
}

/// After an update of ringkernel: whether a file is written to, all versions say in one place.
TEST(TelemetryFolder, KnowsTheDeadOfOtherVersions) {
  const TempFolder folder;
  const auto of_another_version = [&](std::chrono::nanoseconds heartbeat) {
    fs::path path = left_behind(folder.path(), heartbeat);
    overwrite(path, offsetof(CountersFile, version), file_version + 1);
    fs::last_write_time(path, fs::file_time_type::clock::now() - 720h);
    return path;
  };
  const fs::path old = of_another_version(1h);
  const fs::path recent = of_another_version(25h);
  const fs::path beating = of_another_version(26h);
  remove_dead_files(folder.path(), ns(26h));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(recent)) << "it died an hour ago";
  EXPECT_TRUE(fs::exists(beating)) << "another container's process may be at work";
  for (int death = 0; death < 16; ++death) (void)left_behind(folder.path(), 25h + 1s);
  remove_dead_files(folder.path(), ns(26h));
  EXPECT_FALSE(fs::exists(recent)) << "16 others died later";
  EXPECT_TRUE(fs::exists(beating));
}

TEST(TelemetryFolder, IsMadeAgainAfterTheLastOfItsFilesHasGone) {
  const TempFolder folder;
  const fs::path own = make_process_folder(folder.path()).value();
  CountersWriter::create(own, 100ms).value().reset();
  EXPECT_FALSE(fs::exists(own));
  EXPECT_TRUE(CountersWriter::create(own, 100ms)) << "another runtime had made it just before";
}

/// Whose process has the same id, in another container.
TEST(TelemetryFolder, SparesAFileThatSomebodyElseStillPublishes) {
  const TempFolder folder;
  const fs::path own = make_process_folder(folder.path()).value();
  const auto first = CountersWriter::create(own, 100ms).value();
  const std::string stem = first->path().stem().string();
  const int number = std::stoi(stem.substr(stem.rfind('-') + 1));
  const fs::path others = own / ("runtime-" + std::to_string(number + 1) + ".counters");
  fs::copy(first->path(), others);
  overwrite(others, offsetof(CountersFile, version), file_version + 1);  // of whichever version
  const auto second = CountersWriter::create(own, 100ms).value();
  EXPECT_NE(second->path(), others);
  EXPECT_TRUE(fs::exists(others));
}

TEST(TelemetryProcess, IsKnownByIdAndStart) {
  const Process self = this_process();
  EXPECT_TRUE(is_running(self));
  EXPECT_FALSE(is_running({self.id, self.start + 1})) << "the id was used before";
  const pid_t child = fork();
  if (child == 0) pause();
  Process other = self;
  other.id = static_cast<std::uint64_t>(child);
  EXPECT_FALSE(is_running({other.id, 0}));
  kill(child, SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_running(other)) << "it has ended, though nobody has taken note";
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace ringkernel::telemetry
