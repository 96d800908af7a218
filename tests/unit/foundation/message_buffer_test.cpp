#include "ringkernel/message_buffer.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace ringkernel::test {
namespace {

MessageBuffer filled(std::size_t bytes, int value) {
  MessageBuffer buffer(bytes);
  std::memset(buffer.data(), value, bytes);
  return buffer;
}

bool holds(const MessageBuffer& buffer, int value) {
  for (const std::byte byte : buffer.span())
    if (byte != static_cast<std::byte>(value)) return false;
  return true;
}

// Sizes on both sides of what a thread keeps for itself.
TEST(MessageBuffer, IsAlignedAndItsOwnWhateverItsSize) {
  std::vector<std::size_t> sizes{4096, 1u << 20};
  for (std::size_t bytes = 1; bytes < 300; ++bytes) sizes.push_back(bytes);
  for (const std::size_t bytes : sizes) {
    const MessageBuffer a = filled(bytes, 1);
    const MessageBuffer b = filled(bytes, 2);
    EXPECT_EQ(a.size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u) << bytes;
    EXPECT_TRUE(holds(a, 1) && holds(b, 2)) << bytes;
  }
  EXPECT_EQ(MessageBuffer(0).data(), nullptr);
  EXPECT_EQ(MessageBuffer().size(), 0u);
}

TEST(MessageBuffer, AMovedOneIsEmptyAndWhatWasThereGoes) {
  MessageBuffer a = filled(100, 1);
  MessageBuffer b = filled(300, 2);
  b = std::move(a);
  EXPECT_EQ(b.size(), 100u);
  EXPECT_TRUE(holds(b, 1));
  MessageBuffer c(std::move(b));
  EXPECT_TRUE(holds(c, 1));
  EXPECT_EQ(b.size(), 0u);  // NOLINT: what a move leaves is the subject
  EXPECT_EQ(b.data(), nullptr);
}

TEST(MessageBuffer, ThrowsWhenMemoryIsOut) {
  EXPECT_THROW(MessageBuffer(SIZE_MAX), std::bad_alloc);
}

// More alive at once than a thread keeps, made by one thread, dropped by others that end.
TEST(MessageBuffer, MayBeDroppedByAnyThread) {
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<MessageBuffer> buffers;
    for (int i = 0; i < 200; ++i) buffers.push_back(filled(200, i));
    std::thread([&] {
      for (int i = 0; i < 200; i += 2) {
        EXPECT_TRUE(holds(buffers[static_cast<std::size_t>(i)], i));
        buffers[static_cast<std::size_t>(i)] = MessageBuffer();
      }
      const MessageBuffer own = filled(64, 3);  // perhaps one of those
      EXPECT_TRUE(holds(own, 3));
    }).join();
    for (int i = 1; i < 200; i += 2) EXPECT_TRUE(holds(buffers[static_cast<std::size_t>(i)], i));
  }
}

// The sanitizers have an allocator of their own, and with them a thread keeps nothing.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(MessageBuffer, AThreadThatEndsGivesBackWhatItKept) {
  const auto turn = [] {
    std::vector<MessageBuffer> buffers;
    for (int i = 0; i < 64; ++i) buffers.push_back(filled(200, i));
    std::thread([&] { buffers.clear(); }).join();
  };
  for (int i = 0; i < 10; ++i) turn();
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 200; ++i) turn();
  EXPECT_LT(mallinfo2().uordblks, before + std::size_t{64} * 1024);  // 3 MiB would be lost
}
#endif

/// Goes after the thread's own storage.
thread_local MessageBuffer outlives;

TEST(MessageBuffer, MayGoWhileItsThreadEnds) {
  std::thread([] {
    outlives = filled(128, 1);
    for (int i = 0; i < 100; ++i) (void)filled(128, 2);
    EXPECT_TRUE(holds(outlives, 1));
  }).join();
}

}  // namespace
}  // namespace ringkernel::test
