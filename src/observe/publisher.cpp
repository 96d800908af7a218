#include "observe/publisher.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "async/service_thread.hpp"
#include "foundation/memory_error.hpp"
#include "ringkernel/limits.hpp"
#include "telemetry/folder.hpp"

namespace ringkernel::detail {

namespace {

Result<std::unique_ptr<telemetry::CountersWriter>> make_file(const std::filesystem::path& root,
                                                             std::chrono::nanoseconds period) {
  RK_TRY(folder, telemetry::make_process_folder(root));
  return telemetry::CountersWriter::create(folder, period);
}

}  // namespace

Result<std::unique_ptr<Publisher>> Publisher::create(ObservedRuntime& runtime,
                                                     std::chrono::nanoseconds period) {
  const std::vector<std::filesystem::path> roots = telemetry::telemetry_roots();
  for (const std::filesystem::path& root : roots)
    telemetry::remove_dead_files(root, telemetry::monotonic_ns());
  std::string problems;
  for (const std::filesystem::path& root : roots) {
    auto writer = make_file(root, period);
    if (writer) return std::unique_ptr<Publisher>(new Publisher(runtime, std::move(*writer)));
    problems += (problems.empty() ? "" : "; ") + writer.error().detail;
  }
  return Error(Errc::backend_unavailable, std::move(problems));
}

Publisher::Publisher(ObservedRuntime& runtime, std::unique_ptr<telemetry::CountersWriter> writer)
    : runtime_(runtime), writer_(std::move(writer)) {
  free_places_.reserve(kernels_max);  // giving a place back needs no memory
  free_methods_.reserve(telemetry::method_lines_max);
}

Publisher::~Publisher() {
  if (has_begun_) publish(nullptr);  // how it ended, for those who look at this moment
}

void Publisher::publish(ServiceThread* service) noexcept {
  (void)with_memory([&] { publish_all(service); });
}

void Publisher::publish_all(ServiceThread* service) {
  // Before the methods: those that its messages name are in the file when it is.
  runtime_.take_trace(trace_);
  if (writer_->was_cut()) forget_what_is_stored();
  if (const auto metrics = runtime_.try_metrics()) writer_->store(*metrics);
  const auto kernels = runtime_.observed_kernels();
  forget_all_but(kernels);  // first: who comes may need their places
  std::uint64_t missing = 0;
  for (const auto& kernel : kernels) {
    if (!publish(kernel)) ++missing;
    // A copy of the device's counters may have taken its time.
    if (service != nullptr) service->serve_others();
  }
  publish_errors();
  writer_->append(trace_, runtime_.trace_missed());
  answer_request();
  writer_->beat(missing);
}

bool Publisher::publish(const std::shared_ptr<ObservedKernel>& kernel) {
  auto found = places_.find(kernel);
  if (found == places_.end()) {
    if (free_places_.empty()) {
      if (places_used_ == kernels_max) return false;
      free_places_.push_back(places_used_++);
    }
    const Place place{.index = free_places_.back(),
                      .number = ++kernels_seen_,
                      .activity = {},
                      .metrics = {},
                      .calls = {},
                      .methods = {}};
    found = places_.emplace(kernel, place).first;
    free_places_.pop_back();
  }
  Place& place = found->second;
  // Of a kernel that rests the device is not asked: with memory of its own that is a copy.
  const KernelActivity activity = kernel->activity();
  if (activity.status == KernelStatus::failed) kernel->tell_failure();
  KernelActivity before = std::exchange(place.activity, activity);
  const bool was_stored = std::exchange(place.is_stored, false);  // until all of it is
  if (was_stored && activity.unanswered == 0 && activity == before) return place.is_stored = true;
  place.metrics.slices = before.slices = activity.slices;
  place.metrics.parks = before.parks = activity.parks;
  place.metrics.wake_ups = before.wake_ups = activity.wake_ups;
  place.metrics.copies = before.copies = activity.copies;
  place.metrics.copied_bytes = before.copied_bytes = activity.copied_bytes;
  const bool is_resting = was_stored && activity.unanswered == 0 && activity == before;
  if (!is_resting) {
    place.metrics = kernel->metrics();
    place.calls = kernel->calls(telemetry::calls_max);
    latency_->clear();
    kernel->copy_latency(*latency_);
    // Before the record: what has no room for it is not there.
    if (!writer_->store_latency(place.index, *latency_)) return false;
  }
  place.is_stored = writer_->store(place.index, place.number, place.metrics, place.calls);
  if (place.is_stored && !is_resting) {
    if (!publish_methods(place)) place.is_stored = false;  // again in the next round
    return true;
  }
  return place.is_stored;
}

void Publisher::forget_what_is_stored() {
  for (auto& [kernel, place] : places_) place.is_stored = false;
  std::ranges::fill(error_counts_, 0);
  errors_seen_ = 0;
}

bool Publisher::publish_methods(Place& place) {
  const std::vector<MethodMetrics>& methods = place.metrics.methods;
  std::erase_if(place.methods, [&](const auto& kept) {  // gone with a program that was swapped
    if (std::ranges::find(methods, kept.first, &MethodMetrics::name) != methods.end()) return false;
    free_method(kept.second);
    return true;
  });
  for (const MethodMetrics& method : methods) {
    auto line = place.methods.find(method.name);
    if (line == place.methods.end()) {
      if (free_methods_.empty()) {
        if (methods_used_ == telemetry::method_lines_max) continue;
        free_methods_.push_back(methods_used_++);
      }
      line = place.methods.emplace(method.name, free_methods_.back()).first;
      free_methods_.pop_back();
    }
    if (!writer_->store_method(line->second, place.number, method)) return false;
  }
  return true;
}

void Publisher::free_method(std::uint32_t line) {
  writer_->clear_method(line);
  free_methods_.push_back(line);
}

void Publisher::publish_errors() {
  const std::uint64_t seen = runtime_.errors().counts().all;
  if (seen == errors_seen_) return;
  bool is_stored = true;  // else for lack of memory: tried again
  const std::vector<ErrorRecord> errors = runtime_.errors().records();
  error_counts_.resize(errors.size(), 0);
  for (std::uint32_t place = 0; place < errors.size(); ++place) {
    if (error_counts_[place] == errors[place].count) continue;
    if (writer_->store(place, errors[place]))
      error_counts_[place] = errors[place].count;
    else
      is_stored = false;
  }
  if (is_stored) errors_seen_ = seen;
}

void Publisher::answer_request() {
  // The file must not look silent meanwhile.
  constexpr std::chrono::nanoseconds patience = std::chrono::milliseconds(500);
  const std::optional<telemetry::StateRequest> request = writer_->state_request();
  if (!request) return;
  const auto place = std::ranges::find_if(
      places_, [&](const auto& entry) { return entry.second.number == request->kernel; });
  const auto kernel = place != places_.end() ? place->first.lock() : nullptr;
  writer_->answer(*request, kernel != nullptr
                                ? or_no_memory([&] { return kernel->state_json(patience); })
                                : Error(Errc::kernel_not_found, "it has ended"));
}

void Publisher::forget_all_but(const std::vector<std::shared_ptr<ObservedKernel>>& kernels) {
  for (const auto& kernel : kernels) {
    const auto found = places_.find(kernel);
    if (found != places_.end()) found->second.is_seen = true;
  }
  for (auto entry = places_.begin(); entry != places_.end();) {
    Place& place = entry->second;
    if (std::exchange(place.is_seen, false)) {
      ++entry;
      continue;
    }
    writer_->clear(place.index);
    free_places_.push_back(place.index);
    for (const auto& [name, line] : place.methods) free_method(line);
    entry = places_.erase(entry);
  }
}

}  // namespace ringkernel::detail
