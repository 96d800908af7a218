// The folder of the program cache: what was stored comes back exactly or not at all, whatever lies
// in the folder and whoever else works on it.
#include "backend/cache/cache_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::backend {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

constexpr uint64_t plenty = 1 << 20;
constexpr std::size_t header_bytes = 40;

class CacheFolderTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path path() const { return parent_.path() / "cache" / "ringkernel"; }
  [[nodiscard]] fs::path entry(std::string_view key) const {
    return path() / CacheFolder::file_name(key);
  }
  [[nodiscard]] CacheFolder open(uint64_t bytes_max = plenty) const {
    return CacheFolder::open(path(), bytes_max).value();
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& file : fs::directory_iterator(path())) found.insert(file.path().filename());
    return found;
  }

  ringkernel::testing::TempFolder parent_;
};

Lookup lookup(const CacheFolder& folder, std::string_view key) {
  std::string content;
  return folder.load(key, content);
}

/// What is stored under `key`, which is there.
std::string content_of(const CacheFolder& folder, std::string_view key) {
  std::string content;
  EXPECT_EQ(folder.load(key, content), Lookup::hit) << key;
  return content;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<long>(text.size()));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
}

void age(const fs::path& path, int hours) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

TEST_F(CacheFolderTest, GivesBackExactlyWhatWasStored) {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const CacheFolder folder = open();
  EXPECT_EQ(lookup(folder, "a key"), Lookup::miss);
  for (const std::string& content : {every_byte, std::string("other"), std::string()}) {
    ASSERT_TRUE(folder.store("a key", content));
    EXPECT_EQ(content_of(folder, "a key"), content);
    EXPECT_EQ(content_of(open(), "a key"), content) << "the next process";
  }
  EXPECT_EQ(lookup(folder, "another key"), Lookup::miss);
  EXPECT_EQ(lookup(folder, "a ke"), Lookup::miss);
}

TEST_F(CacheFolderTest, MakesPrivateFoldersAndFiles) {
  const mode_t before = umask(0);
  const bool stored = open().store("key", "content");
  umask(before);
  ASSERT_TRUE(stored);
  const auto mode = [](const fs::path& what) { return fs::status(what).permissions(); };
  EXPECT_EQ(mode(path()), fs::perms::owner_all);
  EXPECT_EQ(mode(path().parent_path()), fs::perms::owner_all);
  EXPECT_EQ(mode(entry("key")), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_THAT(names(), UnorderedElementsAre(CacheFolder::file_name("key")));
}

TEST_F(CacheFolderTest, RefusesEveryTruncationAndWhatIsTooLong) {
  const CacheFolder folder = open();
  ASSERT_TRUE(folder.store("the key", "the content"));
  const std::string whole = read_file(entry("the key"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file(entry("the key"), std::string_view(whole).substr(0, length));
    EXPECT_EQ(lookup(folder, "the key"), Lookup::rejected) << length << " bytes";
  }
  write_file(entry("the key"), whole + '\0');
  EXPECT_EQ(lookup(folder, "the key"), Lookup::rejected);
  ASSERT_TRUE(folder.store("the key", "the content"));
  EXPECT_EQ(content_of(folder, "the key"), "the content");
}

TEST_F(CacheFolderTest, RefusesEveryFlippedBit) {
  const CacheFolder folder = open();
  ASSERT_TRUE(folder.store("the key", "the content"));
  const std::string whole = read_file(entry("the key"));
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_file(entry("the key"), damaged);
    EXPECT_EQ(lookup(folder, "the key"), Lookup::rejected) << "bit " << bit;
  }
  write_file(entry("the key"), whole);
  EXPECT_EQ(content_of(folder, "the key"), "the content");
}

/// As if both keys had one hash.
TEST_F(CacheFolderTest, RefusesTheEntryOfAnotherKey) {
  const CacheFolder folder = open();
  for (const std::string_view other : {"the other", "the ke", "the key!"}) {
    ASSERT_TRUE(folder.store(other, "of another"));
    fs::rename(entry(other), entry("the key"));
    EXPECT_EQ(lookup(folder, "the key"), Lookup::rejected) << other;
  }
}

TEST_F(CacheFolderTest, RefusesAnotherFormatAndForeignFiles) {
  const CacheFolder folder = open();
  ASSERT_TRUE(folder.store("key", "content"));
  std::string next_format = read_file(entry("key"));
  ASSERT_EQ(next_format.size(), header_bytes + 10);
  next_format[8] = 2;
  for (const std::string& foreign :
       {next_format, std::string("#!/bin/sh\n"), std::string(4096, '\0')}) {
    write_file(entry("key"), foreign);
    EXPECT_EQ(lookup(folder, "key"), Lookup::rejected);
  }
}

TEST_F(CacheFolderTest, FollowsNoLinkAndReplacesIt) {
  const CacheFolder folder = open();
  ASSERT_TRUE(folder.store("key", "content"));
  const fs::path target = parent_.path() / "target";
  fs::rename(entry("key"), target);
  fs::create_symlink(target, entry("key"));
  EXPECT_EQ(lookup(folder, "key"), Lookup::rejected);
  ASSERT_TRUE(folder.store("key", "new"));
  EXPECT_FALSE(fs::is_symlink(entry("key")));
  EXPECT_EQ(content_of(folder, "key"), "new");
  EXPECT_EQ(read_file(target).substr(header_bytes), "keycontent");
}

TEST_F(CacheFolderTest, RefusesWhatIsNoRegularFileAtOnce) {
  const CacheFolder folder = open();
  fs::create_directory(entry("folder"));
  ASSERT_EQ(mkfifo(entry("pipe").c_str(), 0600), 0);
  EXPECT_EQ(lookup(folder, "folder"), Lookup::rejected);
  EXPECT_EQ(lookup(folder, "pipe"), Lookup::rejected);
  EXPECT_FALSE(folder.store("folder", "content"));
  EXPECT_EQ(names().size(), 2u) << "nothing unfinished stays";
}

TEST_F(CacheFolderTest, RefusesAnEntryThatOthersMayWrite) {
  const CacheFolder folder = open();
  ASSERT_TRUE(folder.store("key", "content"));
  for (const mode_t mode : {0620u, 0602u}) {
    ASSERT_EQ(chmod(entry("key").c_str(), mode), 0);
    EXPECT_EQ(lookup(folder, "key"), Lookup::rejected);
  }
}

TEST_F(CacheFolderTest, RefusesAFolderThatOthersMayWrite) {
  ASSERT_TRUE(open().store("key", "content"));
  for (const mode_t mode : {0720u, 0702u, 01777u}) {
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
    EXPECT_FALSE(CacheFolder::open(path(), plenty)) << std::oct << mode;
  }
}

TEST_F(CacheFolderTest, RefusesWhatIsNoFolder) {
  EXPECT_FALSE(CacheFolder::open(parent_.path() / "no" / "such" / "place", plenty));
  fs::create_directory(path().parent_path());
  std::ofstream(path()) << "a file";
  EXPECT_FALSE(CacheFolder::open(path(), plenty));
  EXPECT_FALSE(CacheFolder::open(path() / "below", plenty));
  fs::remove(path());
  fs::create_directory(parent_.path() / "elsewhere");
  fs::create_symlink(parent_.path() / "elsewhere", path());
  EXPECT_FALSE(CacheFolder::open(path(), plenty));
}

/// root may write everywhere, so it becomes somebody else meanwhile.
TEST_F(CacheFolderTest, ReadsAFolderThatItCannotWrite) {
  const bool is_root = geteuid() == 0;
  ASSERT_TRUE(open().store("key", "content"));
  ASSERT_EQ(chmod(path().c_str(), 0500), 0);
  for (const fs::path& ours : {path(), entry("key")})
    ASSERT_TRUE(!is_root || chown(ours.c_str(), testing::nobody, testing::nobody) == 0);
  for (const fs::path& around : {parent_.path(), path().parent_path()})
    ASSERT_EQ(chmod(around.c_str(), 0755), 0);
  ASSERT_TRUE(!is_root || seteuid(testing::nobody) == 0);
  const auto folder = CacheFolder::open(path(), plenty);
  const bool stored = folder && folder->store("other", "content");
  const Lookup found = folder ? lookup(*folder, "key") : Lookup::miss;
  ASSERT_TRUE(!is_root || seteuid(0) == 0);
  chmod(path().c_str(), 0700);
  EXPECT_EQ(found, Lookup::hit);
  EXPECT_FALSE(stored);
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(CacheFolderTest, RefusesWhatBelongsToAnother) {
  if (geteuid() != 0) RK_SKIP_WITHOUT("root", "only root can give a file away");
  const CacheFolder folder = open();
  ASSERT_TRUE(folder.store("key", "content"));
  ASSERT_EQ(chown(entry("key").c_str(), testing::nobody, testing::nobody), 0);
  EXPECT_EQ(lookup(folder, "key"), Lookup::rejected);
  ASSERT_EQ(chown(path().c_str(), testing::nobody, testing::nobody), 0);
  EXPECT_FALSE(CacheFolder::open(path(), plenty));
}

TEST_F(CacheFolderTest, ForgetsWhatWasNotUsedForLongest) {
  const std::string content(1000, 'x');
  const uint64_t each = header_bytes + 1 + content.size();
  const CacheFolder folder = open(3 * each);
  int hours = 9;
  for (const char* const key : {"a", "b", "c"}) {
    ASSERT_TRUE(folder.store(key, content));
    age(entry(key), hours--);
  }
  (void)content_of(folder, "a");  // used again: b is the oldest
  ASSERT_TRUE(folder.store("d", content));
  EXPECT_EQ(lookup(folder, "b"), Lookup::miss);
  age(entry("d"), 20);  // from here on the oldest
  ASSERT_TRUE(folder.store("e", content.substr(1)));
  EXPECT_THAT(names(),
              UnorderedElementsAre(CacheFolder::file_name("a"), CacheFolder::file_name("c"),
                                   CacheFolder::file_name("e")));
}

TEST_F(CacheFolderTest, KeepsTheNewestEvenIfTheClockWentBack) {
  const std::string content(1000, 'x');
  const CacheFolder folder = open(header_bytes + 1 + content.size());
  ASSERT_TRUE(folder.store("a", content));
  age(entry("a"), -9);  // from the future
  ASSERT_TRUE(folder.store("b", content));
  EXPECT_EQ(lookup(folder, "b"), Lookup::hit);
  EXPECT_EQ(lookup(folder, "a"), Lookup::miss);
}

TEST_F(CacheFolderTest, StoresNothingLargerThanTheFolder) {
  const CacheFolder folder = open(header_bytes + 10);
  ASSERT_TRUE(folder.store("key", "content"));
  EXPECT_FALSE(folder.store("key", "content!"));
  EXPECT_EQ(content_of(folder, "key"), "content");
  EXPECT_EQ(lookup(open(header_bytes + 9), "key"), Lookup::rejected);
}

TEST_F(CacheFolderTest, RemovesWhatOthersNeverFinishedAndNoForeignFile) {
  const CacheFolder folder = open(1000);
  write_file(path() / "0123456789abcdef.tmp", std::string(900, 'x'));
  write_file(path() / "notes.txt", std::string(5000, 'x'));
  age(path() / "0123456789abcdef.tmp", 1);
  ASSERT_TRUE(folder.store("key", std::string(100, 'x')));
  EXPECT_THAT(names(), UnorderedElementsAre(CacheFolder::file_name("key"), "notes.txt"));
}

/// Writers that replace and push out each other's entries while others read, each with a folder of
/// its own as processes have: every hit is one whole content, nothing is ever rejected, and the
/// folder keeps within its maximum.
TEST_F(CacheFolderTest, ServesManyWritersAndReadersAtOnce) {
  constexpr int rounds = 200;
  constexpr std::size_t content_bytes = 20'000;
  constexpr uint64_t bytes_max = 4 * content_bytes;
  std::atomic<int> writers_left = 2;
  std::atomic<int> hits = 0;
  std::atomic<int> wrong = 0;
  const auto key_of = [](int round) { return "key " + std::to_string(round % 5); };
  const auto write = [&](char letter) {
    const CacheFolder folder = open(bytes_max);
    for (int round = 0; round < rounds; ++round)
      folder.store(key_of(round), std::string(content_bytes, letter));
    --writers_left;
  };
  const auto read = [&] {
    const CacheFolder folder = open(bytes_max);
    for (int round = 0; writers_left != 0; ++round) {
      std::string content;
      const Lookup found = folder.load(key_of(round), content);
      if (found == Lookup::miss) continue;
      const bool whole = content.size() == content_bytes &&
                         content.find_first_not_of(content[0]) == std::string::npos;
      ++(found == Lookup::hit && whole ? hits : wrong);
    }
  };
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b'}) threads.emplace_back(write, letter);
  for (int reader = 0; reader < 2; ++reader) threads.emplace_back(read);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(hits, 0);
  uint64_t bytes = 0;
  for (const std::string& name : names()) {
    EXPECT_TRUE(name.ends_with(".bin")) << name;
    bytes += fs::file_size(path() / name);
  }
  EXPECT_LE(bytes, bytes_max);
  EXPECT_GT(bytes, 0u);
}

}  // namespace
}  // namespace ringkernel::backend
