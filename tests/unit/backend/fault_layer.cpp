// An OpenCL layer that makes one chosen call fail. RK_FAULT=<call>:<n> picks it:
//   launch:n     the n-th clEnqueueNDRangeKernel returns CL_OUT_OF_RESOURCES
//   event:n      the n-th clEnqueueNDRangeKernel runs nothing, and its command ends with
//                CL_OUT_OF_RESOURCES
//   memory:n     the n-th clSVMAlloc returns null
//   buffer:n     the n-th clCreateBuffer of 256 KiB or more returns
//                CL_MEM_OBJECT_ALLOCATION_FAILURE
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
std::atomic<int> buffers = 0;
std::atomic<int> builds = 0;

/// Whether the plan names the `number`-th call of this kind.
bool planned(std::string_view kind, int number) {
  const char* const plan = std::getenv("RK_FAULT");
  const char* const colon = plan == nullptr ? nullptr : std::strchr(plan, ':');
  if (colon == nullptr) return false;
  return std::string_view(plan, static_cast<std::size_t>(colon - plan)) == kind &&
         (std::string_view(colon + 1) == "all" || std::atoi(colon + 1) == number);
}

/// An event that has ended with an error, as of a command in `queue`.
cl_event failed_event(cl_command_queue queue) {
  cl_context context = nullptr;
  cl_int status =
      target->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  const cl_event event = target->clCreateUserEvent(context, &status);
  target->clSetUserEventStatus(event, CL_OUT_OF_RESOURCES);
  return event;
}

cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                          const size_t* offset, const size_t* global, const size_t* local,
                          cl_uint waits, const cl_event* wait_list, cl_event* event) {
  const int number = ++launches;
  if (planned("launch", number)) return CL_OUT_OF_RESOURCES;
  if (planned("event", number)) {
    *event = failed_event(queue);
    return CL_SUCCESS;
  }
  return target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits,
                                        wait_list, event);
}

void* CL_API_CALL allocate(cl_context context, cl_svm_mem_flags flags, size_t bytes,
                           cl_uint alignment) {
  if (planned("memory", ++allocations)) return nullptr;
  return target->clSVMAlloc(context, flags, bytes, alignment);
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                                 cl_int* status) {
  if (bytes >= 256 << 10 && planned("buffer", ++buffers)) {
    *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
  }
  return target->clCreateBuffer(context, flags, bytes, host, status);
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
  layer.clSVMAlloc = allocate;
  layer.clCreateBuffer = create_buffer;
  layer.clBuildProgram = build;
  *entries = sizeof layer / sizeof(void*);
  *layer_dispatch = &layer;
  return CL_SUCCESS;
}
}
