#include "telemetry/counters_reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
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

#include "foundation/file.hpp"

namespace ringkernel::telemetry {
namespace {

/// A word of memory that is mapped for reading only: nothing is stored through the reference.
template <class Word>
Word load(const Word& word, std::memory_order order = std::memory_order_relaxed) noexcept {
  return std::atomic_ref(const_cast<Word&>(word)).load(order);
}

constexpr const char* truncated = "truncated, or no counters file";

template <std::size_t bytes>
std::string text_of(const char (&field)[bytes]) {
  const std::string_view all(field, bytes);
  return std::string(all.substr(0, all.find('\0')));
}

struct MappedFile {
  CountersMapping counters;
  std::size_t bytes;
};

/// A finished counters file of any version: there are at least the words that all have in common.
Result<MappedFile> map_file(const std::filesystem::path& path) {
  const auto failure = [&](Errc code, const std::string& why) {
    return Error(code, "'" + path.string() + "': " + why);
  };
  const auto system_failure = [&] {
    return failure(Errc::backend_unavailable, std::generic_category().message(errno));
  };
  // Not to wait for whoever writes, where it is a pipe.
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return system_failure();
  struct stat what {};
  if (fstat(file.get(), &what) != 0) return system_failure();
  if (!S_ISREG(what.st_mode)) return failure(Errc::bad_record, "no counters file");
  // Who owns it can cut it off while it is mapped, which ends whoever looks then.
  if (what.st_uid != geteuid() && geteuid() != 0)
    return failure(Errc::backend_unavailable, "another user's");
  const auto bytes = static_cast<std::size_t>(what.st_size);
  if (bytes < common_bytes) return failure(Errc::bad_record, truncated);
  void* const memory = mmap(nullptr, sizeof(CountersFile), PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return system_failure();
  CountersMapping counters(static_cast<const CountersFile*>(memory));
  if (load(counters->version, std::memory_order_acquire) == 0)
    return failure(Errc::bad_record, "not finished yet, or no counters file");
  if (counters->magic != file_magic) return failure(Errc::bad_record, "no counters file");
  return MappedFile{std::move(counters), bytes};
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

WriterState writer_in(const CountersFile& counters) noexcept {
  return {.process = {counters.process_id, counters.process_start},
          .period = std::chrono::nanoseconds(counters.period_ns),
          .heartbeat_ns = load(counters.heartbeat_ns)};
}

}  // namespace

void Unmap::operator()(const CountersFile* counters) const noexcept {
  munmap(const_cast<CountersFile*>(counters), sizeof(CountersFile));
}

bool WriterState::is_silent(std::uint64_t now_ns) const noexcept {
  // Periods without a publication, and what a busy machine may take beside.
  constexpr std::uint64_t periods_max = 10;
  constexpr std::uint64_t grace_ns = 1'000'000'000;
  const std::uint64_t age_ns = now_ns > heartbeat_ns ? now_ns - heartbeat_ns : 0;
  return age_ns > grace_ns &&
         (age_ns - grace_ns) / periods_max >= static_cast<std::uint64_t>(period.count());
}

std::optional<WriterState> writer_of(const std::filesystem::path& path) {
  const auto file = map_file(path);
  if (!file) return std::nullopt;
  return writer_in(*file->counters);
}

Result<CountersReader> CountersReader::open(const std::filesystem::path& path) {
  RK_TRY(file, map_file(path));
  const auto failure = [&](Errc code, const std::string& why) {
    return Error(code, "'" + path.string() + "': " + why);
  };
  if (file.counters->version != file_version)
    return failure(Errc::protocol_mismatch, "version " + std::to_string(file.counters->version) +
                                                "; this tool reads version " +
                                                std::to_string(file_version));
  if (file.bytes < sizeof(CountersFile) || file.counters->record_bytes != sizeof(CountersFile))
    return failure(Errc::bad_record, truncated);
  return CountersReader(std::move(file.counters));
}

WriterState CountersReader::writer() const noexcept { return writer_in(*counters_); }

std::chrono::system_clock::time_point CountersReader::created() const noexcept {
  return std::chrono::system_clock::time_point(
      std::chrono::nanoseconds(counters_->created_unix_ns));
}

std::uint64_t CountersReader::kernels_missing() const noexcept {
  return load(counters_->kernels_missing);
}

std::optional<Published<RuntimeMetrics>> CountersReader::runtime() const {
  RuntimeRecord record;
  if (!counters_->runtime.load(record) || record.published_ns == 0) return std::nullopt;
  Published<RuntimeMetrics> published{.metrics = {}, .published_ns = record.published_ns};
  RuntimeMetrics& metrics = published.metrics;
  metrics.name = text_of(record.name);
  metrics.backend = text_of(record.backend);
  metrics.device = text_of(record.device);
  metrics.transfer = text_of(record.transfer);
#define RK_RUNTIME_FIGURE(name, kind, help) \
  metrics.name = static_cast<decltype(metrics.name)>(record.name);
#include "telemetry/figures.def"
  metrics.arena_fragmentation_score =
      fragmentation_score(metrics.arena_free_bytes, metrics.arena_largest_free_bytes);
  return published;
}

std::unordered_map<std::uint64_t, std::vector<MethodMetrics>> CountersReader::methods() const {
  std::unordered_map<std::uint64_t, std::vector<MethodMetrics>> methods;
  const std::uint64_t used =
      std::min<std::uint64_t>(load(counters_->methods_used), method_lines_max);
  for (std::uint32_t place = 0; place < used; ++place) {
    MethodLine line;
    if (!counters_->methods[place].load(line) || line.kernel == 0) continue;
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
  const std::uint64_t used = std::min<std::uint64_t>(load(counters_->kernels_used), kernels_max);
  for (std::uint32_t place = 0; place < used; ++place) {
    KernelRecord record;
    if (!counters_->kernels[place].load(record) || record.in_use == 0) continue;
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
#define RK_KERNEL_FIGURE(name, kind, help) metrics.name = record.name;
#define RK_KERNEL_LATENCY(name, help) metrics.name = record.name;
#include "telemetry/figures.def"
    if (const auto called = methods.find(published.number); called != methods.end())
      metrics.methods = std::move(called->second);
    kernels.push_back(std::move(published));
  }
  forget_replaced(kernels);
  return kernels;
}

std::unique_ptr<Histogram> CountersReader::latency(const PublishedKernel& kernel) const {
  auto latency = std::make_unique<Histogram>();  // zeroed: it has no constructor
  latency->assign(counters_->latencies[kernel.place]);
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the one in clear
  KernelRecord record;
  if (!counters_->kernels[kernel.place].load(record) || record.in_use != kernel.number)
    return nullptr;
  return latency;
}

std::vector<ErrorRecord> CountersReader::errors() const {
  std::vector<ErrorRecord> errors;
  const std::uint64_t used = std::min<std::uint64_t>(load(counters_->errors_used), errors_max);
  for (std::uint32_t place = 0; place < used; ++place) {
    ErrorLine line;
    if (!counters_->errors[place].load(line) || line.count == 0) continue;
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
  // Of memory that is mapped for reading only: nothing is stored through it.
  auto& counters = const_cast<CountersFile&>(*counters_);
  const std::uint64_t end =
      std::atomic_ref(counters.trace_ended).load(std::memory_order_acquire);  // pairs with append
  const auto oldest = [](std::uint64_t last) {
    return last > trace_events_max ? last - trace_events_max : 0;
  };
  const std::uint64_t begin = std::max(from, oldest(end));
  std::vector<TraceEvent> events;
  for (std::uint64_t at = begin; at < end; ++at) {
    TraceWords words;
    TraceWords& place = counters.trace[at % trace_events_max];
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = std::atomic_ref(place[i]).load(std::memory_order_relaxed);
    std::memcpy(&events.emplace_back(), words.data(), sizeof words);
    events.back().name[sizeof(TraceEvent::name) - 1] = 0;  // also of a spoiled file
  }
  // What the writer has begun to overwrite meanwhile does not count; pairs with the fence in append
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint64_t intact = oldest(load(counters_->trace_begun));
  if (intact > begin)
    events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(
                                                      std::min(intact - begin, end - begin)));
  from = std::max(from, end);
  return events;
}

std::uint64_t CountersReader::trace_missed() const noexcept {
  return load(counters_->trace_missed);
}

}  // namespace ringkernel::telemetry
