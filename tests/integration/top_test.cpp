// rkstat top, on terminals of its own.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <regex>
#include <string>
#include <vector>

#include "integration/telemetry_fixture.hpp"
#include "support/terminal.hpp"
#include "telemetry/folder.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Terminal;

const std::string up = "\x1bOA";
const std::string down = "\x1bOB";
const std::string enter = "\r";
const std::string escape_key = "\x1b";

struct Size {
  std::size_t columns;
  std::size_t rows;
};

class Top : public Publishing {
 protected:
  [[nodiscard]] std::unique_ptr<Terminal> top(Size size = {80, 24}) const {
    return std::make_unique<Terminal>(
        std::vector<std::string>{RK_RKSTAT, "--root", root().string(), "top", "--delay", "0.1"},
        std::vector<std::pair<std::string, std::string>>{}, size.columns, size.rows);
  }

  /// The first words of the lines of the table.
  static std::vector<std::string> kernels(const Terminal& terminal) {
    std::vector<std::string> ids;
    bool is_table = false;
    for (const std::string& line : terminal.display().lines()) {
      const std::string word = line.substr(0, line.find(' '));
      if (is_table && word.empty()) break;
      if (is_table) ids.push_back(word);
      is_table |= line.starts_with("KERNEL");
    }
    return ids;
  }
};

INSTANTIATE_TEST_SUITE_P(Backends, Top, ::testing::ValuesIn(backend_names()), backend_label);

TEST_P(Top, ShowsWhatTheCountersSay) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel worker = active(runtime, "worker");
  Kernel other = runtime.launch("other", {.program = "echo"}).value();
  for (std::uint64_t i = 0; i < 7; ++i) ASSERT_TRUE(worker.call(numbered(i)));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(other.send(numbered(i)));
  for (const Size size : {Size{80, 24}, Size{160, 50}}) {
    const auto terminal = top(size);
    const std::regex of_other("\nother +[^\n]*launched[^\n]* 3 ");
    const std::regex of_worker("\nworker +[^\n]*active");
    ASSERT_TRUE(terminal->await([&] {
      const std::string text = terminal->display().text();
      return std::regex_search(text, of_other) && std::regex_search(text, of_worker) &&
             terminal->display().lines().back().find("q quit") != std::string::npos;
    })) << terminal->display().text();
    const std::vector<std::string> lines = terminal->display().lines();
    EXPECT_THAT(lines[0], HasSubstr("1 runtime, 2 kernels"));
    EXPECT_THAT(lines[1], HasSubstr("running, " + label_of(std::string_view(GetParam()))));
    EXPECT_THAT(lines.back(), HasSubstr("q quit"));
    EXPECT_THAT(terminal->display().complaints(), IsEmpty());
    // What there is room for.
    EXPECT_EQ(lines[2].find("PROGRAM") != std::string::npos, size.columns == 160) << lines[2];
    EXPECT_THAT(lines[2], HasSubstr("QUEUED"));
  }
}

TEST_P(Top, QuitsAndLeavesTheTerminalAsItWas) {
  auto runtime = open_on(GetParam(), often()).value();
  for (const std::string by : {"q", "SIGTERM", "SIGHUP", "\x03"}) {
    const auto terminal = top();
    const termios before = terminal->modes_before();
    ASSERT_TRUE(terminal->await_text("1 runtime"));
    EXPECT_TRUE(terminal->display().is_alternate());
    EXPECT_NE(terminal->modes().c_lflag, before.c_lflag);
    if (by == "SIGTERM" || by == "SIGHUP")
      terminal->signal(by == "SIGTERM" ? SIGTERM : SIGHUP);
    else
      terminal->press(by);
    EXPECT_EQ(terminal->await_end(), 0) << by;
    EXPECT_TRUE(terminal->await([&] { return !terminal->display().is_alternate(); })) << by;
    const termios restored = terminal->modes();
    EXPECT_EQ(restored.c_lflag, before.c_lflag) << by;
    EXPECT_EQ(restored.c_iflag, before.c_iflag) << by;
    EXPECT_EQ(restored.c_oflag, before.c_oflag) << by;
  }
}

TEST_P(Top, SortsFiltersAndFollowsItsSelection) {
  auto runtime = open_on(GetParam(), often()).value();
  std::vector<Kernel> kernels_of_test;
  for (const char* const id : {"alpha", "beta", "gamma"})
    kernels_of_test.push_back(runtime.launch(id, {.program = "echo"}).value());
  for (std::uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(kernels_of_test[1].send(numbered(i)));
  ASSERT_TRUE(kernels_of_test[2].send(numbered(0)));
  const auto terminal = top();
  ASSERT_TRUE(terminal->await([&] { return kernels(*terminal).size() == 3; }));
  terminal->press(">>>");  // P50, P99, in flight
  ASSERT_TRUE(terminal->await([&] {
    return kernels(*terminal) == std::vector<std::string>{"beta", "gamma", "alpha"};
  })) << terminal->display().text();
  EXPECT_TRUE(terminal->await_text("INFLIGHT*"));
  terminal->press("r");
  ASSERT_TRUE(terminal->await([&] {
    return kernels(*terminal) == std::vector<std::string>{"alpha", "gamma", "beta"};
  }));
  terminal->press(down + "r" + enter);  // gamma, wherever it is then
  ASSERT_TRUE(terminal->await_text("kernel gamma")) << terminal->display().text();
  terminal->press(enter + "/amm" + enter);
  ASSERT_TRUE(
      terminal->await([&] { return kernels(*terminal) == std::vector<std::string>{"gamma"}; }));
  EXPECT_TRUE(terminal->await_text("filter: amm   (/ changes it)"));
  terminal->press("/\x7f\x7f\x7fzzz" + enter);
  ASSERT_TRUE(terminal->await_text("no kernel or program has 'zzz'"));
  terminal->press(escape_key);
  ASSERT_TRUE(terminal->await([&] { return kernels(*terminal).size() == 3; }));
  EXPECT_THAT(terminal->display().complaints(), IsEmpty());
}

TEST_P(Top, ShowsOneKernelWithItsHistory) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "busy");
  std::atomic<bool> enough{false};
  auto calls = std::async(std::launch::async, [&] {
    for (std::uint64_t i = 0; !enough; ++i) EXPECT_TRUE(kernel.call(numbered(i)));
  });
  const auto terminal = top({100, 40});
  EXPECT_TRUE(terminal->await_text("\nbusy"));
  terminal->press(enter);
  EXPECT_TRUE(terminal->await_text("█")) << "the fastest moment so far";
  EXPECT_TRUE(terminal->await_text("at the device"));
  enough = true;
  calls.get();
  ASSERT_TRUE(terminal->await([&] {
    const std::uint64_t replied = kernel.metrics().replied;
    return terminal->display().text().find("replied " + std::to_string(replied) + ",") !=
           std::string::npos;
  })) << terminal->display().text();
  EXPECT_FALSE(kernel.call(ops::relu(std::vector<float>(4)))) << "it takes bytes";
  EXPECT_TRUE(terminal->await_text("ERRORS"));
  terminal->resize(80, 12);
  EXPECT_TRUE(terminal->await(
      [&] { return terminal->display().text().find("ERRORS") == std::string::npos; }));
  terminal->press("\x1bOF");  // the end
  EXPECT_TRUE(terminal->await_text("takes plain bytes")) << terminal->display().text();
  terminal->press("\x1bOH");
  EXPECT_TRUE(terminal->await_text("kernel busy"));
  terminal->press("e");
  EXPECT_TRUE(terminal->await_text("1 x  last "));
  terminal->press("?");
  EXPECT_TRUE(terminal->await_text("the other way round"));
  terminal->press(escape_key);
  EXPECT_TRUE(terminal->await_text("KERNEL"));
  EXPECT_THAT(terminal->display().complaints(), IsEmpty());
}

TEST_P(Top, DrawsAnewForAnotherSize) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "worker");
  const auto terminal = top();
  ASSERT_TRUE(terminal->await_text("worker"));
  EXPECT_THAT(terminal->display().text(), Not(HasSubstr("PROGRAM")));
  terminal->resize(160, 30);
  EXPECT_TRUE(terminal->await_text("PROGRAM"));
  EXPECT_TRUE(terminal->await(
      [&] { return terminal->display().lines()[29].find("q quit") != std::string::npos; }));
  for (const Size tiny : {Size{20, 5}, Size{5, 2}, Size{1, 1}}) {
    terminal->resize(tiny.columns, tiny.rows);
    terminal->press("?" + escape_key);
  }
  terminal->resize(80, 24);
  EXPECT_TRUE(terminal->await_text("p pause")) << terminal->display().text();
  terminal->press("q");
  EXPECT_EQ(terminal->await_end(), 0);
}

TEST_P(Top, RuntimesComeAndDie) {
  const auto terminal = top();
  ASSERT_TRUE(terminal->await_text("no runtime"));
  (void)testing::run_child({RK_TELEMETRY_SERVICE, GetParam()},
                           {{"XDG_RUNTIME_DIR", root().parent_path().string()}});
  ASSERT_TRUE(terminal->await_text("dead: the process is gone"));
  ASSERT_TRUE(
      terminal->await([&] { return kernels(*terminal) == std::vector<std::string>{"worker"}; }));
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = active(runtime, "living");
  ASSERT_TRUE(terminal->await([&] { return kernels(*terminal).size() == 2; }))
      << terminal->display().text();
  EXPECT_THAT(terminal->display().lines()[0], HasSubstr("2 runtimes"));
  terminal->press("q");
  EXPECT_EQ(terminal->await_end(), 1) << "one of them is dead";
}

/// Of many runtimes three have a line.
TEST_P(Top, ListsTheLivingBeforeTheDead) {
  (void)testing::run_child({RK_TELEMETRY_SERVICE, GetParam()},
                           {{"XDG_RUNTIME_DIR", root().parent_path().string()}});
  const auto dead = telemetry::counters_files(root());
  ASSERT_EQ(dead.size(), 1u);
  for (const char* const process : {"0", "01", "02"}) {  // before any other's, by their names
    std::filesystem::create_directory(root() / process);
    std::filesystem::copy(dead.front(), root() / process / "runtime-1.counters");
  }
  auto runtime = open_on(GetParam(), often()).value();
  const auto terminal = top();
  ASSERT_TRUE(terminal->await_text("and 2 more")) << terminal->display().text();
  // Its first figures may come behind the first screen.
  ASSERT_TRUE(terminal->await([&] {
    return terminal->display().lines()[1].find(
               "running, " + label_of(std::string_view(GetParam()))) != std::string::npos;
  })) << terminal->display().text();
  EXPECT_THAT(terminal->display().lines()[2], HasSubstr("0/1       dead: "));
}

TEST_P(Top, TellsOfFoldersThatCannotBeRead) {
  const std::string file = (root().parent_path() / "file").string();
  std::ofstream(file) << "no folder";
  Terminal terminal({RK_RKSTAT, "--root", file, "top"}, {}, 160, 24);
  EXPECT_TRUE(terminal.await_text("'" + file + "' cannot be read: Not a directory"));
  terminal.press("q");
  EXPECT_EQ(terminal.await_end(), 1);
}

TEST_P(Top, StandsStillWhenItIsToldTo) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel kernel = runtime.launch("a", {.program = "echo"}).value();
  const auto terminal = top();
  ASSERT_TRUE(terminal->await([&] { return kernels(*terminal).size() == 1; }));
  terminal->press("p");
  ASSERT_TRUE(terminal->await_text("PAUSED"));
  Kernel later = runtime.launch("later", {.program = "echo"}).value();
  terminal->press("?");  // it still obeys
  ASSERT_TRUE(terminal->await_text("the other way round"));
  terminal->press(escape_key);
  ASSERT_TRUE(terminal->await_text("KERNEL"));
  terminal->press("/");
  ASSERT_TRUE(terminal->await_text("filter: _")) << "drawn last";
  EXPECT_EQ(kernels(*terminal).size(), 1u);
  terminal->press(enter + "p");
  EXPECT_TRUE(terminal->await([&] { return kernels(*terminal).size() == 2; }));
}

/// Names are not to be trusted: a terminal would obey them.
TEST_P(Top, NamesDoNothingToTheTerminal) {
  auto runtime = open_on(GetParam(), often()).value();
  Kernel evil = runtime.launch("evil\x1b[2J\xc2\x9bK", {.program = "echo"}).value();
  Kernel foreign = runtime.launch("größe-µ", {.program = "echo"}).value();
  const auto terminal = top();
  ASSERT_TRUE(terminal->await_text("evil?[2J?K"));
  EXPECT_TRUE(terminal->await_text("größe-µ "));
  EXPECT_THAT(terminal->display().complaints(), IsEmpty());
}

/// The columns stand where they do without.
TEST_P(Top, CountsWideCharactersTwice) {
  auto runtime = open_on(GetParam(), often()).value();
  std::string wide;
  for (int i = 0; i < 21; ++i) wide += i % 2 == 0 ? "数" : "え";
  Kernel long_one = runtime.launch(wide, {.program = "echo"}).value();
  Kernel short_one = runtime.launch("計算", {.program = "echo"}).value();
  Kernel plain = runtime.launch("plain", {.program = "echo"}).value();
  const auto terminal = top();
  ASSERT_TRUE(terminal->await([&] { return kernels(*terminal).size() == 3; }));
  ASSERT_TRUE(terminal->await_text("p pause"));
  const std::vector<std::string> lines = terminal->display().lines();
  const auto heading = static_cast<std::size_t>(
      std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("KERNEL"); }) -
      lines.begin());
  const std::size_t column = terminal->display().column_of(heading, "RUNTIME");
  ASSERT_LT(column, 80u);
  for (std::size_t row = heading + 1; row <= heading + 3; ++row) {
    EXPECT_EQ(terminal->display().column_of(row, std::to_string(getpid()) + "/"), column)
        << lines[row];
    EXPECT_THAT(lines[row], Not(HasSubstr("?")));
  }
  EXPECT_THAT(terminal->display().text(), HasSubstr("\n数え..え数 ")) << "cut off";
  EXPECT_THAT(terminal->display().complaints(), IsEmpty());
  Terminal without({RK_RKSTAT, "--root", root().string(), "top"}, {{"LC_ALL", "C"}}, 80, 24);
  EXPECT_TRUE(without.await_text("\n?? ")) << without.display().text();
}

TEST_P(Top, NeedsATerminal) {
  const auto piped = rkstat({"top"});
  EXPECT_EQ(piped.exit_code, 64);
  EXPECT_THAT(piped.output, HasSubstr("top needs a terminal"));
  Terminal unknown({RK_RKSTAT, "top"}, {{"TERM", "no-such-terminal"}}, 80, 24);
  EXPECT_TRUE(unknown.await_text("'no-such-terminal' ($TERM) is not known"));
  EXPECT_EQ(unknown.await_end(), 64);
  Terminal dumb({RK_RKSTAT, "top"}, {{"TERM", "dumb"}}, 160, 24);
  EXPECT_TRUE(
      dumb.await_text("the terminal 'dumb' ($TERM) is not known, or has no cursor to be "
                      "placed; try rkstat --watch"))
      << dumb.display().text();
  EXPECT_EQ(dumb.await_end(), 64);
}

}  // namespace
}  // namespace ringkernel::test
