#include "runs.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "backend/native/child.hpp"
#include "harness.hpp"

namespace rkc {

namespace {

using ringkernel::Errc;
using ringkernel::Error;
using ringkernel::Result;
using ringkernel::native::Ended;
using ringkernel::native::ScratchFolder;
using ringkernel::native::Surroundings;
using ringkernel::native::Toolchain;
using ringkernel::program::Definition;

constexpr std::uint64_t results_bytes_max = std::uint64_t{1} << 30;
constexpr std::uint64_t log_bytes_max = std::uint64_t{1} << 28;
/// Beyond the time of messages: a child that neither computes nor ends.
constexpr std::chrono::minutes run_time_max{30};
constexpr std::string_view oclgrind_text = "input.cl:";
/// Of Oclgrind, which is silent from there on.
constexpr const char* reports_max = "20000";

/// As the native backend compiles, but for what is looked for. Mistakes are told with the lines of
/// the source, one after the other.
constexpr const char* flags[] = {"-std=c++20",
                                 "-O1",
                                 "-g",
                                 "-fno-omit-frame-pointer",
                                 "-ffp-contract=off",
                                 "-fno-strict-aliasing",
                                 "-fno-finite-loops",
                                 "-fno-exceptions",
                                 "-fdiagnostics-color=never",
                                 "-fmax-errors=20",
                                 "-fsanitize=address,undefined,float-cast-overflow",
                                 "-fsanitize-recover=all"};

std::string_view harness(std::string_view name) {
  const auto files = ringkernel::harness_files();
  return std::ranges::find(files, name, &ringkernel::HarnessFile::name)->text;
}

void append(std::string& to, const void* from, std::size_t bytes) {
  to.append(static_cast<const char*>(from), bytes);
}

void append_padded(std::string& to, const Bytes& bytes) {
  append(to, bytes.data(), bytes.size());
  to.append((8 - bytes.size() % 8) % 8, '\0');
}

/// The file of messages; with `before`, as many as that has outcomes, each with its state.
std::string file_of(const std::vector<Message>& messages, const std::vector<Outcome>* before) {
  std::string file;
  const std::size_t count = before != nullptr ? before->size() : messages.size();
  for (std::size_t i = 0; i < count; ++i) {
    rk_check_message head = messages[i].head;
    head.has_state = before != nullptr ? 1 : 0;
    append(file, &head, sizeof head);
    append_padded(file, messages[i].payload);
    if (before == nullptr) continue;
    const bool is_first = i == 0 || messages[i - 1].head.actor != head.actor;
    append_padded(file, is_first ? Bytes(head.state_bytes) : (*before)[i - 1].state);
  }
  return file;
}

Bytes take(std::string_view& from, std::size_t bytes) {
  Bytes taken(bytes);
  std::memcpy(taken.data(), from.data(), bytes);
  from.remove_prefix((bytes + 7) / 8 * 8);
  return taken;
}

/// Up to where the child came.
std::vector<Outcome> outcomes_of(std::string_view file, const std::vector<Message>& messages) {
  std::vector<Outcome> outcomes;
  for (const Message& message : messages) {
    const auto padded = [](std::size_t bytes) { return (bytes + 7) / 8 * 8; };
    const std::size_t whole = sizeof(rk_check_result) + padded(message.head.reply_bytes) +
                              padded(message.head.state_bytes);
    if (file.size() < whole) break;
    Outcome outcome;
    std::memcpy(&outcome.result, file.data(), sizeof outcome.result);
    file.remove_prefix(sizeof outcome.result);
    outcome.reply = take(file, message.head.reply_bytes);
    outcome.state = take(file, message.head.state_bytes);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::string words_of(Ended ended, const std::string& folder) {
  std::string words = ringkernel::native::without_warnings(ended.output);
  for (std::size_t at = 0; (at = words.find(folder + "/", at)) != std::string::npos;)
    words.erase(at, folder.size() + 1);
  while (words.ends_with('\n')) words.pop_back();
  return words.empty() ? "nothing" : words;
}

/// Why the child ended before its end; nothing if it did not.
std::optional<std::string> death_of(const Ended& ended, unsigned seconds) {
  if (!ended.status.has_value() || *ended.status == 0) return std::nullopt;
  if (!WIFSIGNALED(*ended.status))
    return fmt::format("ends the process, with {}", WEXITSTATUS(*ended.status));
  if (WTERMSIG(*ended.status) == SIGPROF)
    return fmt::format("does not end within {} s of processor time", seconds);
  return fmt::format("crashes: {}", strsignal(WTERMSIG(*ended.status)));
}

}  // namespace

Result<Runs> Runs::make(unsigned seconds) {
  Surroundings surroundings = Surroundings::of_process();
  RK_TRY(folder, ScratchFolder::make(surroundings.scratch));
  return Runs(std::move(surroundings), std::move(folder), seconds);
}

Runs::Runs(Surroundings surroundings, ScratchFolder folder, unsigned seconds)
    : surroundings_(std::move(surroundings)),
      folder_(std::move(folder)),
      seconds_(seconds),
      oclgrind_(ringkernel::native::find_in_path("oclgrind", surroundings_.path)) {}

Error Runs::no_room() const {
  return {Errc::device_error, "no file can be written into " + folder_.path()};
}

Result<void> Runs::compile(const Definition& program, const std::string& binary) {
  RK_TRY(toolchain, Toolchain::find(surroundings_, nullptr));
  const std::string text = fmt::format("{}\n#line 1 \"rkc check\"\n{}", program.hosted_text(),
                                       harness("harness/native.h"));
  const std::string main =
      fmt::format("{}\n{}", harness("harness/record.h"), harness("harness/main.h"));
  if (!folder_.write("check.cpp", text) || !folder_.write("main.cpp", main)) return no_room();
  std::vector<std::string> words{toolchain.path()};
  words.insert(words.end(), std::begin(flags), std::end(flags));
  words.insert(words.end(), {"-o", binary, "check.cpp", "main.cpp"});
  RK_TRY(ended, ringkernel::native::run_child(
                    {words, ringkernel::native::compiler_variables(surroundings_, folder_.path()),
                     folder_.path(), surroundings_.deadline}));
  if (!ended.has_failed()) return {};
  return program.explained(
      Error(Errc::build_failed,
            toolchain.path() + " says:\n" + words_of(std::move(ended), folder_.path())));
}

Result<Ran> Runs::run(const std::string& name, std::vector<std::string> words,
                      std::vector<std::string> variables, const std::vector<Message>& messages,
                      std::size_t count) {
  RK_TRY(ended, ringkernel::native::run_child(
                    {std::move(words), std::move(variables), folder_.path(), run_time_max}));
  Ran ran;
  std::string results;
  static_cast<void>(folder_.read((name + ".log").c_str(), ran.log, log_bytes_max));
  static_cast<void>(folder_.read((name + ".results").c_str(), results, results_bytes_max));
  ran.outcomes = outcomes_of(results, messages);
  if (!ran.outcomes.empty() && ran.log.find(RK_CHECK_MARK) == std::string::npos)
    return Error(ringkernel::Errc::device_error,
                 "what the run said cannot be read, or has more than " +
                     std::to_string(log_bytes_max >> 20) + " MiB");
  if (ran.outcomes.size() < count) {
    ran.died = death_of(ended, seconds_);
    // Before the first message it builds.
    if (!ran.died || ran.log.find(RK_CHECK_MARK) == std::string::npos)
      return Error(Errc::build_failed,
                   ran.log.empty() ? words_of(std::move(ended), folder_.path()) : ran.log);
  }
  return ran;
}

Result<Ran> Runs::natively(const Definition& program, const std::vector<Message>& messages) {
  std::uint64_t bytes = 0;
  for (const Message& message : messages)
    bytes += sizeof(rk_check_result) + message.head.reply_bytes + message.head.state_bytes + 16;
  if (bytes > results_bytes_max)
    return Error(Errc::limit_exceeded,
                 fmt::format("the states behind {} messages have {} bytes, at most {}: --count",
                             messages.size(), bytes, results_bytes_max));
  RK_TRY_VOID(compile(program, "check"));
  if (!folder_.write("natively.messages", file_of(messages, nullptr))) return no_room();
  std::vector<std::string> variables = surroundings_.variables;
  variables.insert(variables.end(), {"ASAN_OPTIONS=halt_on_error=0:detect_leaks=0:color=never",
                                     "UBSAN_OPTIONS=print_stacktrace=0:color=never"});
  return run("natively",
             {folder_.path() + "/check", "natively.messages", "natively.results", "natively.log",
              std::to_string(seconds_)},
             std::move(variables), messages, messages.size());
}

Result<Ran> Runs::with_lanes(const Definition& program, unsigned lanes,
                             const std::vector<Message>& messages,
                             const std::vector<Outcome>& before) {
  const std::string name = fmt::format("with_{}_lanes", lanes);
  const std::string text = fmt::format("{}\n#line 1 \"rkc check\"\n{}",
                                       program.source(1).device_text, harness("harness/lanes.cl"));
  if (!folder_.write((name + ".messages").c_str(), file_of(messages, &before)) ||
      !folder_.write((name + ".cl").c_str(), text))
    return no_room();
  std::vector<std::string> variables = surroundings_.variables;
  variables.insert(variables.end(),
                   {"PATH=" + surroundings_.path, "TMPDIR=" + folder_.path(), "RINGKERNEL_CACHE=0",
                    // Oclgrind's is loaded by then, and is called so.
                    "RINGKERNEL_OPENCL_LIBRARY=libOpenCL.so"});
  std::error_code failure;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", failure).string();
  auto ran = run(name,
                 {oclgrind_, "--data-races", "--uninitialized", "--num-threads", "1",
                  "--max-errors", reports_max, "--build-options", "-cl-opt-disable", self,
                  "run-lanes", std::to_string(lanes), name + ".cl", name + ".messages",
                  name + ".results", name + ".log", std::to_string(seconds_)},
                 std::move(variables), messages, before.size());
  if (ran.has_value()) return ran;
  Error error = std::move(ran).error();
  // What Oclgrind calls the text whose lines it counts, as others do.
  for (std::size_t at = 0; (at = error.detail.find(oclgrind_text, at)) != std::string::npos;)
    error.detail.replace(at, oclgrind_text.size(), "<kernel>:");
  return program.explained(std::move(error));
}

}  // namespace rkc
