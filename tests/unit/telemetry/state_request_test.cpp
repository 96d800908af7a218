// A state is asked for through a counters file, and whatever becomes of the other side is told.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "sample_metrics.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_writer.hpp"
#include "telemetry/state_request.hpp"

namespace ringkernel::telemetry {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class StateRequests : public ::testing::Test {
 protected:
  StateRequests() {
    std::filesystem::create_directory(folder_.path() / "own");
    writer_ = CountersWriter::create(folder_.path() / "own", 100ms).value();
    path_ = writer_->path();
  }
  std::future<Result<std::string>> ask(std::uint64_t kernel) {
    return std::async(std::launch::async, [this, kernel] {
      return ask_for_state(path_, kernel, std::chrono::minutes(5));
    });
  }
  StateRequest await_request() {
    for (;;) {
      if (const auto request = writer_->state_request()) return *request;
      std::this_thread::sleep_for(1ms);
    }
  }

  ringkernel::testing::TempFolder folder_;
  std::unique_ptr<CountersWriter> writer_;
  std::filesystem::path path_;
};

TEST_F(StateRequests, AreAnsweredOneAfterTheOther) {
  EXPECT_FALSE(writer_->state_request());
  for (std::uint64_t kernel = 1; kernel <= 3; ++kernel) {
    auto asked = ask(kernel);
    const StateRequest request = await_request();
    EXPECT_EQ(request.kernel, kernel);
    writer_->answer(request, "{\"kernel\": " + std::to_string(kernel) + "}");
    EXPECT_FALSE(writer_->state_request());
    EXPECT_EQ(asked.get().value(), "{\"kernel\": " + std::to_string(kernel) + "}");
  }
}

/// The number of the last request is gone then, on one of the two sides.
TEST_F(StateRequests, GoOnInAFileThatWasCutOff) {
  for (std::uint64_t kernel = 1; kernel <= 3; ++kernel) {
    auto asked = ask(kernel);
    writer_->answer(await_request(), std::to_string(kernel));
    EXPECT_EQ(asked.get().value(), std::to_string(kernel));
    std::filesystem::resize_file(path_, 0);
    EXPECT_TRUE(writer_->was_cut());
    EXPECT_FALSE(writer_->state_request()) << "nobody asks";
  }
}

/// At once: each gets its own answer.
TEST_F(StateRequests, OfSeveralWaitForEachOther) {
  std::vector<std::future<Result<std::string>>> asked;
  for (std::uint64_t kernel = 1; kernel <= 4; ++kernel) asked.push_back(ask(kernel));
  for (int i = 0; i < 4; ++i) {
    const StateRequest request = await_request();
    writer_->answer(request, std::to_string(request.kernel));
  }
  for (std::uint64_t kernel = 1; kernel <= 4; ++kernel)
    EXPECT_EQ(asked[kernel - 1].get().value(), std::to_string(kernel));
}

TEST_F(StateRequests, AreRefusedWithTheServicesReason) {
  auto asked = ask(1);
  writer_->answer(await_request(), Error(Errc::state_mismatch, "it has none"));
  const auto refused = asked.get();
  EXPECT_EQ(refused.error(), Errc::state_mismatch);
  EXPECT_EQ(refused.error().detail, "it has none");

  asked = ask(1);
  writer_->answer(await_request(), std::string(state_text_max + 1, ' '));
  const auto too_large = asked.get();
  EXPECT_EQ(too_large.error(), Errc::limit_exceeded);
  EXPECT_THAT(too_large.error().detail, HasSubstr(std::to_string(state_text_max + 1) + " bytes"));

  asked = ask(1);
  writer_->answer(await_request(), std::string(state_text_max, 'x'));
  EXPECT_EQ(asked.get().value(), std::string(state_text_max, 'x'));
}

/// Of one that nobody answers any more the next one is told nothing.
TEST_F(StateRequests, EndWhereNobodyAnswers) {
  const auto late = ask_for_state(path_, 7, 20ms);
  EXPECT_EQ(late.error(), Errc::deadline_exceeded);
  EXPECT_THAT(late.error().detail,
              HasSubstr("no answer in 20 ms; the runtime publishes every 100 ms"));
  const StateRequest old = await_request();
  auto asked = ask(8);
  StateRequest request = old;
  while (request.number == old.number) request = await_request();
  writer_->answer(old, std::string("old"));
  writer_->answer(request, std::string("new"));
  EXPECT_EQ(asked.get().value(), "new");
}

TEST_F(StateRequests, EndWithTheRuntime) {
  auto asked = ask(1);
  (void)await_request();
  writer_.reset();
  const auto ended = asked.get();
  EXPECT_EQ(ended.error(), Errc::runtime_closed);
  EXPECT_THAT(ended.error().detail, HasSubstr("has ended meanwhile"));
  EXPECT_THAT(ask_for_state(path_, 1, 1s).error().detail, HasSubstr("No such file"));
}

TEST_F(StateRequests, OfWhatIsNoCountersFileAreRefused) {
  const std::filesystem::path path = folder_.path() / "runtime-99.counters";
  std::filesystem::copy(path_, path);
  std::filesystem::resize_file(path, sizeof(CountersFile) - 1);
  EXPECT_THAT(ask_for_state(path, 1, 1s).error().detail, HasSubstr("truncated"));
  std::filesystem::resize_file(path, sizeof(CountersFile));
  std::fstream(path, std::ios::in | std::ios::out)
      .seekp(offsetof(CountersFile, version))
      .put(static_cast<char>(file_version - 1));
  const auto older = ask_for_state(path, 1, 1s);
  EXPECT_EQ(older.error(), Errc::protocol_mismatch);
  EXPECT_THAT(older.error().detail,
              HasSubstr("version " + std::to_string(file_version - 1) + "; this tool reads"));
}

}  // namespace
}  // namespace ringkernel::telemetry
