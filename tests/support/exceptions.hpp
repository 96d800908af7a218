/// Tests that do not hold everywhere, as data: those that never will (unsupported), and those that
/// do not yet (expected to fail). OnEachBackend asks this list. Who lists a test that is not there,
/// or one that passes, gets a failure.
///
/// Threading: constants, but for ExpectedFailure: the test's thread.
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ringkernel::test {

/// What a backend turned out to be when it was opened.
struct DeviceTraits {
  std::string backend;   ///< its label
  std::string transfer;  ///< as metrics call it
  bool is_gpu = false;   ///< it keeps the profile of a GPU (docs/TENSORS.md)
};

/// Where an exception holds.
enum class Where { sliced, gpu, beside_native };

inline bool holds(Where where, const DeviceTraits& traits) {
  switch (where) {
    case Where::sliced: return traits.transfer == "sliced";
    case Where::gpu: return traits.is_gpu;
    case Where::beside_native: break;
  }
  return traits.backend != "native";
}

struct Exception {
  std::string_view test;  ///< "Suite.Name", or "Suite.*" for all of its suite
  Where where;
  const char* reason;
};

/// For good.
inline constexpr Exception unsupported[] = {
    {"BusyDevice.ADeactivationThatItDoesNotObeyLeavesTheKernelActive", Where::sliced,
     "answers come when a slice is over: nobody knows that the next op is at work"},
    {"BusyDevice.KernelsThatEndTogetherWaitForItTogether", Where::sliced,
     "answers come when a slice is over: nobody knows that the next op is at work"},
    {"BusyDevice.RingsThatItHeldComeBackWhenItLetsGo", Where::sliced,
     "answers come when a slice is over: nobody knows that the next op is at work"},
    {"Lifecycle.AddingAKernelToAResidentExecutorDispatchesNothing", Where::sliced,
     "nothing is resident"},
    {"SwapWithSchema.AStateThatIsNotMigratedInTimeCanOnlyBeTerminated", Where::sliced,
     "the copies of the new states wait for the handler, before the swap begins"},
    {"SwapWithSchema.AStateThatIsNotMigratedInTimeCanOnlyBeTerminated", Where::gpu,
     "a GPU's driver builds nothing beside a slice, so the swap waits for it"},
    {"Swap.ASliceThatDoesNotLeaveIsToldOf", Where::gpu,
     "a GPU's driver builds nothing beside a slice, so the swap waits for it"},
    {"EndlessHandler.IsOutlivedByAllWhoHaveADeadline", Where::sliced,
     "the device has one slice at a time: other programs wait for one that never ends"},
    {"EndlessHandler.IsOutlivedByAllWhoHaveADeadline", Where::gpu,
     "a slice that never ends takes the GPU from all who use it"},
    {"LongOps.*", Where::gpu, "a GPU's ops have no turns"},
    {"PreparedCalls.ThatTookLongAreNotTriedAgainSoon", Where::beside_native,
     "they are never tried there"},
    {"Async.NativelyTheInitiatingThreadRunsTheOp", Where::beside_native,
     "another device, or another thread's copies"},
};

/// For the time being, each with what is open: "TODO(#12): ...".
inline constexpr std::span<const Exception> expected_failures{};

/// "Suite.Name" as the source has it, of "Prefix/Suite" and "Name/parameter".
inline std::string source_name(std::string_view suite, std::string_view name) {
  suite.remove_prefix(suite.rfind('/') + 1);
  return std::string(suite) + "." + std::string(name.substr(0, name.find('/')));
}

inline bool is_of(const Exception& exception, std::string_view test) {
  const std::string_view listed = exception.test;
  if (listed.ends_with(".*")) return test.starts_with(listed.substr(0, listed.size() - 1));
  return test == listed;
}

/// Null: the test holds there.
inline const Exception* find_exception(std::span<const Exception> list, std::string_view test,
                                       const DeviceTraits& traits) {
  for (const Exception& exception : list)
    if (is_of(exception, test) && holds(exception.where, traits)) return &exception;
  return nullptr;
}

/// While it lives, failures of all threads are the expected ones. `end` fails where there was none.
class ExpectedFailure {
 public:
  explicit ExpectedFailure(const char* reason) : reason_(reason) {
    intercept_.emplace(::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS,
                       &results_);
  }
  ~ExpectedFailure() { end(); }
  ExpectedFailure(const ExpectedFailure&) = delete;
  ExpectedFailure& operator=(const ExpectedFailure&) = delete;

  void end() {
    if (!intercept_) return;
    intercept_.reset();
    int failures = 0;
    for (int i = 0; i < results_.size(); ++i)
      if (results_.GetTestPartResult(i).failed()) ++failures;
    if (failures == 0)
      ADD_FAILURE() << "it passes, and is listed as an expected failure: " << reason_;
  }

 private:
  const char* reason_;
  ::testing::TestPartResultArray results_;
  std::optional<::testing::ScopedFakeTestPartResultReporter> intercept_;
};

}  // namespace ringkernel::test
