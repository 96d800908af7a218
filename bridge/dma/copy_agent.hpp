/// Serves one executor whose device has memory of its own. Towards the host it *is* the device: a
/// session is a slice over the host's arena, launched, run by a caller and parked as every slice
/// is. Towards the device it is the host: it copies what changed and launches the device's slices.
///
/// One batch of copies is under way at a time; what comes meanwhile goes with the next one, so that
/// a loaded copy agent moves much with each copy, and an idle one waits for nothing.
///
/// Threading: any thread. Sessions run one at a time, on the copy agent's thread or a caller's.
/// Memory ordering: KernelMirror and park; docs/PROTOCOL.md, "Two memories".
/// Ownership: borrows the arena, the port and the clock. The destructor waits for the last session.
/// Errors: an error of the port ends the session and all later ones at once; `error` keeps it.
/// Where the port has no memory the session tries again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "bridge/clock.hpp"
#include "bridge/dma/copy_list.hpp"
#include "bridge/dma/device_port.hpp"
#include "bridge/dma/kernel_mirror.hpp"
#include "bridge/executor/slice_port.hpp"
#include "bridge/idle.hpp"
#include "foundation/slice_worker.hpp"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/telemetry_block.h"

namespace ringkernel::bridge {

struct CopyAgentLimits {
  /// Copies only between slices: each slice is launched between the copies to the device and those
  /// back. Else they take place beside it.
  bool sliced = false;
  /// Idle polls after which a slice of the device parks; sliced: 1.
  std::uint32_t idle_polls_max = 1;
  /// Sliced: how long a slice may take, roughly, before it leaves the rest to the next one.
  std::uint64_t slice_ns_max = 2'000'000;
};

class CopyAgent : public SlicePort {
 public:
  static constexpr std::uint64_t staging_bytes = std::uint64_t{64} * 1024;

  /// `region_offset`: the executor's region (control_block.h). `staging_offset`: `staging_bytes` of
  /// the arena for the copy agent alone.
  CopyAgent(std::byte* arena, std::uint64_t region_offset, std::uint64_t staging_offset,
            const CopyAgentLimits& limits, DevicePort& port, const Clock& clock);
  CopyAgent(const CopyAgent&) = delete;
  CopyAgent& operator=(const CopyAgent&) = delete;

  /// Once, before the first session: Executor has filled the region, and the device's is a copy of
  /// it as it is now.
  void open();

  // Sessions are the slices of the host's executor.
  [[nodiscard]] Result<void> launch(std::uint32_t slice) override {
    worker_.launch(slice);
    return {};
  }
  [[nodiscard]] bool run(std::uint32_t slice) override { return worker_.run(slice); }
  [[nodiscard]] bool runs_on_caller() const noexcept override { return true; }
  /// Waits for the sessions and, if the host's executor was told to stop, for the device's slices.
  [[nodiscard]] Result<void> wait(std::uint64_t timeout_ns) override;
  /// Why the device is lost: what the copy agent has met, or the port says.
  [[nodiscard]] Result<void> error() override;
  /// As they were if that takes too long.
  void refresh_telemetry(std::uint32_t kernel) override;

  /// Copies so far of the kernel's records, positions and states, and of those of the kernels that
  /// had its place before.
  [[nodiscard]] CopyCounts copies(std::uint32_t kernel) const noexcept;

  /// Slices of the device launched so far.
  [[nodiscard]] std::uint32_t device_slices() const noexcept {
    return device_slices_.load(std::memory_order_relaxed);  // a metric
  }

 private:
  void session(std::uint32_t slice);
  /// One batch, or another look at the one under way. True if anything moved.
  bool step(std::uint64_t patience_ns);
  /// RK_SLICE_*: why the session should end at this point; 0 = go on.
  [[nodiscard]] std::uint32_t verdict(bool impatient) const noexcept;
  /// False: something was rung meanwhile, and the session goes on.
  [[nodiscard]] bool park(std::uint32_t slice, std::uint32_t reason) noexcept;

  bool poll_doorbells() noexcept;
  [[nodiscard]] bool collect();
  /// Those of the next batch that were added since `before` are the kernel's.
  void count_copies(std::uint32_t kernel, const CopyCounts& before) noexcept;
  void send_host_words();
  void send_doorbells();
  void ask();
  void ask_whether_parked(std::uint32_t kernel);
  void begin_batch() noexcept;
  /// Goes on with that. Errc::allocation_failure: it may be called again.
  [[nodiscard]] Result<void> start_batch();
  [[nodiscard]] Result<void> start_copies(std::span<const rk_copy> copies);
  [[nodiscard]] Result<void> launch_slice();
  [[nodiscard]] bool absorb();
  void find_parked() noexcept;
  void forget_idle();
  [[nodiscard]] bool has_work_for_device() const noexcept;
  void adapt_slices(std::uint64_t slice_ns) noexcept;
  void fail(Error error) noexcept;
  [[nodiscard]] Result<void> failure() const;

  template <class T>
  [[nodiscard]] T* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<T*>(arena_ + offset);
  }

  std::byte* const arena_;
  const std::uint64_t region_offset_;
  const std::uint64_t telemetry_staging_;
  const CopyAgentLimits limits_;
  DevicePort& port_;
  const Clock& clock_;
  rk_executor_host_line& host_;
  rk_executor_device_line* device_ = nullptr;  // set by open

  /// What a session knows of a kernel beside its rings.
  struct ServedKernel {
    KernelMirror mirror;
    std::uint32_t bell_seen = 0;    ///< input doorbell on the host
    std::uint32_t answer_seen = 0;  ///< output doorbell on the device
    bool active = false;            ///< is in active_
    bool rung = false;              ///< has to be sent
    bool answering = false;         ///< has to be asked
    bool is_silent = false;         ///< was asked last, and brought nothing
  };

  std::mutex session_mutex_;  // held by a session, and by `wait` to tell the device to stop
  // Guarded by it:
  CopyList copies_;
  std::vector<ServedKernel> kernels_;
  std::vector<std::uint32_t> active_;  // kernels that are rung or await the device
  std::vector<std::uint32_t> asked_;   // by the batch under way
  std::vector<std::uint32_t> bells_;   // input doorbells as the device knows them
  std::vector<std::uint32_t> to_ring_;
  std::vector<rk_copy> batch_;
  const rk_u32* answers_read_ = nullptr;  // of the batch under way
  /// Of each work-group: the slice that it parked last; null: not asked for by the batch under way.
  std::vector<const rk_u32*> parked_read_;
  std::uint32_t leaving_slice_ = 0;      // was asked to make way
  rk_executor_host_line host_words_{};   // as the device knows them
  std::uint32_t slice_records_max_ = 1;  // sliced: adapted
  bool work_sent_ = false;               // since the last slice was launched
  bool under_way_ = false;               // a batch is
  bool slice_under_way_ = false;         // sliced: and a slice with it
  /// Of that batch: what has not been given to the device yet, and what follows it.
  enum class Start : std::uint8_t { copies, slice, answers, nothing };
  Start to_start_ = Start::nothing;
  std::uint64_t ticket_ = 0;
  std::uint64_t batch_start_ns_ = 0;
  std::atomic<std::uint32_t> device_slices_{0};
  /// Of each kernel; written by sessions alone.
  struct KernelCopies {
    std::atomic<std::uint64_t> copies{0};
    std::atomic<std::uint64_t> bytes{0};
  };
  std::vector<KernelCopies> kernel_copies_;

  mutable std::mutex failure_mutex_;
  Error failure_;
  std::atomic<bool> failed_{false};

  std::mutex telemetry_mutex_;          // guards the staging of refresh_telemetry, and what follows
  std::uint64_t telemetry_ticket_ = 0;  // of a copy that may be under way
  SliceWorker worker_{[this](std::uint32_t slice) { session(slice); }};
};

}  // namespace ringkernel::bridge
