// What a runtime tells a log.
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/telemetry_fixture.hpp"

namespace ringkernel::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Lines : public LogSink {
 public:
  void write(const LogRecord& record) override {
    const std::lock_guard lock(mutex_);
    std::string line = std::string(name(record.level)) + " [" + std::string(record.kernel) + "] " +
                       std::string(record.text);
    if (record.message != 0) line += " of a message";
    if (record.left_out != 0) line += " after " + std::to_string(record.left_out);
    lines_.push_back(line);
    runtimes_.emplace_back(record.runtime);
    if (throws_) throw std::runtime_error("the disk is full");
  }

  void throw_from_here_on() {
    const std::lock_guard lock(mutex_);
    throws_ = true;
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  [[nodiscard]] std::vector<std::string> runtimes() const {
    const std::lock_guard lock(mutex_);
    return runtimes_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<std::string> runtimes_;
  bool throws_ = false;
};

class Log : public Publishing {
 protected:
  [[nodiscard]] RingKernelRuntime open(const RuntimeOptions& options = often()) {
    return RingKernelRuntime::builder()
        .backend(GetParam())
        .options(options)
        .log(sink_)
        .build()
        .value();
  }

  std::shared_ptr<Lines> sink_ = std::make_shared<Lines>();
};

INSTANTIATE_TEST_SUITE_P(Backends, Log, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Log, TellsTheLifeOfARuntimeAndItsKernels) {
  std::string file;
  {
    auto runtime = open();
    file = runtime.metrics().telemetry_file;
    Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
    ASSERT_TRUE(kernel.activate());
    ASSERT_TRUE(kernel.call(numbered(1)));
    ASSERT_TRUE(kernel.terminate());
  }
  const std::vector<std::string> lines = sink_->lines();
  ASSERT_EQ(lines.size(), 6u) << ::testing::PrintToString(lines);
  EXPECT_THAT(lines[0], StartsWith("info [] opened '"));
  EXPECT_EQ(lines[1], "info [a] launched");
  EXPECT_EQ(lines[2], "info [a] active");
  EXPECT_EQ(lines[3], "info [a] terminating");
  EXPECT_EQ(lines[4], "info [a] terminated");
  EXPECT_EQ(lines[5], "info [] shut down");
  const std::filesystem::path path(file);
  EXPECT_EQ(sink_->runtimes().front(),
            path.parent_path().filename().string() + "/" +
                path.stem().string().substr(std::string("runtime-").size()));
}

TEST_P(Log, TellsSwapsAndWhatWasNotSwapped) {
  const auto program = [](const std::string& body) {
    return ProgramDesc{.name = "bytes",
                       .source = Source::text("bytes.rk.cl", "RK_ON_BYTES {\n" + body + "}\n")};
  };
  {
    auto runtime = open();
    const std::string good = "  (void)state;\n  rk_reply_length(self, 0);\n  return RK_OK;\n";
    ASSERT_TRUE(runtime.add_program(program(good)));
    EXPECT_FALSE(runtime.swap_program(program("  return no_such_thing(self);\n")));
    ASSERT_TRUE(runtime.swap_program(program(good + " ")));
    ASSERT_TRUE(runtime.swap_back("bytes"));
  }
  using ::testing::ContainsRegex;
  const std::vector<std::string> lines = sink_->lines();
  EXPECT_THAT(lines, Contains(ContainsRegex("^info \\[\\] program 'bytes': version 1 -> 2, paused "
                                            "for [0-9]+ us, 0 states migrated$")));
  EXPECT_THAT(lines, Contains(ContainsRegex("^info \\[\\] program 'bytes': version 2 -> 3, ")));
  EXPECT_THAT(lines, Contains(ContainsRegex("^warning \\[\\] .*build_failed.*'bytes'.*"
                                            "bytes.rk.cl:2")));
}

/// The first error of a kind at once, those like it counted: at the end at the latest.
TEST_P(Log, TellsRepeatedErrorsOnce) {
  constexpr int failures = 50;
  {
    auto runtime = open();
    Kernel kernel = active(runtime, "a");
    Kernel other = active(runtime, "b");
    for (int i = 0; i < failures; ++i)
      EXPECT_FALSE(kernel.call(ops::relu(std::vector<float>(4)))) << "it takes bytes";
    EXPECT_FALSE(other.call(ops::relu(std::vector<float>(4))));
  }
  std::uint64_t told = 0;
  for (const std::string& line : sink_->lines()) {
    if (!line.starts_with("warning [a]")) continue;
    ++told;
    if (const auto after = line.find(" after "); after != std::string::npos)
      told += std::stoul(line.substr(after + 7));
  }
  EXPECT_EQ(told, static_cast<std::uint64_t>(failures));
  EXPECT_THAT(sink_->lines(), Contains(StartsWith("warning [b]")));
}

TEST_P(Log, ASinkThatThrowsEndsNothing) {
  auto runtime = open();
  sink_->throw_from_here_on();
  Kernel kernel = active(runtime, "a");
  EXPECT_TRUE(kernel.call(numbered(1)));
  ASSERT_TRUE(await([&] { return sink_->lines().size() >= 3; }));
  EXPECT_TRUE(kernel.call(numbered(2)));
}

TEST_P(Log, SaysWhyThereIsNoHttp) {
  auto first = open({.http_address = "127.0.0.1:0"});
  const std::string address = first.metrics().http_address;
  ASSERT_TRUE(await([&] {
    const auto lines = sink_->lines();
    return std::ranges::count(lines, "info [] HTTP at " + address) == 1;
  }));
  auto second = open({.http_address = address});
  EXPECT_EQ(second.metrics().http_address, "");
  EXPECT_THAT(second.metrics().telemetry_failure, HasSubstr(address));
  ASSERT_TRUE(await([&] {
    for (const std::string& line : sink_->lines())
      if (line.starts_with("error [] ") && line.find(address) != std::string::npos) return true;
    return false;
  }));
}

TEST_P(Log, TellsTheNameOfTheRuntime) {
  ::testing::internal::CaptureStderr();
  {
    RuntimeOptions options = often();
    options.name = "pricing";
    auto runtime = RingKernelRuntime::builder()
                       .backend(GetParam())
                       .options(options)
                       .log(stderr_log(LogLevel::info))
                       .build()
                       .value();
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(" name=\"pricing\" "));
}

/// What others chose does nothing to the terminal that it goes to.
TEST(StderrLog, EscapesWhatTerminalsObey) {
  ::testing::internal::CaptureStderr();
  LogRecord record{};
  record.runtime = "7/1";
  record.kernel = "größe \"数\" \\ \x1b[2J\n";
  record.text = "\x7f \xc2\x9b \xe2\x80\xae \xff \xc0\x80";
  stderr_log(LogLevel::info)->write(record);
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(line, HasSubstr(R"(kernel="größe \"数\" \\ \x1b[2J\x0a")"));
  EXPECT_THAT(line, ::testing::EndsWith(R"(text="\x7f \xc2\x9b \xe2\x80\xae \xff \xc0\x80")"
                                        "\n"));
}

/// As the environment asks for it: what spdlog prints, line by line.
TEST_P(Log, GoesToStandardErrorIfAskedFor) {
  const auto said_by_a_service = [&](const char* level) {
    const testing::Variable asked("RINGKERNEL_LOG", level);
    ::testing::internal::CaptureStderr();
    {
      auto runtime = RingKernelRuntime::builder().backend(GetParam()).build().value();
      (void)runtime.launch("worker", {.auto_activate = true}).value();
    }  // its end waits for the last line
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(said_by_a_service("info"),
              ::testing::ContainsRegex("[0-9T:.+-]+ info ringkernel runtime=[0-9]+/[0-9]+ "
                                       "kernel=\"worker\" text=\"active\"\n"));
  EXPECT_EQ(said_by_a_service("warning"), "");
  const testing::Variable wrong("RINGKERNEL_LOG", "loud");
  const auto refused = RingKernelRuntime::builder().backend(GetParam()).build();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("'loud'"));
}

}  // namespace
}  // namespace ringkernel::test
