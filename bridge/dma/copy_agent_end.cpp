// The end of a copy agent's executor, and its metrics.
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "bridge/atomic.hpp"
#include "bridge/dma/copy_agent.hpp"
#include "foundation/memory_error.hpp"

namespace ringkernel::bridge {

namespace {

constexpr std::uint64_t telemetry_patience_ns = 100'000'000;

}  // namespace

Result<void> CopyAgent::wait(std::uint64_t timeout_ns) {
  const std::uint64_t begin_ns = clock_.now_ns();
  const auto left_ns = [&] {
    const std::uint64_t waited_ns = clock_.now_ns() - begin_ns;
    return timeout_ns - std::min(waited_ns, timeout_ns);
  };
  const auto late = [this] {
    return Error(Errc::execution_timeout, "a slice has not returned" + port_.why_late());
  };
  const auto with_memory = [&](auto&& act) {
    for (;;) {
      auto result = act();
      if (!has_no_memory(result) || left_ns() == 0) return result;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  const auto copies_ended = [&](std::uint64_t ticket) {
    return with_memory([&] { return port_.copies_ended(ticket, left_ns()); });
  };
  if (!worker_.wait(timeout_ns)) return late();
  RK_TRY_VOID(failure());
  // acquire: pairs with Executor::stop; a session that starts behind it ends at once
  const bool stops = atomic(host_.stop).load(std::memory_order_acquire) != 0;
  if (stops) {
    const std::lock_guard lock(session_mutex_);
    if (under_way_) {
      RK_TRY(ended, copies_ended(ticket_));
      if (!ended) return late();
    }
    under_way_ = false;
    asked_.clear();
    answers_read_ = nullptr;
    std::ranges::fill(parked_read_, nullptr);
    copies_.clear();
    host_words_.stop = 0;  // a batch that was not given to the device may have had it
    send_host_words();
    if (!copies_.to_device().empty()) {
      RK_TRY_VOID(with_memory([&] { return start_copies(copies_.to_device()); }));
      to_start_ = Start::nothing;
      under_way_ = true;
    }
  }
  RK_TRY(returned, with_memory([&] { return port_.slices_returned(left_ns()); }));
  if (!returned) return late();
  if (!stops) return {};
  // The arena is somebody else's from here on: no copy may touch it any more.
  const std::scoped_lock locks(session_mutex_, telemetry_mutex_);
  for (const std::uint64_t ticket : {ticket_, telemetry_ticket_}) {
    if (ticket == 0) continue;
    RK_TRY(ended, copies_ended(ticket));
    if (!ended) return late();
  }
  return {};
}

Result<void> CopyAgent::error() {
  RK_TRY_VOID(failure());
  return port_.error();
}

Result<void> CopyAgent::failure() const {
  if (!failed_.load(std::memory_order_acquire)) return {};  // pairs with fail
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

void CopyAgent::fail(Error error) noexcept {
  const std::lock_guard lock(failure_mutex_);
  if (failed_.load(std::memory_order_relaxed)) return;  // the first reason stays
  failure_ = std::move(error);
  failed_.store(true, std::memory_order_release);  // pairs with failure
}

CopyCounts CopyAgent::copies(std::uint32_t kernel) const noexcept {
  const KernelCopies& counts = kernel_copies_[kernel];
  return {.copies = counts.copies.load(std::memory_order_relaxed),  // metrics
          .bytes = counts.bytes.load(std::memory_order_relaxed)};
}

void CopyAgent::refresh_telemetry(std::uint32_t kernel) {
  const std::lock_guard lock(telemetry_mutex_);
  const std::uint64_t offset = host_.telemetry_blocks + kernel * sizeof(rk_telemetry_block);
  auto* const staged = at<rk_telemetry_block>(telemetry_staging_);
  const auto ended = [this](std::uint64_t patience_ns) {
    const Result<bool> result = port_.copies_ended(telemetry_ticket_, patience_ns);
    return result.has_value() && *result;
  };
  if (failed_.load(std::memory_order_acquire)) return;  // pairs with fail
  if (telemetry_ticket_ != 0 && !ended(0)) return;      // the one before, which took too long
  const rk_copy copy{RK_COPY_TO_HOST, 0, offset, sizeof *staged, staged, 0};
  const Result<std::uint64_t> ticket = port_.start_copies({&copy, 1});
  telemetry_ticket_ = ticket.has_value() ? *ticket : 0;
  if (!ticket || !ended(telemetry_patience_ns)) return;
  telemetry_ticket_ = 0;
  rk_telemetry_block& block = *at<rk_telemetry_block>(offset);
  const auto store = [](auto& word, auto value) {
    atomic(word).store(value, std::memory_order_relaxed);  // as the device does
  };
#define RK_DEVICE_COUNTER(name, help) store(block.name, staged->name);
#include "ringkernel/metrics.def"
  store(block.last_fault, staged->last_fault);
  store(block.last_correlation_id, staged->last_correlation_id);
}

}  // namespace ringkernel::bridge
