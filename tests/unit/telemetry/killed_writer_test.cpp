// A writer that is killed at any moment leaves a whole record behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>

#include "sample_metrics.hpp"
#include "support/stress.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_reader.hpp"

namespace ringkernel::telemetry {
namespace {

/// The child, once it stores, and where to.
struct Writing {
  pid_t process = -1;
  std::string path;
};

Writing start(const std::string& folder) {
  int out[2];
  if (pipe(out) != 0) return {};
  Writing writing;
  writing.process = fork();
  if (writing.process == 0) {
    dup2(out[1], STDOUT_FILENO);
    execl(RK_TELEMETRY_CHILD, RK_TELEMETRY_CHILD, folder.c_str(), nullptr);
    _exit(127);
  }
  close(out[1]);
  for (char byte = 0; read(out[0], &byte, 1) == 1 && byte != '\n';) writing.path += byte;
  close(out[0]);
  return writing;
}

TEST(KilledWriter, LeavesItsLastRecord) {
  const testing::TempFolder folder;
  std::mt19937 random(7);
  const std::uint64_t rounds = test::scaled(200);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const Writing writing = start(folder.path().string());
    ASSERT_FALSE(writing.path.empty());
    // Any moment will do, so that this is no wait for anything.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    kill(writing.process, SIGKILL);
    waitpid(writing.process, nullptr, 0);
    const auto reader = CountersReader::open(writing.path);
    ASSERT_TRUE(reader) << reader.error().text();
    EXPECT_FALSE(is_running(reader->writer().process));
    const auto kernels = reader->kernels();
    ASSERT_EQ(kernels.size(), 1u);
    ASSERT_TRUE(testing::is_whole(kernels.front().metrics))
        << round << ": " << kernels.front().metrics.id;
    std::uint64_t from = 0;
    for (const TraceEvent& event : reader->trace(from))
      ASSERT_TRUE(testing::is_whole(event)) << round << ": event " << event.id;
    unlink(writing.path.c_str());
  }
}

}  // namespace
}  // namespace ringkernel::telemetry
