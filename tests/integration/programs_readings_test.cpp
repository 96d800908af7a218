// Messages with damaged bytes: handlers read the same of them on every backend, and what flatc's
// accessors read.
#include <gtest/gtest.h>

#include "readings_program.hpp"
#include "ringkernel/typed.hpp"
#include "support/backends.hpp"
#include "support/stress.hpp"
#include "unit/program/readings.hpp"

namespace ringkernel::test {
namespace {

using program::test::is_odd;
using program::test::Mutator;
using program::test::Seen;

/// Of one message: all that was read of it, and of all so far. Without a reply it is malformed.
struct Answer {
  bool is_malformed = true;
  std::uint64_t sum = 0;
  std::uint64_t all = 0;
  bool operator==(const Answer&) const = default;
};

class DamagedMessages : public OnEachBackend {
 public:
  /// What lies behind a message in its ring depends on how large the ring is.
  static Kernel reader(RingKernelRuntime& runtime, std::uint32_t input_bytes) {
    const auto added = runtime.add_program(readings_program());
    EXPECT_TRUE(added) << added.error().text();
    return active(runtime, "reader",
                  {.program = "readings", .behaviour = "Log", .input_bytes = input_bytes});
  }

  static Answer take(Kernel& kernel, const program::test::Bytes& message) {
    const auto reply = read<plant::Report>(kernel.call("Take", std::as_bytes(std::span(message))));
    if (reply) return {false, sum_at(**reply, 0), sum_at(**reply, 1)};
    EXPECT_EQ(reply.error(), Errc::malformed_request) << reply.error().text();
    return {};
  }

 private:
  static std::uint64_t sum_at(const plant::Report& report, std::uint32_t index) {
    return static_cast<std::uint64_t>(report.marks()->Get(index));
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, DamagedMessages, ::testing::ValuesIn(backend_names()),
                         backend_label);

TEST_P(DamagedMessages, AreReadTheSameEverywhereAndAsFlatcReadsThem) {
  const int count = static_cast<int>(scaled(20'000, 1'000));
  auto host = open_on(host_backend()).value();
  auto device = open();
  Kernel expected = reader(host, 32 * 1024);
  Kernel kernel = reader(device, 64 * 1024);
  Mutator random(5);
  int malformed = 0, accepted = 0, odd = 0;
  for (int i = 0; i < count; ++i) {
    const auto message = random.mutate(program::test::make_reading(random));
    const Answer answer = take(kernel, message);
    ASSERT_EQ(answer, take(expected, message)) << "message " << i;
    malformed += answer.is_malformed ? 1 : 0;
    flatbuffers::Verifier verifier(message.data(), message.size());
    if (!verifier.VerifyBuffer<plant::Reading>(nullptr)) continue;
    ++accepted;
    const auto* const reading = flatbuffers::GetRoot<plant::Reading>(message.data());
    if (answer.is_malformed) {
      ASSERT_TRUE(is_odd(reading)) << "message " << i;
      ++odd;
      continue;
    }
    Seen seen;
    see(seen, reading);
    ASSERT_EQ(answer.sum, seen.sum) << "message " << i;
  }
  EXPECT_GT(malformed, count / 8);
  EXPECT_GT(accepted, count / 4);
  EXPECT_LT(odd, count / 100);
}

}  // namespace
}  // namespace ringkernel::test
