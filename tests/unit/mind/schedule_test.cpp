// The order of ops, without a device: which op may go, and that no two that disagree about a tensor
// ever go together.
#include "mind/schedule.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <random>
#include <set>

namespace ringkernel::mind {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TensorId x = 1, y = 2, z = 3;

/// Gives an op, and puts it in order if it is ready.
Ticket give(Schedule& schedule, std::vector<TensorId> reads, std::optional<TensorId> writes,
            std::optional<std::uint32_t> queue) {
  const Ticket op = schedule.add({reads, writes}, queue);
  if (schedule.ready(op)) schedule.put_in_order(op);
  return op;
}
std::vector<Ticket> end(Schedule& schedule, Ticket op) {
  std::vector<Ticket> ready;
  schedule.end(op, ready);
  for (const Ticket next : ready) schedule.put_in_order(next);
  return ready;
}

TEST(Schedule, LetsOpsThatShareNothingOrOnlyReadGoTogether) {
  Schedule schedule(2);
  (void)give(schedule, {x}, y, 0);
  EXPECT_TRUE(schedule.ready(give(schedule, {x}, z, 1)));
}

TEST(Schedule, HoldsAReaderOnAnotherQueueBackUntilTheWriterHasEnded) {
  Schedule schedule(2);
  const Ticket writer = give(schedule, {}, x, 0);
  const Ticket reader = give(schedule, {x}, y, 1);
  EXPECT_FALSE(schedule.ready(reader));
  EXPECT_THAT(end(schedule, writer), ElementsAre(reader));
}

TEST(Schedule, HoldsAWriterBackUntilEveryReaderHasEnded) {
  Schedule schedule(2);
  const Ticket first = give(schedule, {x}, y, 0);
  const Ticket second = give(schedule, {x}, z, 0);
  const Ticket writer = give(schedule, {}, x, 1);
  EXPECT_THAT(end(schedule, second), IsEmpty());
  EXPECT_THAT(end(schedule, first), ElementsAre(writer));
}

TEST(Schedule, LeavesTheOrderOfOneQueueToTheQueue) {
  Schedule schedule(2);
  (void)give(schedule, {}, x, 0);
  EXPECT_TRUE(schedule.ready(give(schedule, {x}, x, 0)));
}

TEST(Schedule, WaitsOnTheSameQueueForAnOpThatHasNoPlaceInIt) {
  Schedule schedule(2);
  const Ticket direct = schedule.add({{}, x}, 0);  // not put in order
  const std::vector reads{x};
  const Ticket next = schedule.add({reads, y}, 0);
  EXPECT_FALSE(schedule.ready(next));
  EXPECT_THAT(end(schedule, direct), ElementsAre(next));
}

TEST(Schedule, StandsInForWhatAnOpDependsOnThatEndedEarly) {
  Schedule schedule(2);
  const Ticket writer = give(schedule, {}, x, 0);
  const Ticket refused = give(schedule, {x}, x, 0);
  EXPECT_THAT(end(schedule, refused), IsEmpty());
  const Ticket reader = give(schedule, {x}, y, 1);
  EXPECT_FALSE(schedule.ready(reader)) << "the first writer is still at it";
  EXPECT_THAT(end(schedule, writer), ElementsAre(reader));
  EXPECT_THAT(end(schedule, reader), IsEmpty());
  EXPECT_TRUE(schedule.empty());
}

TEST(Schedule, ChoosesTheQueueOfWhatAnOpDependsOnElseTheOneWithLeastToDo) {
  Schedule schedule(3);
  const Ticket first = give(schedule, {}, x, {});
  const Ticket second = give(schedule, {}, y, {});
  EXPECT_NE(schedule.queue_of(first), schedule.queue_of(second));
  EXPECT_EQ(schedule.queue_of(give(schedule, {x}, x, {})), schedule.queue_of(first));
}

TEST(Schedule, KnowsWhomACopyHasToWaitFor) {
  Schedule schedule(2);
  const Ticket writer = give(schedule, {}, x, 0);
  const Ticket reader = give(schedule, {x}, y, 0);
  EXPECT_THAT(schedule.users(x, false), ElementsAre(writer));
  EXPECT_THAT(schedule.users(x, true), ElementsAre(writer, reader));
  EXPECT_THAT(schedule.users(z, true), IsEmpty());
}

/// A device as the schedule sees it: queues that run their ops one after the other, at whatever
/// speed. Random ops, some refused on their way, against the plain rule: two ops, one of which
/// writes what the other uses, run in the order in which they were given.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed)
      : random_(seed), schedule_(queue_count), rings_(queue_count) {}

  void run(std::size_t ops) {
    while (given_ < ops || !schedule_.empty()) {
      if (given_ < ops && below(2) == 0)
        give_one();
      else
        end_one();
    }
    EXPECT_EQ(ended_.size(), ops);
  }

 private:
  static constexpr std::uint32_t queue_count = 3;
  struct Op {
    std::vector<TensorId> reads;
    std::optional<TensorId> writes;
  };

  std::size_t below(std::size_t bound) { return random_() % bound; }

  void give_one() {
    Op op;
    for (std::size_t i = below(3); i > 0; --i) op.reads.push_back(below(5));
    if (below(8) != 0) op.writes = below(5);
    std::optional<std::uint32_t> queue;
    if (below(2) == 0) queue = static_cast<std::uint32_t>(below(queue_count));
    const Ticket ticket = schedule_.add({op.reads, op.writes}, queue);
    ops_[ticket] = op;
    ++given_;
    if (schedule_.ready(ticket)) hand_out(ticket);
  }

  void hand_out(Ticket ticket) {
    schedule_.put_in_order(ticket);
    if (below(10) == 0) return finish(ticket);  // refused: it never runs
    auto& ring = rings_[schedule_.queue_of(ticket)];
    ring.push_back(ticket);
    if (ring.size() == 1) begin(ticket);
  }

  /// From here on it may be running: what it disagrees with and was given before must be over.
  void begin(Ticket ticket) {
    for (const auto& [other, op] : ops_)
      if (other < ticket && !ended_.contains(other) && disagree(op, ops_[ticket]))
        ADD_FAILURE() << "op " << ticket << " runs beside op " << other;
  }

  void end_one() {
    auto& ring = rings_[below(queue_count)];
    if (ring.empty()) return;
    const Ticket ticket = ring.front();
    ring.pop_front();
    if (!ring.empty()) begin_after(ring.front(), ticket);
    finish(ticket);
  }
  void begin_after(Ticket ticket, Ticket over) {
    ended_.insert(over);
    begin(ticket);
  }

  void finish(Ticket ticket) {
    ended_.insert(ticket);
    std::vector<Ticket> ready;
    schedule_.end(ticket, ready);
    for (const Ticket next : ready) hand_out(next);
  }

  static bool disagree(const Op& a, const Op& b) {
    const auto uses = [](const Op& op, TensorId tensor) {
      return op.writes == tensor || std::ranges::find(op.reads, tensor) != op.reads.end();
    };
    return (a.writes && uses(b, *a.writes)) || (b.writes && uses(a, *b.writes));
  }

  std::mt19937_64 random_;
  Schedule schedule_;
  std::vector<std::deque<Ticket>> rings_;
  std::map<Ticket, Op> ops_;
  std::set<Ticket> ended_;
  std::size_t given_ = 0;
};

TEST(Schedule, NeverLetsTwoQueuesRaceOnATensor) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomRun(seed).run(100);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace ringkernel::mind
