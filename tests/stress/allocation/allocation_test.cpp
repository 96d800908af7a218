// Every public function on both backends, with its n-th allocation failing: an error or a success,
// never the end of the process, a hang, an exception where a Result is promised, or memory of the
// arena that does not come back. docs/RELIABILITY.md
//
// Each function has a child process (child.cpp), and another one behind each round that ends it.
// By default n grows by growing steps, except for those that are looked at in full.
// RK_ALLOCATIONS=all: each n of all of them. RK_ALLOCATION_CASE=name: this one alone.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "support/backends.hpp"
#include "support/temp_folder.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

/// Longer than all deadlines inside a round.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::chrono::seconds patience{120};
#else
constexpr std::chrono::seconds patience{30};
#endif

/// A child whose output is read line by line.
class Child {
 public:
  explicit Child(std::vector<std::string> command) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return;
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(ends[1]);
    output_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    end();
    if (output_ >= 0) close(output_);
  }

  enum class Read : std::uint8_t { line, end, too_late };
  Read next(std::string& line) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
      if (const auto at = buffer_.find('\n'); at != std::string::npos) {
        line = buffer_.substr(0, at);
        buffer_.erase(0, at + 1);
        return Read::line;
      }
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      pollfd ready{output_, POLLIN, 0};
      if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0)
        return Read::too_late;
      std::array<char, 4096> bytes;
      const ssize_t count = read(output_, bytes.data(), bytes.size());
      if (count <= 0) return Read::end;
      buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  int output_ = -1;
  std::string buffer_;
};

struct Tally {
  std::uint64_t allocations = 0;  // the last one that failed
  int rounds = 0;
  int refused = 0;
  int success = 0;
  int threw = 0;
  int wrong = 0;
  int lost = 0;
  int aborted = 0;
  int hung = 0;
  std::vector<std::string> findings;
};

struct Named {
  std::string name;
  char in_full = ' ';  // as the child says: 'n' natively, '*' everywhere
};

std::vector<Named> all_cases() {
  std::vector<Named> cases;
  Child child({RK_ALLOCATION_CHILD, "--list"});
  for (std::string line; child.next(line) == Child::Read::line;)
    cases.push_back({line.substr(1), line[0]});
  return cases;
}

bool wants_all() {
  const char* const wanted = std::getenv("RK_ALLOCATIONS");
  return wanted != nullptr && std::string_view(wanted) == "all";
}

std::uint64_t next(std::uint64_t n, std::uint64_t stride) {
  return stride != 0 ? n + stride : n + 1 + n / 4;
}

/// One process, from `n` on. The n to go on with; 0: all is done.
std::uint64_t run_child(const char* backend, const Named& one, std::uint64_t n,
                        std::uint64_t stride, Tally& tally) {
  Child child({RK_ALLOCATION_CHILD, backend, one.name, std::to_string(n), std::to_string(stride),
               "1000000"});
  bool in_round = false;
  std::string said;  // before it died
  std::string line;
  for (;;) {
    const Child::Read read = child.next(line);
    if (read != Child::Read::line) {
      const bool hung = read == Child::Read::too_late;
      ++(hung ? tally.hung : tally.aborted);
      tally.findings.push_back(one.name + ", allocation " + std::to_string(n) +
                               (hung ? " hangs" : " ends the process") +
                               (in_round ? "" : ", outside its round") + ": " + said);
      return next(n, stride);
    }
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "@done") return 0;
    if (word == "@begin") {
      words >> n;
      in_round = true;
      said.clear();
    } else if (word == "@end") {
      std::string failed;
      std::string outcome;
      words >> n >> failed >> outcome;
      in_round = false;
      if (failed == "failed") {
        tally.allocations = std::max(tally.allocations, n);
        ++tally.rounds;
        if (outcome == "refused") ++tally.refused;
        if (outcome == "success") ++tally.success;
        if (outcome == "threw") ++tally.threw;
      }
      if (outcome == "wrong" || outcome == "lost") {
        ++(outcome == "lost" ? tally.lost : tally.wrong);
        std::string rest;
        std::getline(words, rest);
        tally.findings.push_back(one.name + ", allocation " + std::to_string(n) + ", " + outcome +
                                 ":" + rest);
      }
    } else if (word != "@close") {
      said += line.substr(0, 200) + " | ";
      if (std::getenv("RK_ALLOCATION_TRACE") != nullptr) std::puts(line.c_str());
    }
  }
}

Tally try_out(const char* backend, const Named& one) {
  const bool in_full =
      wants_all() || one.in_full == '*' || (one.in_full == 'n' && is_of_host_threads(backend));
  const std::uint64_t stride = in_full ? 1 : 0;
  Tally tally;
  constexpr int endings_max = 40;  // of the process: enough to see what is wrong
  for (std::uint64_t n = 1; n != 0 && tally.aborted + tally.hung < endings_max;)
    n = run_child(backend, one, n, stride, tally);
  return tally;
}

void print(const std::string& name, const std::string& backend, const Tally& tally) {
  std::printf("| %-40s | %-12s | %5llu | %5d | %5d | %5d | %5d | %4d | %4d | %4d | %4d |\n",
              name.c_str(), backend.c_str(), static_cast<unsigned long long>(tally.allocations),
              tally.rounds, tally.refused, tally.success, tally.threw, tally.wrong, tally.lost,
              tally.aborted, tally.hung);
  std::fflush(stdout);
}

class Allocations : public OnEachBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, Allocations, ::testing::ValuesIn(backend_names()),
                         backend_label);

TEST_P(Allocations, MayFailInEveryPublicFunction) {
  const testing::TempFolder folder;
  setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  const char* const wanted = std::getenv("RK_ALLOCATION_CASE");
  std::printf("| %-40s | %-12s | %5s | %5s | %5s | %5s | %5s | %4s | %4s | %4s | %4s |\n",
              "function", "", "last", "tried", "E6004", "ok", "threw", "bad", "lost", "dead",
              "hung");
  const std::string label = label_of(std::string_view(GetParam()));
  Tally sum;
  for (const Named& one : all_cases()) {
    if (wanted != nullptr && one.name != wanted) continue;
    const Tally tally = try_out(GetParam(), one);
    print(one.name, label, tally);
    for (const std::string& finding : tally.findings) ADD_FAILURE() << finding;
    sum.rounds += tally.rounds;
    sum.refused += tally.refused;
    sum.success += tally.success;
    sum.threw += tally.threw;
    sum.wrong += tally.wrong;
    sum.lost += tally.lost;
    sum.aborted += tally.aborted;
    sum.hung += tally.hung;
  }
  print("all", label, sum);
  if (wanted == nullptr) {
    EXPECT_GT(sum.refused, 100) << "are allocations counted?";
  }
}

}  // namespace
}  // namespace ringkernel::test
