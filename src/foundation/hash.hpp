/// FNV-1a with 64 bits: tells texts apart that nobody has made to meet.
#pragma once

#include <cstdint>
#include <string_view>

namespace ringkernel {

/// Of several texts: each begins with the hash of those before it.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text,
                                            std::uint64_t start = 0xcbf29ce484222325u) noexcept {
  for (const char c : text) start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return start;
}

}  // namespace ringkernel
