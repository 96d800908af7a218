// Threads that give ops on few tensors to several queues, some waiting for each op and some not,
// against the same ops done one after the other on the host, bit for bit.
#include <boost/asio/detached.hpp>
#include <mutex>
#include <thread>

#include "ringkernel/mind_runtime.hpp"
#include "support/backends.hpp"
#include "support/mind.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {
namespace {

constexpr std::uint64_t steps_full = 2'000;
constexpr std::size_t thread_count = 4;
constexpr std::size_t shared_count = 4;    // written by all threads
constexpr std::size_t private_count = 2;   // of each thread
constexpr std::size_t constant_count = 2;  // odd numbers that nobody writes
constexpr std::size_t written_count = shared_count + thread_count * private_count;
constexpr std::size_t tensor_count = written_count + constant_count;
constexpr std::uint32_t element_count = 16384;  // ops take longer than giving them: queues fill
constexpr std::uint32_t queue_count = 3;

using Elements = std::vector<std::int32_t>;

/// One op: `op` of tensors `a` and `b` into `out`.
struct Step {
  Op op;
  std::size_t a, b, out;
};

/// Integers wrap. Products with odd numbers and sums with others than zero keep the numbers from
/// becoming all alike, so that any order but the right one shows.
void replay(const Step& step, std::vector<Elements>& tensors) {
  const Elements a = tensors[step.a], b = tensors[step.b];
  for (std::size_t i = 0; i < element_count; ++i) {
    const auto x = static_cast<std::uint32_t>(a[i]), y = static_cast<std::uint32_t>(b[i]);
    const std::uint32_t result = step.op == Op::add   ? x + y
                                 : step.op == Op::sub ? x - y
                                 : step.op == Op::mul ? x * y
                                                      : x;
    tensors[step.out][i] = static_cast<std::int32_t>(result);
  }
}

class Dag {
 public:
  Dag(const char* backend, std::uint64_t seed)
      : runtime_(open_mind(backend, {.queues = queue_count})), seed_(seed) {
    Dice dice(seed, 99);
    for (std::size_t i = 0; i < tensor_count; ++i) {
      Elements elements(element_count);
      for (std::int32_t& element : elements)
        element = static_cast<std::int32_t>(dice.below(1000) * 2 + 1);
      tensors_.push_back(runtime_.allocate({DType::i32, {element_count}}).value());
      runtime_.write(tensors_.back(), elements).value();
      expected_.push_back(elements);
    }
  }

  void run(std::uint64_t steps_each) {
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < thread_count; ++thread)
      threads.emplace_back([this, thread, steps_each] { give(thread, steps_each); });
    for (std::thread& thread : threads) thread.join();
    const Result<void> done = runtime_.synchronize();
    EXPECT_TRUE(done) << done.error().text();
    EXPECT_EQ(log_.size(), thread_count * steps_each);
    for (const Step& step : log_) replay(step, expected_);
    for (std::size_t i = 0; i < tensor_count; ++i) {
      Elements elements(element_count);
      runtime_.read(tensors_[i], elements).value();
      EXPECT_EQ(elements, expected_[i]) << "tensor " << i;
    }
  }

 private:
  void give(std::size_t thread, std::uint64_t steps) {
    Dice dice(seed_, thread);
    for (std::uint64_t i = 0; i < steps; ++i) {
      // An op on the thread's own tensors has its place by the thread alone, so it may be waited
      // for; one on shared tensors has the place in the log that it is given at.
      const bool only_own = dice.hits(50);
      const Op op = std::array{Op::add, Op::sub, Op::mul, Op::copy}[dice.below(4)];
      const bool with_constant = op == Op::mul || dice.hits(50);
      const Step step{
          op, any(dice, thread, only_own),
          with_constant ? written_count + dice.below(constant_count) : any(dice, thread, only_own),
          any(dice, thread, only_own)};
      OpOptions options;
      if (dice.hits(70)) options.queue = static_cast<std::uint32_t>(dice.below(queue_count));
      std::unique_lock lock(log_mutex_);
      log_.push_back(step);
      if (only_own) lock.unlock();
      if (only_own && dice.hits(50)) {
        const Result<void> ran =
            runtime_.run_op({step.op}, inputs(step), tensors_[step.out], options);
        EXPECT_TRUE(ran) << ran.error().text();
      } else {
        runtime_.run_op_async({step.op}, inputs(step), tensors_[step.out], options,
                              boost::asio::detached);
      }
      if (lock.owns_lock()) lock.unlock();
      if (dice.below(200) == 0) (void)runtime_.synchronize();
    }
  }

  static std::size_t any(Dice& dice, std::size_t thread, bool only_own) {
    if (!only_own && dice.hits(80)) return dice.below(shared_count);
    return shared_count + thread * private_count + dice.below(private_count);
  }
  [[nodiscard]] std::vector<Tensor> inputs(const Step& step) const {
    if (step.op == Op::copy) return {tensors_[step.a]};
    return {tensors_[step.a], tensors_[step.b]};
  }

  MindRuntime runtime_;
  const std::uint64_t seed_;
  std::vector<Tensor> tensors_;
  std::vector<Elements> expected_;
  std::mutex log_mutex_;
  std::vector<Step> log_;
};

RK_ON_EACH_BACKEND(MindDag);

TEST_P(MindDag, HasTheResultsOfTheOpsOneAfterTheOther) {
  Dag(GetParam(), announce_seed()).run(scaled(steps_full, 200));
}

}  // namespace
}  // namespace ringkernel::test
