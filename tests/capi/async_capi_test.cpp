// Calls in flight from C: one queue gives their ends, in the thread that asks, and nobody else
// touches the caller's memory.
#include <gmock/gmock.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "capi/nonsense.hpp"
#include "capi/ringkernel_fixture.hpp"
#include "ringkernel/ringkernel_async.h"

namespace ringkernel::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();

class AsyncCapi : public ResidentsCapi {
 protected:
  AsyncCapi() {
    EXPECT_EQ(ringkernel_queue_open(&queue_), RINGKERNEL_OK) << last_error();
    EXPECT_EQ(ringkernel_queue_descriptor(queue_, &descriptor_), RINGKERNEL_OK);
  }
  ~AsyncCapi() override { (void)ringkernel_queue_close(queue_); }

  ringkernel_status begin(const char* op, std::size_t inputs, std::uint64_t tag,
                          ringkernel_tensor* result, std::uint64_t patience_ns = 0) {
    const ringkernel_request asked = request(op, inputs);
    const ringkernel_async_options options{sizeof options, patience_ns, 0, 0};
    return ringkernel_call_async(kernel_, &asked, &options, queue_, tag, result);
  }
  ringkernel_status next(std::uint64_t patience_ns) {
    ended_.struct_size = sizeof ended_;
    return ringkernel_queue_next(queue_, patience_ns, &ended_);
  }
  [[nodiscard]] bool is_readable(int timeout_ms = 0) const {
    pollfd waited{.fd = descriptor_, .events = POLLIN, .revents = 0};
    return ::poll(&waited, 1, timeout_ms) == 1;
  }
  ringkernel_kernel* echo() {
    ringkernel_kernel_options options{};
    options.struct_size = sizeof options;
    options.program = "echo";
    ringkernel_kernel* made = nullptr;
    EXPECT_EQ(ringkernel_kernel_launch(runtime_, "echo", &options, &made), RINGKERNEL_OK);
    EXPECT_EQ(ringkernel_kernel_activate(made), RINGKERNEL_OK) << last_error();
    return made;
  }

  ringkernel_queue* queue_ = nullptr;
  int descriptor_ = -1;
  ringkernel_completion ended_{};
};

TEST_F(AsyncCapi, GivesResultsToWhoAsks) {
  EXPECT_EQ(next(0), RINGKERNEL_E_deadline_exceeded);
  EXPECT_FALSE(is_readable());
  ASSERT_EQ(begin("relu", 1, 77, &result_), RINGKERNEL_OK) << last_error();
  EXPECT_TRUE(is_readable(60'000));
  EXPECT_THAT(out_, Each(0.0f)) << "nobody has asked";
  EXPECT_EQ(result_.rank, 0u);
  ASSERT_EQ(next(0), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ended_.tag, 77u);
  EXPECT_EQ(ended_.status, RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_last_error(), nullptr);
  EXPECT_THAT(out_, ElementsAre(1, 0, 3, 0));
  EXPECT_EQ(result_.dtype, RINGKERNEL_F32);
  EXPECT_EQ(result_.rank, 2u);
  EXPECT_EQ(result_.data_bytes, 16u);
  EXPECT_EQ(next(1), RINGKERNEL_E_deadline_exceeded);
  EXPECT_THAT(last_error(), HasSubstr("no call of the queue ended in time"));
  EXPECT_FALSE(is_readable());
}

/// As an event loop has them: many in flight, which others end.
TEST_F(AsyncCapi, KeepsManyInFlight) {
  constexpr std::uint64_t count = 200;
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  std::vector<std::array<float, 4>> outs(count);
  std::vector<ringkernel_tensor> results(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    results[i] = tensor(outs[i], {});
    elements_[0] = static_cast<float>(i);  // copied before the function returns
    ASSERT_EQ(begin("neg", 1, i, &results[i]), RINGKERNEL_OK) << last_error();
  }
  EXPECT_FALSE(is_readable());
  ASSERT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_OK);
  std::set<std::uint64_t> tags;
  while (tags.size() < count) {
    ASSERT_TRUE(is_readable(60'000));
    while (next(0) == RINGKERNEL_OK) {
      ASSERT_EQ(ended_.status, RINGKERNEL_OK) << last_error();
      ASSERT_TRUE(tags.insert(ended_.tag).second) << ended_.tag;
      EXPECT_EQ(outs[ended_.tag][0], -static_cast<float>(ended_.tag));
    }
  }
  EXPECT_FALSE(is_readable());
}

TEST_F(AsyncCapi, WaitsForTheNextOne) {
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  ASSERT_EQ(begin("relu", 1, 1, &result_), RINGKERNEL_OK);
  EXPECT_EQ(next(1000), RINGKERNEL_E_deadline_exceeded);
  std::thread activate([this] { EXPECT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_OK); });
  EXPECT_EQ(next(for_ever), RINGKERNEL_OK) << last_error();
  activate.join();
  EXPECT_THAT(out_, ElementsAre(1, 0, 3, 0));
}

TEST_F(AsyncCapi, SaysAtOnceWhatIsWrongWithARequest) {
  EXPECT_EQ(begin("add", 1, 1, &result_), 2007);
  EXPECT_EQ(begin("frobnicate", 1, 1, &result_), 6003);
  result_.data_bytes = 15;
  EXPECT_EQ(begin("relu", 1, 1, &result_), RINGKERNEL_E_message_too_large);
  EXPECT_EQ(result_.data_bytes, 16u);
  EXPECT_EQ(begin("relu", 1, 1, nullptr), RINGKERNEL_E_invalid_argument);
  const ringkernel_request relu = request("relu", 1);
  const ringkernel_async_options reserved{sizeof reserved, 0, 0, 1}, no_size{};
  EXPECT_EQ(ringkernel_call_async(kernel_, &relu, &reserved, queue_, 1, &result_), 1001);
  EXPECT_EQ(ringkernel_call_async(kernel_, &relu, &no_size, queue_, 1, &result_), 1001);
  EXPECT_EQ(next(0), RINGKERNEL_E_deadline_exceeded) << "nothing was begun";
}

TEST_F(AsyncCapi, TellsWhyACallFailed) {
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  ASSERT_EQ(begin("relu", 1, 3, &result_, 1), RINGKERNEL_OK) << last_error();
  ASSERT_EQ(next(60 * second_ns), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ended_.tag, 3u);
  EXPECT_EQ(ended_.status, RINGKERNEL_E_deadline_exceeded);
  EXPECT_THAT(last_error(), HasSubstr("deadline_exceeded"));
  EXPECT_THAT(out_, Each(0.0f));
  ASSERT_EQ(begin("relu", 1, 4, &result_), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_runtime_close(runtime_), RINGKERNEL_OK);
  ASSERT_EQ(next(60 * second_ns), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ended_.tag, 4u);
  EXPECT_THAT((std::array{RINGKERNEL_E_kernel_terminated, RINGKERNEL_E_runtime_closed}),
              ::testing::Contains(ended_.status));
}

TEST_F(AsyncCapi, CancelsByTag) {
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  std::array<float, 4> other_out{};
  std::array<ringkernel_tensor, 2> others{tensor(other_out, {}), tensor(other_out, {})};
  ASSERT_EQ(begin("relu", 1, 5, &result_), RINGKERNEL_OK);
  ASSERT_EQ(begin("relu", 1, 6, &others[0]), RINGKERNEL_OK);
  ASSERT_EQ(begin("relu", 1, 6, &others[1]), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_queue_cancel(queue_, 99), RINGKERNEL_OK);
  EXPECT_EQ(next(0), RINGKERNEL_E_deadline_exceeded);
  ASSERT_EQ(ringkernel_queue_cancel(queue_, 6), RINGKERNEL_OK);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(next(60 * second_ns), RINGKERNEL_OK) << last_error();
    EXPECT_EQ(ended_.tag, 6u);
    EXPECT_EQ(ended_.status, RINGKERNEL_E_cancelled);
    EXPECT_THAT(last_error(), HasSubstr("cancelled"));
  }
  ASSERT_EQ(ringkernel_queue_cancel(queue_, 6), RINGKERNEL_OK);  // they are over
  ASSERT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_OK);
  ASSERT_EQ(next(60 * second_ns), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ended_.tag, 5u);
  EXPECT_EQ(ended_.status, RINGKERNEL_OK);
  EXPECT_THAT(out_, ElementsAre(1, 0, 3, 0));
  EXPECT_THAT(other_out, Each(0.0f));
}

TEST_F(AsyncCapi, CallsWithBytes) {
  ringkernel_kernel* const called = echo();
  std::string text = "seven b", back(16, '.');
  const ringkernel_bytes message{text.data(), text.size()};
  ringkernel_bytes reply{back.data(), 6};
  const auto begin_bytes = [&](ringkernel_kernel* kernel) {
    return ringkernel_call_bytes_async(kernel, &message, nullptr, queue_, 8, &reply);
  };
  EXPECT_EQ(begin_bytes(called), RINGKERNEL_E_message_too_large);
  EXPECT_EQ(reply.data_bytes, 7u);
  EXPECT_EQ(begin_bytes(kernel_), RINGKERNEL_E_unsupported_operation);
  reply.data_bytes = back.size();
  ASSERT_EQ(begin_bytes(called), RINGKERNEL_OK) << last_error();
  text = "written";
  ASSERT_EQ(next(60 * second_ns), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ended_.status, RINGKERNEL_OK);
  EXPECT_EQ(back, "seven b.........");
  EXPECT_EQ(reply.data_bytes, 7u);
}

constexpr const char* twice_text = R"(
%x = Input() : Tensor<f32, [4]>
%0 = Add(%x, %x) : Tensor<f32, [4]>
%1 = Neg(%0) : Tensor<f32, [4]>
outputs: %0, %1
)";

TEST_F(AsyncCapi, ExecutesFunctions) {
  ringkernel_function* twice = nullptr;
  ASSERT_EQ(ringkernel_function_compile_text(runtime_, "twice", twice_text, nullptr, &twice), 0)
      << last_error();
  ringkernel_resident* const kept = resident(elements_, {4});
  const std::array<ringkernel_resident*, 2> into{kept, nullptr};
  const ringkernel_tensor operand = tensor(elements_, {4});
  std::array<ringkernel_tensor, 2> results{ringkernel_tensor{}, result_};
  {
    ringkernel_execution asked{};  // need not stay
    asked.struct_size = sizeof asked;
    asked.inputs = &operand;
    asked.input_count = 1;
    asked.results = results.data();
    asked.result_count = 1;
    EXPECT_EQ(ringkernel_function_execute_async(twice, &asked, queue_, 9), 2007);
    asked.result_count = 2;
    asked.into = into.data();
    ASSERT_EQ(ringkernel_function_execute_async(twice, &asked, queue_, 9), 0) << last_error();
  }
  ASSERT_EQ(ringkernel_function_close(twice), RINGKERNEL_OK);  // the call goes on
  ASSERT_EQ(next(60 * second_ns), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(ended_.status, RINGKERNEL_OK) << last_error();
  EXPECT_THAT(out_, ElementsAre(-2, 4, -6, 8));
  EXPECT_EQ(results[1].rank, 1u);
  EXPECT_THAT(read(kept), ElementsAre(2, -4, 6, -8));
}

TEST_F(AsyncCapi, MakesPreparedCallsWhereNobodyHasToWait) {
  ringkernel_prepared* prepared = nullptr;
  const ringkernel_request relu = request("relu", 1);
  ASSERT_EQ(ringkernel_kernel_prepare(kernel_, &relu, &prepared), RINGKERNEL_OK);
  std::int32_t is_made = -1;
  const auto attempt = [&] {
    return ringkernel_prepared_try_call(prepared, inputs_.data(), 1, &result_, 1, &is_made);
  };
  while (attempt() == RINGKERNEL_OK && is_made == 0) std::this_thread::yield();
  ASSERT_EQ(is_made, 1) << last_error();
  EXPECT_THAT(out_, ElementsAre(1, 0, 3, 0));
  EXPECT_EQ(result_.rank, 2u);
  EXPECT_EQ(ringkernel_prepared_try_call(prepared, inputs_.data(), 1, &result_, 1, nullptr), 1001);
  EXPECT_EQ(ringkernel_prepared_try_call(prepared, inputs_.data(), 2, &result_, 1, &is_made), 2007);
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  EXPECT_EQ(attempt(), RINGKERNEL_OK) << last_error();
  EXPECT_EQ(is_made, 0);
}

/// What a callback has of its test.
struct Called {
  AsyncCapi* test = nullptr;
  ringkernel_queue* queue = nullptr;
  std::thread::id thread;
  std::vector<std::uint64_t> tags;
  std::function<void(const ringkernel_completion&)> also;

  static void back(void* user, const ringkernel_completion* completion) {
    Called& called = *static_cast<Called*>(user);
    EXPECT_EQ(std::this_thread::get_id(), called.thread);
    called.tags.push_back(completion->tag);
    if (called.also) called.also(*completion);
  }
};

TEST_F(AsyncCapi, CallsBackInTheThreadThatRuns) {
  Called called{this, queue_, std::this_thread::get_id(), {}, {}};
  EXPECT_EQ(ringkernel_queue_run(queue_, 0, &Called::back, &called),
            RINGKERNEL_E_deadline_exceeded);
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  ASSERT_EQ(begin("relu", 1, 1, &result_), RINGKERNEL_OK);
  std::array<float, 4> other_out{};
  ringkernel_tensor other = tensor(other_out, {});
  ASSERT_EQ(begin("relu", 1, 2, &other, 1), RINGKERNEL_OK);
  called.also = [&](const ringkernel_completion& completion) {
    EXPECT_EQ(completion.status, RINGKERNEL_E_deadline_exceeded);
    EXPECT_THAT(last_error(), HasSubstr("deadline_exceeded"));
  };
  ASSERT_EQ(ringkernel_queue_run(queue_, for_ever, &Called::back, &called), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_last_error(), nullptr);
  EXPECT_THAT(called.tags, ElementsAre(2));
  called.also = nullptr;
  ASSERT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_OK);
  ASSERT_EQ(ringkernel_queue_run(queue_, for_ever, &Called::back, &called), RINGKERNEL_OK);
  EXPECT_THAT(called.tags, ElementsAre(2, 1));
  EXPECT_EQ(ringkernel_queue_run(queue_, 0, nullptr, &called), RINGKERNEL_E_invalid_argument);
}

/// A callback that begins the next call ends a run all the same, and may close the queue.
TEST_F(AsyncCapi, CallbacksMayBeginCallsAndClose) {
  Called called{this, queue_, std::this_thread::get_id(), {}, {}};
  called.also = [&](const ringkernel_completion& completion) {
    result_.data_bytes = sizeof out_;
    EXPECT_EQ(begin("relu", 1, completion.tag + 1, &result_), RINGKERNEL_OK) << last_error();
  };
  ASSERT_EQ(begin("relu", 1, 0, &result_), RINGKERNEL_OK);
  while (called.tags.size() < 100)
    ASSERT_EQ(ringkernel_queue_run(queue_, for_ever, &Called::back, &called), RINGKERNEL_OK);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(called.tags[i], i);
  called.also = [&](const ringkernel_completion&) {
    EXPECT_EQ(ringkernel_queue_close(queue_), RINGKERNEL_OK);
  };
  ASSERT_EQ(ringkernel_queue_run(queue_, for_ever, &Called::back, &called), RINGKERNEL_OK);
  EXPECT_EQ(next(0), RINGKERNEL_E_invalid_argument);
}

TEST_F(AsyncCapi, AbandonsWhatIsUnderWayWhenItIsClosed) {
  ASSERT_EQ(ringkernel_kernel_deactivate(kernel_), RINGKERNEL_OK);
  for (std::uint64_t tag = 0; tag < 10; ++tag)
    ASSERT_EQ(begin("relu", 1, tag, &result_), RINGKERNEL_OK);
  ringkernel_status status = -1;
  std::atomic<bool> waits{false};
  std::thread waiter([&] {
    ringkernel_completion ended{};
    ended.struct_size = sizeof ended;
    waits = true;
    status = ringkernel_queue_next(queue_, for_ever, &ended);
  });
  while (!waits) std::this_thread::yield();
  EXPECT_EQ(ringkernel_queue_close(queue_), RINGKERNEL_OK);
  waiter.join();
  // It waited, or came behind the end.
  EXPECT_TRUE(status == RINGKERNEL_E_invalid_state || status == RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(next(0), RINGKERNEL_E_invalid_argument);
  ASSERT_EQ(ringkernel_kernel_activate(kernel_), RINGKERNEL_OK);
  const ringkernel_request relu = request("relu", 1);  // behind the others
  ASSERT_EQ(ringkernel_call(kernel_, &relu, 0, &result_), RINGKERNEL_OK) << last_error();
}

/// Threads that begin, cancel and take, in one queue: each call has one end.
TEST_F(AsyncCapi, IsSharedByThreads) {
  constexpr std::uint64_t thread_count = 3, each = 300;
  std::vector<std::array<float, 4>> outs(thread_count * each);
  std::vector<ringkernel_tensor> results(outs.size());
  std::vector<std::atomic<int>> ends(outs.size());
  std::atomic<std::uint64_t> ended_count{0}, wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      for (std::uint64_t tag = i * each; tag < (i + 1) * each; ++tag) {
        results[tag] = tensor(outs[tag], {});
        if (begin("relu", 1, tag, &results[tag], tag % 2 == 0 ? 0 : 60 * second_ns) != 0) {
          ++wrong;
          ++ended_count;  // nobody gets it
        }
        if (tag % 7 == 0 && ringkernel_queue_cancel(queue_, tag) != RINGKERNEL_OK) ++wrong;
      }
    });
    threads.emplace_back([&] {
      ringkernel_completion ended{};
      ended.struct_size = sizeof ended;
      while (ended_count < outs.size()) {
        const ringkernel_status status = ringkernel_queue_next(queue_, 10'000'000, &ended);
        if (status == RINGKERNEL_E_deadline_exceeded) continue;
        const bool is_cancelled = ended.status == RINGKERNEL_E_cancelled;
        if (status != RINGKERNEL_OK || (ended.status != RINGKERNEL_OK && !is_cancelled)) ++wrong;
        if (!is_cancelled && outs[ended.tag][2] != 3) ++wrong;
        ++ends[ended.tag];
        ++ended_count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  for (const std::atomic<int>& count : ends) EXPECT_EQ(count, 1);
}

TEST_F(AsyncCapi, RefusesNullAndNonsense) {
  ringkernel_completion ended{};
  int descriptor = -1;
  Called called{this, queue_, std::this_thread::get_id(), {}, {}};
  EXPECT_EQ(ringkernel_queue_open(nullptr), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_queue_descriptor(queue_, nullptr), RINGKERNEL_E_invalid_argument);
  ASSERT_EQ(begin("relu", 1, 1, &result_), RINGKERNEL_OK);
  EXPECT_EQ(ringkernel_queue_next(queue_, 0, nullptr), RINGKERNEL_E_invalid_argument);
  EXPECT_EQ(ringkernel_queue_next(queue_, 0, &ended), RINGKERNEL_E_invalid_argument) << "no size";
  EXPECT_EQ(next(for_ever), RINGKERNEL_OK) << "neither has taken it";
  const ringkernel_request relu = request("relu", 1);
  const ringkernel_bytes message{};
  ringkernel_bytes reply{};
  const ringkernel_execution execution{};
  for (ringkernel_queue* const none : no_handles<ringkernel_queue>(kernel_)) {
    ended.struct_size = sizeof ended;
    const ringkernel_status statuses[] = {
        ringkernel_queue_descriptor(none, &descriptor),
        ringkernel_queue_next(none, 0, &ended),
        ringkernel_queue_run(none, 0, &Called::back, &called),
        ringkernel_queue_cancel(none, 0),
        ringkernel_queue_close(none),
        ringkernel_call_async(kernel_, &relu, nullptr, none, 0, &(result_ = tensor(out_, {}))),
    };
    EXPECT_THAT(statuses, Each(RINGKERNEL_E_invalid_argument)) << none;
  }
  for (ringkernel_kernel* const none : no_handles<ringkernel_kernel>(queue_)) {
    const ringkernel_status statuses[] = {
        ringkernel_call_async(none, &relu, nullptr, queue_, 0, &result_),
        ringkernel_call_bytes_async(none, &message, nullptr, queue_, 0, &reply),
        ringkernel_call_method_async(none, nullptr, &message, nullptr, queue_, 0, &reply),
    };
    EXPECT_THAT(statuses, Each(RINGKERNEL_E_invalid_argument)) << none;
  }
  for (ringkernel_function* const none : no_handles<ringkernel_function>(queue_))
    EXPECT_EQ(ringkernel_function_execute_async(none, &execution, queue_, 0),
              RINGKERNEL_E_invalid_argument);
  EXPECT_TRUE(called.tags.empty());
}

}  // namespace
}  // namespace ringkernel::test
