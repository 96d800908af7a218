/// The distinct errors of a runtime: one that comes again bumps a count, so that a storm of them
/// fills nothing.
///
/// Threading: any thread.
/// Ownership: copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "ringkernel/error.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel::detail {

class ErrorLog {
 public:
  /// `kernel`: its id; empty: no kernel's.
  /// Where there is no memory for it, it is counted as missing.
  void note(std::string_view kernel, const Error& error, std::uint64_t now_ns) noexcept;

  /// In the order in which they first came: `errors_max` at most, and each keeps its place.
  [[nodiscard]] std::vector<ErrorRecord> records() const;

  /// Errors so far, and those of kinds that came when there was no place for another one.
  struct Counts {
    std::uint64_t all = 0;
    std::uint64_t missing = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Kind {
    ErrorRecord record;  ///< without code and text, which are those of
    Error last;          ///< made a text when somebody asks: a storm of them is cheap
  };

  /// With the lock; changes nothing where it throws.
  void keep(std::string_view kernel, const Error& error, std::uint64_t now_ns);

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Kind> kinds_;
  Counts counts_;
};

}  // namespace ringkernel::detail
