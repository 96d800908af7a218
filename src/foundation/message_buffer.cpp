#include <cstdlib>
#include <new>

#include "foundation/align.hpp"
#include "ringkernel/message_buffer.hpp"
#include "ringkernel/protocol/abi.h"

namespace ringkernel {

// malloc and a shift: glibc serves small sizes from a per-thread cache, which its aligned
// allocation functions bypass.
MessageBuffer::MessageBuffer(std::size_t bytes) : bytes_(bytes) {
  constexpr std::size_t alignment = RK_RECORD_ALIGN;
  if (bytes == 0) return;
  if (bytes <= SIZE_MAX - alignment) block_ = std::malloc(bytes + alignment);
  if (block_ == nullptr) throw std::bad_alloc();
  const auto address = reinterpret_cast<std::uintptr_t>(block_);
  data_ = static_cast<std::byte*>(block_) + (align_up(address, alignment) - address);
}

MessageBuffer::~MessageBuffer() { std::free(block_); }

}  // namespace ringkernel
