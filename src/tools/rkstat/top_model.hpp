/// What `rkstat top` knows: the last looks at the runtimes, and what its user wants to see of them.
///
/// Threading: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "render.hpp"

namespace rkstat {

/// One column of the table of kernels.
enum class Column : std::uint8_t {
  kernel,
  runtime,
  program,
  state,
  rate,
  p50,
  p99,
  in_flight,
  queued,
  input,
  output,
  failed,
};
inline constexpr std::size_t columns_max = 12;

/// A ring kernel at one look.
struct TopRow {
  const ringkernel::telemetry::Reading* reading = nullptr;
  const ringkernel::telemetry::KernelReading* kernel = nullptr;
  double rate = 0;                     ///< messages a second
  ringkernel::LatencySummary latency;  ///< of those between the last two looks
};

/// What is remembered of one look at a kernel.
struct TopSample {
  double rate = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t in_flight = 0;
};

class TopModel {
 public:
  enum class View : std::uint8_t { kernels, kernel, errors, help };
  /// Looks that are remembered of each kernel.
  static constexpr std::size_t history_max = 240;

  /// The next look; `unreadable`: sentences about folders that there may be more in.
  void look(Readings readings, std::vector<std::string> unreadable);

  [[nodiscard]] const Readings& now() const { return now_; }
  [[nodiscard]] const Readings& before() const { return before_; }
  [[nodiscard]] const std::vector<std::string>& unreadable() const { return unreadable_; }
  /// Those that the filter lets through, in order. Valid until the next change of the model.
  [[nodiscard]] const std::vector<TopRow>& rows() const { return rows_; }
  /// Of all, filtered out or not.
  [[nodiscard]] double messages_per_second() const { return messages_per_second_; }
  [[nodiscard]] std::size_t kernels() const { return all_rows_.size(); }
  /// The latest one last.
  [[nodiscard]] std::vector<TopSample> history(const TopRow& row) const;

  /// The row that is selected: it follows its kernel, and is the first one when that is gone.
  [[nodiscard]] std::size_t selected() const;
  /// Binds the selection to the row so many behind the selected one.
  void select(std::ptrdiff_t step);

  [[nodiscard]] Column sorted_by() const { return sorted_by_; }
  [[nodiscard]] bool is_reversed() const { return is_reversed_; }
  void sort_by_next(std::ptrdiff_t step);
  void reverse();

  /// Part of a kernel's or a program's name; empty: everything.
  [[nodiscard]] const std::string& filter() const { return filter_; }
  void set_filter(std::string filter);

  /// Another view, from its top; the one that is shown: back to the kernels.
  void show(View view);
  /// Selects among the kernels, scrolls elsewhere.
  void move(std::ptrdiff_t step);

  View view = View::kernels;
  std::size_t scrolled = 0;  ///< lines
  bool is_paused = false;
  bool is_typing = false;  ///< the filter

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // runtime's file, number of the kernel

  static Key key_of(const TopRow& row);
  [[nodiscard]] bool comes_before(const TopRow& a, const TopRow& b) const;
  void arrange();

  Readings now_;
  Readings before_;
  std::vector<std::string> unreadable_;
  std::vector<TopRow> all_rows_;
  std::vector<TopRow> rows_;
  double messages_per_second_ = 0;
  std::map<Key, std::deque<TopSample>> history_;
  std::optional<Key> selected_;
  Column sorted_by_ = Column::rate;
  bool is_reversed_ = false;
  std::string filter_;
};

}  // namespace rkstat
