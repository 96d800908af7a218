/// The cases and figures of `strategies`: every strategy and every baseline at every payload.
///
/// Threading: one thread, at first.
/// Ownership: names live as long as the process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cases.hpp"

namespace bench {

struct Payload {
  std::string_view name;
  std::size_t bytes;
};
inline constexpr std::array payloads = {Payload{"64b", 64}, Payload{"4k", 4 * 1024},
                                        Payload{"64k", 64 * 1024}, Payload{"1m", 1024 * 1024}};

/// Messages of a batch.
inline constexpr std::size_t batch_messages = 64;
/// There are many cases, and few of the machine's minutes are quiet.
inline constexpr SamplingLimits strategy_limits{.warm_up = std::chrono::milliseconds(150),
                                                .duration = std::chrono::milliseconds(500)};

/// Writes the number at both ends of the message, which is what both sides look at.
inline void stamp(std::span<std::byte> message, std::uint64_t number) {
  std::memcpy(message.data(), &number, sizeof number);
  std::memcpy(message.last(sizeof number).data(), &number, sizeof number);
}

/// `WHO_rtt_PAYLOAD` in us, `WHO_batch64_PAYLOAD` in M/s. Who: `strategies`, `plain_opencl`, and
/// of round trips `handwritten`.
[[nodiscard]] std::span<const Case> strategy_cases();
inline constexpr std::array<std::string_view, 3> strategies = {"zero_copy", "dma", "sliced"};

// strategy_ours.cpp: by the public API.
[[nodiscard]] Measurement strategy_round_trip(std::string_view strategy, std::size_t bytes);
[[nodiscard]] Measurement strategy_batch(std::string_view strategy, std::size_t bytes);

// strategy_baselines.cpp: OpenCL without us.
/// A resident kernel that polls a flag in a plain buffer, and a second queue that writes and reads
/// beside it.
[[nodiscard]] Measurement handwritten_round_trip(std::size_t bytes);
/// Write, run, read for each message.
[[nodiscard]] Measurement plain_round_trip(std::size_t bytes);
/// The same, one message behind the other.
[[nodiscard]] Measurement plain_batch(std::size_t bytes);

}  // namespace bench
