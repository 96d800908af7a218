// Copies by tickets, for threads that ask and for threads that sleep; and what a driver copies
// stays until it has been copied, also where an error cuts things short.
#include "backend/opencl/copy_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/loader.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/query.hpp"
#include "support/skip.hpp"

namespace ringkernel::opencl {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t large_bytes = std::size_t{64} << 20;  // many milliseconds of copying

class CopiesOpenCl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (discover().devices.empty()) RK_SKIP_WITHOUT("opencl", "no device");
    const cl_device_id device = discover().devices.front().id;
    cl_int status = CL_SUCCESS;
    context_ = Context(cl().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    ASSERT_EQ(status, CL_SUCCESS);
    queue_ = another_queue();
    memory_ = make_buffer(context_.get(), large_bytes).value();
  }

  [[nodiscard]] Queue another_queue() const {
    return make_queue(context_.get(), discover().devices.front().id).value();
  }

  Context context_;
  Queue queue_;
  Buffer memory_;
};

/// Returns an error behind a copy that has only just begun.
Result<void> fail_behind_a_copy(cl_command_queue queue, cl_mem memory, Event& copy) {
  const std::vector<std::byte> sent(large_bytes, std::byte{1});
  const Drain drain(queue);
  RK_TRY(begun, enqueue_write(queue, memory, 0, sent.data(), large_bytes));
  copy = std::move(begun);
  return Error(Errc::device_error, "the next command was refused");
}

TEST_F(CopiesOpenCl, AnErrorWaitsForTheCopiesBeforeIt) {
  Event copy;
  EXPECT_EQ(fail_behind_a_copy(queue_.get(), memory_.get(), copy).error(), Errc::device_error);
  EXPECT_EQ(event_status(copy.get()), CL_COMPLETE);
}

/// E6004 says that nothing has happened, and whoever gets it tries again: for ever, if it stayed.
TEST_F(CopiesOpenCl, ACommandThatIsRefusedForLackOfMemoryFailsItsOwnerForGood) {
  const auto ledger = std::make_shared<Ledger>("a copy");
  DriverQueue queue(std::move(queue_), false, nullptr, 0ns);
  const std::uint64_t refused = queue.post(ledger, []() -> Result<Event> {
    return Error(Errc::allocation_failure, "CL_OUT_OF_HOST_MEMORY");
  });
  const std::uint64_t behind = queue.post(ledger, []() -> Result<Event> {
    ADD_FAILURE() << "is not given any more";
    return Event();
  });
  const DriverThread::Watch watch(queue.thread());
  while (!ledger->has_ended(behind)) std::this_thread::yield();
  EXPECT_TRUE(ledger->has_ended(refused));
  ASSERT_FALSE(ledger->failure());
  EXPECT_EQ(ledger->failure().error(), Errc::device_error);
  EXPECT_EQ(ledger->failure().error().detail, "CL_OUT_OF_HOST_MEMORY");
}

/// Whether who waits sleeps until the driver calls back.
class CopyQueueOpenCl : public CopiesOpenCl, public ::testing::WithParamInterface<bool> {};

std::string label(const ::testing::TestParamInfo<bool>& sleeps) {
  return sleeps.param ? "asleep" : "asking";
}

INSTANTIATE_TEST_SUITE_P(Waits, CopyQueueOpenCl, ::testing::Bool(), label);

/// Each thread sends a message of its own through the device, round after round, in two ranges.
TEST_P(CopyQueueOpenCl, EachThreadGetsBackWhatItSent) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t range = 512;
  constexpr int rounds = 200;
  CopyQueue copies(std::move(queue_), GetParam());
  const auto send = [&](std::size_t thread) {
    const std::uint64_t first = thread * 4 * range;
    const std::uint64_t second = first + 2 * range;
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::byte> sent(2 * range, static_cast<std::byte>(round + 1));
      sent.back() = static_cast<std::byte>(thread);
      std::vector<std::byte> received(2 * range);
      const rk_copy there{RK_COPY_TO_DEVICE, 0, first, range, sent.data(), second};
      const rk_copy back[] = {{RK_COPY_TO_HOST, 0, first, range, received.data(), 0},
                              {RK_COPY_TO_HOST, 0, second, range, received.data() + range, 0}};
      ASSERT_TRUE(copies.start(memory_.get(), {&there, 1}));
      const std::uint64_t ticket = copies.start(memory_.get(), back).value();
      ASSERT_TRUE(copies.wait(ticket, 60s));
      ASSERT_EQ(received, sent) << round;
    }
  };
  std::vector<std::thread> senders;
  for (std::size_t thread = 0; thread < threads; ++thread) senders.emplace_back(send, thread);
  for (std::thread& sender : senders) sender.join();
}

/// What is put into a queue behind it waits until it is opened. It outlives the queue.
class QueueGate {
 public:
  QueueGate(cl_context context, cl_command_queue queue, cl_mem memory) {
    const std::array candidates{load_library().name};
    constexpr std::array functions{"clCreateUserEvent", "clSetUserEventStatus"};
    std::vector<std::string> tried;
    library_.emplace(backend::SharedLibrary::open(candidates, functions, tried).value());
    cl_int status = CL_SUCCESS;
    event_ = Event(function<decltype(&::clCreateUserEvent)>(functions[0])(context, &status));
    set_status_ = function<decltype(&::clSetUserEventStatus)>(functions[1]);
    cl_event event = event_.get();
    EXPECT_EQ(cl().clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, 1, &read_, 1, &event, nullptr),
              CL_SUCCESS);
  }
  ~QueueGate() { open(); }
  QueueGate(const QueueGate&) = delete;
  QueueGate& operator=(const QueueGate&) = delete;

  void open() {
    if (!event_) return;
    EXPECT_EQ(set_status_(std::exchange(event_, {}).get(), CL_COMPLETE), CL_SUCCESS);
  }

 private:
  template <class Function>
  [[nodiscard]] Function function(const char* name) const {
    return reinterpret_cast<Function>(library_->find(name));
  }

  std::optional<backend::SharedLibrary> library_;
  decltype(&::clSetUserEventStatus) set_status_ = nullptr;
  Event event_;
  std::byte read_{};
};

TEST_P(CopyQueueOpenCl, AWaitEndsInTimeAndTheCopyGoesOn) {
  std::byte sent{1};
  std::byte received{0};
  const rk_copy both[] = {{RK_COPY_TO_DEVICE, 0, 0, 1, &sent, 0},
                          {RK_COPY_TO_HOST, 0, 0, 1, &received, 0}};
  QueueGate gate(context_.get(), queue_.get(), memory_.get());
  CopyQueue copies(std::move(queue_), GetParam());
  const std::uint64_t ticket = copies.start(memory_.get(), both).value();
  EXPECT_EQ(copies.wait(ticket, 1ms).error(), Errc::execution_timeout);
  EXPECT_EQ(received, std::byte{0});
  gate.open();
  EXPECT_TRUE(copies.wait(ticket, 60s));
  EXPECT_EQ(received, std::byte{1});
}

/// The second copy of a start has no place in the device's memory: nobody gets a ticket for the
/// first one, which is under way.
TEST_P(CopyQueueOpenCl, AQueueThatGoesWaitsForCopiesWithoutATicket) {
  std::vector<std::byte> sent(large_bytes, std::byte{1});
  std::vector<std::byte> received(1);
  const Queue second = another_queue();
  {
    CopyQueue copies(std::move(queue_), GetParam());
    const rk_copy both[] = {{RK_COPY_TO_DEVICE, 0, 0, large_bytes, sent.data(), 0},
                            {RK_COPY_TO_DEVICE, 0, large_bytes, large_bytes, sent.data(), 0}};
    const std::uint64_t ticket = copies.start(memory_.get(), both).value();
    EXPECT_EQ(copies.wait(ticket, 60s).error(), Errc::device_error);
    EXPECT_EQ(copies.start(memory_.get(), both).error(), Errc::device_error);
  }
  const Event last =
      enqueue_read(second.get(), memory_.get(), large_bytes - 1, received.data(), 1).value();
  ASSERT_TRUE(finish(last).has_value());
  EXPECT_EQ(received.front(), std::byte{1});
}

}  // namespace
}  // namespace ringkernel::opencl
