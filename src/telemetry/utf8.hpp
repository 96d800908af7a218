/// Names are any bytes; who shows them wants characters.
///
/// Threading: plain functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace ringkernel::telemetry {

/// Bytes of the UTF-8 sequence that begins `text`, which is not empty; 0: none does.
[[nodiscard]] inline std::size_t sequence_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  std::size_t bytes = 1;
  if (first >= 0xf0)
    bytes = 4;
  else if (first >= 0xe0)
    bytes = 3;
  else if (first >= 0x80)
    bytes = 2;
  const bool is_start = first < 0x80 || (first >= 0xc2 && first < 0xf5);
  if (!is_start || bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  return bytes;
}

}  // namespace ringkernel::telemetry
