#include "backend/opencl/driver_environment.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "backend/opencl/cache/pocl_cache.hpp"
#include "foundation/environment.hpp"

namespace ringkernel::opencl {

namespace {

/// They name drivers, layers, folders of binaries, and flags of PoCL's compiler; neither a loader
/// nor PoCL asks whose they are.
constexpr std::string_view prefixes[] = {"OCL_ICD_", "OPENCL_", "POCL_"};

void remove_foreign_variables() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::ranges::any_of(prefixes, [&](auto prefix) { return text.starts_with(prefix); }))
      names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

/// PoCL's CPU device runs one work-group per worker thread to its end, so a resident slice takes a
/// worker away from everything else: one for each core, at least two, and one for all the rest. Not
/// more, since each command wakes every worker. Where the environment asks for `sliced`, nothing is
/// resident; where it asks for `dma`, each message is several commands, and none has to wake a
/// worker too many.
void reserve_pocl_workers() {
  const std::string_view transfer = environment("RINGKERNEL_TRANSFER");
  if (transfer == "sliced") return;
  const unsigned resident = std::max(2u, std::thread::hardware_concurrency());
  const std::string text = std::to_string(transfer == "dma" ? resident : resident + 1);
  setenv("POCL_MAX_PTHREAD_COUNT", text.c_str(), 0);  // PoCL 3
  setenv("POCL_CPU_MAX_CU_COUNT", text.c_str(), 0);   // PoCL 4 and later
}

}  // namespace

std::string prepare_driver_environment() {
  if (has_foreign_environment()) remove_foreign_variables();
  reserve_pocl_workers();
  PoclCache cache = choose_pocl_cache();
  if (!cache.path.empty()) setenv("POCL_CACHE_DIR", cache.path.c_str(), 1);
  return std::move(cache.trouble);
}

}  // namespace ringkernel::opencl
