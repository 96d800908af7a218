#include "backend/opencl/cl.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "backend/loader.hpp"
#include "backend/opencl/cache/pocl_cache.hpp"
#include "backend/opencl/driver_environment.hpp"
#include "backend/opencl/query.hpp"
#include "foundation/environment.hpp"
#include "foundation/file.hpp"

namespace ringkernel::opencl {

namespace {

constexpr const char* library_variable = "RINGKERNEL_OPENCL_LIBRARY";

std::vector<std::string> candidates() {
  // Whoever names one means it: another would hide that it cannot be loaded.
  if (const std::string_view chosen = environment(library_variable); !chosen.empty())
    return {std::string(chosen)};
  return {"libOpenCL.so.1", "libOpenCL.so"};
}

constexpr const char* needed_symbols[] = {
#define RK_CL_FUNCTION(name) #name,
#define RK_CL_OPTIONAL(name)
#include "backend/opencl/functions.def"
#undef RK_CL_FUNCTION
};

Library load_now() {
  std::string pocl_trouble = prepare_driver_environment();
  std::vector<std::string> tried;
  Result<backend::SharedLibrary> library =
      backend::SharedLibrary::open(candidates(), needed_symbols, tried);
  if (const std::string_view chosen = environment(library_variable);
      !chosen.empty() && !tried.empty())
    tried.front() += std::string(" (") + library_variable + ")";
  if (!library.has_value()) return {std::move(library).error(), {}, std::move(tried), {}};
  Api api;
#define RK_CL_FUNCTION(name) api.name = {#name, library->find(#name)};
#include "backend/opencl/functions.def"
#undef RK_CL_FUNCTION
  library->release();
  return {api, library->name(), std::move(tried), std::move(pocl_trouble)};
}

struct StatusName {
  cl_int status;
  const char* name;
};

constexpr StatusName status_names[] = {
#define RK_CL_STATUS(name) {name, #name},
#include "backend/opencl/status.def"
#undef RK_CL_STATUS
};

/// Of a command; returns that of the question.
cl_int ask_status(cl_event event, cl_int& status) noexcept {
  return twice(cl().clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
               &status, nullptr);
}

}  // namespace

const Library& load_library() {
  static const Library* library = new Library(load_now());  // outlives every static destructor
  return *library;
}

const Api& cl() noexcept { return *load_library().api; }

std::string status_text(cl_int status) {
  for (const StatusName& entry : status_names)
    if (entry.status == status)
      return std::string(entry.name) + " (" + std::to_string(status) + ")";
  return "status " + std::to_string(status);
}

bool may_pass(const Error& error) {
  return error == Errc::allocation_failure ||
         std::ranges::any_of(status_names, [&error](const StatusName& entry) {
           return may_pass(entry.status) && error.detail.find(entry.name) != std::string::npos;
         });
}

Error call_error(const char* call, cl_int status) {
  const bool memory = status == CL_OUT_OF_HOST_MEMORY || status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return {memory ? Errc::allocation_failure : Errc::device_error,
          std::string(call) + ": " + status_text(status)};
}

Result<void> check_files_left() {
  constexpr std::size_t needed = 16;
  std::size_t left = 0;
  int error = 0;
  {
    std::vector<File> files;
    files.reserve(needed);
    for (; left < needed && error == 0; left += error == 0 ? 1 : 0) {
      files.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!files.back()) error = errno;
    }
  }
  if (error != EMFILE && error != ENFILE) return {};
  return Error(Errc::backend_unavailable,
               "a driver's compiler and its linker need " + std::to_string(needed) +
                   " files, and " + (error == EMFILE ? "this process (ulimit -n)" : "the system") +
                   " has only " + std::to_string(left) + " left");
}

Result<Queue> make_queue(cl_context context, cl_device_id device) {
  cl_int status = CL_SUCCESS;
  // The loader has the newer function also where the device's driver does not.
  if (cl().clCreateCommandQueueWithProperties == nullptr || device_version(device) < 200) {
    Queue queue(cl().clCreateCommandQueue(context, device, 0, &status));
    RK_TRY_VOID(check("clCreateCommandQueue", status));
    return queue;
  }
  Queue queue(cl().clCreateCommandQueueWithProperties(context, device, nullptr, &status));
  RK_TRY_VOID(check("clCreateCommandQueueWithProperties", status));
  return queue;
}

Result<ClKernel> make_kernel(cl_program program, const char* name) {
  cl_int status = CL_SUCCESS;
  ClKernel kernel(cl().clCreateKernel(program, name, &status));
  if (status == CL_INVALID_KERNEL_NAME)
    return Error(Errc::device_error, "clCreateKernel: " + status_text(status) + ": '" + name +
                                         "' is in the text, so what the driver has kept of it is "
                                         "damaged; PoCL keeps it in '" +
                                         pocl_cache_folder(pocl_platform) +
                                         "', which can be removed");
  RK_TRY_VOID(check("clCreateKernel", status));
  return kernel;
}

Result<Event> enqueue_groups(cl_command_queue queue, cl_kernel kernel, uint32_t work_groups) {
  const std::size_t global = work_groups;
  const std::size_t local = 1;
  cl_event event = nullptr;
  RK_TRY_VOID(check("clEnqueueNDRangeKernel", twice(cl().clEnqueueNDRangeKernel, queue, kernel, 1,
                                                    nullptr, &global, &local, 0, nullptr, &event)));
  return Event(event);
}

Result<Event> enqueue_one(cl_command_queue queue, cl_kernel kernel) {
  return enqueue_groups(queue, kernel, 1);
}

Result<void> flush(cl_command_queue queue) { return check("clFlush", twice(cl().clFlush, queue)); }

Result<void> finish(const Event& event) {
  const cl_event events[] = {event.get()};
  RK_TRY_VOID(check("clWaitForEvents", twice(cl().clWaitForEvents, 1, events)));
  // Where a driver told the command's own failure as the call's, the second call may not.
  cl_int status = CL_QUEUED;
  RK_TRY_VOID(check("clGetEventInfo", ask_status(event.get(), status)));
  return check("a command", std::min(status, cl_int{CL_SUCCESS}));
}

cl_int event_status(cl_event event) noexcept {
  cl_int status = CL_QUEUED;
  const cl_int asked = ask_status(event, status);
  return asked == CL_SUCCESS ? status : asked;
}

}  // namespace ringkernel::opencl
