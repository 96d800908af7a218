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

std::string table(const Outcome& ours, const std::optional<PlainOutcome>& plain) {
  std::string text = fmt::format("{:<20}{:>14}", "", "ring kernels");
  if (plain)
    text += fmt::format("{:>20}{:>10}{:>18}", "launch per request", "ratio", "launches chained");
  text += '\n';
  for (const Row& row : rows) {
    const double value = row.figure(ours);
    text += fmt::format("{:<20}{:>14}", row.name, cell(value));
    if (plain) {
      const double baseline = row.figure(plain->every_op);
      const double ratio = row.better == Better::smaller ? baseline / value : value / baseline;
      text += fmt::format("{:>20}{:>10}{:>18}", cell(baseline), cell(ratio),
                          cell(row.figure(plain->each_digit)));
    }
    text += '\n';
  }
  return text;
}

}  // namespace digits
