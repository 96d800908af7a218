#include "backend/opencl/query.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <span>

#include "backend/loader.hpp"
#include "backend/opencl/immediate.hpp"
#include "foundation/entries.hpp"
#include "foundation/environment.hpp"
#include "foundation/fork.hpp"
#include "ringkernel/protocol/control_block.h"

namespace ringkernel::opencl {

namespace {

constexpr cl_device_svm_capabilities shared_atomics =
    CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;

struct Flag {
  cl_bitfield bit;
  const char* name;
};

constexpr Flag svm_flags[] = {
    {CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, "coarse-grained buffers"},
    {CL_DEVICE_SVM_FINE_GRAIN_BUFFER, "fine-grained buffers"},
    {CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, "system memory"},
    {CL_DEVICE_SVM_ATOMICS, "atomics"},
};

constexpr Flag queue_flags[] = {
    {CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "out of order"},
    {CL_QUEUE_PROFILING_ENABLE, "profiling"},
};

constexpr Flag atomic_flags[] = {
    {CL_DEVICE_ATOMIC_ORDER_RELAXED, "relaxed"},
    {CL_DEVICE_ATOMIC_ORDER_ACQ_REL, "acquire/release"},
    {CL_DEVICE_ATOMIC_ORDER_SEQ_CST, "sequentially consistent"},
    {CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP, "work-group scope"},
    {CL_DEVICE_ATOMIC_SCOPE_DEVICE, "device scope"},
    {CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES, "all-devices scope"},
};

std::string names_of(cl_bitfield bits, std::span<const Flag> flags) {
  std::string text;
  for (const Flag& flag : flags) {
    if ((bits & flag.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += flag.name;
  }
  return text.empty() ? "none" : text;
}

template <std::size_t bytes>
void put(char (&field)[bytes], const std::string& text) {
  std::snprintf(field, bytes, "%s", text.c_str());
}

/// A figure for people, or "?" where the device does not say.
template <class Value>
std::string figure(cl_device_id device, cl_device_info what) {
  const Result<Value> value = device_value<Value>(device, what);
  return value.has_value() ? std::to_string(*value) : "?";
}

template <class Value>
std::string flags(cl_device_id device, cl_device_info what, std::span<const Flag> known) {
  const Result<Value> value = device_value<Value>(device, what);
  return value.has_value() ? names_of(*value, known) : "?";
}

std::string capabilities(cl_device_id device) {
  const auto version = device_text(device, CL_DEVICE_OPENCL_C_VERSION);
  std::string text;
  const auto line = [&text](const char* key, const std::string& value) {
    text.append(key).append(": ").append(value).append("\n");
  };
  line("OpenCL C", version.has_value() ? *version : "?");
  line("SVM", flags<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES, svm_flags));
  line("atomics", flags<cl_device_atomic_capabilities>(device, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES,
                                                       atomic_flags));
  line("fences", flags<cl_device_atomic_capabilities>(device, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES,
                                                      atomic_flags));
  line("queues",
       flags<cl_command_queue_properties>(device, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, queue_flags));
  line("slices", has_immediate_queues(device) ? "on threads of this process" : "on the driver's");
  line("work-group items", figure<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  line("local memory bytes", figure<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  line("preferred float vector", figure<cl_uint>(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT));
  line("clock MHz", figure<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY));
  return text;
}

uint32_t kind_of(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return RK_DEVICE_KIND_CPU;
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return RK_DEVICE_KIND_GPU;
  return RK_DEVICE_KIND_OTHER;
}

/// Why the device cannot run kernels at all; empty if it can.
Result<std::string> obstacle(cl_device_id device) {
  RK_TRY(available, device_value<cl_bool>(device, CL_DEVICE_AVAILABLE));
  if (available == CL_FALSE) return std::string("the device says that it is not available");
  RK_TRY(compiler, device_value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE));
  if (compiler == CL_FALSE) return std::string("the device has no compiler");
  RK_TRY(little, device_value<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE));
  if (little == CL_FALSE) return std::string("the device is big-endian");
  return std::string();
}

/// Why the device's own claims rule out zero_copy; empty if they do not.
std::string zero_copy_obstacle(cl_device_id device) {
  // A device of OpenCL 1.x does not know the question: no shared virtual memory.
  const auto svm = device_value<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES);
  const cl_device_svm_capabilities have = svm.has_value() ? *svm : 0;
  if ((have & shared_atomics) != shared_atomics)
    return "it needs shared virtual memory with fine-grained buffers and atomics; the device "
           "has: " +
           names_of(have, svm_flags);
  if (device_version(device) < 300) return "it needs the C11 atomics of OpenCL C 3.0";
  return {};
}

Result<rk_device_description> describe(cl_platform_id platform, cl_device_id device) {
  rk_device_description out{};
  out.struct_bytes = sizeof out;
  RK_TRY(name, device_text(device, CL_DEVICE_NAME));
  RK_TRY(driver, device_text(device, CL_DRIVER_VERSION));
  RK_TRY(version, device_text(device, CL_DEVICE_VERSION));
  RK_TRY(type, device_value<cl_device_type>(device, CL_DEVICE_TYPE));
  RK_TRY(units, device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  RK_TRY(items, device_value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  RK_TRY(memory, device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  RK_TRY(allocation, device_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  RK_TRY(reason, obstacle(device));
  const bool able = reason.empty();
  if (able) reason = zero_copy_obstacle(device);
  out.kind = kind_of(type);
  out.compute_units = units;
  out.transfer = !able            ? RK_TRANSFER_NONE
                 : reason.empty() ? RK_TRANSFER_ZERO_COPY
                                  : RK_TRANSFER_DMA;
  out.memory_bytes = memory;
  out.allocation_bytes_max = allocation;
  // A CPU device keeps one unit free (ClDevice::resident_groups_max); an immediate slice is one
  // thread.
  const uint32_t groups = has_immediate_queues(device)     ? 1
                          : out.kind == RK_DEVICE_KIND_CPU ? units - 1
                                                           : units;
  out.work_groups_max = std::clamp(groups, 1u, RK_WORK_GROUPS_MAX);
  out.work_items_max = static_cast<uint32_t>(std::min<std::size_t>(items, UINT32_MAX));
  put(out.name, name);
  put(out.platform, platform_text(platform, CL_PLATFORM_NAME));
  put(out.driver, driver);
  put(out.version, version);
  put(out.reason, reason);
  put(out.capabilities, capabilities(device));
  return out;
}

Result<std::vector<cl_platform_id>> platforms() {
  cl_uint count = 0;
  const cl_int status = cl().clGetPlatformIDs(0, nullptr, &count);
  if (status == CL_PLATFORM_NOT_FOUND_KHR)
    count = 0;
  else
    RK_TRY_VOID(check("clGetPlatformIDs", status));
  if (count == 0)
    return Error(Errc::backend_unavailable,
                 "no OpenCL driver is installed (for CPUs, Debian has pocl-opencl-icd)");
  std::vector<cl_platform_id> ids(count);
  RK_TRY_VOID(check("clGetPlatformIDs", cl().clGetPlatformIDs(count, ids.data(), nullptr)));
  return ids;
}

Result<std::vector<cl_device_id>> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  const cl_int status = cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (status == CL_DEVICE_NOT_FOUND || (status == CL_SUCCESS && count == 0))
    return Error(Errc::backend_unavailable, "it has no device");
  RK_TRY_VOID(check("clGetDeviceIDs", status));
  std::vector<cl_device_id> ids(count);
  RK_TRY_VOID(check("clGetDeviceIDs",
                    cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr)));
  return ids;
}

Discovery discover_now() {
  Discovery found;
  if (!load_library().api.has_value()) return found;
  const auto note = [&found](const std::string& of, const Error& error) {
    found.failures.push_back(of + error.detail);
    found.has_call_failed |= error != Errc::backend_unavailable;
  };
  const auto ids = platforms();
  if (!ids.has_value()) {
    note("", ids.error());
    return found;
  }
  for (const cl_platform_id platform : *ids) {
    const std::string vendor = platform_text(platform, CL_PLATFORM_NAME);
    const std::string name = "platform " + vendor;
    if (const std::string& trouble = load_library().pocl_trouble;
        vendor == pocl_platform && !trouble.empty())
      found.failures.push_back(name + ": " + trouble);
    const auto devices = devices_of(platform);
    if (!devices.has_value()) {
      note(name + ": ", devices.error());
      continue;
    }
    for (const cl_device_id device : *devices) {
      const auto description = describe(platform, device);
      if (description.has_value())
        found.devices.emplace_back(platform, device, *description);
      else
        note(name + ", a device: ", description.error());
    }
  }
  return found;
}

}  // namespace

FoundDevice::FoundDevice(cl_platform_id of, cl_device_id device, const rk_device_description& what)
    : platform(of), id(device), description(what), waits_for_kernels(is_nvidia(device)) {}

Result<std::string> device_text(cl_device_id device, cl_device_info what) {
  RK_TRY(characters, device_list<char>(device, what));
  return std::string(characters.begin(), std::find(characters.begin(), characters.end(), '\0'));
}

unsigned version_number(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto digit = [&](std::size_t at) {
    return at < text.size() && text[at] >= '0' && text[at] <= '9' ? unsigned(text[at] - '0') : 10u;
  };
  if (dot == 0 || dot == std::string_view::npos || digit(dot - 1) > 9 || digit(dot + 1) > 9)
    return 0;
  return digit(dot - 1) * 100 + digit(dot + 1) * 10;
}

unsigned device_version(cl_device_id device) {
  const auto text = device_text(device, CL_DEVICE_VERSION);
  return text.has_value() ? version_number(*text) : 0;
}

bool has_extension(cl_device_id device, std::string_view name) {
  const Result<std::string> extensions = device_text(device, CL_DEVICE_EXTENSIONS);
  return extensions.has_value() &&
         (" " + *extensions + " ").find(" " + std::string(name) + " ") != std::string::npos;
}

bool is_nvidia(cl_device_id device) {
  return has_extension(device, "cl_nv_device_attribute_query");
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  char text[256] = "";
  if (cl().clGetPlatformInfo(platform, what, sizeof text - 1, text, nullptr) != CL_SUCCESS)
    return "?";
  return text;
}

bool was_used_before_fork() noexcept {
  static std::atomic<std::uint32_t> user{0};
  const std::uint32_t here = fork_generation.load(std::memory_order_relaxed);
  std::uint32_t first = 0;
  // relaxed: a fork is behind everything that its parent did
  return !user.compare_exchange_strong(first, here, std::memory_order_relaxed) && first != here;
}

const Discovery& discover() {
  // Outlive every static destructor: a runtime may be one of the objects that end after main. What
  // was found stays: others look at it.
  static auto& looks = *new std::deque<Discovery>;
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  if (looks.empty() || !looks.back().is_final()) looks.push_back(discover_now());
  return looks.back();
}

std::vector<std::string> broken_drivers() {
  namespace fs = std::filesystem;
  const std::string_view chosen = environment("OCL_ICD_VENDORS");
  const fs::path folder = chosen.empty() ? "/etc/OpenCL/vendors" : chosen;
  std::vector<std::string> sentences;
  std::error_code ignored;
  for (const fs::path& entry : entries_of(folder, ignored)) {
    if (entry.extension() != ".icd") continue;
    std::string library;
    std::getline(std::ifstream(entry) >> std::ws, library);
    std::vector<std::string> tried;
    const auto opened = backend::SharedLibrary::open(std::span(&library, 1), {}, tried);
    if (!opened.has_value()) sentences.push_back("driver " + entry.string() + ": " + tried[0]);
  }
  return sentences;
}

}  // namespace ringkernel::opencl
