#include "runtime/kernel_memory.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "unit/runtime/scripted_backend.hpp"

namespace ringkernel::detail {
namespace {

using test::scripted;

/// Over 64 KiB that hold what earlier owners left; the copies with the device are noted.
class KernelMemoryTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::uint64_t arena_bytes = 64 * 1024;
  static constexpr std::chrono::seconds patience{1};

  KernelMemoryTest() {
    scripted = {};
    std::fill_n(bytes_.get(), arena_bytes, std::byte{0x77});
  }
  [[nodiscard]] bool is_shared() const { return GetParam() == RK_TRANSFER_ZERO_COPY; }
  [[nodiscard]] bool is(std::uint64_t offset, std::uint64_t count, int value) const {
    return std::all_of(bytes_.get() + offset, bytes_.get() + offset + count,
                       [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
  }
  /// How many copies there were in that direction since the last time; all cover these bytes.
  std::size_t copies(std::uint32_t direction, std::uint64_t offset, std::uint64_t count) {
    const std::vector<rk_copy> all = std::exchange(scripted.copies, {});
    for (const rk_copy& copy : all) {
      EXPECT_EQ(copy.direction, direction);
      EXPECT_LE(copy.offset, offset);
      EXPECT_GE(copy.offset + copy.bytes, offset + count);
    }
    return all.size();
  }
  void set_state(std::uint32_t count) {
    Result<Arena::Region> region = memory.take_state(count);
    ASSERT_TRUE(region);
    memory.set_state(std::move(*region), count);
  }

 private:
  const std::unique_ptr<std::byte[], decltype(&std::free)> bytes_{
      static_cast<std::byte*>(std::aligned_alloc(128, arena_bytes)), &std::free};

 protected:
  Arena arena{bytes_.get(), arena_bytes};
  DeviceMemory device{test::scripted_device(), bytes_.get(), GetParam(), patience};
  KernelMemory memory{arena, device, patience};
};

INSTANTIATE_TEST_SUITE_P(Transfers, KernelMemoryTest,
                         ::testing::Values(RK_TRANSFER_ZERO_COPY, RK_TRANSFER_DMA));

TEST_P(KernelMemoryTest, TakesTwoEmptyRings) {
  ASSERT_TRUE(memory.open(4096, 8192));
  const bridge::KernelRings& rings = memory.rings();
  EXPECT_EQ(rings.input_capacity, 4096u);
  EXPECT_EQ(rings.output_capacity, 8192u);
  EXPECT_TRUE(is(rings.input_offset, sizeof(rk_ring), 0));
  EXPECT_TRUE(is(rings.output_offset, sizeof(rk_ring), 0));
  EXPECT_GE(arena_bytes - arena.free_bytes(), 4096u + 8192u);
}

TEST_P(KernelMemoryTest, WithoutRoomNothingIsTaken) {
  EXPECT_EQ(memory.open(32 * 1024, 64 * 1024).error(), Errc::allocation_failure);
  EXPECT_EQ(arena.free_bytes(), arena_bytes);
}

TEST_P(KernelMemoryTest, AStateIsZeroWithRoomForGuardsAndTheDeviceKnowsIt) {
  set_state(100);
  const std::uint64_t offset = memory.rings().state_offset;
  EXPECT_EQ(memory.rings().state_bytes, 100u);
  EXPECT_EQ(offset % RK_LINE_BYTES, 0u);
  EXPECT_TRUE(is(offset - RK_GUARD_BYTES, 100 + 2 * RK_GUARD_BYTES, 0));
  EXPECT_EQ(copies(RK_COPY_TO_DEVICE, offset, 100), is_shared() ? 0u : 1u);
}

TEST_P(KernelMemoryTest, NoStateTakesNothing) {
  set_state(0);
  EXPECT_EQ(memory.rings().state_offset, 0u);
  EXPECT_EQ(arena.free_bytes(), arena_bytes);
}

TEST_P(KernelMemoryTest, TheOldStateStaysUntilItIsDropped) {
  set_state(100);
  const std::uint64_t taken = arena_bytes - arena.free_bytes();
  const std::uint64_t before = memory.rings().state_offset;
  set_state(100);
  EXPECT_NE(memory.rings().state_offset, before);
  EXPECT_EQ(arena_bytes - arena.free_bytes(), 2 * taken);
  memory.drop_old_state();
  EXPECT_EQ(arena_bytes - arena.free_bytes(), taken);
}

TEST_P(KernelMemoryTest, WritesAndReadsTheStateThroughTheDevice) {
  set_state(4);
  scripted.copies.clear();
  const std::uint64_t offset = memory.rings().state_offset;
  const std::vector<std::byte> written(4, std::byte{5});
  ASSERT_TRUE(memory.write_state(written));
  EXPECT_EQ(copies(RK_COPY_TO_DEVICE, offset, 4), is_shared() ? 0u : 1u);
  std::vector<std::byte> read(4);
  ASSERT_TRUE(memory.read_state(read, patience));
  EXPECT_EQ(copies(RK_COPY_TO_HOST, offset, 4), is_shared() ? 0u : 1u);
  EXPECT_EQ(read, written);
}

TEST_P(KernelMemoryTest, CopiesPartsOfARegionOfZeros) {
  const std::uint64_t offset = memory.add(256, nullptr).value();
  EXPECT_TRUE(is(offset, 256, 0));
  scripted.copies.clear();
  const std::vector<std::byte> in(16, std::byte{9});
  ASSERT_TRUE(memory.copy_region({.offset = 64, .bytes = 16, .from = in.data()}, patience));
  EXPECT_EQ(copies(RK_COPY_TO_DEVICE, offset + 64, 16), is_shared() ? 0u : 1u);
  EXPECT_TRUE(is(offset, 64, 0));
  EXPECT_TRUE(is(offset + 64, 16, 9));
  std::vector<std::byte> out(16);
  ASSERT_TRUE(memory.copy_region({.offset = 64, .bytes = 16, .to = out.data()}, patience));
  EXPECT_EQ(out, in);
  EXPECT_EQ(copies(RK_COPY_TO_HOST, offset + 64, 16), is_shared() ? 0u : 1u);
  ASSERT_TRUE(memory.copy_region({.offset = 0, .bytes = 256}, patience));
  EXPECT_TRUE(is(offset, 256, 0));
  EXPECT_EQ(memory.add(256, nullptr).error(), Errc::invalid_state) << "once";
}

TEST_P(KernelMemoryTest, ASharedRegionIsWrittenOnceAndOutlivesWhoMadeIt) {
  const auto fill = [](std::byte* to, std::uint64_t) { std::fill_n(to, 64, std::byte{3}); };
  const auto shared = memory.share(64, fill).value();
  EXPECT_TRUE(is(shared->offset(), 64, 3));
  EXPECT_EQ(copies(RK_COPY_TO_DEVICE, shared->offset(), 64), is_shared() ? 0u : 1u);
  EXPECT_EQ(memory.share(64, fill).error(), Errc::invalid_state);
  memory.give_back();
  EXPECT_LT(arena.free_bytes(), arena_bytes);
}

TEST_P(KernelMemoryTest, GivesAllOfItBack) {
  ASSERT_TRUE(memory.open(4096, 4096));
  set_state(100);
  set_state(200);
  ASSERT_TRUE(memory.add(256, nullptr));
  memory.give_back();
  EXPECT_EQ(arena.free_bytes(), arena_bytes);
}

}  // namespace
}  // namespace ringkernel::detail
