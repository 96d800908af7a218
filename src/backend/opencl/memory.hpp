/// The memory that slices work on, and how the host reaches it: the same memory (fine-grained SVM
/// with atomics), or a buffer of the device and a pinned mirror of it on the host.
///
/// Threading: any thread.
/// Ownership: owns its memory; refers to the context. Queues that copy go first.
/// Errors: Errc::allocation_failure, Errc::device_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "backend/opencl/cl.hpp"

namespace ringkernel::opencl {

/// Zeroed memory that host and device work on at the same time.
class SharedMemory {
 public:
  static Result<SharedMemory> allocate(cl_context context, std::size_t bytes);
  /// The process's own memory, for a device that shares all of it.
  static Result<SharedMemory> map(std::size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept
      : context_(other.context_),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(other.bytes_) {}
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SharedMemory();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

  /// Leaves the memory allocated for good, because a kernel that does not end may still use it.
  void abandon() noexcept { data_ = nullptr; }

 private:
  SharedMemory(cl_context context, std::byte* data, std::size_t bytes) noexcept
      : context_(context), data_(data), bytes_(bytes) {}

  cl_context context_;  // null: mapped
  std::byte* data_;
  std::size_t bytes_;
};

/// Memory of the device, as it comes.
Result<Buffer> make_buffer(cl_context context, std::size_t bytes);

/// A buffer of the device with a mirror on the host: zeroed, mapped for good, and pinned where the
/// driver pins what it allocates for the host.
class MirroredMemory {
 public:
  static Result<MirroredMemory> allocate(cl_context context, cl_command_queue queue,
                                         std::size_t bytes);

  MirroredMemory(MirroredMemory&& other) noexcept = default;
  MirroredMemory& operator=(MirroredMemory&&) = delete;
  ~MirroredMemory();

  [[nodiscard]] std::byte* data() const noexcept { return mirror_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] cl_mem device() const noexcept { return device_.get(); }

 private:
  MirroredMemory(Buffer device, Buffer pinned, cl_command_queue queue, void* mapped,
                 std::size_t bytes) noexcept;

  Buffer device_;
  Buffer pinned_;
  cl_command_queue queue_;
  void* mapped_;
  std::byte* mirror_;  // in it, aligned
  std::size_t bytes_;
};

/// The arena of a device, shared or with a mirror.
using ArenaMemory = std::variant<SharedMemory, MirroredMemory>;

/// What the host works on.
std::byte* host_data(const ArenaMemory& memory) noexcept;
std::size_t size_of(const ArenaMemory& memory) noexcept;

/// Makes the memory that slices work on argument `index` of a kernel.
Result<void> set_memory_argument(cl_kernel kernel, cl_uint index, const SharedMemory& memory);
Result<void> set_memory_argument(cl_kernel kernel, cl_uint index, cl_mem buffer);

}  // namespace ringkernel::opencl
