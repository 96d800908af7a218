/// What both directions of a channel work with: what is in flight, what it holds, its metrics.
///
/// Threading: as each part says.
/// Memory ordering: parts that different threads write begin on lines of their own.
/// Ownership: borrows executor, clock and waker.
#pragma once

#include <cstdint>

#include "bridge/channel/bridge_demand.hpp"
#include "bridge/channel/channel_counts.hpp"
#include "bridge/channel/channel_types.hpp"
#include "bridge/channel/latencies.hpp"
#include "bridge/channel/leases.hpp"
#include "bridge/channel/mailbox.hpp"
#include "bridge/channel/method_counts.hpp"
#include "bridge/channel/pending.hpp"
#include "bridge/clock.hpp"
#include "bridge/executor/executor.hpp"

namespace ringkernel::bridge {

struct ChannelShared {
  ChannelShared(Executor& its_executor, std::uint32_t its_kernel, const ChannelLimits& its_limits,
                const Clock& its_clock, Waker& waker)
      : executor(its_executor),
        kernel(its_kernel),
        limits(its_limits),
        clock(its_clock),
        latencies(limits.sample_every != 0 ? Latencies::make() : nullptr),
        pending(limits.in_flight_max),
        demand(counts, waker),
        mailbox(limits.in_flight_max, demand.receivers) {}

  Executor& executor;
  const std::uint32_t kernel;
  const ChannelLimits limits;
  const Clock& clock;
  const Latencies::Pointer latencies;  // null: no times are taken
  Pending pending;
  Leases leases;
  MethodCounts methods;
  ChannelCounts counts;
  alignas(64) BridgeDemand demand;
  alignas(64) Mailbox mailbox;
};

}  // namespace ringkernel::bridge
