/// What rkstat says beside its output, and the exit code that it ends with.
///
/// Threading: plain functions.
/// Errors: none is thrown: where a standard stream cannot be written, that is the outcome.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "render.hpp"

namespace rkstat {

using ringkernel::telemetry::Scope;

/// Beyond those that tell the health.
constexpr int usage_error = 64;
constexpr int internal_error = 70;
constexpr int output_error = 74;

/// Writes to a standard stream that is closed go on failing, whatever is opened meanwhile.
void occupy_closed_streams();

/// On stdout, at once. False: it cannot be written, and `errno` says why.
[[nodiscard]] bool print(std::string_view text);
/// A line on stderr.
void tell(std::string_view sentence);
/// Tells of the write that has failed last. The exit code.
[[nodiscard]] int output_failed(std::string_view what = "the output");

/// Tells of runtimes that cannot be read, and of those whose figures are not of now; a line for
/// each reason.
void tell_problems(const Readings& readings);

/// "no runtime in '/a', '/b'", or "no runtime of process 7 in ...".
[[nodiscard]] std::string no_runtime_text(const Scope& scope);
/// A sentence for each folder that is there and cannot be listed.
[[nodiscard]] std::vector<std::string> folder_problems(const Scope& scope);
/// That of the readings, but never healthy or empty where there may be more that cannot be seen.
[[nodiscard]] int exit_code(const Readings& readings, bool all_folders_are_readable);

}  // namespace rkstat
