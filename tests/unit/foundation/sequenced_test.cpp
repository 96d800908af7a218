#include "foundation/sequenced.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "support/stress.hpp"

namespace ringkernel {
namespace {

struct Record {
  std::array<std::uint64_t, 40> words;
};

Record record_of(std::uint64_t value) {
  Record record;
  record.words.fill(value);
  return record;
}

TEST(Sequenced, ZeroedMemoryIsAnEmptyRecord) {
  Sequenced<Record> sequenced{};
  Record record = record_of(1);
  ASSERT_TRUE(sequenced.load(record));
  EXPECT_EQ(record.words, record_of(0).words);
}

TEST(Sequenced, GivesWhatWasStoredLast) {
  Sequenced<Record> sequenced{};
  for (std::uint64_t value = 1; value <= 5; ++value) {
    sequenced.store(record_of(value));
    Record record = record_of(0);
    ASSERT_TRUE(sequenced.load(record));
    EXPECT_EQ(record.words, record_of(value).words);
  }
}

/// Whoever reads beside a writer that never pauses gets one of its records, whole, and never an
/// older one than before.
TEST(Sequenced, IsNeverTorn) {
  Sequenced<Record> sequenced{};
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uint64_t value = 1; !done.load(); ++value) sequenced.store(record_of(value));
  });
  const std::uint64_t snapshots = test::scaled(1'000'000);
  std::uint64_t last = 0, read = 0, overtaken = 0;
  while (read < snapshots) {
    Record record = record_of(0);
    if (!sequenced.load(record)) {
      ++overtaken;
      continue;
    }
    ++read;
    const std::uint64_t value = record.words.front();
    const bool whole =
        std::ranges::all_of(record.words, [&](std::uint64_t word) { return word == value; });
    if (!whole || value < last) {
      ADD_FAILURE() << "after " << read << " snapshots: " << last << ", then " << value;
      break;
    }
    last = value;
  }
  done = true;
  writer.join();
  RecordProperty("overtaken", std::to_string(overtaken));
}

}  // namespace
}  // namespace ringkernel
