// The fuzzer's properties without a fuzzer: the golden messages, each mutated many times from a
// fixed seed. Runs everywhere, and under the sanitizers in their presets.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "fuzz/message_properties.hpp"

namespace ringkernel::test {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<Bytes> golden_messages() {
  std::set<std::filesystem::path> paths;  // in a stable order
  for (const auto& entry : std::filesystem::directory_iterator(RINGKERNEL_GOLDEN_DIR))
    if (entry.path().extension() == ".bin") paths.insert(entry.path());
  std::vector<Bytes> messages;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> chars((std::istreambuf_iterator<char>(file)), {});
    const auto bytes = std::as_bytes(std::span(chars));
    messages.emplace_back(bytes.begin(), bytes.end());
  }
  return messages;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  Bytes mutate(Bytes bytes) {
    for (std::size_t edits = 1 + below(4); edits > 0 && !bytes.empty(); --edits) edit(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }

  void edit(Bytes& bytes) {
    static constexpr std::array<std::uint32_t, 12> interesting = {
        0, 1, 2, 3, 4, 8, 9, 0x7f, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    const std::size_t at = below(bytes.size());
    const std::size_t width = std::min<std::size_t>(std::size_t{1} << below(3), bytes.size() - at);
    switch (below(6)) {
      case 0: bytes[at] ^= static_cast<std::byte>(1u << below(8)); break;
      case 1: bytes[at] = static_cast<std::byte>(random_()); break;
      case 2:
      case 3: std::memcpy(&bytes[at], &interesting[below(interesting.size())], width); break;
      case 4: bytes.resize(at); break;
      case 5: std::memmove(&bytes[at], &bytes[below(bytes.size() - width + 1)], width); break;
      default: break;
    }
  }

  std::mt19937_64 random_;
};

TEST(MessageMutation, EveryGoldenMessageIsAccepted) {
  const std::vector<Bytes> messages = golden_messages();
  ASSERT_GE(messages.size(), 5u);
  for (const Bytes& bytes : messages) {
    const Verdict verdict = check_message(bytes);
    EXPECT_EQ(verdict.violation, "");
    EXPECT_NE(verdict.as_request == Errc::ok, verdict.as_reply == Errc::ok) << "is one of them";
  }
}

TEST(MessageMutation, MutatedMessagesAreAcceptedOrRefusedWithADocumentedError) {
  constexpr std::size_t mutations_per_message = 50'000;
  Mutator mutator(0x7269'6e67);
  std::set<Errc> seen;
  for (const Bytes& original : golden_messages())
    for (std::size_t i = 0; i < mutations_per_message; ++i) {
      const Verdict verdict = check_message(mutator.mutate(original));
      ASSERT_EQ(verdict.violation, "") << "mutation " << i;
      seen.insert(verdict.as_request);
    }
  // The mutations reach deep enough to be worth their time.
  for (const Errc code : {Errc::ok, Errc::truncated_message, Errc::malformed_message,
                          Errc::unknown_field, Errc::unsupported_operation, Errc::arity_mismatch,
                          Errc::invalid_dtype, Errc::rank_mismatch, Errc::element_count_mismatch})
    EXPECT_TRUE(seen.contains(code)) << make_error_code(code).message();
}

}  // namespace
}  // namespace ringkernel::test
