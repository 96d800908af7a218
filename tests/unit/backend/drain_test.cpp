// What a driver copies must stay until it has been copied, also where an error cuts things short.
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/query.hpp"

namespace ringkernel::opencl {
namespace {

constexpr std::size_t bytes = std::size_t{64} << 20;  // many milliseconds of copying

class DrainOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (discover().devices.empty()) GTEST_SKIP() << "no OpenCL device";
    const cl_device_id device = discover().devices.front().id;
    cl_int status = CL_SUCCESS;
    context_ = Context(cl().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    ASSERT_EQ(status, CL_SUCCESS);
    queue_ = make_queue(context_.get(), device).value();
    memory_ = make_buffer(context_.get(), bytes).value();
  }

  Context context_;
  Queue queue_;
  Buffer memory_;
};

/// Returns an error behind a copy that has only just begun.
Result<void> fail_behind_a_copy(cl_command_queue queue, cl_mem memory, Event& copy) {
  const std::vector<std::byte> sent(bytes, std::byte{1});
  const Drain drain(queue);
  RK_TRY(begun, enqueue_write(queue, memory, 0, sent.data(), bytes));
  copy = std::move(begun);
  return Error(Errc::device_error, "the next command was refused");
}

TEST_F(DrainOpenCl, AnErrorWaitsForTheCopiesBeforeIt) {
  Event copy;
  EXPECT_EQ(fail_behind_a_copy(queue_.get(), memory_.get(), copy).error(), Errc::device_error);
  EXPECT_EQ(event_status(copy.get()), CL_COMPLETE);
}

/// The second copy of a start has no place in the device's memory: nobody gets a ticket for the
/// first one, which is under way.
TEST_F(DrainOpenCl, AQueueThatGoesWaitsForCopiesWithoutATicket) {
  std::vector<std::byte> sent(bytes, std::byte{1});
  std::vector<std::byte> received(1);
  const Queue second = make_queue(context_.get(), discover().devices.front().id).value();
  {
    CopyQueue copies(std::move(queue_), true);
    const rk_copy both[] = {{RK_COPY_TO_DEVICE, 0, 0, bytes, sent.data(), 0},
                            {RK_COPY_TO_DEVICE, 0, bytes, bytes, sent.data(), 0}};
    EXPECT_EQ(copies.start(memory_.get(), both).error(), Errc::device_error);
  }
  const Event last =
      enqueue_read(second.get(), memory_.get(), bytes - 1, received.data(), 1).value();
  ASSERT_TRUE(finish(last).has_value());
  EXPECT_EQ(received.front(), std::byte{1});
}

}  // namespace
}  // namespace ringkernel::opencl
