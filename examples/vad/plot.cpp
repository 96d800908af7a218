#include "plot.hpp"

#include <algorithm>
#include <fstream>

namespace vad {
namespace {

constexpr double width = 900, left = 50, wave_middle = 75, wave_height = 60, curve_top = 165,
                 curve_height = 120, bottom = curve_top + curve_height;

double y_of(float probability) { return bottom - curve_height * static_cast<double>(probability); }

}  // namespace

ringkernel::Result<void> plot(const std::string& path, std::span<const float> samples,
                              std::span<const float> probabilities, double seconds) {
  std::ofstream svg(path);
  svg << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 960 330' font-family='sans-serif' "
         "font-size='13'>\n<rect width='960' height='330' fill='white'/>\n"
         "<text x='50' y='15'>samples</text>\n"
         "<text x='50' y='158'>probability of speech</text>\n";
  const double peak = samples.empty() ? 1 : std::max(1e-6f, std::ranges::max(samples));
  constexpr std::size_t columns = 900;
  svg << "<path stroke='#6b7a8f' d='";
  for (std::size_t column = 0; column < columns && samples.size() >= columns; ++column) {
    const auto part = samples.subspan(column * samples.size() / columns, samples.size() / columns);
    const auto [low, high] = std::ranges::minmax(part);
    svg << 'M' << left + static_cast<double>(column) << ' '
        << wave_middle - wave_height * std::clamp(high / peak, -1.0, 1.0) << 'V'
        << wave_middle - wave_height * std::clamp(low / peak, -1.0, 1.0) << ' ';
  }
  svg << "'/>\n";
  for (const float level : {0.0f, 0.5f, 1.0f})
    svg << "<path stroke='#ccc' d='M" << left << ' ' << y_of(level) << 'h' << width
        << "'/><text x='40' y='" << y_of(level) + 4 << "' text-anchor='end'>" << level
        << "</text>\n";
  for (double second = 0; second <= seconds; second += seconds > 12 ? 5 : 1)
    svg << "<text x='" << left + width * second / seconds << "' y='" << bottom + 20
        << "' text-anchor='middle'>" << second << " s</text>\n";
  svg << "<polyline fill='none' stroke='#c0392b' stroke-width='2' points='";
  for (std::size_t i = 0; i < probabilities.size(); ++i)
    svg << left + width * static_cast<double>(i) / static_cast<double>(probabilities.size()) << ','
        << y_of(probabilities[i]) << ' ';
  svg << "'/>\n</svg>\n";
  if (svg.flush()) return {};
  return ringkernel::Error(ringkernel::Errc::invalid_argument, "'" + path + "' cannot be written");
}

}  // namespace vad
