#include "backend/opencl/wait_for_driver.hpp"

#include <system_error>
#include <thread>

namespace ringkernel::opencl {

Error stuck_error(const char* what, const DriverCall& call) noexcept {
  Error error(make_error_code(Errc::execution_timeout));
  (void)with_memory([&] {
    std::string text = call.text();
    if (text.empty()) text = longest_call_text();  // what it waits for itself
    if (text.empty()) text = "the driver is at work";
    error.detail = std::string(what) + " has not ended in time: " + text +
                   "; if the driver never comes back, only a new process can use it again";
  });
  return error;
}

Error late_error(const char* what, const std::string& call_text) noexcept {
  Error error = error_of(Errc::execution_timeout, what);
  if (!call_text.empty()) (void)with_memory([&] { error.detail += ": " + call_text; });
  return error;
}

bool start_thread(std::function<void()> main) noexcept {
  try {
    std::thread(std::move(main)).detach();
    return true;
  } catch (const std::bad_alloc&) {
  } catch (const std::system_error&) {
  }
  return false;
}

}  // namespace ringkernel::opencl
