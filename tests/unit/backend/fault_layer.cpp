// An OpenCL layer that makes chosen calls fail. RK_FAULT=<call>:<which> picks them:
//   launch:n     the n-th clEnqueueNDRangeKernel returns CL_OUT_OF_RESOURCES
//   ran:n        the n-th clEnqueueNDRangeKernel does its work, and returns CL_OUT_OF_RESOURCES
//   event:n      the n-th clEnqueueNDRangeKernel runs nothing, and its command ends with
//                CL_OUT_OF_RESOURCES
//   memory:n     the n-th clSVMAlloc returns null
//   buffer:n     the n-th clCreateBuffer of 256 KiB or more returns
//                CL_MEM_OBJECT_ALLOCATION_FAILURE
//   build:n      the n-th clBuildProgram returns CL_BUILD_PROGRAM_FAILURE
//   argument, flush, write, read, ask, wait
//                clSetKernelArg, clFlush, the copies to and from the device, clGetEventInfo,
//                clWaitForEvents
// RK_STALL=<what>:<call>:<n> has the n-th call of that name hang for ever (`hang`), begin after
// ten seconds (`delay`), do nothing and return the status -5 (`once-5`), or do so with the calls
// behind it (`lasting-5`) until RK_FAULT=over:0. It prints "reached" then, and is read once.
// clSVMAlloc returns null instead; clSVMFree does not fail. The calls: those above,
// and `platforms`, `platform`, `devices`, `device`, `finish`, `map`, `unmap`, `callback`, `retain`,
// `context`, `queue`, `program`, `binary`, `log`, `kernel`, `release`, of whatever kind.
// `platform`, `device`, `binary` and `log` are clGetPlatformInfo, clGetDeviceInfo, clGetProgramInfo
// and clGetProgramBuildInfo. `later_` before a name counts from the first clCreateContext on, which
// is behind the search for devices. `all` instead of a number picks every call from then on: the
// variable is read at each of them. `n+` picks the n-th and the next: what is tried once more fails
// then, too. `/n` picks every n-th; each answers another of the codes that may pass, and how many
// did is printed at the end. The next call of the thread is not picked then, whatever others have
// called meanwhile.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>

namespace {

const cl_icd_dispatch* target = nullptr;
cl_icd_dispatch layer{};

/// RK_STALL, as it was when the layer was loaded.
struct Stall {
  bool is_delay = false;
  cl_int status = CL_SUCCESS;  // which the call returns; CL_SUCCESS: it hangs, or is delayed
  bool is_lasting = false;
  std::string call;
  int number = 0;
  std::atomic<bool> has_begun = false;
  std::atomic<int> calls = 0;
};
Stall stall;

void read_stall() {
  const char* const variable = std::getenv("RK_STALL");
  const std::string_view plan = variable == nullptr ? "" : variable;
  const std::size_t first = plan.find(':');
  const std::size_t last = plan.rfind(':');
  if (first == last) return;
  stall.is_delay = plan.starts_with("delay");
  stall.is_lasting = plan.starts_with("lasting");
  if (const std::size_t sign = plan.find('-'); sign < first)
    stall.status = std::atoi(plan.data() + sign);
  stall.call = plan.substr(first + 1, last - first - 1);
  stall.number = std::atoi(plan.data() + last + 1);
  constexpr std::string_view later = "later_";
  stall.has_begun = !stall.call.starts_with(later);
  if (!stall.has_begun) stall.call.erase(0, later.size());
}

std::atomic<int> launches = 0;
std::atomic<int> allocations = 0;
std::atomic<int> buffers = 0;
std::atomic<int> builds = 0;
std::atomic<int> arguments = 0;
std::atomic<int> flushes = 0;
std::atomic<int> writes = 0;
std::atomic<int> reads = 0;
std::atomic<int> questions = 0;
std::atomic<int> event_waits = 0;
std::atomic<unsigned> passing = 0;  // faults of a plan "/n"

/// Whether the plan names the `number`-th call of this kind.
bool planned(std::string_view kind, int number) {
  const char* const plan = std::getenv("RK_FAULT");
  const char* const colon = plan == nullptr ? nullptr : std::strchr(plan, ':');
  if (colon == nullptr || std::string_view(plan, static_cast<std::size_t>(colon - plan)) != kind)
    return false;
  const std::string_view which = colon + 1;
  if (which == "all") return true;
  if (which.starts_with('/')) {
    thread_local bool is_second = false;
    is_second = !is_second && number % std::atoi(which.data() + 1) == 0;
    return is_second;
  }
  const int first = std::atoi(which.data());
  return number == first || (which.ends_with('+') && number == first + 1);
}

cl_int planned_status() {
  const char* const plan = std::getenv("RK_FAULT");
  if (plan == nullptr || std::strchr(plan, '/') == nullptr) return CL_OUT_OF_RESOURCES;
  constexpr cl_int codes[] = {CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                              CL_OUT_OF_HOST_MEMORY, CL_INVALID_COMMAND_QUEUE};
  const unsigned before = passing++;
  if (before == 0) std::atexit([] { std::printf("faults: %u\n", passing.load()); });
  return codes[before % 4];
}

/// Stays here if the plan says so of this call. The status with which it is to fail; mostly none.
cl_int stay_or_fail(std::string_view call) {
  if (call == "context") stall.has_begun = true;
  if (!stall.has_begun || call != stall.call) return CL_SUCCESS;
  const int number = ++stall.calls;
  const bool is_first = number == stall.number;
  if (!is_first && !(stall.is_lasting && number > stall.number)) return CL_SUCCESS;
  if (stall.is_lasting && planned("over", 0)) return CL_SUCCESS;
  constexpr std::string_view text = "reached\n";
  if (is_first) (void)!::write(STDOUT_FILENO, text.data(), text.size());
  if (stall.status != CL_SUCCESS) return stall.status;
  do {
    std::this_thread::sleep_for(std::chrono::seconds(10));
  } while (!stall.is_delay);
  return CL_SUCCESS;
}

/// The function of the driver, but for the calls that the plan names.
template <auto entry, class... Parameters>
cl_int pass_on(std::string_view kind, std::atomic<int>& count, Parameters... parameters) {
  if (const cl_int status = stay_or_fail(kind)) return status;
  return planned(kind, ++count) ? planned_status() : (target->*entry)(parameters...);
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
  if (const cl_int status = stay_or_fail("launch")) return status;
  const int number = ++launches;
  if (planned("launch", number)) return planned_status();
  if (planned("event", number)) {
    *event = failed_event(queue);
    return CL_SUCCESS;
  }
  const cl_int status = target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                       local, waits, wait_list, event);
  return planned("ran", number) ? CL_OUT_OF_RESOURCES : status;
}

void* CL_API_CALL allocate(cl_context context, cl_svm_mem_flags flags, size_t bytes,
                           cl_uint alignment) {
  if (stay_or_fail("memory") != CL_SUCCESS || planned("memory", ++allocations)) return nullptr;
  return target->clSVMAlloc(context, flags, bytes, alignment);
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host,
                                 cl_int* status) {
  if (*status = stay_or_fail("buffer"); *status != CL_SUCCESS) return nullptr;
  if (bytes >= 256 << 10 && planned("buffer", ++buffers)) {
    *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
  }
  return target->clCreateBuffer(context, flags, bytes, host, status);
}

cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id* devices,
                         const char* options, void(CL_CALLBACK* done)(cl_program, void*),
                         void* user) {
  if (const cl_int status = stay_or_fail("build")) return status;
  if (planned("build", ++builds)) return CL_BUILD_PROGRAM_FAILURE;
  return target->clBuildProgram(program, count, devices, options, done, user);
}

cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void* value) {
  return pass_on<&cl_icd_dispatch::clSetKernelArg>("argument", arguments, kernel, index, bytes,
                                                   value);
}

cl_int CL_API_CALL set_shared_argument(cl_kernel kernel, cl_uint index, const void* value) {
  return pass_on<&cl_icd_dispatch::clSetKernelArgSVMPointer>("argument", arguments, kernel, index,
                                                             value);
}

cl_int CL_API_CALL flush(cl_command_queue queue) {
  return pass_on<&cl_icd_dispatch::clFlush>("flush", flushes, queue);
}

cl_int CL_API_CALL write(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
                         size_t bytes, const void* data, cl_uint wait_count,
                         const cl_event* wait_list, cl_event* event) {
  return pass_on<&cl_icd_dispatch::clEnqueueWriteBuffer>(
      "write", writes, queue, buffer, blocks, offset, bytes, data, wait_count, wait_list, event);
}

cl_int CL_API_CALL read(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
                        size_t bytes, void* data, cl_uint wait_count, const cl_event* wait_list,
                        cl_event* event) {
  return pass_on<&cl_icd_dispatch::clEnqueueReadBuffer>(
      "read", reads, queue, buffer, blocks, offset, bytes, data, wait_count, wait_list, event);
}

cl_int CL_API_CALL write_both(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                              const size_t* origin, const size_t* host_origin, const size_t* region,
                              size_t row, size_t slice, size_t host_row, size_t host_slice,
                              const void* data, cl_uint wait_count, const cl_event* wait_list,
                              cl_event* event) {
  return pass_on<&cl_icd_dispatch::clEnqueueWriteBufferRect>(
      "write", writes, queue, buffer, blocks, origin, host_origin, region, row, slice, host_row,
      host_slice, data, wait_count, wait_list, event);
}

cl_int CL_API_CALL read_both(cl_command_queue queue, cl_mem buffer, cl_bool blocks,
                             const size_t* origin, const size_t* host_origin, const size_t* region,
                             size_t row, size_t slice, size_t host_row, size_t host_slice,
                             void* data, cl_uint wait_count, const cl_event* wait_list,
                             cl_event* event) {
  return pass_on<&cl_icd_dispatch::clEnqueueReadBufferRect>(
      "read", reads, queue, buffer, blocks, origin, host_origin, region, row, slice, host_row,
      host_slice, data, wait_count, wait_list, event);
}

cl_int CL_API_CALL ask(cl_event event, cl_event_info what, size_t bytes, void* value,
                       size_t* bytes_needed) {
  return pass_on<&cl_icd_dispatch::clGetEventInfo>("ask", questions, event, what, bytes, value,
                                                   bytes_needed);
}

cl_int CL_API_CALL wait(cl_uint count, const cl_event* events) {
  return pass_on<&cl_icd_dispatch::clWaitForEvents>("wait", event_waits, count, events);
}

/// What a function returns that fails: its last parameter takes the status where it is no status.
template <class Value, class... Parameters>
Value failed(cl_int status, Parameters... parameters) {
  if constexpr (std::is_same_v<Value, cl_int>) {
    return status;
  } else {
    *std::get<sizeof...(Parameters) - 1>(std::tuple(parameters...)) = status;
    return nullptr;
  }
}

/// Has a function of the driver begin behind a stay, or fail, if that is planned.
template <auto entry, const char* call, class Value, class... Parameters>
void put_behind(Value (CL_API_CALL* cl_icd_dispatch::*)(Parameters...)) {
  layer.*entry = [](Parameters... parameters) -> Value {
    const cl_int status = stay_or_fail(call);
    if constexpr (!std::is_void_v<Value>)
      if (status != CL_SUCCESS) return failed<Value>(status, parameters...);
    return (target->*entry)(parameters...);
  };
}

template <auto entry, const char* call>
void put_behind() {
  put_behind<entry, call>(entry);
}

constexpr char call_platforms[] = "platforms";
constexpr char call_platform[] = "platform";
constexpr char call_devices[] = "devices";
constexpr char call_device[] = "device";
constexpr char call_finish[] = "finish";
constexpr char call_map[] = "map";
constexpr char call_unmap[] = "unmap";
constexpr char call_callback[] = "callback";
constexpr char call_retain[] = "retain";
constexpr char call_context[] = "context";
constexpr char call_queue[] = "queue";
constexpr char call_program[] = "program";
constexpr char call_binary[] = "binary";
constexpr char call_log[] = "log";
constexpr char call_kernel[] = "kernel";
constexpr char call_release[] = "release";

void put_behind_stays() {
  put_behind<&cl_icd_dispatch::clGetPlatformIDs, call_platforms>();
  put_behind<&cl_icd_dispatch::clGetPlatformInfo, call_platform>();
  put_behind<&cl_icd_dispatch::clGetDeviceIDs, call_devices>();
  put_behind<&cl_icd_dispatch::clGetDeviceInfo, call_device>();
  put_behind<&cl_icd_dispatch::clFinish, call_finish>();
  put_behind<&cl_icd_dispatch::clEnqueueMapBuffer, call_map>();
  put_behind<&cl_icd_dispatch::clEnqueueUnmapMemObject, call_unmap>();
  put_behind<&cl_icd_dispatch::clSetEventCallback, call_callback>();
  put_behind<&cl_icd_dispatch::clRetainEvent, call_retain>();
  put_behind<&cl_icd_dispatch::clCreateContext, call_context>();
  put_behind<&cl_icd_dispatch::clCreateCommandQueue, call_queue>();
  put_behind<&cl_icd_dispatch::clCreateCommandQueueWithProperties, call_queue>();
  put_behind<&cl_icd_dispatch::clCreateProgramWithSource, call_program>();
  put_behind<&cl_icd_dispatch::clCreateProgramWithBinary, call_program>();
  put_behind<&cl_icd_dispatch::clGetProgramInfo, call_binary>();
  put_behind<&cl_icd_dispatch::clGetProgramBuildInfo, call_log>();
  put_behind<&cl_icd_dispatch::clCreateKernel, call_kernel>();
  put_behind<&cl_icd_dispatch::clReleaseContext, call_release>();
  put_behind<&cl_icd_dispatch::clReleaseCommandQueue, call_release>();
  put_behind<&cl_icd_dispatch::clReleaseProgram, call_release>();
  put_behind<&cl_icd_dispatch::clReleaseKernel, call_release>();
  put_behind<&cl_icd_dispatch::clReleaseMemObject, call_release>();
  put_behind<&cl_icd_dispatch::clReleaseEvent, call_release>();
  put_behind<&cl_icd_dispatch::clSVMFree, call_release>();
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
  read_stall();
  put_behind_stays();
  layer.clEnqueueNDRangeKernel = launch;
  layer.clSVMAlloc = allocate;
  layer.clCreateBuffer = create_buffer;
  layer.clBuildProgram = build;
  layer.clSetKernelArg = set_argument;
  layer.clSetKernelArgSVMPointer = set_shared_argument;
  layer.clFlush = flush;
  layer.clEnqueueWriteBuffer = write;
  layer.clEnqueueReadBuffer = read;
  layer.clEnqueueWriteBufferRect = write_both;
  layer.clEnqueueReadBufferRect = read_both;
  layer.clGetEventInfo = ask;
  layer.clWaitForEvents = wait;
  *entries = sizeof layer / sizeof(void*);
  *layer_dispatch = &layer;
  return CL_SUCCESS;
}
}
