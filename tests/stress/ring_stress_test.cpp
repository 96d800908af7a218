// Goal: the ring keeps its promise between two real threads, in both directions between host and
// device code. Method: see ring_traffic.hpp; under ThreadSanitizer each byte is also checked for a
// missing order. RINGKERNEL_STRESS_MESSAGES scales the run.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ring_traffic.hpp"

namespace ringkernel::test {
namespace {

std::uint64_t message_count() {
  const char* const text = std::getenv("RINGKERNEL_STRESS_MESSAGES");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 200'000;
}

template <class ProducerEnd, class ConsumerEnd>
void expect_sound_traffic() {
  for (const std::uint64_t start : starts) {
    EXPECT_EQ((run_traffic<ProducerEnd, ConsumerEnd>(message_count() / starts.size(), start)), "")
        << "start " << start;
  }
}

TEST(RingStress, DeliversEveryMessageFromHostToDevice) {
  expect_sound_traffic<HostProducerEnd, DeviceConsumerEnd>();
}

TEST(RingStress, DeliversEveryMessageOfBatchesFromHostToDevice) {
  expect_sound_traffic<BatchingProducerEnd, DeviceConsumerEnd>();
}

TEST(RingStress, DeliversEveryMessageFromDeviceToHost) {
  expect_sound_traffic<DeviceProducerEnd, HostConsumerEnd>();
}

TEST(RingStress, DeliversEveryMessageFromHostToHost) {
  expect_sound_traffic<HostProducerEnd, HostConsumerEnd>();
}

}  // namespace
}  // namespace ringkernel::test
