/// Zeroed memory of the process: arenas, workspaces.
///
/// Threading: none of its own.
/// Ownership: move-only; gives the memory back in its destructor.
/// Errors: Errc::allocation_failure with what was wanted, and how many bytes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "ringkernel/result.hpp"

namespace ringkernel::native {

class Memory {
 public:
  static Result<Memory> map(const char* what, std::uint64_t bytes) {
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
      return Error(Errc::allocation_failure, std::string(what) + " of " + std::to_string(bytes) +
                                                 " bytes could not be mapped");
    return Memory(static_cast<std::byte*>(data), bytes);
  }
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  Memory(std::byte* data, std::uint64_t bytes) noexcept : data_(data), bytes_(bytes) {}

  std::byte* data_;
  std::uint64_t bytes_;
};

}  // namespace ringkernel::native
