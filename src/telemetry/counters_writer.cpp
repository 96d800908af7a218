#include "telemetry/counters_writer.hpp"

#include <fcntl.h>
#include <pthread.h>
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
void put_text(char (&field)[bytes], const std::string& text) {
  std::memset(field, 0, bytes);
  std::memcpy(field, text.data(), std::min(text.size(), bytes - 1));
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
  std::unique_lock lock(folder_mutex);
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
  std::unique_ptr<CountersWriter> writer(new (std::nothrow) CountersWriter(
      std::move(own_path), std::move(own_folder), std::move(file), this_process(), period));
  if (writer == nullptr) throw std::bad_alloc();
  leaving.dismiss();  // the writer takes them along
  if (!writer->begin()) {
    const Error error = failure(path, errno);
    lock.unlock();  // the writer's, which ends
    return error;
  }
  return writer;
}

CountersWriter::CountersWriter(fs::path path, fs::path folder, File file, const Process& process,
                               std::chrono::nanoseconds period) noexcept
    : path_(std::move(path)),
      folder_(std::move(folder)),
      file_(std::move(file)),
      process_(process),
      period_ns_(static_cast<std::uint64_t>(period.count())),
      created_ns_(monotonic_ns()),
      created_unix_ns_(static_cast<std::uint64_t>(
          std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count())) {}

CountersWriter::~CountersWriter() {
  const std::lock_guard lock(folder_mutex);
  unlink(path_.c_str());
  rmdir(folder_.c_str());  // if it was the last one
}

bool CountersWriter::write(std::size_t offset, const void* from, std::size_t bytes) noexcept {
  const auto* next = static_cast<const std::byte*>(from);
  while (bytes != 0) {
    const ssize_t written = pwrite(file_.get(), next, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    next += written;
    offset += static_cast<std::size_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

bool CountersWriter::begin() noexcept {
  bool is_there = ftruncate(file_.get(), sizeof(CountersFile)) == 0;
  const auto put_all = [&](auto... offset_and_word) {
    ((is_there = is_there && put(offset_and_word.first, offset_and_word.second)), ...);
  };
#define RK_AT(name) offsetof(CountersFile, name)
  put_all(
      std::pair(RK_AT(version), std::uint32_t{0}), std::pair(RK_AT(magic), file_magic),
      std::pair(RK_AT(record_bytes), static_cast<std::uint32_t>(sizeof(CountersFile))),
      std::pair(RK_AT(process_id), process_.id), std::pair(RK_AT(process_start), process_.start),
      std::pair(RK_AT(created_ns), created_ns_),
      std::pair(RK_AT(created_unix_ns), created_unix_ns_), std::pair(RK_AT(period_ns), period_ns_),
      std::pair(RK_AT(heartbeat_ns), monotonic_ns()), std::pair(RK_AT(kernels_used), kernels_used_),
      std::pair(RK_AT(errors_used), errors_used_), std::pair(RK_AT(methods_used), methods_used_),
      std::pair(RK_AT(trace_begun), trace_ended_), std::pair(RK_AT(trace_ended), trace_ended_),
      std::pair(RK_AT(state_answer.number), answered_));
  // release: all of the above; pairs with the acquire in CountersReader::open
  std::atomic_thread_fence(std::memory_order_release);
  put_all(std::pair(RK_AT(version), file_version));
#undef RK_AT
  return is_there;
}

bool CountersWriter::was_cut() {
  struct stat now {};
  std::uint32_t version = 0;  // what comes after a cut, at the end of the file, makes it long again
  if (fstat(file_.get(), &now) == 0 &&
      static_cast<std::size_t>(now.st_size) >= sizeof(CountersFile) &&
      pread(file_.get(), &version, sizeof version, offsetof(CountersFile, version)) ==
          sizeof version &&
      version == file_version)
    return false;
  trace_ended_ = 0;  // what was there is gone
  answered_ = 0;
  latency_bytes_.fill(0);
  const auto forget = [](Stores& stores) {
    // The file's is 0 now, which sends readers to the copy of even numbers: the next store has to
    // fill the other one. Not 0: who reads on from before the cut must see another number.
    stores.number += stores.number % 2;
    stores.has_room = false;
  };
  forget(runtime_);
  std::ranges::for_each(errors_, forget);
  std::ranges::for_each(kernels_, forget);
  std::ranges::for_each(methods_, forget);
  (void)begin();  // else again in the next round
  return true;
}

template <class Record>
bool CountersWriter::replace(std::size_t array, std::uint32_t place, Stores& stores,
                             const Record& record) noexcept {
  const std::size_t start = array + place * sizeof(Sequenced<Record>);
  // Memory for all of it at first: what has a place can be replaced and cleared.
  if (!stores.has_room) {
    const Sequenced<Record> none{};
    if (!write(start, &none, sizeof none)) return false;
    stores.has_room = true;
  }
  return Sequenced<Record>::store_by(stores.number, record,
                                     [&](std::size_t offset, const void* from, std::size_t bytes) {
                                       return write(start + offset, from, bytes);
                                     });
}

void CountersWriter::use(std::size_t offset, std::uint64_t& used, std::uint32_t place) noexcept {
  if (place >= used && put(offset, std::uint64_t{place} + 1)) used = place + 1;
}

void CountersWriter::store(const RuntimeMetrics& metrics) {
  RuntimeRecord record{};
  record.published_ns = monotonic_ns();
  put_text(record.name, metrics.name);
  put_text(record.backend, metrics.backend);
  put_text(record.device, metrics.device);
  put_text(record.transfer, metrics.transfer);
#define RK_RUNTIME_METRIC(name, kind, help) record.name = metrics.name;
#include "ringkernel/metrics.def"
  (void)replace(offsetof(CountersFile, runtime), 0, runtime_, record);
}

bool CountersWriter::store(std::uint32_t place, std::uint64_t number, const KernelMetrics& metrics,
                           std::span<const CallInFlight> calls) {
  KernelRecord record{};
  record.in_use = number;
  record.published_ns = monotonic_ns();
  record.status = static_cast<std::uint64_t>(metrics.status);
  put_text(record.id, metrics.id);
  put_text(record.program, metrics.program);
  put_text(record.behaviour, metrics.behaviour);
#define RK_KERNEL_METRIC(name, kind, help) record.name = metrics.name;
#define RK_KERNEL_LATENCY(name, help) record.name = metrics.name;
#include "ringkernel/metrics.def"
  record.call_count = std::min(calls.size(), calls_max);
  std::copy_n(calls.begin(), record.call_count, record.calls);
  if (!replace(offsetof(CountersFile, kernels), place, kernels_[place], record)) return false;
  use(offsetof(CountersFile, kernels_used), kernels_used_, place);
  return place < kernels_used_;
}

bool CountersWriter::store_latency(std::uint32_t place, const Histogram& latency) {
  std::size_t& kept = latency_bytes_[place];
  const bool is_first = kept == 0;  // then all of it, as in `replace`
  kept = std::max(kept, latency.used_bytes());
  if (write(offsetof(CountersFile, latencies) + place * sizeof(Histogram), &latency,
            is_first ? sizeof latency : kept))
    return true;
  if (is_first) kept = 0;
  return false;
}

void CountersWriter::clear(std::uint32_t place) {
  static const Histogram empty{};
  if (place >= kernels_used_) return;
  (void)replace(offsetof(CountersFile, kernels), place, kernels_[place], KernelRecord{});
  // The record first: who has seen some of the histogram go finds the kernel gone; pairs with the
  // fence in CountersReader::latency.
  std::atomic_thread_fence(std::memory_order_release);
  if (store_latency(place, empty)) latency_bytes_[place] = empty.used_bytes();
}

bool CountersWriter::store_method(std::uint32_t place, std::uint64_t number,
                                  const MethodMetrics& method) {
  MethodLine line{};
  line.kernel = number;
  line.id = method.id;
  line.answered = method.answered;
  line.faults = method.faults;
  line.latency = method.latency;
  put_text(line.name, method.name);
  if (!replace(offsetof(CountersFile, methods), place, methods_[place], line)) return false;
  use(offsetof(CountersFile, methods_used), methods_used_, place);
  return place < methods_used_;
}

void CountersWriter::clear_method(std::uint32_t place) {
  if (place < methods_used_)
    (void)replace(offsetof(CountersFile, methods), place, methods_[place], MethodLine{});
}

bool CountersWriter::store(std::uint32_t place, const ErrorRecord& error) {
  ErrorLine line{};
  line.count = error.count;
  line.first_ns = error.first_ns;
  line.last_ns = error.last_ns;
  line.code = error.code;
  put_text(line.kernel, error.kernel);
  put_text(line.text, error.text);
  if (!replace(offsetof(CountersFile, errors), place, errors_[place], line)) return false;
  use(offsetof(CountersFile, errors_used), errors_used_, place);
  return place < errors_used_;
}

void CountersWriter::append(std::span<const TraceEvent> events, std::uint64_t missed) {
  static_assert(sizeof(TraceEvent) == sizeof(TraceWords));
  (void)put(offsetof(CountersFile, trace_missed), missed);
  if (events.empty()) return;
  const std::uint64_t begin = trace_ended_;
  const std::uint64_t end = begin + events.size();
  if (!put(offsetof(CountersFile, trace_begun), end)) return;
  // release: who finds an event changing finds that this has begun; pairs with the fence in trace()
  std::atomic_thread_fence(std::memory_order_release);
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t place = at % trace_events_max;
    const std::uint64_t count = std::min(end - at, trace_events_max - place);
    if (!write(offsetof(CountersFile, trace) + place * sizeof(TraceWords), &events[at - begin],
               count * sizeof(TraceWords)))
      return;
    at += count;
  }
  // release: the events; pairs with the acquire in trace()
  std::atomic_thread_fence(std::memory_order_release);
  if (put(offsetof(CountersFile, trace_ended), end)) trace_ended_ = end;
}

std::optional<StateRequest> CountersWriter::state_request() const noexcept {
  StateRequest request{};
  const auto get = [&](std::size_t offset, std::uint64_t& word) {
    return pread(file_.get(), &word, sizeof word, static_cast<off_t>(offset)) == sizeof word;
  };
  if (!get(offsetof(CountersFile, state_request.number), request.number)) return std::nullopt;
  if (request.number == answered_) return std::nullopt;
  // acquire: the kernel; pairs with the release in ask_for_state. If it is a later request's,
  // nobody waits for this number any more.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!get(offsetof(CountersFile, state_request.kernel), request.kernel)) return std::nullopt;
  return request;
}

void CountersWriter::answer(const StateRequest& request, Result<std::string> state) {
  if (state && state->size() > state_text_max)
    state = Error(Errc::limit_exceeded, "the state as JSON has " + std::to_string(state->size()) +
                                            " bytes, and a counters file has room for " +
                                            std::to_string(state_text_max));
  const std::string& text = state ? *state : state.error().detail;
  std::int64_t code = state ? 0 : state.error().code.value();
  std::uint64_t bytes = std::min(text.size(), state_text_max);
  if (!write(offsetof(CountersFile, state_text), text.data(), bytes)) {
    code = static_cast<std::int64_t>(Errc::allocation_failure);
    bytes = 0;
  }
  if (!put(offsetof(CountersFile, state_answer.code), code) ||
      !put(offsetof(CountersFile, state_answer.bytes), bytes))
    return;
  // release: the answer; pairs with the acquire in ask_for_state
  std::atomic_thread_fence(std::memory_order_release);
  if (put(offsetof(CountersFile, state_answer.number), request.number)) answered_ = request.number;
}

void CountersWriter::beat(std::uint64_t missing) {
  (void)put(offsetof(CountersFile, kernels_missing), missing);
  (void)put(offsetof(CountersFile, heartbeat_ns), monotonic_ns());
}

}  // namespace ringkernel::telemetry
