/// The seam to C: nothing but numbers goes out, and what failed is remembered for its thread.
///
/// Threading: any thread; the last error is the calling thread's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "foundation/memory_error.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::capi {

/// Keeps what this thread's last call failed with and gives its code; nullptr: it has not.
int set_last_error(const Error* error) noexcept;
/// The text of that, or null; its code, or 0.
[[nodiscard]] const char* last_error_text() noexcept;
[[nodiscard]] int last_error_code() noexcept;
/// A handler's own code, or 0; `out_detail` may be null.
[[nodiscard]] std::uint32_t last_fault(std::uint64_t* out_detail) noexcept;

/// Which version of a program gave this thread's last call its reply; 0: it gave none of bytes.
void set_last_version(std::uint16_t version) noexcept;
[[nodiscard]] std::uint16_t last_version() noexcept;

[[nodiscard]] inline Error null_argument(const char* what) {
  return {Errc::invalid_argument, std::string(what) + " is null"};
}

/// Of a library to come, perhaps: this one does not know what it asks for.
[[nodiscard]] inline Error reserved_field(std::uint32_t value) {
  return {Errc::invalid_argument, "reserved is " + std::to_string(value) + "; it must be 0"};
}

/// Runs `body`, which returns a Result<void>. The code of its error, or that of an exception, is
/// the result; 0 is success.
template <class Body>
int guarded(Body&& body) noexcept {
  set_last_error(nullptr);
  set_last_version(0);
  Error error;
  try {
    Result<void> result = body();
    if (result) return 0;
    error = std::move(result).error();
  } catch (const std::bad_alloc&) {
    error = no_memory();
  } catch (const std::exception& exception) {
    error = Error(make_error_code(Errc::internal));
    (void)with_memory([&] { error.detail = exception.what(); });
  } catch (...) {
    error = Error(make_error_code(Errc::internal));
  }
  return set_last_error(&error);
}

/// Nanoseconds of a C caller, for whom the largest number is for ever.
[[nodiscard]] constexpr std::chrono::nanoseconds to_duration(std::uint64_t ns) noexcept {
  constexpr std::uint64_t longest = std::numeric_limits<std::int64_t>::max();
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(ns, longest)));
}

/// A struct of options that begins with its size, as much of it as the caller knows; the rest is
/// zero. invalid_argument: a size that cannot be one.
template <class Options>
[[nodiscard]] Result<Options> read_options(const Options* given) {
  Options options{};
  if (given == nullptr) return options;
  constexpr std::size_t sensible_max = 4096;
  const std::size_t size = given->struct_size;
  if (size < sizeof(std::size_t) || size > sensible_max)
    return Error(Errc::invalid_argument, "struct_size is " + std::to_string(size));
  std::memcpy(&options, given, std::min(size, sizeof options));
  return options;
}

/// The other way round: as much of what is `known` as the caller has room for, by the size that its
/// struct begins with; what it has beyond is zero.
template <class Info>
[[nodiscard]] Result<void> write_info(const Info& known, Info* out, const char* what) {
  if (out == nullptr) return null_argument(what);
  RK_TRY(given, read_options(out));
  const std::size_t size = given.struct_size;
  const std::size_t part = std::min(size, sizeof known);
  auto* const to = reinterpret_cast<std::byte*>(out);
  std::memcpy(to, &known, part);
  std::memset(to + part, 0, size - part);
  out->struct_size = size;
  return {};
}

}  // namespace ringkernel::capi
