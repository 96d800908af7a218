/// Error codes and the `Error` that carries one with its context.
///
/// One number has one name everywhere: device faults (1..999) come from `protocol/fault.def`, host
/// errors from `errc.def`. Codes of the MIND specification print as "E3001".
///
/// Threading: distinct objects safe, shared objects unsafe.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>
#include <utility>

namespace ringkernel {

using boost::system::error_code;

/// What can fail: errc.def for the host, fault.def for the device.
enum class Errc : int {
  ok = 0,
#define RK_FAULT(code, name, sentence) name = code,
#include "ringkernel/protocol/fault.def"
#undef RK_FAULT
#define RK_ERRC(value, name, sentence) name = value,
#include "ringkernel/errc.def"
#undef RK_ERRC
};

/// The category "ringkernel". `message()` is "E3001 broadcast_failure: <sentence>".
const boost::system::error_category& error_category() noexcept;

/// Found by ADL, so that an `Errc` is an `error_code`.
inline error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

/// A code and the text that says what exactly failed and why: shapes, ids, paths tried, build log.
/// Nothing throws when one is passed on: a copy for which there is no memory lacks the text.
struct Error {
  error_code code;
  std::string detail;
  std::uint64_t message = 0;       ///< id of the message that ended with this error; 0 = none did
  std::uint64_t fault_detail = 0;  ///< handler_fault: what the handler said besides its code
  std::uint32_t fault_code = 0;    ///< handler_fault: the handler's own code, from 1 on

  Error() = default;
  Error(Errc errc, std::string detail_text)
      : code(make_error_code(errc)), detail(std::move(detail_text)) {}
  Error(error_code error, std::string detail_text = {})
      : code(error), detail(std::move(detail_text)) {}
  Error(const Error& other) noexcept;
  Error(Error&&) noexcept = default;
  Error& operator=(const Error& other) noexcept;
  Error& operator=(Error&&) noexcept = default;
  ~Error() = default;

  bool operator==(Errc errc) const noexcept { return code == make_error_code(errc); }

  /// "E3001 broadcast_failure: <sentence>: <detail>", in one line: what has several, a compiler's
  /// words, is joined by " | ".
  [[nodiscard]] std::string text() const;
};

}  // namespace ringkernel

template <>
struct boost::system::is_error_code_enum<ringkernel::Errc> : std::true_type {};
