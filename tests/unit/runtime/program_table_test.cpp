// Names of programs, and what becomes of one whose build fails. That they run is shown by
// tests/integration.
#include "runtime/program_table.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "unit/runtime/scripted_backend.hpp"

namespace ringkernel::detail {
namespace {

using test::scripted;
using ::testing::HasSubstr;

class Programs : public ::testing::Test {
 protected:
  static constexpr std::uint64_t arena_bytes = 1 << 20;

  Programs() {
    scripted = {};
    opened.work_groups = 1;
  }
  RuntimeMetrics metrics() {
    RuntimeMetrics metrics;
    table.add_to(metrics);
    return metrics;
  }

  const std::unique_ptr<std::byte[], decltype(&std::free)> bytes{
      static_cast<std::byte*>(std::aligned_alloc(128, arena_bytes)), &std::free};
  const RuntimeOptions options;
  rk_device_state opened{};
  Arena arena{bytes.get(), arena_bytes};
  DeviceMemory memory{test::scripted_device(), bytes.get(), RK_TRANSFER_ZERO_COPY,
                      std::chrono::seconds(1)};
  bridge::TickClock clock;
  bridge::Bridge bridge{clock};
  ProgramTable table{{.memory = memory,
                      .arena = arena,
                      .bridge = bridge,
                      .clock = clock,
                      .options = options,
                      .opened = opened,
                      .trace = nullptr}};
};

TEST_F(Programs, AnUnknownNameIsAnErrorWithThoseThatThereAre) {
  const auto program = table.get("shop");
  EXPECT_EQ(program.error(), Errc::program_not_found);
  EXPECT_THAT(program.error().detail, HasSubstr("core, echo"));
  EXPECT_EQ(table.info("shop").error(), Errc::program_not_found);
  EXPECT_EQ(table.end("shop").error(), Errc::program_not_found);
  EXPECT_EQ(scripted.created, 0);
}

TEST_F(Programs, OursAreKnownBeforeTheyAreBuilt) {
  EXPECT_EQ(table.info("core").value().version, 1u);
  EXPECT_TRUE(table.current("echo").value().definition->is_built_in());
  EXPECT_TRUE(table.end("core")) << "nothing to end";
  EXPECT_EQ(scripted.created, 0);
}

TEST_F(Programs, OneMayNotHaveTheNameOfOurs) {
  ProgramDesc desc;
  desc.name = "core";
  const auto added = table.add(desc);
  EXPECT_EQ(added.error(), Errc::invalid_argument);
  EXPECT_THAT(added.error().detail, HasSubstr("there is a program 'core' already"));
}

TEST_F(Programs, AFailedBuildLeavesNothingAndIsTriedAgain) {
  const std::uint64_t free = arena.free_bytes();
  scripted.create = test::code_of(Errc::build_failed);
  scripted.detail = "line 3";
  for (int times = 1; times <= 2; ++times) {
    const auto program = table.get("core");
    EXPECT_EQ(program.error(), Errc::build_failed) << program.error().text();
    EXPECT_THAT(program.error().detail, HasSubstr("line 3"));
    EXPECT_EQ(scripted.created, times);
    EXPECT_EQ(metrics().executors, 0u);
    EXPECT_EQ(arena.free_bytes(), free);
  }
}

TEST_F(Programs, AreRefusedBehindTheEnd) {
  EXPECT_EQ(metrics().program_cache_hits, 5u);
  EXPECT_TRUE(table.close(false));
  EXPECT_EQ(table.get("core").error(), Errc::runtime_closed);
  EXPECT_EQ(metrics().program_cache_hits, 0u) << "the device is gone";
  EXPECT_TRUE(table.close(false)) << "a second shutdown";
}

TEST_F(Programs, LeftToWhatIsUnderWayTheEndIsAnError) {
  EXPECT_EQ(table.close(true).error(), Errc::execution_timeout);
}

}  // namespace
}  // namespace ringkernel::detail
