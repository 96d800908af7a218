#include "telemetry/counters_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>

namespace ringkernel::telemetry {
namespace {

/// False where the file ends before.
bool read(const File& file, std::size_t offset, void* to, std::size_t bytes) noexcept {
  auto* next = static_cast<std::byte*>(to);
  while (bytes != 0) {
    const ssize_t count = pread(file.get(), next, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count;
    offset += static_cast<std::size_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

/// The words that all versions have in common.
struct Head {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t record_bytes;
  std::uint64_t process_id;
  std::uint64_t process_start;
  std::uint64_t created_ns;
  std::uint64_t created_unix_ns;
  std::uint64_t period_ns;
  std::uint64_t heartbeat_ns;

  [[nodiscard]] WriterState writer() const noexcept {
    return {.process = {process_id, process_start},
            .period = std::chrono::nanoseconds(period_ns),
            .heartbeat_ns = heartbeat_ns};
  }
};
static_assert(sizeof(Head) == common_bytes);

constexpr const char* truncated = "truncated, or no counters file";

template <std::size_t bytes>
std::string text_of(const char (&field)[bytes]) {
  const std::string_view all(field, bytes);
  return std::string(all.substr(0, all.find('\0')));
}

struct OpenFile {
  File file;
  Head head;
  std::size_t bytes;
};

/// A finished counters file of any version: there are at least the words that all have in common.
Result<OpenFile> open_file(const std::filesystem::path& path) {
  const auto failure = [&](Errc code, const std::string& why) {
    return Error(code, "'" + path.string() + "': " + why);
  };
  const auto system_failure = [&] {
    return failure(Errc::backend_unavailable, std::generic_category().message(errno));
  };
  // Not to wait for whoever writes, where it is a pipe.
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return system_failure();
  struct stat what {};
  if (fstat(file.get(), &what) != 0) return system_failure();
  if (!S_ISREG(what.st_mode)) return failure(Errc::bad_record, "no counters file");
  // Metrics are of this user's own services.
  if (what.st_uid != geteuid() && geteuid() != 0)
    return failure(Errc::backend_unavailable, "another user's");
  const auto bytes = static_cast<std::size_t>(what.st_size);
  std::uint32_t version = 0;
  Head head{};
  if (!read(file, offsetof(Head, version), &version, sizeof version))
    return failure(Errc::bad_record, truncated);
  // acquire: what was written before the version; pairs with the release in CountersWriter::begin
  std::atomic_thread_fence(std::memory_order_acquire);
  if (!read(file, 0, &head, sizeof head)) return failure(Errc::bad_record, truncated);
  if (version == 0 || head.version != version)
    return failure(Errc::bad_record, "not finished yet, or no counters file");
  if (head.magic != file_magic) return failure(Errc::bad_record, "no counters file");
  return OpenFile{std::move(file), head, bytes};
}

/// One that came under the id of one that had gone, to another place, while the places were read.
void forget_replaced(std::vector<PublishedKernel>& kernels) {
  std::unordered_map<std::string_view, std::uint64_t> newest;
  for (const PublishedKernel& kernel : kernels) {
    std::uint64_t& number = newest[kernel.metrics.id];
    number = std::max(number, kernel.number);
  }
  if (newest.size() == kernels.size()) return;
  std::unordered_set<std::uint64_t> kept;
  for (const auto& [id, number] : newest) kept.insert(number);
  std::erase_if(kernels,
                [&](const PublishedKernel& kernel) { return !kept.contains(kernel.number); });
}

}  // namespace

bool WriterState::is_silent(std::uint64_t now_ns) const noexcept {
  // Periods without a publication, and what a busy machine may take beside.
  constexpr std::uint64_t periods_max = 10;
  constexpr std::uint64_t grace_ns = 1'000'000'000;
  const std::uint64_t age_ns = now_ns > heartbeat_ns ? now_ns - heartbeat_ns : 0;
  return age_ns > grace_ns &&
         (age_ns - grace_ns) / periods_max >= static_cast<std::uint64_t>(period.count());
}

std::optional<WriterState> writer_of(const std::filesystem::path& path) {
  const auto file = open_file(path);
  if (!file) return std::nullopt;
  return file->head.writer();
}

Result<CountersReader> CountersReader::open(const std::filesystem::path& path) {
  RK_TRY(open, open_file(path));
  const auto failure = [&](Errc code, const std::string& why) {
    return Error(code, "'" + path.string() + "': " + why);
  };
  if (open.head.version != file_version)
    return failure(Errc::protocol_mismatch, "version " + std::to_string(open.head.version) +
                                                "; this tool reads version " +
                                                std::to_string(file_version));
  if (open.bytes < sizeof(CountersFile) || open.head.record_bytes != sizeof(CountersFile))
    return failure(Errc::bad_record, truncated);
  return CountersReader(std::move(open.file), open.head.writer(), open.head.created_unix_ns);
}

std::uint64_t CountersReader::word(std::size_t offset) const noexcept {
  std::uint64_t word = 0;
  return read(file_, offset, &word, sizeof word) ? word : 0;
}

template <class Record>
bool CountersReader::load(std::size_t array, std::uint32_t place, Record& record) const {
  const std::size_t start = array + place * sizeof(Sequenced<Record>);
  return Sequenced<Record>::load_by(record, [&](std::size_t offset, void* to, std::size_t bytes) {
    return read(file_, start + offset, to, bytes);
  });
}

WriterState CountersReader::writer() const noexcept {
  WriterState writer = writer_;
  writer.heartbeat_ns = word(offsetof(CountersFile, heartbeat_ns));
  return writer;
}

std::chrono::system_clock::time_point CountersReader::created() const noexcept {
  return std::chrono::system_clock::time_point(std::chrono::nanoseconds(created_unix_ns_));
}

std::uint64_t CountersReader::kernels_missing() const noexcept {
  return word(offsetof(CountersFile, kernels_missing));
}

std::optional<Published<RuntimeMetrics>> CountersReader::runtime() const {
  RuntimeRecord record;
  if (!load(offsetof(CountersFile, runtime), 0, record) || record.published_ns == 0)
    return std::nullopt;
  Published<RuntimeMetrics> published{.metrics = {}, .published_ns = record.published_ns};
  RuntimeMetrics& metrics = published.metrics;
  metrics.name = text_of(record.name);
  metrics.backend = text_of(record.backend);
  metrics.device = text_of(record.device);
  metrics.transfer = text_of(record.transfer);
#define RK_RUNTIME_METRIC(name, kind, help) \
  metrics.name = static_cast<decltype(metrics.name)>(record.name);
#include "ringkernel/metrics.def"
  metrics.arena_fragmentation_score =
      fragmentation_score(metrics.arena_free_bytes, metrics.arena_largest_free_bytes);
  return published;
}

std::unordered_map<std::uint64_t, std::vector<MethodMetrics>> CountersReader::methods() const {
  std::unordered_map<std::uint64_t, std::vector<MethodMetrics>> methods;
  const std::uint64_t used =
      std::min<std::uint64_t>(word(offsetof(CountersFile, methods_used)), method_lines_max);
  for (std::uint32_t place = 0; place < used; ++place) {
    MethodLine line;
    if (!load(offsetof(CountersFile, methods), place, line) || line.kernel == 0) continue;
    methods[line.kernel].push_back({.name = text_of(line.name),
                                    .id = static_cast<std::uint32_t>(line.id),
                                    .answered = line.answered,
                                    .faults = line.faults,
                                    .latency = line.latency});
  }
  return methods;
}

std::map<std::uint64_t, std::string> CountersReader::method_names() const {
  std::map<std::uint64_t, std::string> names;
  for (const auto& [kernel, called] : methods())
    for (const MethodMetrics& method : called) names[method.id] = method.name;
  return names;
}

std::vector<PublishedKernel> CountersReader::kernels() const {
  std::vector<PublishedKernel> kernels;
  auto methods = this->methods();
  const std::uint64_t used =
      std::min<std::uint64_t>(word(offsetof(CountersFile, kernels_used)), kernels_max);
  for (std::uint32_t place = 0; place < used; ++place) {
    KernelRecord record;
    if (!load(offsetof(CountersFile, kernels), place, record) || record.in_use == 0) continue;
    PublishedKernel published;
    published.published_ns = record.published_ns;
    published.number = record.in_use;
    published.place = place;
    const std::uint64_t calls = std::min<std::uint64_t>(record.call_count, calls_max);
    published.calls.assign(record.calls, record.calls + calls);
    KernelMetrics& metrics = published.metrics;
    metrics.id = text_of(record.id);
    metrics.program = text_of(record.program);
    metrics.behaviour = text_of(record.behaviour);
    metrics.status = static_cast<KernelStatus>(record.status);
#define RK_KERNEL_METRIC(name, kind, help) metrics.name = record.name;
#define RK_KERNEL_LATENCY(name, help) metrics.name = record.name;
#include "ringkernel/metrics.def"
    if (const auto called = methods.find(published.number); called != methods.end())
      metrics.methods = std::move(called->second);
    kernels.push_back(std::move(published));
  }
  forget_replaced(kernels);
  return kernels;
}

std::unique_ptr<Histogram> CountersReader::latency(const PublishedKernel& kernel) const {
  auto latency = std::make_unique<Histogram>();  // zeroed: it has no constructor
  const std::size_t at = offsetof(CountersFile, latencies) + kernel.place * sizeof(Histogram);
  if (!read(file_, at, latency.get(), Histogram::head_bytes) ||
      !read(file_, at, latency.get(), latency->used_bytes()))
    return nullptr;
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the one in clear
  KernelRecord record;
  if (!load(offsetof(CountersFile, kernels), kernel.place, record) ||
      record.in_use != kernel.number)
    return nullptr;
  return latency;
}

std::vector<ErrorRecord> CountersReader::errors() const {
  std::vector<ErrorRecord> errors;
  const std::uint64_t used =
      std::min<std::uint64_t>(word(offsetof(CountersFile, errors_used)), errors_max);
  for (std::uint32_t place = 0; place < used; ++place) {
    ErrorLine line;
    if (!load(offsetof(CountersFile, errors), place, line) || line.count == 0) continue;
    errors.push_back({.kernel = text_of(line.kernel),
                      .code = static_cast<int>(line.code),
                      .text = text_of(line.text),
                      .count = line.count,
                      .first_ns = line.first_ns,
                      .last_ns = line.last_ns});
  }
  return errors;
}

std::vector<TraceEvent> CountersReader::trace(std::uint64_t& from) const {
  const std::uint64_t end = word(offsetof(CountersFile, trace_ended));
  std::atomic_thread_fence(std::memory_order_acquire);  // the events; pairs with append
  const auto oldest = [](std::uint64_t last) {
    return last > trace_events_max ? last - trace_events_max : 0;
  };
  if (from > end) from = 0;  // the file was cut off, and made anew
  const std::uint64_t begin = std::max(from, oldest(end));
  std::vector<TraceEvent> events(end - begin);
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t place = at % trace_events_max;
    const std::uint64_t count = std::min(end - at, trace_events_max - place);
    if (!read(file_, offsetof(CountersFile, trace) + place * sizeof(TraceWords),
              &events[at - begin], count * sizeof(TraceWords)))
      return {};
    at += count;
  }
  for (TraceEvent& event : events)
    event.name[sizeof(TraceEvent::name) - 1] = 0;  // of a spoiled file
  // What the writer has begun to overwrite meanwhile does not count; pairs with the fence in append
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint64_t intact = oldest(word(offsetof(CountersFile, trace_begun)));
  if (intact > begin)
    events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(
                                                      std::min(intact - begin, end - begin)));
  from = end;
  return events;
}

std::uint64_t CountersReader::trace_missed() const noexcept {
  return word(offsetof(CountersFile, trace_missed));
}

}  // namespace ringkernel::telemetry
