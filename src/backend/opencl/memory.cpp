#include "backend/opencl/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "ringkernel/protocol/abi.h"

namespace ringkernel::opencl {

namespace {

/// Writes only where something lies: reading a fresh page maps no memory, so that a large arena
/// costs what is used of it.
void zero(std::byte* data, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  static constexpr std::array<std::byte, page> zeros{};
#if defined(MADV_POPULATE_READ)  // fresh pages can be read, in a third of the time of a fault each
  const std::size_t to_page = (page - reinterpret_cast<std::uintptr_t>(data) % page) % page;
  if (to_page < bytes)
    static_cast<void>(madvise(data + to_page, bytes - to_page, MADV_POPULATE_READ));
#endif
  for (std::size_t offset = 0; offset < bytes; offset += page) {
    const std::size_t length = std::min(page, bytes - offset);
    if (std::memcmp(data + offset, zeros.data(), length) != 0)
      std::memset(data + offset, 0, length);
  }
}

Result<Buffer> make_buffer_with(cl_context context, cl_mem_flags flags, std::size_t bytes) {
  cl_int status = CL_SUCCESS;
  Buffer buffer(cl().clCreateBuffer(context, flags, bytes, nullptr, &status));
  RK_TRY_VOID(check("clCreateBuffer", status));
  return buffer;
}

}  // namespace

Result<SharedMemory> SharedMemory::allocate(cl_context context, std::size_t bytes) {
  if (cl().clSVMAlloc == nullptr || cl().clSVMFree == nullptr)
    return Error(Errc::allocation_failure, load_library().name + " has no shared virtual memory");
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

Result<SharedMemory> SharedMemory::map(std::size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return Error(Errc::allocation_failure,
                 std::to_string(bytes) + " bytes of shared memory could not be mapped");
  return SharedMemory(nullptr, static_cast<std::byte*>(data), bytes);
}

SharedMemory::~SharedMemory() {
  if (data_ == nullptr) return;
  if (context_ != nullptr)
    cl().clSVMFree(context_, data_);
  else
    munmap(data_, bytes_);
}

Result<Buffer> make_buffer(cl_context context, std::size_t bytes) {
  return make_buffer_with(context, CL_MEM_READ_WRITE, bytes);
}

Result<MirroredMemory> MirroredMemory::allocate(cl_context context, cl_command_queue queue,
                                                std::size_t bytes) {
  RK_TRY(device, make_buffer(context, bytes));
  // No driver promises an alignment for what it maps.
  const std::size_t mapped_bytes = bytes + RK_LINE_BYTES;
  RK_TRY(pinned,
         make_buffer_with(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, mapped_bytes));
  cl_int status = CL_SUCCESS;
  void* const mapped =
      cl().clEnqueueMapBuffer(queue, pinned.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                              mapped_bytes, 0, nullptr, nullptr, &status);
  RK_TRY_VOID(check("clEnqueueMapBuffer", status));
  MirroredMemory memory(std::move(device), std::move(pinned), queue, mapped, bytes);
  zero(memory.data(), bytes);
  return memory;
}

MirroredMemory::MirroredMemory(Buffer device, Buffer pinned, cl_command_queue queue, void* mapped,
                               std::size_t bytes) noexcept
    : device_(std::move(device)),
      pinned_(std::move(pinned)),
      queue_(queue),
      mapped_(mapped),
      mirror_(static_cast<std::byte*>(mapped)),
      bytes_(bytes) {
  const auto past = reinterpret_cast<std::uintptr_t>(mapped) % RK_LINE_BYTES;
  if (past != 0) mirror_ += RK_LINE_BYTES - past;
}

MirroredMemory::~MirroredMemory() {
  if (!pinned_) return;  // moved from
  cl_event unmapped = nullptr;
  if (cl().clEnqueueUnmapMemObject(queue_, pinned_.get(), mapped_, 0, nullptr, &unmapped) ==
      CL_SUCCESS)
    static_cast<void>(finish(Event(unmapped)));
}

std::byte* host_data(const ArenaMemory& memory) noexcept {
  return std::visit([](const auto& held) { return held.data(); }, memory);
}

std::size_t size_of(const ArenaMemory& memory) noexcept {
  return std::visit([](const auto& held) { return held.size(); }, memory);
}

Result<void> set_memory_argument(cl_kernel kernel, cl_uint index, const SharedMemory& memory) {
  return check("clSetKernelArgSVMPointer",
               twice(cl().clSetKernelArgSVMPointer, kernel, index, memory.data()));
}

Result<void> set_memory_argument(cl_kernel kernel, cl_uint index, cl_mem buffer) {
  return check("clSetKernelArg",
               twice(cl().clSetKernelArg, kernel, index, sizeof(cl_mem), &buffer));
}

}  // namespace ringkernel::opencl
