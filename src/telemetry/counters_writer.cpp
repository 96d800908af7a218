#include "telemetry/counters_writer.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <system_error>

#include "foundation/scope_guard.hpp"
#include "telemetry/counters_reader.hpp"
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
/// False, and `errno` says why, if there is no room.
bool fill_hole(int file, std::size_t offset, std::size_t bytes) {
  errno = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  return errno == 0;
}

Error failure(const fs::path& path, int error) {
  return {Errc::backend_unavailable,
          "telemetry: '" + path.string() + "': " + std::generic_category().message(error)};
}

/// The runtimes of this process make and remove its folder one at a time; a fork waits for them, so
/// that the child finds it free.
std::mutex folder_mutex;
[[gnu::constructor]] void hold_at_fork() {
  pthread_atfork([] { folder_mutex.lock(); }, [] { folder_mutex.unlock(); },
                 [] { folder_mutex.unlock(); });
}

/// A name that nobody uses. A process that had this id before may have left files, which go; in
/// another container one may have it now.
fs::path next_path(const fs::path& folder) {
  static std::uint32_t files = 0;  // guarded by folder_mutex
  for (;;) {
    fs::path path = folder / (file_prefix + std::to_string(++files) + file_suffix);
    const auto other = writer_of(path);
    if (other && !other->is_silent(monotonic_ns())) continue;
    unlink(path.c_str());
    return path;
  }
}

}  // namespace

std::uint64_t monotonic_ns() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

Result<std::unique_ptr<CountersWriter>> CountersWriter::create(const fs::path& folder,
                                                               std::chrono::nanoseconds period) {
  const std::lock_guard lock(folder_mutex);
  mkdir(folder.c_str(), S_IRWXU);  // again, if it has gone with another runtime
  fs::path path = next_path(folder);
  fs::path own_path = path;
  fs::path own_folder = folder;
  ScopeGuard leaving([&]() noexcept {  // also where there is no memory
    unlink(path.c_str());
    rmdir(folder.c_str());  // if nothing else is there
  });
  File file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file) return failure(path, errno);
  void* memory = MAP_FAILED;
  if (ftruncate(file.get(), sizeof(CountersFile)) == 0 &&
      fill_hole(file.get(), 0, offsetof(CountersFile, errors)))
    memory = mmap(nullptr, sizeof(CountersFile), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return failure(path, errno);
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
  std::unique_ptr<CountersWriter> writer(new (std::nothrow) CountersWriter(
      std::move(own_path), std::move(own_folder), std::move(file), &counters));
  if (writer == nullptr) {
    munmap(memory, sizeof(CountersFile));
    throw std::bad_alloc();
  }
  leaving.dismiss();
  return writer;
}

CountersWriter::~CountersWriter() {
  const std::lock_guard lock(folder_mutex);
  unlink(path_.c_str());
  rmdir(folder_.c_str());  // if it was the last one
  munmap(counters_, sizeof(CountersFile));
}

void CountersWriter::store(const RuntimeMetrics& metrics) {
  RuntimeRecord record{};
  record.published_ns = monotonic_ns();
  put(record.name, metrics.name);
  put(record.backend, metrics.backend);
  put(record.device, metrics.device);
  put(record.transfer, metrics.transfer);
#define RK_RUNTIME_FIGURE(name, kind, help) record.name = metrics.name;
#include "telemetry/figures.def"
  counters_->runtime.store(record);
}

template <class Item>
bool CountersWriter::has_memory(const Item* array, std::uint64_t used, std::uint32_t place) const {
  const auto offset_of = [&](std::uint64_t index) {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(array + index) -
                                    reinterpret_cast<const std::byte*>(counters_));
  };
  if (place < used) return true;
  return fill_hole(file_.get(), offset_of(used), offset_of(place + 1) - offset_of(used));
}

bool CountersWriter::store(std::uint32_t place, std::uint64_t number, const KernelMetrics& metrics,
                           std::span<const CallInFlight> calls) {
  const std::uint64_t used = counters_->kernels_used;
  if (!has_memory(counters_->kernels, used, place) ||
      !has_memory(counters_->latencies, used, place))
    return false;
  KernelRecord record{};
  record.in_use = number;
  record.published_ns = monotonic_ns();
  record.status = static_cast<std::uint64_t>(metrics.status);
  put(record.id, metrics.id);
  put(record.program, metrics.program);
  put(record.behaviour, metrics.behaviour);
#define RK_KERNEL_FIGURE(name, kind, help) record.name = metrics.name;
#define RK_KERNEL_LATENCY(name, help) record.name = metrics.name;
#include "telemetry/figures.def"
  record.call_count = std::min(calls.size(), calls_max);
  std::copy_n(calls.begin(), record.call_count, record.calls);
  counters_->kernels[place].store(record);
  // relaxed: a place that a reader sees too early is a free one
  if (place >= used)
    std::atomic_ref(counters_->kernels_used).store(place + 1, std::memory_order_relaxed);
  return true;
}

void CountersWriter::clear(std::uint32_t place) {
  if (place >= counters_->kernels_used) return;
  counters_->kernels[place].store({});
  // The record first: who has seen some of the histogram go finds the kernel gone; pairs with the
  // fence in CountersReader::latency.
  std::atomic_thread_fence(std::memory_order_release);
  counters_->latencies[place].clear();
}

bool CountersWriter::store_method(std::uint32_t place, std::uint64_t number,
                                  const MethodMetrics& method) {
  const std::uint64_t used = counters_->methods_used;
  if (!has_memory(counters_->methods, used, place)) return false;
  MethodLine line{};
  line.kernel = number;
  line.id = method.id;
  line.answered = method.answered;
  line.faults = method.faults;
  line.latency = method.latency;
  put(line.name, method.name);
  counters_->methods[place].store(line);
  // relaxed: as for kernels
  if (place >= used)
    std::atomic_ref(counters_->methods_used).store(place + 1, std::memory_order_relaxed);
  return true;
}

void CountersWriter::clear_method(std::uint32_t place) {
  if (place < counters_->methods_used) counters_->methods[place].store({});
}

bool CountersWriter::store(std::uint32_t place, const ErrorRecord& error) {
  const std::uint64_t used = counters_->errors_used;
  if (!has_memory(counters_->errors, used, place)) return false;
  ErrorLine line{};
  line.count = error.count;
  line.first_ns = error.first_ns;
  line.last_ns = error.last_ns;
  line.code = error.code;
  put(line.kernel, error.kernel);
  put(line.text, error.text);
  counters_->errors[place].store(line);
  // relaxed: as for kernels
  if (place >= used)
    std::atomic_ref(counters_->errors_used).store(place + 1, std::memory_order_relaxed);
  return true;
}

void CountersWriter::append(std::span<const TraceEvent> events, std::uint64_t missed) {
  // relaxed: a figure
  std::atomic_ref(counters_->trace_missed).store(missed, std::memory_order_relaxed);
  if (events.empty()) return;
  const std::uint64_t begin = counters_->trace_ended;  // this thread's own
  const std::uint64_t end = begin + events.size();
  const std::uint64_t used = std::min<std::uint64_t>(begin, trace_events_max);
  const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(end, trace_events_max) - 1);
  if (!has_memory(counters_->trace, used, last)) return;
  std::atomic_ref(counters_->trace_begun).store(end, std::memory_order_relaxed);
  // release: who finds an event changing finds that this has begun; pairs with the fence in trace()
  std::atomic_thread_fence(std::memory_order_release);
  for (std::uint64_t at = begin; at < end; ++at) {
    TraceWords words;
    std::memcpy(words.data(), &events[at - begin], sizeof words);
    TraceWords& to = counters_->trace[at % trace_events_max];
    for (std::size_t i = 0; i < words.size(); ++i)
      std::atomic_ref(to[i]).store(words[i], std::memory_order_relaxed);
  }
  // release: the events; pairs with the acquire in trace()
  std::atomic_ref(counters_->trace_ended).store(end, std::memory_order_release);
}

std::optional<StateRequest> CountersWriter::state_request() const noexcept {
  StateRequest& request = counters_->state_request;
  // acquire: the kernel; pairs with the release in ask_for_state
  const std::uint64_t number = std::atomic_ref(request.number).load(std::memory_order_acquire);
  if (number == counters_->state_answer.number) return std::nullopt;  // this thread's own
  // relaxed: if it is a later request's, nobody waits for this number any more
  return StateRequest{number, std::atomic_ref(request.kernel).load(std::memory_order_relaxed)};
}

void CountersWriter::answer(const StateRequest& request, Result<std::string> state) {
  if (state && state->size() > state_text_max)
    state = Error(Errc::limit_exceeded, "the state as JSON has " + std::to_string(state->size()) +
                                            " bytes, and a counters file has room for " +
                                            std::to_string(state_text_max));
  StateAnswer& answer = counters_->state_answer;
  const std::string& text = state ? *state : state.error().detail;
  answer.code = state ? 0 : state.error().code.value();
  answer.bytes = std::min(text.size(), state_text_max);
  if (!fill_hole(file_.get(), offsetof(CountersFile, state_text), state_text_max)) {
    answer.code = static_cast<std::int64_t>(Errc::allocation_failure);
    answer.bytes = 0;
  }
  std::memcpy(counters_->state_text, text.data(), answer.bytes);
  // release: the answer; pairs with the acquire in ask_for_state
  std::atomic_ref(answer.number).store(request.number, std::memory_order_release);
}

void CountersWriter::beat(std::uint64_t missing) {
  // relaxed: figures
  std::atomic_ref(counters_->kernels_missing).store(missing, std::memory_order_relaxed);
  std::atomic_ref(counters_->heartbeat_ns).store(monotonic_ns(), std::memory_order_relaxed);
}

}  // namespace ringkernel::telemetry
