#include "text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace rkstat {

std::string bytes_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  const int decimals = unit == 0 || value >= 100 ? 0 : 1;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string duration_text(std::uint64_t ns) {
  struct Unit {
    const char* name;
    double length;  // in the unit before it
  };
  constexpr Unit units[] = {{"ns", 1},   {"us", 1000}, {"ms", 1000},
                            {"s", 1000}, {"min", 60},  {"h", 60}};
  double value = static_cast<double>(ns);
  std::size_t unit = 0;
  for (; unit + 1 < std::size(units) && value >= units[unit + 1].length; ++unit)
    value /= units[unit + 1].length;
  const int decimals = unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit].name);
}

std::string age_text(std::uint64_t now_ns, std::uint64_t then_ns) {
  return duration_text(now_ns > then_ns ? now_ns - then_ns : 0);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string rate_text(std::optional<double> rate) {
  return rate ? fmt::format("{:.0f}", *rate) : "-";
}

std::string short_id(const std::string& id, std::size_t width) {
  if (id.size() <= width) return id;
  const std::size_t tail = (width - 2) / 2;
  return id.substr(0, width - 2 - tail) + ".." + id.substr(id.size() - tail);
}

}  // namespace rkstat
