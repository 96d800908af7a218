// Programs that ringkernel_add_program has put into a library.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "program/definition.hpp"
#include "quotes_program.hpp"
#include "ringkernel/typed.hpp"
#include "sensor_generated.h"
#include "sensor_program.hpp"
#include "shop_program.hpp"
#include "support/backends.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::test {
namespace {

using ::testing::HasSubstr;

std::string content_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(EmbeddedPrograms, HoldTheirTextsByteForByte) {
  const ProgramDesc shop = shop_program();
  EXPECT_EQ(shop.name, "shop");
  EXPECT_EQ(shop.source.name(), "shop.rk.cl");
  EXPECT_FALSE(shop.source.is_file());
  EXPECT_EQ(shop.source.content(), content_of_file(RK_SHOP_SOURCE));
  EXPECT_EQ(shop.schema.source().name(), "shop.fbs");
  EXPECT_EQ(shop.schema.text(), content_of_file(RK_SHOP_TEXT));
  const ProgramDesc quotes = quotes_program();
  EXPECT_EQ(quotes.source.content(), content_of_file(RK_QUOTES_SOURCE));
  ASSERT_EQ(quotes.headers.size(), 1u);
  EXPECT_EQ(quotes.headers[0].name(), "quotes.h");
  EXPECT_TRUE(quotes.schema.source().is_empty());
  EXPECT_EQ(quotes.state_bytes, 0u);
  EXPECT_EQ(quotes.reply_bytes, 64u);
}

/// sensor.fbs includes units.fbs, whose types its generated header takes from another one.
TEST(EmbeddedPrograms, MayHaveASchemaThatIncludesAnother) {
  auto runtime = OnEachBackend::open_on(host_backend()).value();
  const auto added = runtime.add_program(sensor_program());
  ASSERT_TRUE(added) << added.error().text();
  Kernel kernel =
      runtime.launch("a", {.program = "sensor", .behaviour = "Sensor", .auto_activate = true})
          .value();
  const auto take = kernel.method<plant::Reading, plant::Report>("Take");
  ASSERT_TRUE(take) << take.error().text();
  flatbuffers::FlatBufferBuilder builder;
  const units::Money price(120, units::Unit::Kelvin);
  const std::vector<flatbuffers::Offset<plant::Part>> parts{
      plant::CreatePart(builder, 0, 1.0f, 0, &price)};
  const auto name = builder.CreateString("a probe");
  const auto list = builder.CreateVector(parts);
  plant::ReadingBuilder reading(builder);
  reading.add_name(name);
  reading.add_parts(list);
  builder.Finish(reading.Finish());
  const auto report = kernel.call((*take)(builder));
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ((*report)->text()->size(), 7u);
  EXPECT_EQ(report->version(), added->version);
}

RK_ON_EACH_BACKEND(EmbeddedProgram);

TEST_P(EmbeddedProgram, RunsWhateverItsTextIs) {
  auto runtime = open();
  const auto added = runtime.add_program(quotes_program());
  ASSERT_TRUE(added) << added.error().text();
  Kernel kernel = active(runtime, "a", {.program = "quotes"});
  const auto reply = kernel.call(plain(1));
  ASSERT_TRUE(reply) << reply.error().text();
  const std::string_view text(reinterpret_cast<const char*>(reply->bytes().data()),
                              reply->bytes().size());
  EXPECT_EQ(text, ")rk_source\"\\;");
}

TEST(CompiledPrograms, AreNotTakenForAnotherSource) {
  auto runtime = OnEachBackend::open_on(host_backend()).value();
  ProgramDesc program = quotes_program();
  program.source =
      Source::text("quotes.rk.cl", "RK_ON_BYTES { rk_reply_length(self, 3); return RK_OK; }\n");
  ASSERT_TRUE(runtime.add_program(program));
  Kernel kernel = runtime.launch("a", {.program = "quotes", .auto_activate = true}).value();
  EXPECT_EQ(kernel.call(plain(1))->bytes().size(), 3u);
}

/// What a process of its own answers to some messages.
ringkernel::testing::ChildResult shop_child(std::vector<std::string> arguments,
                                            const char* compiler) {
  arguments.insert(arguments.begin(), RK_COMPILED_CHILD);
  return ringkernel::testing::run_child(arguments,
                                        {{"RINGKERNEL_CXX", compiler}, {"RINGKERNEL_CACHE", "0"}});
}
constexpr const char* no_compiler = "/nonexistent";

TEST(CompiledPrograms, NeedNoCompilerAndReplyAsThoseThatAreCompiledAtRunTime) {
  if (shop_program().compiled == nullptr) RK_SKIP_WITHOUT("rkc", "this build has none");
  const auto at_run_time = shop_child({}, "");
  ASSERT_EQ(at_run_time.exit_code, 0) << at_run_time.output;
  EXPECT_THAT(at_run_time.output, HasSubstr("replies "));
  for (const char* skipped : {"0", "1", "2"}) {
    const auto compiled = shop_child({skipped}, no_compiler);
    ASSERT_EQ(compiled.exit_code, 0) << compiled.output;
    EXPECT_EQ(compiled.output, at_run_time.output) << skipped;
  }
}

TEST(CompiledPrograms, AreOfTheTextsWithTheirHeaders) {
  for (ProgramDesc program : {shop_program(), quotes_program()}) {
    if (program.compiled == nullptr) RK_SKIP_WITHOUT("rkc", "this build has none");
    const auto definition = program::Definition::of(program);
    ASSERT_TRUE(definition) << definition.error().text();
    EXPECT_EQ((*definition)->text_hash(), program.compiled->text_hash) << program.name;
  }
}

TEST(CompiledPrograms, AreTheOnesThatNeedNoCompiler) {
  const auto refused = shop_child({}, no_compiler);
  EXPECT_EQ(refused.exit_code, 1) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr(no_compiler));
}

}  // namespace
}  // namespace ringkernel::test
