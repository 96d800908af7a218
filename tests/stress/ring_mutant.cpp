// One build per mutant: the access that RK_RING_MUTANT names is relaxed, and ThreadSanitizer (or
// the payload check) has to notice. ctest looks for its report; the exit status is no verdict.
//
//     1 publish   host    producer position, release
//     2 see       host    producer position, acquire
//     3 free      host    consumer position, release
//     4 reuse     host    consumer position, acquire
//     5 see       device  producer position, acquire
//     6 free      device  consumer position, release
//     7 reuse     device  consumer position, acquire
//     8 publish   device  producer position, release
//
// Host mutants are made by ring/order.hpp. Each device end loads one position and stores the other,
// so a device mutant replaces that load or store for the whole of rk_ring.h and runs only the
// direction that uses the end in question.
#include <cstdio>

#include "ring/order.hpp"
#include "rk_device.h"

namespace {

[[maybe_unused]] rk_u64 load_relaxed_u64(const rk_u64* word) {
  return std::atomic_ref(*const_cast<rk_u64*>(word)).load(std::memory_order_relaxed);
}

}  // namespace

#if RK_RING_MUTANT == 5 || RK_RING_MUTANT == 7
#define rk_load_acquire_u64 load_relaxed_u64
#elif RK_RING_MUTANT == 6 || RK_RING_MUTANT == 8
#define rk_store_release_u64 rk_store_relaxed_u64
#endif

#include "ring_traffic.hpp"

int main() {
  using namespace ringkernel::test;
  constexpr std::uint64_t count = 20'000;
  constexpr int mutant = RK_RING_MUTANT;
  constexpr bool host_produces = mutant == 1 || mutant == 4 || mutant == 5 || mutant == 6;
  const std::string failure = host_produces
                                  ? run_traffic<HostProducerEnd, DeviceConsumerEnd>(count, 0)
                                  : run_traffic<DeviceProducerEnd, HostConsumerEnd>(count, 0);
  std::printf("mutant %d: %s\n", mutant, failure.empty() ? "not noticed" : failure.c_str());
  return failure.empty() ? 0 : 1;
}
