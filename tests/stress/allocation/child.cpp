// One case: `allocation_child --list`, or `allocation_child BACKEND CASE FIRST STRIDE ROUNDS`. For
// n = FIRST, FIRST + STRIDE, ... the n-th allocation fails, until none did, or for so many rounds;
// stride 0: by growing steps.
// It prints a line before each round and one after it; whoever reads them sees in which round it
// aborted or hung.
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "stress/allocation/cases.hpp"
#include "support/registry.hpp"

namespace ringkernel::test::allocation {
namespace {

std::vector<const Case*> all_cases() {
  std::vector<const Case*> all;
  for (const auto cases : {lifecycle_cases(), message_cases(), tensor_cases(), program_cases(),
                           c_cases(), c_program_cases()})
    for (const Case& one : cases) all.push_back(&one);
  return all;
}

const char* name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::success: return "success";
    case Outcome::refused: return "refused";
    case Outcome::threw: return "threw";
    case Outcome::wrong: return "wrong";
    case Outcome::lost: break;
  }
  return "lost";
}

Outcome run(const Case& one, World& world) {
  try {
    return one.run(world);
  } catch (const std::bad_alloc&) {
    if (one.may_throw) return Outcome::threw;
    return world.complain("std::bad_alloc came out");
  } catch (const std::exception& exception) {
    return world.complain(std::string("threw: ") + exception.what());
  }
}

/// True: an allocation has failed.
bool round(const Case& one, World& world, std::uint64_t n) {
  world.complaint.clear();
  one.prepare(world);
  std::printf("@begin %llu\n", static_cast<unsigned long long>(n));
  std::fflush(stdout);
  injection::arm(one.scope, n);
  Outcome outcome = run(one, world);
  const bool has_failed = injection::disarm();
  std::string complaint = world.complaint;
  world.complaint.clear();
  const bool is_sound = world.is_sound();
  const bool closed =
      !one.closes && !is_of_host_threads(world.backend) ? is_sound : is_sound & world.closes();
  if (!closed) {
    outcome = Outcome::wrong;
    complaint += (complaint.empty() ? "" : "; ") + world.complaint;
    (void)world.closes();
  }
  std::printf("@end %llu %s %s %s\n", static_cast<unsigned long long>(n),
              has_failed ? "failed" : "none", name(outcome), complaint.c_str());
  std::fflush(stdout);
  return has_failed;
}

const Case* find(const char* wanted) {
  for (const Case* const one : all_cases())
    if (std::strcmp(one->name, wanted) == 0) return one;
  return nullptr;
}

}  // namespace
}  // namespace ringkernel::test::allocation

int main(int count, char** arguments) {
  using namespace ringkernel::test;
  using namespace ringkernel::test::allocation;
  if (count == 2 && std::strcmp(arguments[1], "--list") == 0) {
    for (const Case* const one : all_cases())
      std::printf("%c%s\n", !one->in_full ? ' ' : one->closes ? 'n' : '*', one->name);
    return 0;
  }
  if (count != 6) return 2;
  const Case* const one = find(arguments[2]);
  if (one == nullptr) return 2;
  if (one->natively && !is_of_host_threads(arguments[1])) {
    std::printf("@done\n");
    return 0;
  }
  const bool on_opencl = std::strcmp(arguments[1], "opencl") == 0;
  if (on_opencl) injection::watch_driver();
  // Asio's, whose first use ends the process where it has no memory (docs/RELIABILITY.md).
  (void)boost::asio::query(boost::asio::system_executor(), boost::asio::execution::context);
  World world;
  world.backend = arguments[1];
  // A plugin by its name, which is short: that of a path would be an allocation of the caller's.
  if (const std::size_t end = world.backend.rfind('/'); end != std::string::npos) {
    setenv("RINGKERNEL_BACKEND_PATH", world.backend.substr(0, end).c_str(), 1);
    world.backend = label_of(std::string_view(world.backend));
  }
  std::uint64_t n = std::strtoull(arguments[3], nullptr, 10);
  const std::uint64_t stride = std::strtoull(arguments[4], nullptr, 10);
  const std::uint64_t rounds = std::strtoull(arguments[5], nullptr, 10);
  for (std::uint64_t i = 0; i < rounds && round(*one, world, n); ++i)
    n += stride != 0 ? stride : 1 + n / 4;
  std::printf("@close\n");
  std::fflush(stdout);
  if (!world.closes())
    std::printf("@end %llu none wrong %s\n", static_cast<unsigned long long>(n),
                world.complaint.c_str());
  std::printf("@done\n");
  return 0;
}
