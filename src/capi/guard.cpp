#include "capi/guard.hpp"

namespace ringkernel::capi {

LastError& last_error() noexcept {
  thread_local LastError last;
  return last;
}

const char* last_error_text() noexcept {
  const LastError& last = last_error();
  return last.failed ? last.text.c_str() : nullptr;
}

int last_error_code() noexcept {
  const LastError& last = last_error();
  return last.failed ? last.code : 0;
}

}  // namespace ringkernel::capi
