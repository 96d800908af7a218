#include "ringkernel/error.hpp"

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

std::string Error::text() const {
  return detail.empty() ? code.message() : code.message() + ": " + detail;
}

}  // namespace ringkernel
