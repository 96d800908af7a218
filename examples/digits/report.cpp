#include "report.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace digits {
namespace {

enum class Better { smaller, larger };

struct Row {
  std::string_view name;
  std::function<double(const Outcome&)> figure;
  Better better;
};

const Row rows[] = {
    {"op p50, us", [](const Outcome& o) { return o.op.p50_us; }, Better::smaller},
    {"op p99, us", [](const Outcome& o) { return o.op.p99_us; }, Better::smaller},
    {"op p99.9, us", [](const Outcome& o) { return o.op.p999_us; }, Better::smaller},
    {"digit p50, us", [](const Outcome& o) { return o.digit.p50_us; }, Better::smaller},
    {"digit p99, us", [](const Outcome& o) { return o.digit.p99_us; }, Better::smaller},
    {"digit p99.9, us", [](const Outcome& o) { return o.digit.p999_us; }, Better::smaller},
    {"digits per second", [](const Outcome& o) { return o.digits_per_second; }, Better::larger},
};

/// A figure that was not taken is 0 and leaves its cell empty.
std::string cell(double value) {
  if (value == 0) return {};
  return value < 1000 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string table(const RingOutcome& ours, const std::optional<PlainOutcome>& plain) {
  struct Column {
    std::string_view ours;
    std::string_view theirs;
    const Outcome& mine;
    const Outcome* baseline;
  };
  const Column columns[] = {
      {"call per op", "launch per op", ours.every_op, plain ? &plain->every_op : nullptr},
      {"graph per digit", "launches chained", ours.each_digit,
       plain ? &plain->each_digit : nullptr}};
  std::string text = fmt::format("{:<18}", "");
  for (const Column& column : columns) {
    text += fmt::format("{:>17}", column.ours);
    if (plain) text += fmt::format("{:>18}{:>8}", column.theirs, "ratio");
  }
  text += '\n';
  for (const Row& row : rows) {
    text += fmt::format("{:<18}", row.name);
    for (const Column& column : columns) {
      const double value = row.figure(column.mine);
      text += fmt::format("{:>17}", cell(value));
      if (!plain) continue;
      const double baseline = row.figure(*column.baseline);
      const double ratio = value == 0                      ? 0
                           : row.better == Better::smaller ? baseline / value
                                                           : value / baseline;
      text += fmt::format("{:>18}{:>8}", cell(baseline), cell(ratio));
    }
    text += '\n';
  }
  return text;
}

}  // namespace digits
