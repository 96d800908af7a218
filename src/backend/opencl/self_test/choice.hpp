/// Which transfer strategy a device gets: what it claims only nominates, the self-test decides.
///
/// Threading: any thread. Blocks for the self-tests, a fraction of a second each. Their result is
/// remembered for the same device, driver and wish: in the process, and on disk for the next one
/// (backend/cache/cache_place.hpp), where the number of work-groups is not kept. One that stepped
/// down is only believed for a day, because a machine that was very busy can fail a self-test. One
/// that did for a lack of memory or resources, which may be there again, is not remembered.
/// Errors: Errc::backend_unavailable with every strategy that was tried, and why it would not do;
/// never remembered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backend/opencl/query.hpp"
#include "backend/opencl/self_test/self_test.hpp"

namespace ringkernel::opencl {

struct Choice {
  uint32_t transfer = RK_TRANSFER_NONE;
  uint32_t work_groups = 1;  ///< that run together, of those asked for
  SelfTestFigures figures;
  bool has_host_threads = false;  ///< host_threads.hpp
  int64_t tested_s = 0;           ///< when, in seconds since 1970
  bool is_remembered = false;     ///< found on disk
  bool may_pass = false;          ///< a step down was for want of memory or resources (cl.hpp)
  std::string steps_down;         ///< lines "strategy: why not", "work-groups: why not more"
};

struct Wish {
  uint32_t transfer = RK_TRANSFER_NONE;  ///< RK_TRANSFER_*, NONE for the best
  uint32_t work_groups = 1;              ///< that are to run together
  bool test_anew = false;                ///< whatever is remembered
};

Result<Choice> choose_transfer(const FoundDevice& found, const Probe& probe, const Wish& wish);

/// The sentence about the self-test, for people.
std::string text_of(const Choice& choice);

/// As it lies on disk, and back; nothing from what is no such text, or too old to be believed.
std::string to_record(const Choice& choice);
std::optional<Choice> from_record(std::string_view record, int64_t now_s);

}  // namespace ringkernel::opencl
