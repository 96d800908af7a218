// What is written is read, and what is no counters file of this version is refused in a sentence.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "sample_metrics.hpp"
#include "support/temp_folder.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/counters_writer.hpp"

namespace ringkernel::telemetry {
namespace {

using namespace std::chrono_literals;
using ringkernel::testing::is_whole;
using ringkernel::testing::kernel_of;
using ringkernel::testing::runtime_of;
using ringkernel::testing::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CountersFiles : public ::testing::Test {
 protected:
  /// A file with these bytes.
  std::filesystem::path file_of(const std::string& bytes) {
    const std::filesystem::path path = folder_.path() / "runtime-99.counters";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  /// The bytes of a sound file.
  std::string sound() {
    const std::filesystem::path own = folder_.path() / "own";
    std::filesystem::create_directory(own);  // the writer takes it along
    const auto writer = CountersWriter::create(own, 100ms).value();
    writer->store(runtime_of(1));
    std::string bytes(std::filesystem::file_size(writer->path()), '\0');
    std::ifstream(writer->path(), std::ios::binary)
        .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
  /// A ring kernel of its own at each place.
  [[nodiscard]] static bool store(CountersWriter& writer, std::uint32_t place,
                                  const KernelMetrics& metrics) {
    return writer.store(place, place + 1, metrics, {});
  }
  static std::string refusal(const std::filesystem::path& path, Errc code) {
    const auto reader = CountersReader::open(path);
    if (reader) return "it was read";
    EXPECT_EQ(reader.error(), code) << reader.error().text();
    EXPECT_THAT(reader.error().detail, HasSubstr(path.string()));
    return reader.error().detail;
  }

  TempFolder folder_;
};

TEST_F(CountersFiles, GiveBackEveryFigure) {
  const auto writer = CountersWriter::create(folder_.path(), 250ms).value();
  const std::uint64_t before_ns = monotonic_ns();
  writer->store(runtime_of(7));
  ASSERT_TRUE(store(*writer, 0, kernel_of(3)));
  ASSERT_TRUE(store(*writer, 1, kernel_of(4)));
  writer->beat(5);
  const CountersReader reader = CountersReader::open(writer->path()).value();
  EXPECT_EQ(reader.writer().process, this_process());
  EXPECT_EQ(reader.writer().period, 250ms);
  EXPECT_EQ(reader.kernels_missing(), 5u);
  EXPECT_GE(reader.writer().heartbeat_ns, before_ns);
  const auto runtime = reader.runtime();
  ASSERT_TRUE(runtime);
  EXPECT_EQ(runtime->metrics.device, "device 7");
  EXPECT_EQ(runtime->metrics.backend, "native");
  EXPECT_EQ(runtime->metrics.transfer, "zero_copy");
#define RK_RUNTIME_METRIC(name, kind, help) EXPECT_EQ(runtime->metrics.name, 7u) << #name;
#include "ringkernel/metrics.def"
  EXPECT_EQ(runtime->metrics.arena_fragmentation_score, 0.0);
  EXPECT_GE(runtime->published_ns, before_ns);
  const auto kernels = reader.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].metrics.status, KernelStatus::active);
  EXPECT_EQ(kernels[0].metrics.program, "core");
  EXPECT_TRUE(is_whole(kernels[0].metrics));
  EXPECT_EQ(kernels[1].metrics.accepted, 4u);
}

TEST_F(CountersFiles, GiveBackCallsLatenciesAndErrors) {
  const auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  const CountersReader reader = CountersReader::open(writer->path()).value();
  std::vector<CallInFlight> calls;
  for (std::uint64_t i = 0; i < calls_max + 4; ++i) calls.push_back({100 + i, 1000 - i});
  ASSERT_TRUE(writer->store(2, 77, kernel_of(1), calls));
  const auto recorded = std::make_unique<Histogram>();
  recorded->record(1234);
  ASSERT_TRUE(writer->store_latency(2, *recorded));
  ASSERT_TRUE(writer->store(1, {"a", 17, "E17: why", 3, 10, 20}));
  ASSERT_TRUE(writer->store(0, {"", 18, std::string(500, 'x'), 1, 11, 11}));
  const PublishedKernel kernel = reader.kernels().at(0);
  EXPECT_EQ(kernel.number, 77u);
  EXPECT_EQ(kernel.place, 2u);
  ASSERT_EQ(kernel.calls.size(), calls_max) << "the first ones";
  EXPECT_EQ(kernel.calls[0].message, 100u);
  EXPECT_EQ(kernel.calls[15].age_ns, 985u);
  const auto latency = reader.latency(kernel);
  ASSERT_NE(latency, nullptr);
  EXPECT_EQ(latency->count(Histogram::bucket_of(1234)), 1u);
  const auto errors = reader.errors();
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].text, std::string(191, 'x')) << "cut off";
  EXPECT_EQ(errors[1].kernel, "a");
  EXPECT_EQ(errors[1].code, 17);
  EXPECT_EQ(errors[1].text, "E17: why");
  EXPECT_EQ(errors[1].count, 3u);
  EXPECT_EQ(errors[1].first_ns, 10u);
  EXPECT_EQ(errors[1].last_ns, 20u);
}

// A reader who saw the old one's place before it was cleared, and then the new one's.
TEST_F(CountersFiles, KnowTheNewerOfTwoKernelsWithOneId) {
  const auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  ASSERT_TRUE(writer->store(0, 9, kernel_of(1), {}));
  ASSERT_TRUE(writer->store(1, 8, kernel_of(1), {}));
  ASSERT_TRUE(writer->store(2, 7, kernel_of(2), {}));
  const auto kernels = CountersReader::open(writer->path())->kernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].number, 9u);
  EXPECT_EQ(kernels[1].number, 7u);
}

// A place is used again by another ring kernel, whose latencies are its own.
TEST_F(CountersFiles, DoNotMixTheLatenciesOfTwoKernels) {
  const auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  const CountersReader reader = CountersReader::open(writer->path()).value();
  ASSERT_TRUE(writer->store(0, 1, kernel_of(1), {}));
  const auto recorded = std::make_unique<Histogram>();
  recorded->record(5);
  ASSERT_TRUE(writer->store_latency(0, *recorded));
  const PublishedKernel first = reader.kernels().at(0);
  writer->clear(0);
  EXPECT_EQ(reader.latency(first), nullptr);
  ASSERT_TRUE(writer->store(0, 2, kernel_of(2), {}));
  EXPECT_EQ(reader.latency(first), nullptr);
  const auto second = reader.latency(reader.kernels().at(0));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->count(5), 0u);
}

TEST_F(CountersFiles, ShowNothingBeforeTheFirstPublication) {
  const auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  const CountersReader reader = CountersReader::open(writer->path()).value();
  EXPECT_FALSE(reader.runtime());
  EXPECT_TRUE(reader.kernels().empty());
  EXPECT_TRUE(reader.errors().empty());
}

TEST_F(CountersFiles, FollowKernelsThatComeAndGo) {
  const auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  const CountersReader reader = CountersReader::open(writer->path()).value();
  ASSERT_TRUE(store(*writer, kernels_max - 1, kernel_of(1)));
  ASSERT_TRUE(store(*writer, 3, kernel_of(2)));
  ASSERT_EQ(reader.kernels().size(), 2u);
  EXPECT_EQ(reader.kernels().back().metrics.id, "kernel 1");
  writer->clear(kernels_max - 1);
  ASSERT_EQ(reader.kernels().size(), 1u);
  ASSERT_TRUE(store(*writer, 3, kernel_of(9)));
  EXPECT_EQ(reader.kernels().front().metrics.id, "kernel 9");
}

TEST_F(CountersFiles, CutTextOffThatIsTooLong) {
  const auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  RuntimeMetrics metrics = runtime_of(1);
  metrics.device = std::string(500, 'd');
  writer->store(metrics);
  const CountersReader reader = CountersReader::open(writer->path()).value();
  EXPECT_EQ(reader.runtime()->metrics.device, std::string(127, 'd'));
}

TEST_F(CountersFiles, AreTheUsersAloneAndGoWithTheirWriter) {
  auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  const std::filesystem::path path = writer->path();
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const CountersReader reader = CountersReader::open(path).value();
  writer->store(runtime_of(1));
  writer.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path.parent_path())) << "it was the last one there";
  EXPECT_TRUE(reader.runtime()) << "who has it open goes on";
}

TEST_F(CountersFiles, OfOtherVersionsAreToldApart) {
  std::string bytes = sound();
  for (const char version : {'\x01', '\x7f'}) {
    bytes[offsetof(CountersFile, version)] = version;
    EXPECT_THAT(refusal(file_of(bytes), Errc::protocol_mismatch),
                AllOf(HasSubstr("version " + std::to_string(version)),
                      HasSubstr("reads version " + std::to_string(file_version))));
    // Another version's file need not be as long.
    EXPECT_THAT(refusal(file_of(bytes.substr(0, 64)), Errc::protocol_mismatch),
                HasSubstr("version " + std::to_string(version)));
  }
}

TEST_F(CountersFiles, ThatAreTruncatedAreRefused) {
  const std::string bytes = sound();
  for (const std::size_t length : {0ul, 1ul, 11ul, 12ul, 64ul, 4096ul, bytes.size() - 1})
    EXPECT_THAT(refusal(file_of(bytes.substr(0, length)), Errc::bad_record), HasSubstr("truncated"))
        << length;
}

/// Who writes one and who has it open live on; the next round makes it anew.
TEST_F(CountersFiles, ThatAreCutOffHurtNobody) {
  const auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  const auto latency = std::make_unique<Histogram>();
  latency->record(1234);
  const auto store_all = [&](std::uint32_t number) {
    writer->store(runtime_of(number));
    EXPECT_TRUE(store(*writer, 3, kernel_of(number)));
    EXPECT_TRUE(writer->store_latency(3, *latency));
    EXPECT_TRUE(writer->store(1, {"a", 17, "E17: why", number, 10, 20}));
    const std::vector<TraceEvent> events(3, testing::event_of(number));
    writer->append(events, 0);
    writer->beat(number);
  };
  store_all(1);
  EXPECT_FALSE(writer->was_cut());
  const CountersReader reader = CountersReader::open(writer->path()).value();
  std::uint64_t from = 0;
  EXPECT_EQ(reader.trace(from).size(), 3u);
  for (const std::size_t length : {sizeof(CountersFile) - 1, 4096ul, 9ul, 0ul}) {
    std::filesystem::resize_file(writer->path(), length);
    EXPECT_FALSE(CountersReader::open(writer->path())) << length;
    (void)reader.runtime();
    (void)reader.kernels();
    (void)reader.errors();
    store_all(2);  // in the round in which it happened
    (void)reader.trace(from);
    ASSERT_TRUE(writer->was_cut()) << length;
    EXPECT_FALSE(writer->was_cut()) << length;
    store_all(3);
    const CountersReader again = CountersReader::open(writer->path()).value();
    EXPECT_EQ(again.writer().process, this_process());
    EXPECT_EQ(again.writer().period, 100ms);
    EXPECT_EQ(again.kernels_missing(), 3u);
    ASSERT_TRUE(again.runtime());
    EXPECT_EQ(again.runtime()->metrics.device, "device 3");
    const auto kernels = again.kernels();
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].metrics.id, "kernel 3");
    ASSERT_NE(again.latency(kernels[0]), nullptr);
    EXPECT_EQ(again.latency(kernels[0])->count(Histogram::bucket_of(1234)), 1u);
    ASSERT_EQ(again.errors().size(), 1u);
    EXPECT_EQ(again.errors()[0].count, 3u);
    const auto events = reader.trace(from);
    ASSERT_EQ(events.size(), 3u) << "who had it open reads on";
    EXPECT_EQ(events[0].id, 3u);
    EXPECT_EQ(reader.kernels().size(), 1u);
  }
}

/// Readers are at the first copy of a record whose number is 0.
TEST_F(CountersFiles, ThatAreCutOffGetTheirFirstRecordsBesideWhereReadersAre) {
  const auto writer = CountersWriter::create(folder_.path(), 100ms).value();
  for (std::uint32_t stores = 1; stores <= 3; ++stores) {
    EXPECT_TRUE(store(*writer, 0, kernel_of(stores)));
    std::filesystem::resize_file(writer->path(), 0);
    ASSERT_TRUE(writer->was_cut());
    EXPECT_TRUE(store(*writer, 0, kernel_of(stores)));
    std::ifstream file(writer->path(), std::ios::binary);
    file.seekg(offsetof(CountersFile, kernels));
    std::array<std::uint64_t, 1 + sizeof(KernelRecord) / sizeof(std::uint64_t)> words{};
    file.read(reinterpret_cast<char*>(words.data()), sizeof words);
    EXPECT_EQ(words[0] % 2, 1u);
    EXPECT_THAT(std::span(words).subspan(1), ::testing::Each(0u));
  }
}

TEST_F(CountersFiles, ThatAreNotFinishedAreRefused) {
  std::string bytes = sound();
  bytes.replace(offsetof(CountersFile, version), 4, 4, '\0');
  EXPECT_THAT(refusal(file_of(bytes), Errc::bad_record), HasSubstr("not finished"));
}

/// Random bytes are refused, or, behind a sound start, read without harm.
TEST_F(CountersFiles, OfRandomBytesDoNoHarm) {
  std::mt19937 random(4711);
  const auto noise = [&](std::string& bytes, std::size_t from) {
    for (std::size_t i = from; i < bytes.size(); ++i) bytes[i] = static_cast<char>(random());
  };
  std::string bytes(sizeof(CountersFile), '\0');
  noise(bytes, 0);
  EXPECT_THAT(refusal(file_of(bytes), Errc::bad_record), HasSubstr("no counters file"));
  bytes = sound();
  noise(bytes, offsetof(CountersFile, process_id));
  const CountersReader reader = CountersReader::open(file_of(bytes)).value();
  EXPECT_FALSE(is_running(reader.writer().process));
  for (const auto& kernel : reader.kernels()) {
    EXPECT_LE(kernel.metrics.id.size(), 136u);
    EXPECT_LE(kernel.calls.size(), calls_max);
    (void)reader.latency(kernel);
  }
  for (const ErrorRecord& error : reader.errors()) EXPECT_LE(error.text.size(), 192u);
  ASSERT_TRUE(reader.runtime());
  EXPECT_LE(reader.runtime()->metrics.device.size(), 128u);
}

TEST_F(CountersFiles, ThatCannotBeMadeAreAnErrorWithTheReason) {
  const auto writer = CountersWriter::create(folder_.path() / "a" / "missing", 100ms);
  ASSERT_TRUE(writer.has_error());
  EXPECT_EQ(writer.error(), Errc::backend_unavailable);
  EXPECT_THAT(writer.error().detail,
              AllOf(HasSubstr("missing/runtime-"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace ringkernel::telemetry
