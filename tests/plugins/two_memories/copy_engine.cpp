#include "plugins/two_memories/copy_engine.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace ringkernel::two_memories {
namespace {

template <class Word>
void copy_word(std::byte* to, std::byte* from) noexcept {
  const Word word = std::atomic_ref(*reinterpret_cast<Word*>(from)).load(std::memory_order_acquire);
  std::atomic_ref(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_release);
}

/// What is guessed may be half written. ThreadSanitizer is right that this is a race, and need not
/// say so: nobody looks at bytes that were written meanwhile.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread"))) void copy_guessed(std::byte* to, const std::byte* from,
                                                         std::uint64_t bytes) noexcept {
  const volatile std::byte* source = from;
  for (std::uint64_t i = 0; i < bytes; ++i) to[i] = source[i];
}
#else
void copy_guessed(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}
#endif

/// Copies up to this length are of words that the other side may be polling.
constexpr std::uint64_t words_bytes_max = RK_LINE_BYTES;

}  // namespace

CopyEngine::~CopyEngine() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  started_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t CopyEngine::start(Job job) {
  const std::lock_guard lock(mutex_);
  try {
    if (!thread_.joinable()) thread_ = std::thread([this] { thread_main(); });
  } catch (const std::system_error&) {  // for whoever asks it is the same: perhaps later
    throw std::bad_alloc();
  }
  jobs_.push_back(std::move(job));  // nothing throws behind it
  started_.notify_one();
  return ++tickets_;
}

bool CopyEngine::wait(std::uint64_t ticket, std::uint64_t timeout_ns) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                         [&] { return done_ >= ticket; });
}

void CopyEngine::thread_main() {
  std::unique_lock lock(mutex_);
  for (;;) {
    started_.wait(lock, [this] { return !jobs_.empty() || closing_; });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
    ++done_;
    ended_.notify_all();
  }
}

void CopyEngine::copy(const rk_copy& copy, std::byte* device_memory) noexcept {
  if (copy.second_offset != 0) {
    rk_copy range = copy;
    range.second_offset = 0;
    CopyEngine::copy(range, device_memory);
    range.offset = copy.second_offset;
    range.host = static_cast<std::byte*>(copy.host) + copy.bytes;
    return CopyEngine::copy(range, device_memory);
  }
  std::byte* to = device_memory + copy.offset;
  std::byte* from = static_cast<std::byte*>(copy.host);
  if (copy.direction == RK_COPY_TO_HOST) std::swap(to, from);
  if (copy.guessed != 0) {
    copy_guessed(to, from, copy.bytes);
  } else if (copy.bytes == sizeof(rk_u64)) {
    copy_word<rk_u64>(to, from);
  } else if (copy.bytes <= words_bytes_max && copy.bytes % sizeof(rk_u32) == 0) {
    for (std::uint64_t i = 0; i < copy.bytes; i += sizeof(rk_u32))
      copy_word<rk_u32>(to + i, from + i);
  } else {
    std::memcpy(to, from, copy.bytes);
  }
}

}  // namespace ringkernel::two_memories
