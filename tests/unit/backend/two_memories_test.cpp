// The plugin of tests/plugins, by the interface of backends alone: what the host writes is the
// device's when it was copied, and not before.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "backend/registry.hpp"

namespace ringkernel::backend {
namespace {

using ::testing::HasSubstr;

Result<OpenDevice> open_two_memories(std::uint32_t transfer) {
  RK_TRY(plugin, find_backend(RK_TWO_MEMORIES));
  rk_device_options options{};
  options.arena_bytes = 4096;
  options.transfer = transfer;
  return plugin.open(0, options);
}

class TwoMemories : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    auto device = open_two_memories(GetParam());
    ASSERT_TRUE(device) << device.error().text();
    device_.emplace(std::move(*device));
    twin_ = static_cast<std::byte*>(device_->state()->arena);
  }
  void copy(std::uint32_t direction, std::uint64_t offset, std::uint64_t bytes,
            std::uint64_t second_offset = 0, bool is_guessed = false) {
    const rk_copy copy{direction, is_guessed ? 1u : 0u, offset,
                       bytes,     twin_ + offset,       second_offset};
    const auto ticket = device_->start_copies({&copy, 1});
    ASSERT_TRUE(ticket) << ticket.error().text();
    ASSERT_TRUE(device_->wait_for_copies(*ticket, 60'000'000'000));
  }

  std::optional<OpenDevice> device_;
  std::byte* twin_ = nullptr;
};

TEST_P(TwoMemories, SaysWhichStrategyItHas) {
  const rk_device_state state = device_->state().value();
  EXPECT_EQ(state.transfer, GetParam());
  EXPECT_EQ(state.arena_bytes, 4096u);
}

TEST_P(TwoMemories, TheDeviceSeesWhatWasCopied) {
  for (const std::uint64_t bytes : {4u, 8u, 12u, 128u, 1000u}) {
    for (const bool is_guessed : {false, true}) {
      std::memset(twin_, 7, bytes);
      copy(RK_COPY_TO_DEVICE, 0, bytes, 0, is_guessed);
      std::memset(twin_, 9, bytes);  // the device does not see that
      copy(RK_COPY_TO_HOST, 0, bytes, 0, is_guessed);
      EXPECT_EQ(std::count(twin_, twin_ + bytes, std::byte{7}), static_cast<long>(bytes)) << bytes;
      std::memset(twin_, 0, bytes);
      copy(RK_COPY_TO_DEVICE, 0, bytes);
    }
  }
}

TEST_P(TwoMemories, ASecondRangeFollowsTheFirstOnTheHost) {
  std::memset(twin_, 1, 16);
  std::memset(twin_ + 16, 2, 16);
  copy(RK_COPY_TO_DEVICE, 0, 16, 64);  // from 0 to 0, and from 16 to 64
  std::memset(twin_, 0, 128);
  copy(RK_COPY_TO_HOST, 0, 128);
  EXPECT_EQ(std::count(twin_, twin_ + 16, std::byte{1}), 16);
  EXPECT_EQ(std::count(twin_ + 16, twin_ + 64, std::byte{0}), 48);
  EXPECT_EQ(std::count(twin_ + 64, twin_ + 80, std::byte{2}), 16);
}

INSTANTIATE_TEST_SUITE_P(, TwoMemories, ::testing::Values(RK_TRANSFER_DMA, RK_TRANSFER_SLICED),
                         [](const auto& which) { return transfer_name(which.param); });

TEST(TwoMemoriesOpen, HasADefaultAndRefusesOneMemory) {
  EXPECT_EQ(open_two_memories(RK_TRANSFER_NONE)->state()->transfer, RK_TRANSFER_DMA);
  const auto shared = open_two_memories(RK_TRANSFER_ZERO_COPY);
  ASSERT_TRUE(shared.has_error());
  EXPECT_EQ(shared.error(), Errc::backend_unavailable);
  EXPECT_THAT(shared.error().detail, HasSubstr("no zero_copy"));
}

}  // namespace
}  // namespace ringkernel::backend
