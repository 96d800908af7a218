// Threads that compute on shared tensors while others write, read, replace, deallocate and move
// them, with calls that nobody waits for long enough and kernels that end with messages in flight.
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "support/backends.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t steps_full = 50'000;
constexpr std::size_t thread_count = 4;
constexpr std::size_t place_count = 6;  // of shared handles
constexpr std::size_t element_count = 96;
const KernelOptions small_rings{.input_bytes = 8192, .output_bytes = 8192};

/// Every tensor holds one positive number, in all its elements. A tensor that was wiped, given to
/// somebody else, or is being written while it is read, would show something else.
bool is_whole(std::span<const float> elements) {
  return elements.size() == element_count && elements[0] > 0 &&
         std::ranges::all_of(elements, [&](float each) { return each == elements[0]; });
}

class Users {
 public:
  Users(RingKernelRuntime& runtime, std::uint64_t seed) : runtime_(runtime), seed_(seed) {
    for (Place& place : places_) place.tensor = make(1);
  }

  void run(std::uint64_t steps_each) {
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < thread_count; ++thread)
      threads.emplace_back([this, thread, steps_each] { use(thread, steps_each); });
    for (std::thread& thread : threads) thread.join();
    for (Place& place : places_) place.tensor = Tensor();
  }

  [[nodiscard]] std::uint64_t torn() const { return torn_; }
  [[nodiscard]] std::uint64_t unexpected() const { return unexpected_; }
  [[nodiscard]] std::uint64_t computed() const { return computed_; }

 private:
  struct Place {
    std::mutex mutex;
    Tensor tensor;
  };

  Tensor make(float value) {
    Tensor tensor = runtime_.allocate({DType::f32, {element_count}}).value();
    tensor.write(std::vector<float>(element_count, value)).value();
    return tensor;
  }
  Tensor any(Dice& dice) {
    Place& place = places_[dice.below(place_count)];
    const std::lock_guard lock(place.mutex);
    return place.tensor;
  }
  void replace(Dice& dice) {
    Tensor replaced = make(static_cast<float>(1 + dice.below(100)));
    Place& place = places_[dice.below(place_count)];
    {
      const std::lock_guard lock(place.mutex);
      std::swap(place.tensor, replaced);
    }
    if (dice.hits(50)) count(replaced.deallocate());  // else with the last copy
  }

  void use(std::size_t thread, std::uint64_t steps) {
    Dice dice(seed_, thread);
    const std::string id = "k" + std::to_string(thread);
    Kernel kernel = active(id);
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t action = dice.below(100);
      if (action < 70)
        compute(kernel, dice);
      else if (action < 80)
        copy(dice);
      else if (action < 95)
        replace(dice);
      else if (action < 98)
        count(runtime_.defragment());
      else
        kernel = end_in_flight(std::move(kernel), id, dice);
    }
    // The answers that nobody waited for come before this one.
    EXPECT_TRUE(kernel.call(ops::relu(ones_), 60s));
  }

  Kernel active(const std::string& id) {
    KernelOptions options = small_rings;
    options.auto_activate = true;
    return runtime_.launch(id, options).value();
  }

  void compute(Kernel& kernel, Dice& dice) {
    const Tensor a = any(dice);
    const std::chrono::nanoseconds timeout =
        dice.hits(10) ? std::chrono::nanoseconds(1 + dice.below(20'000)) : 60s;
    if (dice.hits(50)) {
      const auto reply = kernel.call(ops::relu(a), timeout);
      count(reply);
      if (reply && !is_whole(reply->floats())) ++torn_;
    } else {
      const Tensor b = any(dice);
      count(kernel.call((dice.hits(50) ? ops::mul(a, ones_) : ops::relu(a)).into(b), timeout));
    }
    ++computed_;
  }

  void copy(Dice& dice) {
    Tensor tensor = any(dice);
    std::vector<float> elements(element_count, static_cast<float>(1 + dice.below(100)));
    if (dice.hits(50)) return count(tensor.write(elements, 10ms));
    const auto read = tensor.read(elements, 10ms);
    count(read);
    if (read && !is_whole(elements)) ++torn_;
  }

  /// Ends the kernel while its ring and its queue hold messages, and launches it anew.
  Kernel end_in_flight(Kernel kernel, const std::string& id, Dice& dice) {
    for (std::uint64_t i = dice.below(40); i > 0; --i)
      count(kernel.send(ops::relu(any(dice)).into(any(dice))));
    count(kernel.terminate());
    return active(id);
  }

  template <class T>
  void count(const Result<T>& result) {
    const bool expected = result || result.error() == Errc::tensor_not_found ||
                          result.error() == Errc::deadline_exceeded;
    if (expected) return;
    ++unexpected_;
    ADD_FAILURE() << result.error().text();
  }

  RingKernelRuntime& runtime_;
  const std::uint64_t seed_;
  const std::vector<float> ones_ = std::vector<float>(element_count, 1);
  std::array<Place, place_count> places_;
  std::atomic<std::uint64_t> torn_{0};
  std::atomic<std::uint64_t> unexpected_{0};
  std::atomic<std::uint64_t> computed_{0};
};

RK_ON_EACH_BACKEND(RuntimeTensors);

TEST_P(RuntimeTensors, AreNeverTornOrUsedAfterTheirEndAndAllAreGivenBack) {
  const std::uint64_t seed = announce_seed();
  // The threads' kernels write what others read: one work-group does so message by message.
  auto runtime = open({.work_groups = 1});
  const std::uint64_t steps_each = scaled(steps_full / thread_count, 100);
  std::uint64_t free = 0;
  {
    Kernel first = active(runtime, "first", small_rings);  // the program's region is in place
    first.terminate().value();
    free = runtime.metrics().arena_free_bytes;
  }
  Users users(runtime, seed);
  users.run(steps_each);
  std::cout << "computed " << users.computed() << '\n';
  EXPECT_EQ(users.torn(), 0u);
  EXPECT_EQ(users.unexpected(), 0u);
  EXPECT_EQ(runtime.metrics().tensors, 0u);
  for (const std::string& id : runtime.kernels()) runtime.terminate(id).value();
  EXPECT_EQ(runtime.metrics().arena_free_bytes, free);
}

}  // namespace
}  // namespace ringkernel::test
