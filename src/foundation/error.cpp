#include "ringkernel/error.hpp"

#include <algorithm>
#include <string_view>

#include "foundation/memory_error.hpp"

namespace ringkernel {
namespace {

struct Entry {
  Errc code;
  const char* name;
  const char* sentence;
};

constexpr Entry entries[] = {
    {Errc::ok, "ok", "no error"},
#define RK_FAULT(code, name, sentence) {Errc::name, #name, sentence},
#include "ringkernel/protocol/fault.def"
#undef RK_FAULT
#define RK_ERRC(value, name, sentence) {Errc::name, #name, sentence},
#include "ringkernel/errc.def"
#undef RK_ERRC
};

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "ringkernel"; }

  std::string message(int value) const override {
    const std::string prefix = value >= 2000 ? "E" + std::to_string(value) + " " : "";
    for (const Entry& entry : entries) {
      if (static_cast<int>(entry.code) == value) return prefix + entry.name + ": " + entry.sentence;
    }
    return "unknown ringkernel error " + std::to_string(value);
  }
};

}  // namespace

const boost::system::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

Error::Error(const Error& other) noexcept
    : code(other.code),
      message(other.message),
      fault_detail(other.fault_detail),
      fault_code(other.fault_code) {
  (void)with_memory([&] { detail = other.detail; });
}

Error& Error::operator=(const Error& other) noexcept {
  code = other.code;
  message = other.message;
  fault_detail = other.fault_detail;
  fault_code = other.fault_code;
  if (!with_memory([&] { detail = other.detail; })) detail.clear();
  return *this;
}

std::string Error::text() const {
  constexpr std::string_view blanks = " \t";
  constexpr std::string_view breaks = "\r\n";
  std::string text = code.message();
  const char* separator = ": ";
  for (std::string_view left = detail; !left.empty();) {
    std::string_view line = left.substr(0, left.find_first_of(breaks));
    const bool is_all = line.size() == left.size();
    left.remove_prefix(is_all ? line.size() : line.size() + 1);
    if (is_all && separator[0] == ':') {  // as it is
      text.append(separator).append(line);
      break;
    }
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    line = line.substr(0, line.find_last_not_of(blanks) + 1);
    if (line.empty()) continue;
    text.append(separator).append(line);
    separator = " | ";
  }
  // A text may quote a name of a file, and a terminal obeys what it prints.
  std::ranges::replace_if(
      text, [](char c) { return (c >= '\0' && c < ' ' && c != '\t') || c == '\x7f'; }, '?');
  return text;
}

}  // namespace ringkernel
