#include "telemetry/process.hpp"

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace ringkernel::telemetry {
namespace {

struct Stat {
  char state = 0;
  std::uint64_t start = 0;
};

std::optional<Stat> stat_of(std::uint64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The second field is a name in parentheses, which may hold anything.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  constexpr int before_start = 18;  // fields 4 to 21
  Stat stat;
  std::string skipped;
  fields >> stat.state;
  for (int i = 0; i < before_start; ++i) fields >> skipped;
  if (!(fields >> stat.start)) return std::nullopt;
  return stat;
}

}  // namespace

Process this_process() {
  const auto id = static_cast<std::uint64_t>(getpid());
  const std::optional<Stat> stat = stat_of(id);
  return {id, stat ? stat->start : 0};
}

bool is_running(const Process& process) {
  const std::optional<Stat> stat = stat_of(process.id);
  return stat && stat->start == process.start && stat->state != 'Z' && stat->state != 'X';
}

void give_way_to_services() noexcept {
  const sched_param no_priority{};
  // What is refused here costs the service some microseconds a look.
  static_cast<void>(sched_setscheduler(0, SCHED_BATCH, &no_priority));
}

}  // namespace ringkernel::telemetry
