/// What `rkstat` prints for people.
///
/// Threading: plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/reading.hpp"

namespace rkstat {

using Readings = std::vector<ringkernel::telemetry::Reading>;

/// How many messages await their outcome and have no age, because the runtime takes no times; which
/// `no_ages_text` says.
[[nodiscard]] std::uint64_t without_ages(const ringkernel::telemetry::Reading& reading,
                                         const ringkernel::telemetry::KernelReading& kernel);
constexpr std::string_view no_ages_text = "of which no ages are taken (latency_sampling is 0)";

/// ", 3 answered wait for a receive", and ": nobody receives" where they have all the room; nothing
/// if none does.
[[nodiscard]] std::string unreceived_text(const ringkernel::KernelMetrics& kernel);

/// "counter", "counter v3" where it was swapped.
[[nodiscard]] std::string program_text(const ringkernel::KernelMetrics& kernel);

/// "pricing (9135/1)", or "9135/1".
[[nodiscard]] std::string titled(const ringkernel::telemetry::Reading& reading);

/// One screen. Rates are over the time since `before`.
[[nodiscard]] std::string render_text(const Readings& readings, const Readings& before);
/// One ring kernel, of whichever runtimes have one with this id; empty if none does.
[[nodiscard]] std::string render_kernel(const Readings& readings, const Readings& before,
                                        std::string_view id);
/// What went wrong, what waits where, and messages in flight; those that matter most first.
[[nodiscard]] std::string render_errors(const Readings& readings);
[[nodiscard]] std::string render_backlog(const Readings& readings, const Readings& before);
[[nodiscard]] std::string render_calls(const Readings& readings);

}  // namespace rkstat
