/// C++ over the C backend interface: handles that close themselves, and statuses as `Result`.
///
/// Threading: any thread, as backend_abi.h says.
/// Ownership: move-only; an executor goes before its device.
/// Errors: the backend's code with its `last_detail`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/memory_error.hpp"
#include "foundation/timeout.hpp"
#include "ringkernel/backend_abi.h"
#include "ringkernel/result.hpp"

namespace ringkernel::backend {

/// The status of a call into `table` as a Result.
inline Result<void> to_result(const rk_backend& table, int32_t status) noexcept {
  if (status == 0) return {};
  return error_of(static_cast<Errc>(status), table.last_detail());
}

/// "zero_copy", "dma", "sliced"; "none" for anything else.
[[nodiscard]] constexpr const char* transfer_name(std::uint32_t transfer) noexcept {
  switch (transfer) {
    case RK_TRANSFER_ZERO_COPY: return "zero_copy";
    case RK_TRANSFER_DMA: return "dma";
    case RK_TRANSFER_SLICED: return "sliced";
    default: return "none";
  }
}

/// One program on one device, as a queue of slices. The destructor waits for the last one.
class OpenExecutor {
 public:
  OpenExecutor(const rk_backend& table, rk_executor* executor) noexcept
      : table_(&table), executor_(executor, table.executor_destroy) {}

  Result<void> launch(uint32_t slice) {
    return to_result(*table_, table_->slice_launch(executor_.get(), slice));
  }

  /// Whether slices can run on the calling thread.
  [[nodiscard]] bool can_run() const noexcept { return table_->slice_run != nullptr; }

  /// Runs a slice on the calling thread; false if another slice is running. Only if `can_run()`.
  bool run(uint32_t slice) { return table_->slice_run(executor_.get(), slice) == 0; }

  Result<void> wait(std::chrono::nanoseconds timeout) {
    return to_result(*table_, table_->slice_wait(executor_.get(), bounded_ns(timeout)));
  }

  /// Why a slice ended that did not end by itself.
  Result<void> error() { return to_result(*table_, table_->slice_error(executor_.get())); }

  /// Builds the program that is to be the executor's next one, beside its slices. One thread at a
  /// time, as the next one.
  Result<void> prepare(const rk_program_source& program) {
    if (table_->executor_prepare == nullptr || table_->executor_replace == nullptr)
      return Error(Errc::unsupported, std::string("backend '") + table_->name +
                                          "' cannot replace a program that runs");
    return to_result(*table_, table_->executor_prepare(executor_.get(), &program));
  }
  /// Slices that begin from here on run what was prepared; returns when no other runs any more.
  Result<void> replace(std::uint64_t timeout_ns) {
    return to_result(*table_, table_->executor_replace(executor_.get(), timeout_ns));
  }

 private:
  const rk_backend* table_;
  std::unique_ptr<rk_executor, void (*)(rk_executor*)> executor_;
};

/// An opened device with its arena.
class OpenDevice {
 public:
  OpenDevice(const rk_backend& table, rk_device* device) noexcept
      : table_(&table), device_(device, table.close) {}

  /// Starts copies, at least one, behind those started before. Returns the ticket of the last.
  Result<std::uint64_t> start_copies(std::span<const rk_copy> copies) {
    std::uint64_t ticket = 0;
    RK_TRY_VOID(to_result(
        *table_, table_->copies_start(device_.get(), copies.data(),
                                      static_cast<std::uint32_t>(copies.size()), &ticket)));
    return ticket;
  }

  /// Waits for the copies up to that ticket. E6007 after `timeout_ns`.
  Result<void> wait_for_copies(std::uint64_t ticket, std::uint64_t timeout_ns) {
    return to_result(*table_, table_->copies_wait(device_.get(), ticket, timeout_ns));
  }

  [[nodiscard]] Result<rk_device_state> state() const {
    rk_device_state state{};
    state.struct_bytes = sizeof state;
    RK_TRY_VOID(to_result(*table_, table_->state(device_.get(), &state)));
    return state;
  }

  /// Builds `program` for the executor whose host line lies at `executor_offset` in the arena.
  Result<OpenExecutor> create_executor(const rk_program_source& program, uint64_t executor_offset,
                                       uint32_t work_groups = 1) {
    rk_executor* executor = nullptr;
    RK_TRY_VOID(to_result(*table_, table_->executor_create(device_.get(), &program, executor_offset,
                                                           work_groups, &executor)));
    return OpenExecutor(*table_, executor);
  }

 private:
  const rk_backend* table_;
  std::unique_ptr<rk_device, void (*)(rk_device*)> device_;
};

/// A driver: finds devices and opens them. Refers to a table that lives as long as the process.
class Backend {
 public:
  explicit Backend(const rk_backend& table) noexcept : table_(&table) {}

  [[nodiscard]] std::string_view name() const noexcept { return table_->name; }
  [[nodiscard]] std::string_view description() const noexcept { return table_->description; }

  /// Preference for automatic selection among GPUs: higher is better, 0 = cannot serve here.
  [[nodiscard]] int32_t score() const { return table_->score(); }

  [[nodiscard]] Result<uint32_t> device_count() const {
    uint32_t count = 0;
    RK_TRY_VOID(to_result(*table_, table_->device_count(&count)));
    return count;
  }

  [[nodiscard]] Result<rk_device_description> describe(uint32_t device) const {
    rk_device_description description{};
    description.struct_bytes = sizeof description;
    RK_TRY_VOID(to_result(*table_, table_->describe(device, &description)));
    return description;
  }

  /// One sentence for each library tried and each driver that failed.
  [[nodiscard]] Result<std::vector<std::string>> report() const {
    std::vector<std::string> lines;
    const auto add = [](void* context, const char* text) {
      static_cast<std::vector<std::string>*>(context)->emplace_back(text);
    };
    RK_TRY_VOID(to_result(*table_, table_->report(add, &lines)));
    return lines;
  }

  [[nodiscard]] Result<OpenDevice> open(uint32_t device, rk_device_options options) const {
    options.struct_bytes = sizeof options;
    rk_device* opened = nullptr;
    RK_TRY_VOID(to_result(*table_, table_->open(device, &options, &opened)));
    return OpenDevice(*table_, opened);
  }

 private:
  const rk_backend* table_;
};

}  // namespace ringkernel::backend
