// Many readers beside a writer that never pauses.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <thread>
#include <utility>
#include <vector>

#include "sample_metrics.hpp"
#include "support/stress.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/counters_writer.hpp"

namespace ringkernel::telemetry {
namespace {

using ringkernel::testing::is_whole;
using ringkernel::testing::kernel_of;

/// What one reader has seen.
struct Seen {
  std::uint64_t snapshots = 0;
  std::uint64_t torn = 0;
  std::uint64_t older = 0;  ///< than one before it
  std::uint64_t changes = 0;
};

Seen look(const CountersReader& reader, std::atomic<std::uint64_t>& left) {
  Seen seen;
  std::uint64_t last = 0;
  while (left.load(std::memory_order_relaxed) != 0) {
    const auto kernels = reader.kernels();
    if (kernels.empty()) continue;  // gave up beside this writer
    const KernelMetrics& metrics = kernels.front().metrics;
    ++seen.snapshots;
    seen.torn += !is_whole(metrics);
    seen.older += metrics.accepted < last;
    seen.changes += std::exchange(last, metrics.accepted) != metrics.accepted;
    std::uint64_t now_left = left.load(std::memory_order_relaxed);
    while (now_left != 0 && !left.compare_exchange_weak(now_left, now_left - 1)) {
    }
  }
  return seen;
}

TEST(CountersReaders, SeeNoTornSnapshotBesideAWriterWithoutPauses) {
  constexpr std::size_t readers = 10;
  const testing::TempFolder folder;
  const auto own = folder.path() / "own";
  std::filesystem::create_directory(own);
  const auto writer = CountersWriter::create(own, std::chrono::milliseconds(100)).value();
  ASSERT_TRUE(writer->store(0, 1, kernel_of(1), {}));
  std::atomic<std::uint64_t> left{test::scaled(1'000'000, readers)};
  std::array<Seen, readers> seen;
  {
    std::atomic<bool> enough{false};
    std::jthread writing([&] {
      for (std::uint64_t number = 2; !enough.load(std::memory_order_relaxed); ++number)
        (void)writer->store(0, 1, kernel_of(number), {});
    });
    {
      std::vector<std::jthread> threads;
      for (Seen& of : seen)
        threads.emplace_back([&, reader = CountersReader::open(writer->path()).value()] {
          of = look(reader, left);
        });
    }
    enough = true;
  }
  std::uint64_t changes = 0;
  for (const Seen& of : seen) {
    EXPECT_EQ(of.torn, 0u);
    EXPECT_EQ(of.older, 0u);
    changes += of.changes;
  }
  EXPECT_GT(changes, readers) << "the writer did not write meanwhile";
  std::cout << changes << " of the snapshots were new\n";
}

}  // namespace
}  // namespace ringkernel::telemetry
