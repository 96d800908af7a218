#include <pthread.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "foundation/align.hpp"
#include "foundation/memory_error.hpp"
#include "ringkernel/message_buffer.hpp"
#include "ringkernel/protocol/abi.h"

namespace ringkernel {
namespace {

constexpr std::size_t alignment = RK_RECORD_ALIGN;

/// Buffers up to this size come in blocks of this size, which a thread keeps for its next ones.
/// malloc's own cache holds seven of a size, and a pipeline has more in flight.
constexpr std::size_t small_bytes = 256;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kept_max = 0;  // the sanitizer shall see who uses what is freed
#else
constexpr std::size_t kept_max = 64;
#endif

/// Free small blocks of one thread. Without a destructor, so that a buffer may go at any time.
struct Kept {
  std::array<void*, kept_max + 1> blocks;
  std::size_t count;
  bool will_close;  // when the thread ends
  bool closed;      // it does
};
thread_local constinit Kept kept{};

/// Frees what the thread keeps when it ends. Not the destructor of a thread_local: without memory
/// to register that, the process would end.
void close(void*) noexcept {
  kept.closed = true;
  while (kept.count != 0) std::free(kept.blocks[--kept.count]);
}
/// False: nobody would free what this thread keeps.
bool closes_in_time() noexcept {
  struct Key {
    pthread_key_t key{};
    bool is_made = pthread_key_create(&key, close) == 0;
  };
  static const Key key;
  return key.is_made && pthread_setspecific(key.key, &kept) == 0;
}

void* allocate_small() {
  return kept.count != 0 ? kept.blocks[--kept.count] : std::aligned_alloc(alignment, small_bytes);
}

void free_small(void* block) noexcept {
  if (kept.closed || kept.count == kept_max) return std::free(block);
  if (!kept.will_close && !(kept.will_close = closes_in_time())) return std::free(block);
  kept.blocks[kept.count++] = block;
}

}  // namespace

MessageBuffer::MessageBuffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* block = nullptr;
  if (bytes <= small_bytes)
    block = allocate_small();
  else if (bytes <= SIZE_MAX - alignment)
    block = std::aligned_alloc(alignment, align_up(bytes, alignment));
  if (block == nullptr) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(block);
}

MessageBuffer MessageBuffer::try_make(std::size_t bytes) noexcept {
  MessageBuffer buffer;
  (void)with_memory([&] { buffer = MessageBuffer(bytes); });
  return buffer;
}

void MessageBuffer::free(std::byte* data, std::size_t bytes) noexcept {
  if (bytes <= small_bytes)
    free_small(data);
  else
    std::free(data);
}

}  // namespace ringkernel
