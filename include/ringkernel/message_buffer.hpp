/// The bytes of one message, and the number that names it.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Ownership: a buffer owns its bytes; moving leaves the source empty.
/// Errors: std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace ringkernel {

/// Identifies one message of one kernel for as long as the kernel lives; never 0.
using MessageId = std::uint64_t;

/// Heap bytes, 64-byte aligned, movable; the storage of a reply.
class MessageBuffer {
 public:
  MessageBuffer() noexcept = default;
  /// Uninitialised. Throws std::bad_alloc.
  explicit MessageBuffer(std::size_t bytes);
  /// The same, or an empty one where there is no memory.
  [[nodiscard]] static MessageBuffer try_make(std::size_t bytes) noexcept;
  MessageBuffer(MessageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MessageBuffer& operator=(MessageBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MessageBuffer() {
    if (data_ != nullptr) free(data_, bytes_);
  }

  [[nodiscard]] std::byte* data() noexcept { return data_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  [[nodiscard]] std::span<const std::byte> span() const noexcept { return {data_, bytes_}; }

 private:
  static void free(std::byte* data, std::size_t bytes) noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ringkernel
