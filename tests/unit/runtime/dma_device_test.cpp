// What a program runs its slices by, over a backend that does what the test says.
#include "runtime/dma_device.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "runtime/direct_port.hpp"
#include "runtime/memory/device_memory.hpp"
#include "unit/runtime/scripted_backend.hpp"

namespace ringkernel {
namespace {

using test::code_of;
using test::scripted;

class DmaDeviceTest : public ::testing::Test {
 protected:
  DmaDeviceTest() { scripted = {}; }

  std::uint64_t start(std::uint64_t ticket, std::uint64_t bytes, std::uint64_t second_offset = 0) {
    rk_copy copy{};
    copy.bytes = bytes;
    copy.second_offset = second_offset;
    scripted.ticket = ticket;
    return dma.start_copies({&copy, 1}).value();
  }

  backend::OpenExecutor executor = test::scripted_executor();
  backend::OpenDevice device = test::scripted_device();
  DmaDevice dma{executor, device};
};

TEST_F(DmaDeviceTest, CountsCopiesAndTheirBytes) {
  EXPECT_EQ(start(1, 100), 1u);
  EXPECT_EQ(start(2, 30, 4096), 2u);
  RuntimeMetrics metrics;
  metrics.copies = 10;
  dma.add_to(metrics);
  EXPECT_EQ(metrics.copies, 12u);
  EXPECT_EQ(metrics.copied_bytes, 160u) << "one in two places";
}

TEST_F(DmaDeviceTest, WaitsForTheLastCopyThatWasStarted) {
  EXPECT_TRUE(dma.wait_for_copies(0));
  EXPECT_EQ(scripted.ticket_waited_for, 0u) << "none was";
  (void)start(5, 1);
  (void)start(4, 1);
  EXPECT_TRUE(dma.wait_for_copies(0));
  EXPECT_EQ(scripted.ticket_waited_for, 5u);
}

TEST_F(DmaDeviceTest, NotYetIsNoError) {
  EXPECT_TRUE(dma.launch_on_device(1).value());
  EXPECT_TRUE(dma.slices_returned(0).value());
  EXPECT_TRUE(dma.copies_ended(1, 0).value());
  scripted.launch = code_of(Errc::busy);
  scripted.slice_wait = scripted.copy_wait = code_of(Errc::execution_timeout);
  EXPECT_FALSE(dma.launch_on_device(1).value());
  EXPECT_FALSE(dma.slices_returned(0).value());
  EXPECT_FALSE(dma.copies_ended(1, 0).value());
}

TEST_F(DmaDeviceTest, AnythingElseIsOne) {
  scripted.launch = scripted.slice_wait = scripted.copy_wait = scripted.slice_error =
      code_of(Errc::device_error);
  EXPECT_EQ(dma.launch_on_device(1).error(), Errc::device_error);
  EXPECT_EQ(dma.slices_returned(0).error(), Errc::device_error);
  EXPECT_EQ(dma.copies_ended(1, 0).error(), Errc::device_error);
  EXPECT_EQ(dma.error().error(), Errc::device_error);
}

TEST_F(DmaDeviceTest, ACopyThatFailedIsNotWaitedFor) {
  std::byte arena[8] = {};
  DeviceMemory memory{test::scripted_device(), arena, RK_TRANSFER_DMA, std::chrono::seconds(1)};
  scripted.ticket = 1;
  scripted.copy_wait = code_of(Errc::execution_timeout);
  EXPECT_EQ(memory.to_host(0, 8).error(), Errc::execution_timeout);
  EXPECT_EQ(memory.check_no_late_copies().error(), Errc::execution_timeout);
  scripted.copy_wait = code_of(Errc::device_error);
  EXPECT_TRUE(memory.check_no_late_copies()) << "it has ended";
  EXPECT_EQ(memory.to_host(0, 8).error(), Errc::device_error);
  EXPECT_TRUE(memory.check_no_late_copies());
}

TEST_F(DmaDeviceTest, NamesTheCallOfTheDriverThatLasts) {
  EXPECT_EQ(dma.why_late(), "");
  scripted.detail = "a slice has not returned: the driver is in clFinish for 3 s";
  scripted.slice_wait = code_of(Errc::execution_timeout);
  EXPECT_EQ(dma.why_late(), ": the driver is in clFinish for 3 s");
  scripted.slice_wait = 0;
  scripted.copy_wait = code_of(Errc::execution_timeout);
  EXPECT_EQ(dma.why_late(), "") << "no copy was started";
  (void)start(1, 1);
  EXPECT_EQ(dma.why_late(), ": the driver is in clFinish for 3 s");
  scripted.detail = "late";
  EXPECT_EQ(dma.why_late(), "");
}

TEST_F(DmaDeviceTest, ADirectPortRunsOnCallersWhereTheBackendCanAndThereIsOneWorkGroup) {
  EXPECT_TRUE(DirectPort(executor, 1).runs_on_caller());
  EXPECT_FALSE(DirectPort(executor, 2).runs_on_caller());
  EXPECT_TRUE(DirectPort(executor, 1).run(1));
  rk_backend cannot = test::scripted_table;
  cannot.slice_run = nullptr;
  backend::OpenExecutor without(cannot, reinterpret_cast<rk_executor*>(&scripted));
  EXPECT_FALSE(DirectPort(without, 1).runs_on_caller());
  EXPECT_FALSE(DirectPort(without, 1).run(1));
}

}  // namespace
}  // namespace ringkernel
