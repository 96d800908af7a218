#include "report.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>

namespace digits {
namespace {

enum class Better { smaller, larger };

/// A figure that is not taken, of single ops where a digit is one message, is 0.
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

std::string cell(double value) {
  return value < 1000 ? fmt::format("{:.2f}", value) : fmt::format("{:.0f}", value);
}

std::string table(std::string_view title, const std::vector<RingOutcome>& ours,
                  Outcome RingOutcome::*mine, std::string_view plain_name, const Outcome* plain) {
  std::string text = fmt::format("{:<24}", title);
  for (const RingOutcome& one : ours) text += fmt::format("{:>18}", "ring: " + one.backend);
  if (plain != nullptr) text += fmt::format("{:>18}{:>8}", plain_name, "ratio");
  text += '\n';
  for (const Row& row : rows) {
    const double first = row.figure(ours.front().*mine);
    if (first == 0) continue;
    text += fmt::format("  {:<22}", row.name);
    for (const RingOutcome& one : ours) text += fmt::format("{:>18}", cell(row.figure(one.*mine)));
    if (plain != nullptr) {
      const double baseline = row.figure(*plain);
      const double ratio = row.better == Better::smaller ? baseline / first : first / baseline;
      text += fmt::format("{:>18}{:>8}", cell(baseline), cell(ratio));
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string tables(const std::vector<RingOutcome>& ours, const std::optional<PlainOutcome>& plain) {
  return table("a message per op", ours, &RingOutcome::every_op, "plain: per op",
               plain ? &plain->every_op : nullptr) +
         '\n' +
         table("a message per digit", ours, &RingOutcome::each_digit, "plain: chained",
               plain ? &plain->each_digit : nullptr);
}

}  // namespace digits
