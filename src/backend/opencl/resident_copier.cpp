#include "backend/opencl/resident_copier.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"
#include "foundation/align.hpp"
#include "foundation/memory_error.hpp"
#include "kernels/copier.h"

namespace ringkernel::opencl {

namespace {

using namespace std::chrono_literals;

/// A poll takes 1.4 us on an H200, so that an idle kernel stays for some 0.1 s; on a processor it
/// takes 20 ns.
constexpr rk_u32 idle_polls_max = 1u << 16;
/// Looks in vain before the driver is asked whether the kernel has ended, which takes it a lock.
constexpr std::uint32_t looks_max = 256;
constexpr auto test_timeout = 2s;
constexpr rk_u32 test_batches = 64;
constexpr std::size_t test_bytes = 4096;

constexpr cl_bitfield location_host = 1;  // CL_MEM_LOCATION_HOST_NV of cl_nv_create_buffer

using CreateBufferNv = cl_mem(CL_API_CALL*)(cl_context, cl_mem_flags, cl_bitfield, std::size_t,
                                            void*, cl_int*);

/// Memory of the host, shared with a running kernel.
Result<Buffer> make_mailbox(const FoundDevice& found, cl_context context,
                            ResidentCopier::Memory memory) {
  cl_int status = CL_SUCCESS;
  if (memory == ResidentCopier::Memory::any) {
    Buffer plain(cl().clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                     RK_COPIER_BYTES, nullptr, &status));
    RK_TRY_VOID(check("clCreateBuffer", status));
    return plain;
  }
  void* function = nullptr;
  if (has_extension(found.id, "cl_nv_create_buffer") &&
      cl().clGetExtensionFunctionAddressForPlatform != nullptr)
    function = cl().clGetExtensionFunctionAddressForPlatform(found.platform, "clCreateBufferNV");
  if (function == nullptr) return Error(Errc::backend_unavailable, "there is no clCreateBufferNV");
  Buffer shared(reinterpret_cast<CreateBufferNv>(function)(
      context, CL_MEM_READ_WRITE, location_host, RK_COPIER_BYTES, nullptr, &status));
  RK_TRY_VOID(check("clCreateBufferNV", status));
  return shared;
}

std::uint32_t units_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(align_up<std::uint64_t>(bytes, RK_COPIER_UNIT) /
                                    RK_COPIER_UNIT);
}

/// Units of entries and of what goes to the device; 0: they do not fit, or are of another kind.
std::uint32_t units_to_send(std::span<const rk_copy> copies) {
  constexpr std::uint64_t most = std::uint64_t{RK_COPIER_UNITS_OUT} * RK_COPIER_UNIT;
  if (copies.size() > RK_COPIER_ENTRIES_MAX) return 0;
  std::uint32_t in = static_cast<std::uint32_t>(copies.size());
  std::uint32_t out = 0;
  for (const rk_copy& copy : copies) {
    if (copy.second_offset != 0 || copy.bytes > most) return 0;
    (copy.direction == RK_COPY_TO_DEVICE ? in : out) += units_of(copy.bytes);
  }
  return in <= RK_COPIER_UNITS_IN && out <= RK_COPIER_UNITS_OUT ? in : 0;
}

}  // namespace

Result<std::unique_ptr<ResidentCopier>> ResidentCopier::open(const FoundDevice& found,
                                                             const Probe& probe, cl_mem arena,
                                                             Memory memory) {
  RK_TRY(built, build_program(probe.context, probe.device, "kernels/copier.cl", probe.options,
                              probe.cache));
  {
    RK_TRY(scratch, make_buffer(probe.context, 2 * test_bytes));
    RK_TRY(tested, make(found, probe, built.program.get(), scratch.get(), memory));
    RK_TRY_VOID(tested->test());
  }
  probe.cache.store(built);
  return make(found, probe, built.program.get(), arena, memory);
}

Result<std::unique_ptr<ResidentCopier>> ResidentCopier::make(const FoundDevice& found,
                                                             const Probe& probe, cl_program program,
                                                             cl_mem arena, Memory memory) {
  RK_TRY(queue, make_queue(probe.context, probe.device));
  RK_TRY(kernel, make_kernel(program, "rk_copier"));
  RK_TRY(mailbox, make_mailbox(found, probe.context, memory));
  std::unique_ptr<ResidentCopier> made(
      new ResidentCopier(found, std::move(queue), std::move(kernel), std::move(mailbox)));
  cl_int status = CL_SUCCESS;
  void* const mapped = cl().clEnqueueMapBuffer(made->queue_.get(), made->mailbox_.get(), CL_TRUE,
                                               CL_MAP_READ | CL_MAP_WRITE, 0, RK_COPIER_BYTES, 0,
                                               nullptr, nullptr, &status);
  RK_TRY_VOID(check("clEnqueueMapBuffer", status));
  made->mapped_ = static_cast<std::byte*>(mapped);
  std::memset(made->mapped_, 0, RK_COPIER_BYTES);
  made->at<rk_copier_host_line>(0)->polls_max = idle_polls_max;
  RK_TRY_VOID(set_memory_argument(made->kernel_.get(), 0, made->mailbox_.get()));
  RK_TRY_VOID(set_memory_argument(made->kernel_.get(), 1, arena));
  RK_TRY_VOID(check("clSetKernelArg",  // of local memory, the size alone
                    cl().clSetKernelArg(made->kernel_.get(), 3,
                                        static_cast<std::size_t>(RK_COPIER_LOCAL_BYTES), nullptr)));
  made->copies_.reserve(RK_COPIER_ENTRIES_MAX);
  return made;
}

ResidentCopier::ResidentCopier(const FoundDevice& found, Queue queue, ClKernel kernel,
                               Buffer mailbox) noexcept
    : found_(found),
      queue_(std::move(queue)),
      kernel_(std::move(kernel)),
      mailbox_(std::move(mailbox)) {}

ResidentCopier::~ResidentCopier() {
  if (mapped_ == nullptr) return;
  ask_to_leave(run_.load());
  const Drain drain(queue_.get());  // in order: behind the kernel
  (void)cl().clEnqueueUnmapMemObject(queue_.get(), mailbox_.get(), mapped_, 0, nullptr, nullptr);
}

void ResidentCopier::withdraw() {
  ask_to_leave(run_.load());
  found_.residency.withdraw(*this);
}

void ResidentCopier::ensure_runs() {
  if (!has_left(run_.load())) return;  // it is there, or on its way out: the queue meanwhile
  // seq_cst: a hold that finds it unset finds the kernel, or nothing was counted yet
  if (launching_.exchange(true)) return;
  const bool launches = has_left(run_.load()) &&
                        found_.residency.try_launch(*this, run_.load() + 1, 1, SIZE_MAX) &&
                        with_memory([this] { thread_->post([this] { launch(); }); });
  if (!launches) launching_.store(false);
}

void ResidentCopier::launch() noexcept {
  const std::lock_guard alone(launch_mutex_);
  const std::uint32_t run = run_.load() + 1;
  const std::size_t lanes = RK_COPIER_LANES;
  cl_event event = nullptr;
  // Where it fails, copies go into the queue, which has an error of its own then.
  if (cl().clSetKernelArg(kernel_.get(), 2, sizeof run, &run) == CL_SUCCESS &&
      cl().clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &lanes, &lanes, 0,
                                  nullptr, &event) == CL_SUCCESS) {
    running_ = Event(event);
    has_ended_.store(false);
    run_.store(run);
    leaving_.store(false);
    (void)cl().clFlush(queue_.get());
  }
  launching_.store(false);
}

std::unique_lock<std::mutex> ResidentCopier::make_way() {
  std::unique_lock lock(launch_mutex_);
  ask_to_leave(run_.load());
  return lock;
}

void ResidentCopier::ask_to_leave(std::uint32_t run) noexcept {
  leaving_.store(true);
  const std::atomic_ref word(at<rk_copier_host_line>(0)->leave);
  // relaxed: the word stands alone. Never back: who was told is not told otherwise.
  std::uint32_t told = word.load(std::memory_order_relaxed);
  while (static_cast<std::int32_t>(run - told) > 0 &&
         !word.compare_exchange_weak(told, run, std::memory_order_relaxed)) {
  }
}

bool ResidentCopier::try_start(std::span<const rk_copy> copies) {
  const std::uint32_t units = units_to_send(copies);
  const std::uint32_t run = run_.load();
  if (units == 0 || run == 0 || leaving_.load() || has_left(run)) return false;
  post(copies, units, run);
  return true;
}

void ResidentCopier::post(std::span<const rk_copy> copies, std::uint32_t units, std::uint32_t run) {
  batch_run_ = run;
  copies_.assign(copies.begin(), copies.end());
  auto* const entries = at<rk_copier_entry>(RK_COPIER_IN);
  std::byte* data = mapped_ + RK_COPIER_IN + copies.size() * RK_COPIER_UNIT;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const rk_copy& copy = copies[i];
    const bool sends = copy.direction == RK_COPY_TO_DEVICE;
    entries[i] = {.offset = copy.offset,
                  .bytes = static_cast<rk_u32>(copy.bytes),
                  .direction = sends ? RK_COPIER_TO_DEVICE : RK_COPIER_TO_HOST};
    if (!sends) continue;
    std::memcpy(data, copy.host, copy.bytes);
    data += std::size_t{units_of(copy.bytes)} * RK_COPIER_UNIT;
  }
  looks_ = 0;
  ++posted_;
  const rk_u64 word = rk_u64{posted_} << 32 | rk_u64{run & RK_COPIER_RUN_MASK} << 20 |
                      rk_u64{copies.size()} << 12 | units;
  // release: entries and data; pairs with the acquire in rk_copier
  std::atomic_ref(at<rk_copier_host_line>(0)->batch).store(word, std::memory_order_release);
}

ResidentCopier::Outcome ResidentCopier::look() {
  const auto is_done = [this] {
    // acquire: the data; pairs with the release in rk_copier
    return std::atomic_ref(at<rk_copier_device_line>(RK_COPIER_DEVICE_LINE)->done)
               .load(std::memory_order_acquire) == posted_;
  };
  if (!is_done()) {
    if (++looks_ % looks_max == 0) ask_whether_ended();
    const bool has_failed = run_.load() == batch_run_ && has_ended_.load();
    if (!has_left(batch_run_) && !has_failed) return Outcome::under_way;
    if (!is_done()) {                                   // behind its last word
      if (!has_left(batch_run_)) leaving_.store(true);  // it has failed: never again
      return Outcome::not_served;
    }
  }
  const std::byte* data = mapped_ + RK_COPIER_OUT;
  for (const rk_copy& copy : copies_) {
    if (copy.direction == RK_COPY_TO_DEVICE) continue;
    std::memcpy(copy.host, data, copy.bytes);
    data += std::size_t{units_of(copy.bytes)} * RK_COPIER_UNIT;
  }
  return Outcome::done;
}

bool ResidentCopier::has_left(std::uint32_t run) const noexcept {
  // acquire: what it has done; pairs with the release at the end of rk_copier
  const std::uint32_t left = std::atomic_ref(at<rk_copier_device_line>(RK_COPIER_DEVICE_LINE)->left)
                                 .load(std::memory_order_acquire);
  return static_cast<std::int32_t>(left - run) >= 0;
}

void ResidentCopier::ask_whether_ended() {
  if (asking_.exchange(true)) return;
  const auto look = [this] {
    if (running_ && event_status(running_.get()) <= CL_COMPLETE) has_ended_.store(true);
    asking_.store(false);
  };
  if (thread_ == nullptr)
    look();
  else if (!with_memory([&] { thread_->post(look); }))
    asking_.store(false);
}

bool ResidentCopier::try_returned() {
  if (launching_.load()) return false;
  if (!has_ended_.load()) ask_whether_ended();
  return has_ended_.load();
}

bool ResidentCopier::try_ask_to_leave(uint32_t slice) {
  ask_to_leave(slice);  // which may be about to be launched
  return true;
}

/// Without the residency, which the opening of a device holds.
Result<void> ResidentCopier::test() {
  for (rk_u32 batch = 1; batch <= test_batches; ++batch) RK_TRY_VOID(test_batch(batch));
  return {};
}

Result<void> ResidentCopier::test_batch(rk_u32 number) {
  std::array<rk_u32, test_bytes / sizeof(rk_u32)> sent{};
  for (std::size_t i = 0; i < sent.size(); ++i)
    sent[i] = number * 2654435761u + static_cast<rk_u32>(i);
  std::array<rk_u32, sent.size()> received{};
  const std::size_t bytes = sizeof(rk_u32) * (1 + number % sent.size());
  const std::array copies{rk_copy{RK_COPY_TO_DEVICE, 0, 0, sizeof sent, sent.data(), 0},
                          rk_copy{RK_COPY_TO_DEVICE, 0, test_bytes, bytes, sent.data(), 0},
                          rk_copy{RK_COPY_TO_HOST, 0, 0, sizeof received, received.data(), 0},
                          rk_copy{RK_COPY_TO_HOST, 0, test_bytes, bytes, received.data(), 0}};
  const auto deadline = std::chrono::steady_clock::now() + test_timeout;
  const auto is_late = [&] { return std::chrono::steady_clock::now() > deadline; };
  const auto failed = [](const std::string& what) {
    return Error(Errc::backend_unavailable, "the resident copier " + what);
  };
  for (bool started = false;;) {
    const Outcome outcome = started ? look() : Outcome::not_served;
    if (outcome == Outcome::done) break;
    if (is_late()) return failed(started ? "did not answer" : "did not stay");
    if (outcome == Outcome::under_way) {
      std::this_thread::yield();
      continue;
    }
    const std::uint32_t run = run_.load();
    if (has_left(run)) {
      // First the batch: others may have this processor for as long as an idle kernel stays.
      post(copies, units_to_send(copies), run + 1);
      launch();
      started = true;
    } else {
      started = try_start(copies);
    }
  }
  return sent == received ? Result<void>() : failed("brought other bytes");
}

}  // namespace ringkernel::opencl
