#include "top_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "text.hpp"

namespace rkstat {

namespace rk = ringkernel;
using namespace rk::telemetry;

namespace {

struct ColumnKind {
  Column column;
  const char* title;
  std::size_t width;
  bool is_number;
};

/// As they stand from left to right.
constexpr std::array<ColumnKind, columns_max> column_kinds = {{
    {Column::kernel, "KERNEL", 12, false},  // at least
    {Column::runtime, "RUNTIME", 9, false},
    {Column::program, "PROGRAM", 8, false},
    {Column::state, "STATE", 11, false},
    {Column::rate, "MSG/S", 9, true},
    {Column::p50, "P50", 8, true},
    {Column::p99, "P99", 8, true},
    {Column::in_flight, "INFLIGHT", 9, true},
    {Column::queued, "QUEUED", 7, true},
    {Column::input, "IN", 6, true},
    {Column::output, "OUT", 6, true},
    {Column::failed, "FAILED", 8, true},
}};
/// Those for which there must be room, the most important ones first.
constexpr std::array<Column, columns_max> importance = {
    Column::kernel,    Column::rate,  Column::p99,    Column::state,
    Column::in_flight, Column::p50,   Column::queued, Column::runtime,
    Column::failed,    Column::input, Column::output, Column::program};
constexpr std::size_t kernel_width_max = 40;
constexpr std::size_t runtimes_shown_max = 3;

constexpr std::string_view keys_text =
    "q quit  ? help  Enter detail  < > sort  r reverse  / filter  e errors  p pause";

const ColumnKind& kind_of(Column column) { return column_kinds[static_cast<std::size_t>(column)]; }

std::string right(std::string text, std::size_t width, bool is_utf8) {
  if (const std::size_t own = width_of(text); own < width)
    text.insert(0, std::string(width - own, ' '));
  return fit(text, width, is_utf8);
}

std::string cell_text(Column column, const TopRow& row) {
  const rk::KernelMetrics& of = row.kernel->metrics;
  const auto time = [](std::uint64_t ns) { return ns == 0 ? "-" : duration_text(ns); };
  switch (column) {
    case Column::kernel: return of.id;
    case Column::runtime: return row.reading->name;
    case Column::program: return program_text(of);
    case Column::state: return rk::name(of.status);
    case Column::rate: return rate_text(row.rate);
    case Column::p50: return time(row.latency.p50_ns);
    case Column::p99: return time(row.latency.p99_ns);
    case Column::in_flight: return std::to_string(of.in_flight);
    case Column::queued: return std::to_string(of.queued);
    case Column::input: return percent_text(of.input_ring_used_bytes, of.input_ring_bytes);
    case Column::output: return percent_text(of.output_ring_used_bytes, of.output_ring_bytes);
    case Column::failed: break;
  }
  return std::to_string(of.failed);
}

/// Columns that have room, from left to right, with their widths.
std::vector<ColumnKind> columns_for(std::size_t width) {
  std::vector<Column> wanted;
  std::size_t used = 0;
  for (const Column column : importance) {
    const std::size_t needed = kind_of(column).width + (wanted.empty() ? 0 : 1);
    if (used + needed > width && !wanted.empty()) break;
    used += needed;
    wanted.push_back(column);
  }
  std::vector<ColumnKind> columns;
  for (const ColumnKind& kind : column_kinds)
    if (std::ranges::find(wanted, kind.column) != wanted.end()) columns.push_back(kind);
  std::size_t& kernel = columns.front().width;
  kernel = std::min(std::max(kernel, kernel_width_max), kernel + (width - std::min(width, used)));
  return columns;
}

/// One screen, filled from above.
class Screen {
 public:
  Screen(const TopModel& model, ScreenSize size, bool is_utf8)
      : model_(model), size_(size), is_utf8_(is_utf8) {}

  std::vector<ScreenLine> render() {
    add_title();
    const std::size_t body = lines_.size();
    switch (model_.view) {
      case TopModel::View::kernels:
        add_runtimes();
        add_kernels();
        break;
      case TopModel::View::kernel: add_kernel(); break;
      case TopModel::View::errors: add_errors(); break;
      case TopModel::View::help: add_help(); break;
    }
    scroll(body);
    add_foot();
    return std::move(lines_);
  }

 private:
  [[nodiscard]] std::size_t rows_left_for_all() const {
    return size_.rows == 0 ? 0 : size_.rows - 1;
  }
  /// Above the last line.
  [[nodiscard]] std::size_t rows_left() const {
    return rows_left_for_all() - std::min(rows_left_for_all(), lines_.size());
  }

  void add(std::string_view text, Emphasis emphasis = Emphasis::none) {
    lines_.push_back({fit(text, size_.columns, is_utf8_), emphasis});
  }

  /// Leaves out as many lines from `body` on as the user wants, and those that there is no room
  /// for.
  void scroll(std::size_t body) {
    const std::size_t room = rows_left_for_all();
    const std::size_t excess = lines_.size() - std::min(lines_.size(), room);
    const std::size_t skipped = std::min({model_.scrolled, excess, lines_.size() - body});
    const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(body);
    lines_.erase(begin, begin + static_cast<std::ptrdiff_t>(skipped));
    if (lines_.size() > room) lines_.resize(room);
  }

  /// On as many lines as it takes, those behind the first one indented like it.
  void add_wrapped(std::string_view line) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), size_.columns / 2);
    std::string next;
    std::string_view rest = line;
    while (width_of(rest) > size_.columns) {
      const std::size_t end = rest.rfind(' ', size_.columns);
      if (end == std::string_view::npos || end <= indent) break;  // a word longer than a line
      add(rest.substr(0, end));
      next = std::string(indent, ' ') + std::string(rest.substr(end + 1));
      rest = next;
    }
    add(rest);
  }

  void add_text(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      add_wrapped(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  void add_title() {
    std::string title = fmt::format(
        "rkstat top   {}, {}, {:.0f} messages/s", count_text(model_.now().size(), "runtime"),
        count_text(model_.kernels(), "kernel"), model_.messages_per_second());
    const auto is_sorted_by = [this](const ColumnKind& column) {
      return column.column == model_.sorted_by();
    };
    if (std::ranges::none_of(columns_for(size_.columns), is_sorted_by))
      title += fmt::format(", by {}", kind_of(model_.sorted_by()).title);
    if (model_.is_paused) title += "   PAUSED";
    add(title, Emphasis::title);
  }

  void add_runtimes() {
    std::size_t shown = 0;
    for (const Reading& reading : model_.now()) {
      if (shown++ == runtimes_shown_max) {
        add(fmt::format("  and {} more", model_.now().size() - runtimes_shown_max));
        break;
      }
      std::string line = fmt::format("  {:<9} {}", reading.name, name(reading.health));
      if (reading.health == Health::running && reading.runtime)
        line += fmt::format(", {}, {}, {}", reading.runtime->metrics.backend,
                            reading.runtime->metrics.transfer, reading.runtime->metrics.device);
      else
        line += ": " + (reading.problem.empty() ? "no figures yet" : reading.problem);
      add(line, reading.health == Health::running ? Emphasis::none : Emphasis::alarm);
    }
    for (const std::string& sentence : model_.unreadable()) add("  " + sentence, Emphasis::alarm);
    if (model_.now().empty()) add("  no runtime; one that starts will be here", Emphasis::faint);
  }

  void add_kernels() {
    const std::vector<ColumnKind> columns = columns_for(size_.columns);
    std::string heading;
    for (const ColumnKind& column : columns) {
      std::string title = column.title;
      if (column.column == model_.sorted_by()) title += model_.is_reversed() ? '^' : '*';
      heading += column.is_number ? right(title, column.width, is_utf8_)
                                  : fit(title, column.width, is_utf8_);
      heading += ' ';
    }
    add(heading, Emphasis::heading);
    const std::vector<TopRow>& rows = model_.rows();
    const std::size_t room = rows_left();
    const std::size_t selected = model_.selected();
    // The selected one is seen, and as many as there are.
    std::size_t first = selected >= room && room != 0 ? selected - room + 1 : 0;
    for (; first < rows.size() && rows_left() != 0; ++first) {
      std::string line;
      for (const ColumnKind& column : columns) {
        const std::string text = cell_text(column.column, rows[first]);
        if (column.column == Column::kernel)
          line += fit(short_id(text, column.width), column.width, is_utf8_);
        else
          line += column.is_number ? right(text, column.width, is_utf8_)
                                   : fit(text, column.width, is_utf8_);
        line += ' ';
      }
      const bool has_failed = rows[first].kernel->metrics.status == rk::KernelStatus::failed ||
                              rows[first].reading->health != Health::running;
      add(line, first == selected ? Emphasis::selected
                : has_failed      ? Emphasis::alarm
                                  : Emphasis::none);
    }
    if (rows.empty() && model_.kernels() != 0)
      add("  no kernel or program has '" + model_.filter() + "' in its name", Emphasis::faint);
  }

  void add_history(const char* what, const std::vector<double>& values, const std::string& now) {
    const std::size_t label = 12;
    const std::size_t value = 10;
    const std::size_t room = size_.columns - std::min(size_.columns, label + value + 3);
    add(fmt::format("  {:<{}}{} {}", what, label - 2, right(now, value, is_utf8_),
                    sparkline(values, room, is_utf8_)));
  }

  void add_kernel() {
    const std::vector<TopRow>& rows = model_.rows();
    if (rows.empty()) return add("  no kernel", Emphasis::faint);
    const TopRow& row = rows[model_.selected()];
    std::vector<double> rates;
    std::vector<double> latencies;
    std::vector<double> in_flight;
    for (const TopSample& sample : model_.history(row)) {
      rates.push_back(sample.rate);
      latencies.push_back(static_cast<double>(sample.p99_ns));
      in_flight.push_back(static_cast<double>(sample.in_flight));
    }
    add_history("msg/s", rates, cell_text(Column::rate, row));
    add_history("P99", latencies, cell_text(Column::p99, row));
    add_history("in flight", in_flight, cell_text(Column::in_flight, row));
    add("");
    add_text(render_kernel({*row.reading}, model_.before(), row.kernel->metrics.id));
    if (row.kernel->calls.empty()) return;
    add("");
    add("  CALLS IN FLIGHT, THE OLDEST FIRST");
    for (const rk::CallInFlight& call : row.kernel->calls)
      add(fmt::format("  {:>20}  {}", call.message, duration_text(call.age_ns)));
  }

  void add_errors() {
    struct Line {
      const Reading* reading;
      const rk::ErrorRecord* error;
    };
    std::vector<Line> lines;
    for (const Reading& reading : model_.now())
      for (const rk::ErrorRecord& error : reading.errors) lines.push_back({&reading, &error});
    std::ranges::sort(lines, std::greater(), [](const Line& line) { return line.error->last_ns; });
    if (lines.empty()) add("  no errors", Emphasis::faint);
    for (const auto& [reading, error] : lines) {
      add(fmt::format("{:>8} x  last {} ago  {}  {}", error->count,
                      age_text(moment_ns(*reading), error->last_ns), reading->name, error->kernel));
      add_wrapped("            " + error->text);
    }
  }

  void add_help() {
    add_text(
        "\n"
        "  up, down, page up, page down, home, end   select a kernel, or scroll\n"
        "  Enter          the selected kernel in detail; Enter or Esc: back\n"
        "  < >            sort by the column to the left or right; the one with * is it\n"
        "  r              the other way round\n"
        "  /              show only kernels with a part of the name of theirs or their\n"
        "                 program's: Enter keeps it, Esc shows all again\n"
        "  e              errors\n"
        "  p, space       pause\n"
        "  q              quit\n");
  }

  void add_foot() {
    while (rows_left() != 0) add("");
    if (model_.is_typing)
      add("filter: " + model_.filter() + "_", Emphasis::title);
    else if (!model_.filter().empty())
      add("filter: " + model_.filter() + "   (/ changes it)   q quit  ? help", Emphasis::faint);
    else
      add(keys_text, Emphasis::faint);
  }

  const TopModel& model_;
  const ScreenSize size_;
  const bool is_utf8_;
  std::vector<ScreenLine> lines_;
};

}  // namespace

std::string sparkline(const std::vector<double>& values, std::size_t width, bool is_utf8) {
  constexpr std::array<const char*, 8> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<const char*, 8> letters = {"_", ".", ":", "-", "=", "+", "*", "#"};
  const std::span<const double> last = std::span(values).last(std::min(width, values.size()));
  double highest = 0;
  for (const double value : last) highest = std::max(highest, value);
  std::string text;
  for (const double value : last) {
    const double height = highest > 0 ? value / highest : 0;
    const auto step = static_cast<std::size_t>(std::lround(height * (blocks.size() - 1)));
    text += is_utf8 ? blocks[step] : letters[step];
  }
  return text;
}

std::vector<ScreenLine> render_top(const TopModel& model, ScreenSize size, bool is_utf8) {
  return Screen(model, size, is_utf8).render();
}

}  // namespace rkstat
