#include "outcome.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <system_error>
#include <utility>

#include "text.hpp"

namespace rkstat {

namespace telemetry = ringkernel::telemetry;

void occupy_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) return;  // takes the lowest
}

bool print(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

void tell(std::string_view sentence) {
  const std::string line = fmt::format("rkstat: {}\n", sentence);
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

int output_failed(std::string_view what) {
  tell(fmt::format("{} cannot be written: {}", what, std::generic_category().message(errno)));
  return output_error;
}

void tell_problems(const Readings& readings) {
  for (auto of = readings.begin(); of != readings.end(); ++of) {
    const auto has_the_same = [&](const telemetry::Reading& reading) {
      return reading.problem == of->problem;
    };
    if (of->problem.empty() || std::any_of(readings.begin(), of, has_the_same)) continue;
    std::string names = of->name;
    for (auto next = of + 1; next != readings.end(); ++next)
      if (has_the_same(*next)) names += ", " + next->name;
    tell(fmt::format("runtime {} ({}): {}", names, name(of->health), of->problem));
  }
}

std::string no_runtime_text(const Scope& scope) {
  std::string text = "no runtime";
  if (!scope.process.empty()) text += " of process " + scope.process;
  const char* separator = " in ";
  for (const std::filesystem::path& root : scope.roots)
    text += fmt::format("{}'{}'", std::exchange(separator, ", "), printable(root.string()));
  return text;
}

std::vector<std::string> folder_problems(const Scope& scope) {
  std::vector<std::string> sentences = telemetry::unreadable_folders(scope);
  for (std::string& sentence : sentences) sentence = printable(sentence);
  return sentences;
}

int exit_code(const Readings& readings, bool all_folders_are_readable) {
  const int code = telemetry::exit_code(readings);
  return all_folders_are_readable || code == 3 ? code : 1;
}

}  // namespace rkstat
