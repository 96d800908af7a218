// What is shown of users' own programs: versions, behaviours, methods, states.
#include <flatbuffers/flatbuffers.h>
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "integration/telemetry_fixture.hpp"
#include "shop_program.hpp"
#include "telemetry/counters_file.hpp"
#include "telemetry/state_request.hpp"

namespace ringkernel::test {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class RkstatPrograms : public Publishing {};

INSTANTIATE_TEST_SUITE_P(Backends, RkstatPrograms, ::testing::ValuesIn(backend_names()),
                         backend_label);

/// Also where nothing else happens: the kernel rests.
TEST_P(RkstatPrograms, AreShownWithTheirVersions) {
  auto runtime = open_on(GetParam(), often()).value();
  ASSERT_TRUE(runtime.add_program(shop_program()));
  const Kernel till = active(runtime, "till", {.program = "shop", .behaviour = "Till"});
  const Kernel echo = active(runtime, "echo", {.program = "echo"});
  const auto shown = [&](std::string_view id) {
    const json::object all = rkstat_json();
    const json::array& kernels = all.at("runtimes").at(0).at("kernels").as_array();
    for (const json::value& kernel : kernels)
      if (kernel.at("id").as_string() == id) return kernel.as_object();
    return json::object{{"program_version", 0}};
  };
  const auto await_version = [&](int version) {
    return await([&] { return shown("till").at("program_version").to_number<int>() == version; });
  };
  ASSERT_TRUE(await_version(1));
  EXPECT_EQ(shown("till").at("behaviour").as_string(), "Till");
  ASSERT_TRUE(runtime.swap_program(shop_program()));
  ASSERT_TRUE(await_version(2));
  ASSERT_TRUE(runtime.swap_back("shop"));
  ASSERT_TRUE(await_version(3));
  EXPECT_EQ(till.metrics().program_version, 3u);
  EXPECT_EQ(shown("echo").at("behaviour").as_string(), "");
  EXPECT_EQ(shown("echo").at("program_version").to_number<int>(), 1);

  EXPECT_THAT(rkstat({"kernel", "till"}).output,
              HasSubstr(", program shop version 3, behaviour Till, active\n"));
  EXPECT_THAT(rkstat({"kernel", "echo"}).output, HasSubstr(", program echo version 1, active\n"));
  EXPECT_THAT(rkstat().output,
              AllOf(ContainsRegex("till +shop v3 +active"), ContainsRegex("echo +echo +active")));
  const std::string metrics = rkstat({"--prometheus"}).output;
  EXPECT_THAT(metrics, ContainsRegex("kernel_program_version\\{[^}]*program=\"shop\"\\} 3"));
  EXPECT_THAT(metrics, ContainsRegex("kernel_info\\{[^}]*behaviour=\"Till\"\\} 1"));
}

TEST_P(RkstatPrograms, TellTheStatesOfTheirActors) {
  auto runtime = open_on(GetParam(), often()).value();
  ASSERT_TRUE(runtime.add_program(shop_program()));
  Kernel shelf = active(runtime, "shelf", {.program = "shop", .behaviour = "Shelf"});
  const Kernel echo = active(runtime, "echo", {.program = "echo"});
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(builder.StartTable())));
  const Bytes one(reinterpret_cast<const std::byte*>(builder.GetBufferPointer()),
                  builder.GetSize());
  const auto is_shown = [&](const std::string& id) {
    return await([&] { return rkstat({"kernel", id}).exit_code == 0; });
  };
  ASSERT_TRUE(is_shown("shelf"));
  ASSERT_TRUE(is_shown("echo"));
  for (int count = 1; count <= 3; ++count) {
    ASSERT_TRUE(shelf.call("Put", one));
    const auto state = rkstat({"state", "shelf"});
    EXPECT_EQ(state.exit_code, 0);
    EXPECT_EQ(state.output, "{\"count\": " + std::to_string(count) + "}\n");
  }
  const auto none = rkstat({"state", "echo"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.output, HasSubstr("kernel 'echo' of program 'echo' has no state"));
  const auto unknown = rkstat({"state", "nobody"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.output, "rkstat: no kernel 'nobody'\n");
  const std::string file = runtime.metrics().telemetry_file;
  // A request that names no kernel ends nothing.
  EXPECT_EQ(telemetry::ask_for_state(file, ~std::uint64_t{0}, std::chrono::minutes(1)).error(),
            Errc::kernel_not_found);
  const std::filesystem::path dead = root() / "1" / "runtime-1.counters";
  std::filesystem::create_directory(dead.parent_path());
  std::filesystem::copy(file, dead);
  const std::uint64_t nobody = 4'000'000'000;  // no process has this id
  std::fstream(dead, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(offsetof(telemetry::CountersFile, process_id))
      .write(reinterpret_cast<const char*>(&nobody), sizeof nobody);
  EXPECT_EQ(rkstat({"state", "shelf"}).output, "{\"count\": 3}\n") << "of the one that runs";
  ASSERT_TRUE(shelf.terminate());
  ASSERT_TRUE(await([&] {
    return rkstat({"state", "shelf"}).output.find("kernel shelf of runtime 1/1: ") == 8;
  }));
  const auto gone = rkstat({"state", "shelf"});
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_THAT(gone.output, HasSubstr("the process is gone, and its states with it"));
}

TEST_P(RkstatPrograms, AreShownWithTheirMethods) {
  auto runtime = open_on(GetParam(), often()).value();
  ASSERT_TRUE(runtime.add_program(shop_program()));
  Kernel till = active(runtime, "till", {.program = "shop", .behaviour = "Till"});
  Kernel shelf = active(runtime, "shelf", {.program = "shop", .behaviour = "Shelf"});
  // Tables without fields: no lines are a fault, a total is none, and one item is put.
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(builder.StartTable())));
  const Bytes empty(reinterpret_cast<const std::byte*>(builder.GetBufferPointer()),
                    builder.GetSize());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(till.call("Buy", empty).error(), Errc::handler_fault);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(till.call("Total", empty));
  ASSERT_TRUE(shelf.call("Put", empty));
  const auto methods_of = [&](std::string_view id) {
    const json::object all = rkstat_json();
    for (const json::value& kernel : all.at("runtimes").at(0).at("kernels").as_array())
      if (kernel.at("id").as_string() == id) return kernel.at("methods").as_array();
    return json::array();
  };
  ASSERT_TRUE(await([&] {
    const json::array methods = methods_of("till");
    return methods.size() == 2 && methods[1].at("answered").to_number<int>() == 2 &&
           methods_of("shelf").size() == 1;
  }));
  const json::array methods = methods_of("till");
  EXPECT_EQ(methods[0].at("name").as_string(), "Buy");
  EXPECT_EQ(methods[0].at("answered").to_number<int>(), 3);
  EXPECT_EQ(methods[0].at("faults").to_number<int>(), 3);
  EXPECT_EQ(methods[0].at("latency").at("count").to_number<int>(), 3);
  EXPECT_EQ(methods[1].at("faults").to_number<int>(), 0);
  EXPECT_THAT(rkstat({"kernel", "till"}).output,
              AllOf(ContainsRegex("METHOD +ANSWERED +FAULTS"), ContainsRegex("Buy +3 +3 +3 +[0-9]"),
                    ContainsRegex("Total +2 +0 +2")));
  const std::string metrics = rkstat({"--prometheus"}).output;
  EXPECT_THAT(metrics, ContainsRegex("method_answered_total\\{[^}]*kernel=\"till\"[^}]*,method="
                                     "\"Buy\"\\} 3"));
  EXPECT_THAT(metrics, ContainsRegex("method_faults_total\\{[^}]*method=\"Total\"\\} 0"));
  EXPECT_THAT(metrics, ContainsRegex("method_latency_seconds_count\\{[^}]*method=\"Put\"\\} 1"));
  ASSERT_TRUE(till.terminate());
  EXPECT_TRUE(await([&] { return methods_of("till").empty(); }));
  EXPECT_EQ(methods_of("shelf").size(), 1u);
}

}  // namespace
}  // namespace ringkernel::test
