/// Brings a runtime's counters file up to date, whenever it is asked to.
///
/// Threading: one thread at a time, the runtime's service thread; the last time, that which shuts
/// down. It looks at the runtime as `metrics()` does, and waits for nobody who builds a program.
/// Ownership: borrows the runtime. The destructor stores how it ended, and removes the file.
/// Errors: Errc::backend_unavailable where there can be no file.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "observe/observed.hpp"
#include "ringkernel/result.hpp"
#include "telemetry/counters_writer.hpp"

namespace ringkernel::detail {

class ServiceThread;

class Publisher {
 public:
  /// With its file, in the first folder where there can be one; `publish` begins to fill it.
  [[nodiscard]] static Result<std::unique_ptr<Publisher>> create(ObservedRuntime& runtime,
                                                                 std::chrono::nanoseconds period);
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;
  ~Publisher();

  /// When all that `metrics()` looks at has been made: from here on the destructor looks at it.
  void begin() noexcept { has_begun_ = true; }
  /// Behind `begin`. What there is no memory for is published the next time. `service`: whose duty
  /// this is; it serves others between two ring kernels. nullptr: nobody's.
  void publish(ServiceThread* service) noexcept;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return writer_->path(); }

 private:
  /// A ring kernel's place in the file, and how busy it was when it was stored there.
  struct Place {
    std::uint32_t index = 0;
    std::uint64_t number = 0;  // of the ring kernel
    KernelActivity activity;
    KernelMetrics metrics;  // as they were stored, and the calls
    std::vector<CallInFlight> calls;
    std::map<std::string, std::uint32_t> methods;  // their places, by their names
    bool is_stored = false;                        // else there was no memory for it
    bool is_seen = false;                          // in this round
  };

  Publisher(ObservedRuntime& runtime, std::unique_ptr<telemetry::CountersWriter> writer);
  void publish_all(ServiceThread* service);
  /// False: there is no place for it.
  [[nodiscard]] bool publish(const std::shared_ptr<ObservedKernel>& kernel);
  void forget_all_but(const std::vector<std::shared_ptr<ObservedKernel>>& kernels);
  /// False for lack of memory.
  [[nodiscard]] bool publish_methods(Place& place);
  void free_method(std::uint32_t line);
  void publish_errors();
  /// Stores all of it in this round.
  void forget_what_is_stored();
  /// Whoever asks for a kernel's state gets it, or why not.
  void answer_request();

  ObservedRuntime& runtime_;
  const std::unique_ptr<telemetry::CountersWriter> writer_;
  // A weak_ptr: the address of a kernel that is gone stays its own.
  std::map<std::weak_ptr<ObservedKernel>, Place, std::owner_less<>> places_;
  std::vector<std::uint32_t> free_places_;
  std::uint32_t places_used_ = 0;
  std::vector<std::uint32_t> free_methods_;  // places of lines of methods
  std::uint32_t methods_used_ = 0;
  std::uint64_t kernels_seen_ = 0;
  std::vector<std::uint64_t> error_counts_;  // as they are stored
  std::uint64_t errors_seen_ = 0;
  std::vector<TraceEvent> trace_;                                             // of this round
  const std::unique_ptr<Histogram> latency_ = std::make_unique<Histogram>();  // of one kernel
  bool has_begun_ = false;
};

}  // namespace ringkernel::detail
