// An OpenCL layer that makes one chosen call fail. RK_FAULT=<call>:<n> picks it:
//   launch:n     the n-th clEnqueueNDRangeKernel returns CL_OUT_OF_RESOURCES
//   event:n      the command of the n-th clEnqueueNDRangeKernel ends with CL_OUT_OF_RESOURCES
//   memory:n     the n-th clSVMAlloc returns null
//   build:n      the n-th clBuildProgram returns CL_BUILD_PROGRAM_FAILURE
// `all` instead of a number picks every call from then on: the variable is read at each of them.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

const cl_icd_dispatch* target = nullptr;
cl_icd_dispatch layer{};

std::atomic<int> launches = 0;
std::atomic<int> allocations = 0;
std::atomic<int> builds = 0;
std::atomic<cl_event> failing_event = nullptr;

/// Whether the plan names the `number`-th call of this kind.
bool planned(std::string_view kind, int number) {
  const char* const plan = std::getenv("RK_FAULT");
  const char* const colon = plan == nullptr ? nullptr : std::strchr(plan, ':');
  if (colon == nullptr) return false;
  return std::string_view(plan, static_cast<std::size_t>(colon - plan)) == kind &&
         (std::string_view(colon + 1) == "all" || std::atoi(colon + 1) == number);
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                          const size_t* offset, const size_t* global, const size_t* local,
                          cl_uint waits, const cl_event* wait_list, cl_event* event) {
  const int number = ++launches;
  if (planned("launch", number)) return CL_OUT_OF_RESOURCES;
  const cl_int status = target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                       local, waits, wait_list, event);
  if (planned("event", number)) failing_event = *event;
  return status;
}

cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t bytes, void* value,
                              size_t* bytes_needed) {
  const cl_int status = target->clGetEventInfo(event, what, bytes, value, bytes_needed);
  if (event == failing_event && what == CL_EVENT_COMMAND_EXECUTION_STATUS)
    *static_cast<cl_int*>(value) = CL_OUT_OF_RESOURCES;
  return status;
}

void* CL_API_CALL allocate(cl_context context, cl_svm_mem_flags flags, size_t bytes,
                           cl_uint alignment) {
  if (planned("memory", ++allocations)) return nullptr;
  return target->clSVMAlloc(context, flags, bytes, alignment);
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices,
                         const char* options, void(CL_CALLBACK* done)(cl_program, void*),
                         void* user) {
  if (planned("build", ++builds)) return CL_BUILD_PROGRAM_FAILURE;
  return target->clBuildProgram(program, count, devices, options, done, user);
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t bytes,
                                                                 void* value,
                                                                 size_t* bytes_needed) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (bytes_needed != nullptr) *bytes_needed = sizeof version;
  if (value != nullptr && bytes >= sizeof version) std::memcpy(value, &version, sizeof version);
  return CL_SUCCESS;
}

[[gnu::visibility("default")]] cl_int CL_API_CALL
clInitLayer(cl_uint, const cl_icd_dispatch* target_dispatch, cl_uint* entries,
            const cl_icd_dispatch** layer_dispatch) {
  target = target_dispatch;
  layer.clEnqueueNDRangeKernel = launch;
  layer.clGetEventInfo = event_info;
  layer.clSVMAlloc = allocate;
  layer.clBuildProgram = build;
  *entries = sizeof layer / sizeof(void*);
  *layer_dispatch = &layer;
  return CL_SUCCESS;
}
}
