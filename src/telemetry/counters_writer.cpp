#include "telemetry/counters_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "telemetry/process.hpp"

namespace ringkernel::telemetry {
namespace {

namespace fs = std::filesystem;

/// `text` as a field that ends with a zero, cut off where it is longer.
template <std::size_t bytes>
void put(char (&field)[bytes], const std::string& text) {
  std::memset(field, 0, bytes);
  std::memcpy(field, text.data(), std::min(text.size(), bytes - 1));
}

/// Makes the bytes be there: a hole that the file system cannot fill would end the process when it
/// is written to.
bool fill_hole(int file, std::size_t offset, std::size_t bytes) {
  return posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

Error failure(const fs::path& path, int error) {
  return {Errc::backend_unavailable,
          "telemetry: '" + path.string() + "': " + std::generic_category().message(error)};
}

fs::path next_path(const fs::path& folder) {
  static std::atomic<std::uint32_t> files{0};
  const std::uint32_t number = files.fetch_add(1, std::memory_order_relaxed) + 1;  // unique
  return folder / (file_prefix + std::to_string(number) + file_suffix);
}

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

Result<std::unique_ptr<CountersWriter>> CountersWriter::create(const fs::path& folder,
                                                               std::chrono::nanoseconds period) {
  fs::path path = next_path(folder);
  unlink(path.c_str());  // of a process that had this id before
  File file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file) return failure(path, errno);
  void* memory = MAP_FAILED;
  if (ftruncate(file.get(), sizeof(CountersFile)) == 0 &&
      fill_hole(file.get(), 0, offsetof(CountersFile, kernels)))
    memory = mmap(nullptr, sizeof(CountersFile), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) {
    const int error = errno != 0 ? errno : ENOSPC;
    unlink(path.c_str());
    return failure(path, error);
  }
  auto& counters = *static_cast<CountersFile*>(memory);  // zeroed: an empty file
  const Process process = this_process();
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  counters.magic = file_magic;
  counters.record_bytes = sizeof(CountersFile);
  counters.process_id = process.id;
  counters.process_start = process.start;
  counters.created_ns = counters.heartbeat_ns = monotonic_ns();
  counters.created_unix_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(unix_time).count());
  counters.period_ns = static_cast<std::uint64_t>(period.count());
  // release: all of the above; pairs with the acquire in CountersReader::open
  std::atomic_ref(counters.version).store(file_version, std::memory_order_release);
  return std::unique_ptr<CountersWriter>(
      new CountersWriter(std::move(path), std::move(file), &counters));
}

CountersWriter::~CountersWriter() {
  unlink(path_.c_str());
  rmdir(path_.parent_path().c_str());  // if it was the last one
  munmap(counters_, sizeof(CountersFile));
}

void CountersWriter::store(const RuntimeMetrics& metrics) {
  RuntimeRecord record{};
  record.published_ns = monotonic_ns();
  put(record.backend, metrics.backend);
  put(record.device, metrics.device);
  put(record.transfer, metrics.transfer);
#define RK_RUNTIME_FIGURE(name, kind, help) record.name = metrics.name;
#include "telemetry/figures.def"
  counters_->runtime.store(record);
}

bool CountersWriter::store(std::uint32_t place, const KernelMetrics& metrics) {
  Sequenced<KernelRecord>& kernel = counters_->kernels[place];
  if (place >= counters_->kernels_used) {
    const std::size_t offset =
        offsetof(CountersFile, kernels) + counters_->kernels_used * sizeof kernel;
    const std::size_t end = offsetof(CountersFile, kernels) + (place + 1) * sizeof kernel;
    if (!fill_hole(file_.get(), offset, end - offset)) return false;
    // relaxed: a place that a reader sees too early is a free one
    std::atomic_ref(counters_->kernels_used).store(place + 1, std::memory_order_relaxed);
  }
  KernelRecord record{};
  record.in_use = 1;
  record.published_ns = monotonic_ns();
  record.status = static_cast<std::uint64_t>(metrics.status);
  put(record.id, metrics.id);
  put(record.program, metrics.program);
#define RK_KERNEL_FIGURE(name, kind, help) record.name = metrics.name;
#include "telemetry/figures.def"
  kernel.store(record);
  return true;
}

void CountersWriter::clear(std::uint32_t place) {
  if (place < counters_->kernels_used) counters_->kernels[place].store({});
}

void CountersWriter::beat(std::uint64_t missing) {
  // relaxed: figures
  std::atomic_ref(counters_->kernels_missing).store(missing, std::memory_order_relaxed);
  std::atomic_ref(counters_->heartbeat_ns).store(monotonic_ns(), std::memory_order_relaxed);
}

}  // namespace ringkernel::telemetry
