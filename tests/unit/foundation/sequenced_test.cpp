#include "foundation/sequenced.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "foundation/file.hpp"
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

/// A file with one of them, and its writer's number.
class InAFile {
 public:
  static constexpr std::uint64_t snapshots = 30'000;  // each waits for three calls of the system

  InAFile() { EXPECT_EQ(ftruncate(file_.get(), sizeof(Sequenced<Record>)), 0); }

  [[nodiscard]] bool store(const Record& record) {
    return Sequenced<Record>::store_by(
        number_, record, [&](std::size_t offset, const void* from, std::size_t bytes) {
          if (--writes_left == 0) return false;
          return pwrite(file_.get(), from, bytes, static_cast<off_t>(offset)) ==
                 static_cast<ssize_t>(bytes);
        });
  }
  [[nodiscard]] bool load(Record& record) const {
    return Sequenced<Record>::load_by(record, [&](std::size_t offset, void* to, std::size_t bytes) {
      return pread(file_.get(), to, bytes, static_cast<off_t>(offset)) ==
             static_cast<ssize_t>(bytes);
    });
  }
  /// The one that makes it 0 fails.
  std::int64_t writes_left = -1;

 private:
  const File file_{memfd_create("sequenced", MFD_CLOEXEC)};
  std::uint64_t number_ = 0;
};

/// One in memory, with the same interface.
class InMemory {
 public:
  static constexpr std::uint64_t snapshots = 1'000'000;

  [[nodiscard]] bool store(const Record& record) {
    sequenced_.store(record);
    return true;
  }
  [[nodiscard]] bool load(Record& record) const { return sequenced_.load(record); }

 private:
  Sequenced<Record> sequenced_{};
};

template <class Place>
class SequencedRecords : public ::testing::Test {
 protected:
  Place sequenced_;
};
using Places = ::testing::Types<InMemory, InAFile>;
TYPED_TEST_SUITE(SequencedRecords, Places);

TYPED_TEST(SequencedRecords, ZeroesAreAnEmptyRecord) {
  Record record = record_of(1);
  ASSERT_TRUE(this->sequenced_.load(record));
  EXPECT_EQ(record.words, record_of(0).words);
}

TYPED_TEST(SequencedRecords, GivesWhatWasStoredLast) {
  for (std::uint64_t value = 1; value <= 5; ++value) {
    ASSERT_TRUE(this->sequenced_.store(record_of(value)));
    Record record = record_of(0);
    ASSERT_TRUE(this->sequenced_.load(record));
    EXPECT_EQ(record.words, record_of(value).words);
  }
}

/// Neither of its two writes is seen before both are there.
TEST(SequencedInAFile, StaysWhatItWasWhereAStoreFails) {
  InAFile sequenced;
  ASSERT_TRUE(sequenced.store(record_of(1)));
  for (const std::int64_t failing : {1, 2}) {
    sequenced.writes_left = failing;
    EXPECT_FALSE(sequenced.store(record_of(2)));
    Record record = record_of(0);
    ASSERT_TRUE(sequenced.load(record));
    EXPECT_EQ(record.words, record_of(1).words);
  }
  sequenced.writes_left = -1;
  ASSERT_TRUE(sequenced.store(record_of(3)));
  Record record = record_of(0);
  ASSERT_TRUE(sequenced.load(record));
  EXPECT_EQ(record.words, record_of(3).words);
}

/// Whoever reads beside a writer that never pauses gets one of its records, whole, and never an
/// older one than before.
TYPED_TEST(SequencedRecords, AreNeverTorn) {
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (std::uint64_t value = 1; !done.load(); ++value)
      EXPECT_TRUE(this->sequenced_.store(record_of(value)));
  });
  const std::uint64_t snapshots = test::scaled(TypeParam::snapshots);
  std::uint64_t last = 0, read = 0, overtaken = 0;
  while (read < snapshots) {
    Record record = record_of(0);
    if (!this->sequenced_.load(record)) {
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
  this->RecordProperty("overtaken", std::to_string(overtaken));
}

}  // namespace
}  // namespace ringkernel
