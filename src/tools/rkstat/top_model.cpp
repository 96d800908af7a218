#include "top_model.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace rkstat {

using namespace ringkernel::telemetry;

namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// What the columns with numbers are sorted by.
double number_of(Column column, const TopRow& row) {
  const ringkernel::KernelMetrics& of = row.kernel->metrics;
  switch (column) {
    case Column::rate: return row.rate;
    case Column::p50: return static_cast<double>(row.latency.p50_ns);
    case Column::p99: return static_cast<double>(row.latency.p99_ns);
    case Column::in_flight: return static_cast<double>(of.in_flight);
    case Column::queued: return static_cast<double>(of.queued);
    case Column::input: return share(of.input_ring_used_bytes, of.input_ring_bytes);
    case Column::output: return share(of.output_ring_used_bytes, of.output_ring_bytes);
    case Column::failed: return static_cast<double>(of.failed);
    case Column::kernel:
    case Column::runtime:
    case Column::program:
    case Column::state: break;
  }
  return 0;
}

std::string text_of(Column column, const TopRow& row) {
  switch (column) {
    case Column::kernel: return row.kernel->metrics.id;
    case Column::runtime: return row.reading->name;
    case Column::program: return row.kernel->metrics.program;
    case Column::state: return ringkernel::name(row.kernel->metrics.status);
    default: return "";
  }
}

}  // namespace

TopModel::Key TopModel::key_of(const TopRow& row) {
  return {row.reading->path.string(), row.kernel->number};
}

void TopModel::look(Readings readings, std::vector<std::string> unreadable) {
  all_rows_.clear();  // they point into what goes
  rows_.clear();
  before_ = std::exchange(now_, std::move(readings));
  unreadable_ = std::move(unreadable);
  messages_per_second_ = 0;
  std::map<Key, std::deque<TopSample>> history;
  for (const Reading& reading : now_) {
    const Reading* const before = earlier(before_, reading);
    for (const KernelReading& kernel : reading.kernels) {
      const TopRow row{&reading, &kernel,
                       ringkernel::telemetry::messages_per_second(kernel, before).value_or(0),
                       recent_latency(kernel, before)};
      messages_per_second_ += row.rate;
      all_rows_.push_back(row);
      const Key key = key_of(row);
      std::deque<TopSample>& samples = history[key];
      if (const auto found = history_.find(key); found != history_.end())
        samples = std::move(found->second);
      samples.push_back({row.rate, row.latency.p99_ns, kernel.metrics.in_flight});
      if (samples.size() > history_max) samples.pop_front();
    }
  }
  history_ = std::move(history);
  arrange();
}

void TopModel::arrange() {
  rows_.clear();
  std::ranges::copy_if(all_rows_, std::back_inserter(rows_), [this](const TopRow& row) {
    const ringkernel::KernelMetrics& of = row.kernel->metrics;
    return of.id.find(filter_) != std::string::npos ||
           of.program.find(filter_) != std::string::npos;
  });
  std::ranges::stable_sort(rows_,
                           [this](const TopRow& a, const TopRow& b) { return comes_before(a, b); });
}

/// Numbers with the largest first, names as in a dictionary; what is equal, by name.
bool TopModel::comes_before(const TopRow& a, const TopRow& b) const {
  const TopRow& first = is_reversed_ ? b : a;
  const TopRow& second = is_reversed_ ? a : b;
  return std::tuple(number_of(sorted_by_, second), text_of(sorted_by_, first),
                    a.kernel->metrics.id) < std::tuple(number_of(sorted_by_, first),
                                                       text_of(sorted_by_, second),
                                                       b.kernel->metrics.id);
}

std::vector<TopSample> TopModel::history(const TopRow& row) const {
  const auto found = history_.find(key_of(row));
  if (found == history_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::size_t TopModel::selected() const {
  const auto found =
      std::ranges::find_if(rows_, [this](const TopRow& row) { return key_of(row) == selected_; });
  return found == rows_.end() ? 0 : static_cast<std::size_t>(found - rows_.begin());
}

void TopModel::select(std::ptrdiff_t step) {
  if (rows_.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(rows_.size()) - 1;
  const auto wanted = static_cast<std::ptrdiff_t>(selected()) + step;
  selected_ = key_of(rows_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(wanted, 0, last))]);
}

void TopModel::show(View wanted) {
  view = view == wanted ? View::kernels : wanted;
  scrolled = 0;
}

void TopModel::move(std::ptrdiff_t step) {
  constexpr std::ptrdiff_t scrolled_max = 10'000;
  if (view == View::kernels) return select(step);
  scrolled = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(scrolled) + step, 0, scrolled_max));
}

void TopModel::sort_by_next(std::ptrdiff_t step) {
  constexpr auto count = static_cast<std::ptrdiff_t>(columns_max);
  sorted_by_ =
      static_cast<Column>((static_cast<std::ptrdiff_t>(sorted_by_) + step + count) % count);
  arrange();
}

void TopModel::reverse() {
  is_reversed_ = !is_reversed_;
  arrange();
}

void TopModel::set_filter(std::string filter) {
  filter_ = std::move(filter);
  arrange();
}

}  // namespace rkstat
