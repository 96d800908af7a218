#include "backend/opencl/self_test/choice.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cache/cache_place.hpp"
#include "backend/opencl/cache/cache_key.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/self_test/host_threads.hpp"
#include "kernels/flatten.hpp"

namespace ringkernel::opencl {

namespace {

using backend::transfer_name;

constexpr std::string_view record_head = "choice";
constexpr int64_t day_s = int64_t{24} * 60 * 60;

int64_t now_s() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

Result<SelfTestFigures> test(const FoundDevice& found, const Probe& probe, uint32_t transfer) {
  const rk_device_description& claims = found.description;
  const auto refused = [](std::string why) {
    return Error(Errc::backend_unavailable, std::move(why));
  };
  const bool resident = transfer != RK_TRANSFER_SLICED;
  if (transfer == RK_TRANSFER_ZERO_COPY && claims.transfer != RK_TRANSFER_ZERO_COPY)
    return refused(claims.reason);
  // A CPU device runs a slice on one of its units to the end.
  if (resident && claims.kind == RK_DEVICE_KIND_CPU && claims.compute_units < 2)
    return refused(
        "the device has one compute unit, which a resident kernel would keep for itself");
  if (resident && found.waits_for_kernels && !takes_ptx_option(found.id))
    return refused("NVIDIA's devices before sm_70 have no order of memory for a running kernel");
  if (transfer == RK_TRANSFER_ZERO_COPY && found.waits_for_kernels)
    return refused("who is held up while NVIDIA's driver builds has to be a copy agent");
  switch (transfer) {
    case RK_TRANSFER_ZERO_COPY: return test_zero_copy(probe);
    case RK_TRANSFER_DMA: return test_dma(probe);
    default: return test_sliced(probe);
  }
}

/// As many of the work-groups asked for as the device says it keeps, and then proves.
void choose_work_groups(const FoundDevice& found, const Probe& probe, uint32_t wanted,
                        Choice& choice) {
  const uint32_t claimed = std::min(wanted, found.description.work_groups_max);
  if (claimed <= 1) return;
  if (choice.transfer == RK_TRANSFER_SLICED) {  // one may run behind the other
    choice.work_groups = claimed;
    return;
  }
  const Result<uint32_t> together =
      choice.transfer == RK_TRANSFER_DMA
          ? test_copied_work_groups(probe, claimed, choice.figures.polls_per_ms)
          : test_work_groups(probe, claimed);
  choice.work_groups = together.has_value() ? *together : 1;
  if (!together && may_pass(together.error())) choice.may_pass = true;
  if (!together)
    choice.steps_down += "work-groups: " + together.error().detail + "\n";
  else if (*together < claimed)
    choice.steps_down += "work-groups: of " + std::to_string(claimed) + " only " +
                         std::to_string(*together) + " ran together\n";
}

Result<Choice> choose(const FoundDevice& found, const Probe& probe, uint32_t wanted) {
  std::vector<uint32_t> ladder{RK_TRANSFER_ZERO_COPY, RK_TRANSFER_DMA, RK_TRANSFER_SLICED};
  if (wanted != RK_TRANSFER_NONE) ladder = {wanted};
  Choice choice;
  choice.has_host_threads = has_host_threads(found, probe);
  choice.tested_s = now_s();
  for (const uint32_t transfer : ladder) {
    Result<SelfTestFigures> figures = test(found, probe, transfer);
    if (figures.has_value()) {
      choice.transfer = transfer;
      choice.figures = *figures;
      return choice;
    }
    if (may_pass(figures.error())) choice.may_pass = true;
    choice.steps_down +=
        std::string(transfer_name(transfer)) + ": " + figures.error().detail + "\n";
  }
  return Error(Errc::backend_unavailable, "no transfer strategy: " + choice.steps_down);
}

/// Everything that the result depends on; empty if that cannot be said.
std::string record_key(const FoundDevice& found, const Probe& probe, uint32_t wanted) {
  std::string key = cache_key_of(found);
  if (key.empty()) return key;
  for (const char* const source : {"kernels/self_test.cl", "kernels/host_thread_probe.cl"}) {
    const Result<std::string> text = flatten(kernel_sources(), source);
    if (!text.has_value()) return {};
    key += *text;
  }
  for (const uint32_t figure :
       {found.description.compute_units, std::thread::hardware_concurrency(), wanted})
    key += "\n" + std::to_string(figure);
  return key.append("\n").append(probe.options);
}

/// What is remembered on disk.
class Record {
 public:
  Record(const FoundDevice& found, const Probe& probe, uint32_t wanted)
      : key_(record_key(found, probe, wanted)) {
    if (!key_.empty()) folder_ = backend::open_cache();
  }
  [[nodiscard]] std::optional<Choice> load() const {
    std::string text;
    if (!folder_ || folder_->load(key_, text) != backend::Lookup::hit) return std::nullopt;
    return from_record(text, now_s());
  }
  void store(const Choice& choice) const {
    if (folder_) folder_->store(key_, to_record(choice));  // a lost one is tested again
  }

 private:
  std::string key_;
  std::optional<backend::CacheFolder> folder_;
};

}  // namespace

Result<Choice> choose_transfer(const FoundDevice& found, const Probe& probe, const Wish& wish) {
  // By device, which one process finds once, and with it the driver's version.
  static std::mutex mutex;
  static auto& known = *new std::map<std::tuple<const FoundDevice*, uint32_t, uint32_t>, Choice>;
  const std::lock_guard lock(mutex);
  const auto key = std::tuple(&found, wish.transfer, wish.work_groups);
  if (const auto entry = known.find(key); entry != known.end() && !wish.test_anew)
    return entry->second;
  const Record record(found, probe, wish.transfer);
  std::optional<Choice> choice = wish.test_anew ? std::nullopt : record.load();
  if (!choice) {
    RK_TRY(chosen, choose(found, probe, wish.transfer));
    if (!chosen.may_pass) record.store(chosen);
    choice = std::move(chosen);
  }
  choose_work_groups(found, probe, wish.work_groups, *choice);
  if (!choice->may_pass) known.insert_or_assign(key, *choice);
  return *choice;
}

std::string text_of(const Choice& choice) {
  const std::string ping = "p50 " + std::to_string(choice.figures.ping_p50_ns) + " ns";
  const std::string polls =
      "; " + std::to_string(choice.figures.polls_per_ms) + " idle polls per ms";
  const std::string groups = choice.work_groups == 1 ? ""
                                                     : "; " + std::to_string(choice.work_groups) +
                                                           " work-groups run together";
  const std::string rest = std::string("; idle slices ") +
                           (choice.has_host_threads ? "yield" : "spin") +
                           (choice.is_remembered ? "; remembered from an earlier process" : "");
  switch (choice.transfer) {
    case RK_TRANSFER_ZERO_COPY:
      return "zero_copy confirmed: 100 pings of 512 bytes answered by a running kernel, " + ping +
             polls + groups + rest;
    case RK_TRANSFER_DMA:
      return "dma confirmed: 100 pings of 512 bytes and 64 KiB copied beside a running kernel, " +
             ping + polls + groups + rest;
    default: return "sliced confirmed: copy, kernel and copy back took " + ping.substr(4) + rest;
  }
}

std::string to_record(const Choice& choice) {
  std::ostringstream record;
  record << record_head << ' ' << choice.transfer << ' ' << choice.figures.polls_per_ms << ' '
         << choice.figures.ping_p50_ns << ' ' << choice.has_host_threads << ' ' << choice.tested_s
         << '\n'
         << choice.steps_down;
  return std::move(record).str();
}

std::optional<Choice> from_record(std::string_view record, int64_t now_s) {
  std::istringstream in{std::string(record)};
  std::string head;
  Choice choice;
  in >> head >> choice.transfer >> choice.figures.polls_per_ms >> choice.figures.ping_p50_ns >>
      choice.has_host_threads >> choice.tested_s;
  if (!in || in.get() != '\n' || head != record_head || choice.transfer < RK_TRANSFER_ZERO_COPY ||
      choice.transfer > RK_TRANSFER_SLICED)
    return std::nullopt;
  choice.steps_down.assign(std::istreambuf_iterator<char>(in), {});
  const bool is_recent = choice.tested_s <= now_s && now_s - choice.tested_s < day_s;
  if (!choice.steps_down.empty() && !is_recent) return std::nullopt;
  choice.is_remembered = true;
  return choice;
}

}  // namespace ringkernel::opencl
