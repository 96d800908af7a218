/// The one place that includes OpenCL headers: the library's functions, resolved once at run time,
/// RAII handles for its objects, and its status codes as text.
///
/// Threading: `load_library` and `cl` may be called from any thread; handles like any value.
/// Ownership: the library stays loaded for the life of the process, because its drivers keep
/// threads. Errors: Errc::library_not_found, Errc::symbol_not_found from `load_library`; a failed
/// call is Errc::device_error (Errc::allocation_failure where memory ran out), with "clFoo: CL_NAME
/// (-1)".
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue, for devices of OpenCL 1.2
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backend/opencl/driver_call.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::opencl {

/// A function of the library, or none. Who waits for a call of it can tell which one it is
/// (driver_call.hpp).
template <class Function>
class Entry;
template <class Value, class... Parameters>
class Entry<Value(CL_API_CALL*)(Parameters...)> {
 public:
  Entry() noexcept = default;
  Entry(const char* name, void* function) noexcept
      : name_(name), function_(reinterpret_cast<Value(CL_API_CALL*)(Parameters...)>(function)) {}

  Value operator()(Parameters... arguments) const noexcept {
    const InDriver inside(name_);
    return function_(arguments...);
  }
  [[nodiscard]] bool operator==(std::nullptr_t) const noexcept { return function_ == nullptr; }

 private:
  const char* name_ = "";
  Value(CL_API_CALL* function_)(Parameters...) = nullptr;
};

/// The typed symbol table. What a library of OpenCL 1.2 lacks may be null: see functions.def.
struct Api {
#define RK_CL_FUNCTION(name) Entry<decltype(&::name)> name;
#include "backend/opencl/functions.def"
#undef RK_CL_FUNCTION
};

/// What became of loading the library.
struct Library {
  Result<Api> api;
  std::string name;                ///< the library in use; empty if none
  std::vector<std::string> tried;  ///< "name - reason" for each that would not do
  std::string pocl_trouble;        ///< with PoCL's cache folder; mostly empty
};

/// Loads the library, once per process: $RINGKERNEL_OPENCL_LIBRARY, or else the system's loader.
const Library& load_library();

/// The functions. Only after `load_library` was seen to succeed.
const Api& cl() noexcept;

/// "CL_OUT_OF_RESOURCES (-5)".
std::string status_text(cl_int status);

/// The error of a failed call.
Error call_error(const char* call, cl_int status);

/// Whether what lacked may be there a moment later: memory, resources, or with some drivers the
/// queue. By OpenCL's rules the call has done nothing then.
constexpr bool may_pass(cl_int status) noexcept {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
         status == CL_OUT_OF_HOST_MEMORY || status == CL_INVALID_COMMAND_QUEUE;
}

/// Whether a text names such a status (`status_text`), or its code stands for one: errors of calls,
/// and of events, are passed on as texts.
bool may_pass(const Error& error);

/// The status of a call that is made once more where it may pass then: for calls whose failure is
/// the end of a program.
template <class... Parameters>
cl_int twice(const Entry<cl_int(CL_API_CALL*)(Parameters...)>& function,
             std::type_identity_t<Parameters>... arguments) noexcept {
  const cl_int status = function(arguments...);
  return may_pass(status) ? function(arguments...) : status;
}

inline Result<void> check(const char* call, cl_int status) {
  if (status != CL_SUCCESS) return call_error(call, status);
  return {};
}

/// Owns one OpenCL object.
template <class Object, auto release>
class Handle {
 public:
  Handle() noexcept = default;
  explicit Handle(Object object) noexcept : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) (cl().*release)(object_);
  }

  [[nodiscard]] Object get() const noexcept { return object_; }
  [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  Object object_ = nullptr;
};

using Context = Handle<cl_context, &Api::clReleaseContext>;
using Queue = Handle<cl_command_queue, &Api::clReleaseCommandQueue>;
using ClProgram = Handle<cl_program, &Api::clReleaseProgram>;
using Buffer = Handle<cl_mem, &Api::clReleaseMemObject>;
using ClKernel = Handle<cl_kernel, &Api::clReleaseKernel>;
using Event = Handle<cl_event, &Api::clReleaseEvent>;

/// Whether a driver can build a program: PoCL ends the process where it cannot run its linker.
Result<void> check_files_left();

Result<Queue> make_queue(cl_context context, cl_device_id device);
Result<ClKernel> make_kernel(cl_program program, const char* name);

/// Puts `kernel` with work-groups of one work-item into the queue; `flush` submits it.
Result<Event> enqueue_groups(cl_command_queue queue, cl_kernel kernel, uint32_t work_groups);
/// Likewise, with one work-group.
Result<Event> enqueue_one(cl_command_queue queue, cl_kernel kernel);
Result<void> flush(cl_command_queue queue);

/// Submits the queue and waits for the command.
Result<void> finish(const Event& event);

/// Waits at the end of its scope for all that was given to the queue, also where an error leaves
/// the scope early: until then commands refer to the host memory that they copy. Stands behind that
/// memory and before the commands.
class Drain {
 public:
  explicit Drain(cl_command_queue queue) noexcept : queue_(queue) {}
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;
  ~Drain() { static_cast<void>(cl().clFinish(queue_)); }

 private:
  cl_command_queue queue_;
};

/// CL_QUEUED .. CL_COMPLETE, or a negative status if the command failed or cannot be asked.
cl_int event_status(cl_event event) noexcept;

}  // namespace ringkernel::opencl
