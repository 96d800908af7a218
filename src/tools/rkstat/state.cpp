#include "state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "telemetry/counters_reader.hpp"
#include "telemetry/state_request.hpp"
#include "text.hpp"

namespace rkstat {
namespace {

namespace rk = ringkernel;
using namespace rk::telemetry;
using namespace std::chrono_literals;

/// A round of publication that has just begun, the next one, and what a busy machine may take.
rk::Result<std::string> ask(const Reading& reading, std::uint64_t kernel) {
  if (reading.health == Health::dead)
    return rk::Error(rk::Errc::runtime_closed, "the process is gone, and its states with it");
  RK_TRY(reader, CountersReader::open(reading.path));
  return ask_for_state(reading.path, kernel, 2 * reader.writer().period + 3s);
}

/// Of whose kernel the state is wanted.
struct Owner {
  const Reading* reading;
  std::uint64_t kernel;  // its number
};

/// Those that are dead only where no other has one: a service that was started anew goes before.
std::vector<Owner> owners_of(const Readings& readings, const std::string& id) {
  std::vector<Owner> owners;
  for (const Reading& reading : readings)
    for (const KernelReading& kernel : reading.kernels)
      if (printable(kernel.metrics.id) == id) owners.push_back({&reading, kernel.number});
  const auto is_dead = [](const Owner& owner) { return owner.reading->health == Health::dead; };
  if (!std::ranges::all_of(owners, is_dead)) std::erase_if(owners, is_dead);
  return owners;
}

/// There may be one where nobody could look.
int tell_that_none_has_it(const Scope& scope, Readings readings, const std::string& id) {
  const std::vector<std::string> unreadable = folder_problems(scope);
  for (const std::string& sentence : unreadable) tell(sentence);
  for (Reading& reading : readings) reading.problem = printable(reading.problem);
  tell_problems(readings);
  tell(readings.empty() ? no_runtime_text(scope) : fmt::format("no kernel '{}'", id));
  return std::max(2, exit_code(readings, unreadable.empty()));
}

}  // namespace

int show_state(const Scope& scope, const std::string& id) {
  const Readings readings = read_all(scope);
  const std::vector<Owner> owners = owners_of(readings, id);
  if (owners.empty()) return tell_that_none_has_it(scope, readings, id);
  int exit_code = 0;
  for (const auto& [reading, kernel] : owners) {
    const rk::Result<std::string> state = ask(*reading, kernel);
    if (state && !print(printable(*state) + "\n")) return output_failed();
    if (state) continue;
    tell(fmt::format("kernel {} of runtime {}: {}", id, printable(titled(*reading)),
                     printable(state.error().text())));
    exit_code = 1;
  }
  return exit_code;
}

}  // namespace rkstat
