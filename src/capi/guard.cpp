#include "capi/guard.hpp"

#include "foundation/of_thread.hpp"

namespace ringkernel::capi {
namespace {

/// Of each thread: what its last call failed with, and whether there was memory for the text.
constinit thread_local int last_code = 0;
constinit thread_local bool has_text = false;
constinit thread_local std::uint32_t last_fault_code = 0;
constinit thread_local std::uint64_t last_fault_detail = 0;
constinit thread_local std::uint16_t last_answered_by = 0;

}  // namespace

int set_last_error(const Error* error) noexcept {
  has_text = false;
  last_fault_code = error != nullptr ? error->fault_code : 0;
  last_fault_detail = error != nullptr ? error->fault_detail : 0;
  if (error == nullptr) return last_code = 0;
  std::string* const text = of_thread<std::string>();
  if (text != nullptr) has_text = with_memory([&] { *text = error->text(); });
  last_code = error->code.category() == error_category() ? error->code.value()
                                                         : static_cast<int>(Errc::internal);
  return last_code;
}

const char* last_error_text() noexcept {
  if (last_code == 0) return nullptr;
  const std::string* const text = has_text ? of_thread<std::string>() : nullptr;
  if (text != nullptr) return text->c_str();
  return "E6004 allocation_failure: memory could not be allocated: nor for what failed";
}

int last_error_code() noexcept { return last_code; }

std::uint32_t last_fault(std::uint64_t* out_detail) noexcept {
  if (out_detail != nullptr) *out_detail = last_fault_detail;
  return last_fault_code;
}

void set_last_version(std::uint16_t version) noexcept { last_answered_by = version; }

std::uint16_t last_version() noexcept { return last_answered_by; }

}  // namespace ringkernel::capi
