// Plain messages while their kernels are deactivated, activated, terminated and launched again at
// random: what was accepted is replied or returned as an error, exactly, and in each sender's
// order.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "support/backends.hpp"
#include "support/stress.hpp"

namespace ringkernel::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t messages_full = 1'000'000;
constexpr std::uint64_t sender_count = 8;
constexpr std::size_t churned_kernel_count = 4;

/// One life of one kernel, from launch to termination.
class Incarnation {
 public:
  explicit Incarnation(Kernel kernel) : kernel_(std::move(kernel)) {}

  [[nodiscard]] Kernel kernel() const { return kernel_; }

  void accepted(MessageId id, std::uint64_t sender) {
    const std::lock_guard lock(mutex_);
    accepted_[sender].push_back(id);
  }

  /// Receives until the kernel has ended and everything was received.
  void receive_all() {
    for (;;) {
      const auto outcome = kernel_.receive(100ms);
      if (outcome) {
        note_reply(*outcome);
      } else if (outcome.error().message != 0) {
        EXPECT_EQ(outcome.error(), Errc::kernel_terminated);
        ended_.push_back(outcome.error().message);
        ++failed_;
      } else if (!(outcome.error() == Errc::deadline_exceeded)) {
        EXPECT_EQ(outcome.error(), Errc::kernel_terminated);
        return;
      }
    }
  }

  /// When senders and receivers have finished. Returns how many were replied.
  std::uint64_t check() {
    std::unordered_map<MessageId, std::uint64_t> senders;
    for (std::uint64_t sender = 0; sender < sender_count; ++sender)
      for (const MessageId id : accepted_[sender]) senders.emplace(id, sender);
    std::array<std::vector<MessageId>, sender_count> ended;
    for (const MessageId id : ended_) ended[senders.at(id)].push_back(id);
    EXPECT_TRUE(ended == accepted_) << "each ends once, replied or not, as it was sent";
    EXPECT_TRUE(in_order_);
    const KernelMetrics metrics = kernel_.metrics();
    EXPECT_EQ(metrics.accepted, ended_.size());
    EXPECT_EQ(metrics.failed, failed_);
    EXPECT_EQ(metrics.replied + metrics.failed, metrics.accepted);
    return ended_.size() - failed_;
  }

 private:
  void note_reply(const Reply& reply) {
    ended_.push_back(reply.id());
    const std::uint64_t number = number_of(reply);
    std::uint64_t& next = next_[number >> 32];
    in_order_ = in_order_ && number >= next;
    next = number + 1;
  }

  Kernel kernel_;
  std::mutex mutex_;
  // By sender, in order. Guarded by mutex_; the rest is the receiver's.
  std::array<std::vector<MessageId>, sender_count> accepted_;
  std::vector<MessageId> ended_;
  std::uint64_t failed_ = 0;
  std::array<std::uint64_t, sender_count> next_{};  // least number that may come, by sender
  bool in_order_ = true;
};

/// One kernel id through all its lives.
class Place {
 public:
  Place(RingKernelRuntime& runtime, std::string id) : runtime_(runtime), id_(std::move(id)) {}

  void launch() {
    KernelOptions options{.program = "echo",
                          .input_bytes = 16384,
                          .output_bytes = 8192,
                          .in_flight_max = 256,
                          .queue_max = 32,
                          .auto_activate = true};
    auto next = std::make_shared<Incarnation>(runtime_.launch(id_, options).value());
    receivers_.emplace_back([next] { next->receive_all(); });
    const std::lock_guard lock(mutex_);
    all_.push_back(std::move(next));
  }

  [[nodiscard]] std::shared_ptr<Incarnation> current() const {
    const std::lock_guard lock(mutex_);
    return all_.back();
  }

  /// One random lifecycle operation, or a pair of them.
  void disturb(Dice& dice) {
    Kernel kernel = current()->kernel();
    if (dice.hits(90)) {
      EXPECT_TRUE(kernel.deactivate());
      if (dice.hits(50)) std::this_thread::sleep_for(std::chrono::microseconds(dice.below(300)));
      EXPECT_TRUE(kernel.activate());
      return;
    }
    if (dice.hits(30)) {
      EXPECT_TRUE(kernel.deactivate());
    }
    const auto ended = kernel.terminate({.drain = dice.hits(50), .timeout = 60s});
    EXPECT_TRUE(ended) << ended.error().text();
    launch();
  }

  std::uint64_t finish() {
    EXPECT_TRUE(current()->kernel().terminate({.drain = true, .timeout = 60s}));
    std::uint64_t replied = 0;
    for (std::thread& receiver : receivers_) receiver.join();
    for (const auto& each : all_) replied += each->check();
    std::cout << id_ << ": " << all_.size() << " lives\n";
    return replied;
  }

 private:
  RingKernelRuntime& runtime_;
  const std::string id_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Incarnation>> all_;  // guarded by mutex_
  std::vector<std::thread> receivers_;
};

void send_from(std::uint64_t sender, std::uint64_t count,
               std::array<Place*, churned_kernel_count> places, std::uint64_t seed) {
  Dice dice(seed, sender);
  for (std::uint64_t i = 0; i < count;) {
    const auto target = places[dice.below(places.size())]->current();
    const auto message = numbered(sender << 32 | i);
    const auto id = target->kernel().send(Bytes(message));
    if (id) {
      target->accepted(*id, sender);
      ++i;
    } else {
      ASSERT_EQ(id.error(), Errc::kernel_terminated) << id.error().text();
      std::this_thread::yield();  // until the next life is there
    }
  }
}

RK_ON_EACH_BACKEND(RuntimeChurn);

TEST_P(RuntimeChurn, AcceptedMessagesAreRepliedOrReturnedInEachSendersOrder) {
  const std::uint64_t seed = announce_seed();
  const std::uint64_t messages_each = scaled(messages_full / sender_count, 500);
  auto runtime = open();
  std::vector<std::unique_ptr<Place>> owned;
  std::array<Place*, churned_kernel_count> places{};
  for (Place*& place : places) {
    owned.push_back(std::make_unique<Place>(runtime, "k" + std::to_string(owned.size())));
    place = owned.back().get();
    place->launch();
  }
  std::atomic<bool> done{false};
  std::thread disturber([&] {
    Dice dice(seed, sender_count);
    while (!done.load()) {
      places[dice.below(places.size())]->disturb(dice);
      std::this_thread::sleep_for(std::chrono::microseconds(dice.below(2000)));
    }
  });
  std::vector<std::thread> senders;
  for (std::uint64_t sender = 0; sender < sender_count; ++sender)
    senders.emplace_back([&, sender] { send_from(sender, messages_each, places, seed); });
  for (std::thread& sender : senders) sender.join();
  done.store(true);
  disturber.join();
  std::uint64_t replied = 0;
  for (Place* place : places) replied += place->finish();
  std::cout << "replied " << replied << " of " << messages_each * sender_count << '\n';
  EXPECT_GT(replied, 0u);
}

}  // namespace
}  // namespace ringkernel::test
