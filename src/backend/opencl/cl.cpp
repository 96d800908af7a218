#include "backend/opencl/cl.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "backend/loader.hpp"
#include "ringkernel/protocol/abi.h"

namespace ringkernel::opencl {

namespace {

constexpr const char* library_variable = "RINGKERNEL_OPENCL_LIBRARY";

/// PoCL's CPU device runs one work-group per worker thread to its end, so a resident slice takes a
/// worker away from everything else, and each launch wakes every worker (about 14 us apiece): as
/// many as there are cores, at least four, and two more. PoCL reads these once, before the first
/// call; a user's own value stays.
void reserve_pocl_workers() {
  const std::string text = std::to_string(std::max(4u, std::thread::hardware_concurrency()) + 2);
  setenv("POCL_MAX_PTHREAD_COUNT", text.c_str(), 0);  // PoCL 3
  setenv("POCL_CPU_MAX_CU_COUNT", text.c_str(), 0);   // PoCL 4 and later
}

std::vector<std::string> candidates() {
  std::vector<std::string> names;
  const char* chosen = std::getenv(library_variable);
  if (chosen != nullptr && *chosen != '\0') names.emplace_back(chosen);
  names.emplace_back("libOpenCL.so.1");
  names.emplace_back("libOpenCL.so");
  return names;
}

constexpr const char* symbols[] = {
#define RK_CL_FUNCTION(name) #name,
#include "backend/opencl/functions.def"
#undef RK_CL_FUNCTION
};

Library load_now() {
  reserve_pocl_workers();
  std::vector<std::string> tried;
  Result<backend::SharedLibrary> library =
      backend::SharedLibrary::open(candidates(), symbols, tried);
  if (!library.has_value()) return {std::move(library).error(), {}, std::move(tried)};
  Api api;
#define RK_CL_FUNCTION(name) api.name = reinterpret_cast<decltype(api.name)>(library->find(#name));
#include "backend/opencl/functions.def"
#undef RK_CL_FUNCTION
  library->release();
  return {api, library->name(), std::move(tried)};
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

/// Writes only where something lies: reading a fresh page maps no memory, so that a large arena
/// costs what is used of it.
void zero(std::byte* data, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  static constexpr std::array<std::byte, page> zeros{};
  for (std::size_t offset = 0; offset < bytes; offset += page) {
    const std::size_t length = std::min(page, bytes - offset);
    if (std::memcmp(data + offset, zeros.data(), length) != 0)
      std::memset(data + offset, 0, length);
  }
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

Error call_error(const char* call, cl_int status) {
  const bool memory = status == CL_OUT_OF_HOST_MEMORY || status == CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return {memory ? Errc::allocation_failure : Errc::device_error,
          std::string(call) + ": " + status_text(status)};
}

Result<Queue> make_queue(cl_context context, cl_device_id device) {
  cl_int status = CL_SUCCESS;
  Queue queue(cl().clCreateCommandQueueWithProperties(context, device, nullptr, &status));
  RK_TRY_VOID(check("clCreateCommandQueueWithProperties", status));
  return queue;
}

Result<Kernel> make_kernel(cl_program program, const char* name) {
  cl_int status = CL_SUCCESS;
  Kernel kernel(cl().clCreateKernel(program, name, &status));
  RK_TRY_VOID(check("clCreateKernel", status));
  return kernel;
}

Result<Event> enqueue_one(cl_command_queue queue, cl_kernel kernel) {
  const std::size_t one = 1;
  cl_event event = nullptr;
  RK_TRY_VOID(check(
      "clEnqueueNDRangeKernel",
      cl().clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, &event)));
  return Event(event);
}

Result<void> flush(cl_command_queue queue) { return check("clFlush", cl().clFlush(queue)); }

Result<void> finish(const Event& event) {
  const cl_event events[] = {event.get()};
  return check("clWaitForEvents", cl().clWaitForEvents(1, events));
}

cl_int event_status(cl_event event) noexcept {
  cl_int status = CL_QUEUED;
  const cl_int asked = cl().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                           &status, nullptr);
  return asked == CL_SUCCESS ? status : asked;
}

Result<SharedMemory> SharedMemory::allocate(cl_context context, std::size_t bytes) {
  void* data = cl().clSVMAlloc(
      context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, bytes,
      RK_LINE_BYTES);
  if (data == nullptr)
    return Error(Errc::allocation_failure,
                 "clSVMAlloc of " + std::to_string(bytes) + " bytes returned nothing");
  SharedMemory memory(context, static_cast<std::byte*>(data), bytes);
  zero(memory.data(), bytes);
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : context_(other.context_), data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) cl().clSVMFree(context_, data_);
}

}  // namespace ringkernel::opencl
