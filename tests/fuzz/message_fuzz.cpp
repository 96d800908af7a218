// libFuzzer's entry (clang only, -DRINGKERNEL_FUZZ=ON):
//   message_fuzz -max_len=4096 <work folder> tests/protocol/golden
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fuzz/message_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of its own, so that the sanitizer sees a read beyond its last byte.
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(begin, begin + size);
  const auto verdict = ringkernel::test::check_message(bytes);
  if (!verdict.violation.empty()) {
    std::fprintf(stderr, "%s\n", verdict.violation.c_str());
    std::abort();
  }
  return 0;
}
