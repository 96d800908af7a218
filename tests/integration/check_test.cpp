// `rkc check` on handlers with one mistake each, which it must tell at its line, and on handlers
// without any. What only Oclgrind finds is skipped where it is not installed.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* schema = R"(namespace exchange;
attribute "state_of";
attribute "version";
attribute "max";
struct Leg { price: float; quantity: uint; }
table Order { id: ulong; change: int; legs: [Leg]; values: [float]; parts: [Part]; }
table Part { count: uint; }
table Ack { sum: float; id: ulong; legs: [Leg] (max: 4); }
struct BookState (state_of: "Book", version: 1) { orders: ulong; last: int; sum: float; }
rpc_service Book { Submit(Order): Ack; }
)";

bool has_oclgrind() { return std::filesystem::exists("/usr/bin/oclgrind"); }

class Check : public ::testing::Test {
 protected:
  /// `body` is that of the only handler, from line 4 on.
  testing::ChildResult check(const std::string& body, std::vector<std::string> more = {}) {
    return check_text("#include \"book.rk.h\"\n\nRK_ON(Book, Submit) {\n" + body + "\n}\n",
                      std::move(more));
  }

  testing::ChildResult check_text(
      const std::string& handlers, std::vector<std::string> more = {},
      const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    write("book.rk.cl", handlers);
    write("book.fbs", schema_);
    std::vector<std::string> command{RK_RKC, "check", path("book.rk.cl"), path("book.fbs")};
    if (more.empty()) more = {"--lanes", "1,8"};
    if (std::ranges::find(more, "--count") == more.end())
      more.insert(more.end(), {"--count", "24"});
    command.insert(command.end(), more.begin(), more.end());
    return testing::run_child(command, environment);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(path(name)) << text;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() / name; }

  testing::TempFolder folder_;
  std::string schema_ = schema;
};

/// Needs the lanes of Oclgrind.
class CheckLanes : public Check {
 protected:
  void SetUp() override {
    if (!has_oclgrind()) RK_SKIP_WITHOUT("oclgrind", "it is not installed");
  }
};

constexpr const char* good = R"(  RK_LET values = Order_values(request);
  RK_LET legs = Order_legs(request);
  rk_flat_list parts = Order_parts(request);
  rk_u32 is_large = 0;
  for (rk_u32 i = rk_lane(self); i < parts.count; i += rk_lanes(self)) {
    PartView part;
    if (Order_parts_at(&parts, i, &part) && Part_count(&part) > 7) is_large = 1;
  }
  if (rk_any(self, is_large)) return rk_fault(self, 1, Order_id(request));
  rk_f32 sum, least, most;
  RK_TEAM_SUM(self, i, values.count, sum, values.at[i] * 0.1f);
  RK_TEAM_MIN(self, i, legs.count, least, legs.at[i].price);
  RK_TEAM_MAX(self, i, legs.count, most, legs.at[i].price);
  const rk_u64 id = rk_broadcast(self, rk_leads(self) ? Order_id(request) : 0);
  RK_LET copies = Ack_put_legs(reply, legs.count);
  const rk_u32 kept = legs.count < 4 ? legs.count : 4;
  for (rk_u32 i = rk_lane(self); i < kept; i += rk_lanes(self)) copies[i] = legs.at[i];
  if (!rk_leads(self)) return RK_OK;
  reply->id = id;
  reply->sum = sum;
  state->orders += 1;
  state->sum += sum + least * most;
  return RK_OK;)";

TEST_F(Check, FindsNothingWhereLanesShareTheWork) {
  const auto checked = check(good, {"--lanes", "1,8,64"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_THAT(checked.output, StartsWith("book.rk.cl: nothing found in 1 handler, natively"));
  if (has_oclgrind()) {
    EXPECT_THAT(checked.output, HasSubstr("with 1, 8, 64 lanes on Oclgrind"));
  }
}

TEST_F(Check, TakesFilesThatTheHandlersInclude) {
  write("fees.h", "#define FEE 2u\n");
  const std::string handlers =
      "#include \"book.rk.h\"\n#include \"fees.h\"\n"
      "RK_ON(Book, Submit) { if (rk_leads(self)) reply->id = FEE; return RK_OK; }\n";
  const auto checked = check_text(handlers, {"--lanes", "1", "--header", path("fees.h")});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_EQ(check_text(handlers, {"--lanes", "1"}).exit_code, 2);
}

TEST_F(Check, SaysOfATableThatRequiresItselfThatItHasNoMessages) {
  schema_.replace(schema_.find("table Ack"), 0, "table Node { next: Node (required); }\n");
  schema_ += "rpc_service Chain { Walk(Node): Ack; }\n";
  const auto checked = check_text(
      "#include \"book.rk.h\"\n"
      "RK_ON(Book, Submit) { return RK_OK; }\nRK_ON(Chain, Walk) { return RK_OK; }\n",
      {"--lanes", "1"});
  EXPECT_EQ(checked.exit_code, 2) << checked.output;
  EXPECT_THAT(checked.output, HasSubstr("next")) << "the field that every message lacks";
}

TEST_F(Check, GivesEachBehaviourStatesOfItsOwn) {
  schema_ +=
      "struct BinState (state_of: \"Bin\", version: 1) { seen: [ulong:500]; }\n"
      "rpc_service Bin { Put(Part): Ack; Drop(Part): Ack; }\n"
      "rpc_service Shelf { Put(Part): Ack; }\n"
      "struct ShelfState (state_of: \"Shelf\", version: 1) { seen: [ulong:900]; }\n";
  const auto checked = check_text(
      "#include \"book.rk.h\"\n"
      "RK_ON(Book, Submit) { if (rk_leads(self)) state->orders += 1; return RK_OK; }\n"
      "RK_ON(Bin, Put) { if (rk_leads(self)) state->seen[499] += 1; return RK_OK; }\n"
      "RK_ON(Bin, Drop) { if (rk_leads(self)) state->seen[0] += 1; return RK_OK; }\n"
      "RK_ON(Shelf, Put) { if (rk_leads(self)) reply->id = ++state->seen[899]; return RK_OK; }\n",
      {"--lanes", "1", "--count", "64"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_THAT(checked.output, HasSubstr("nothing found in 4 handlers"));
}

TEST_F(Check, LeavesTheNamesOfTheStandardLibraryToHandlers) {
  const auto checked = check_text(
      "#include \"book.rk.h\"\n"
      "#define NULL nothing\n"
      "static rk_u32 read(rk_u32 index) { return index + 1; }\n"
      "RK_ON(Book, Submit) {\n"
      "  if (rk_leads(self)) state->orders += read(1);\n"
      "  return RK_OK;\n"
      "}\n");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

/// A state that is made of an earlier one, and handlers whose migration ends as `migrated` says.
constexpr const char* migrating_schema = R"(namespace exchange;
attribute "state_of";
attribute "version";
attribute "migrates";
enum Side: byte { Buy, Sell }
table Order { id: ulong; }
table Ack { id: ulong; }
struct Level { price: float; quantity: ushort; }
struct OldBook { at: uint; side: Side; open: bool; levels: [Level:3]; mean: double; }
struct BookState (state_of: "Book", version: 2, migrates: "OldBook")
  { counts: [uint:4]; price: float; open: bool; mean: double; }
rpc_service Book { Submit(Order): Ack; }
)";

std::string migrating(const std::string& migrated) {
  return "#include \"book.rk.h\"\n\nRK_MIGRATE(Book) {\n" + migrated +
         "\n}\nRK_ON(Book, Submit) {\n  if (rk_leads(self)) reply->id = state->counts[3];\n"
         "  return RK_OK;\n}\n";
}

TEST_F(Check, RunsTheMigrationOfAState) {
  schema_ = migrating_schema;
  const auto checked =
      check_text(migrating("  if (was->side > Side_Sell) return rk_fault(self, 1, was->at);\n"
                           "  state->counts[was->at & 3u] = was->levels[2].quantity;\n"
                           "  state->price = was->levels[1].price;\n"
                           "  state->open = was->open;\n"
                           "  state->mean = was->mean;\n"
                           "  return RK_OK;"),
                 {"--lanes", "1,8"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_THAT(checked.output,
              AllOf(HasSubstr("nothing found in 2 handlers"), HasSubstr("48 messages of seed 1"),
                    Not(HasSubstr("faults: 0"))));
}

TEST_F(Check, TellsAMistakeInAMigration) {
  schema_ = migrating_schema;
  auto checked =
      check_text(migrating("  state->counts[was->at] = was->levels[2].quantity;\n  return RK_OK;"),
                 {"--lanes", "1"});
  EXPECT_EQ(checked.exit_code, 1) << checked.output;
  EXPECT_THAT(checked.output,
              AllOf(StartsWith("book.rk.cl:4: "), HasSubstr("\n  RK_MIGRATE(Book), message "),
                    HasSubstr("\"levels[2].quantity\": ")));
  checked = check_text(migrating("  return was->open ? 7 : RK_OK;"), {"--lanes", "1"});
  EXPECT_EQ(checked.exit_code, 1) << checked.output;
  EXPECT_THAT(
      checked.output,
      StartsWith("book.rk.cl:3: returns 7, which is neither RK_OK nor a fault of 1 to 65535"));
}

TEST_F(Check, SaysTheSameForTheSameSeed) {
  const std::string body = "  state->last = Order_change(request) * 3;\n  return RK_OK;";
  const auto one = check(body, {"--lanes", "1", "--seed", "5"});
  const auto same = check(body, {"--lanes", "1", "--seed", "5"});
  const auto other = check(body, {"--lanes", "1", "--seed", "6"});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_EQ(one.output, same.output);
  EXPECT_NE(one.output, other.output);
}

TEST_F(Check, TellsAReadBehindAVector) {
  const auto checked = check(
      "  RK_LET legs = Order_legs(request);\n"
      "  const rk_f32 next = legs.at[legs.count].price;\n"
      "  if (rk_leads(self)) state->sum = next;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output, HasSubstr("book.rk.cl:5: reads 4 bytes out of bounds (natively"));
  EXPECT_THAT(checked.output, HasSubstr("\n  Book.Submit, message "));
  EXPECT_THAT(checked.output, HasSubstr("\"legs\": ["));
  if (has_oclgrind()) {
    EXPECT_THAT(checked.output, HasSubstr("(natively, with 1 lane, with 8 lanes)"));
  }
}

TEST_F(Check, TellsAWriteBehindTheReply) {
  const auto checked = check(
      "  RK_LET legs = Ack_put_legs(reply, 5);\n"
      "  if (rk_leads(self)) legs[4].quantity = 1;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output, HasSubstr("book.rk.cl:5: writes 4 bytes out of bounds (natively"));
}

TEST_F(Check, TellsAReplyThatCannotBeRead) {
  const auto checked = check(
      "  if (rk_leads(self)) ((RK_GLOBAL rk_u16*)reply)[2] = 77;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output,
              HasSubstr("book.rk.cl:3: spoils its reply, which is no exchange.Ack"));
}

TEST_F(Check, TellsAWriteIntoThePaddingOfTheReply) {
  schema_.replace(schema_.find("legs: [Leg] (max: 4)"), 20,
                  "name: string (max: 5); text: string (max: 5)");
  const auto checked = check(
      "  RK_LET name = Ack_put_name(reply, 5);\n"
      "  if (rk_leads(self)) name[6] = 'x';\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output,
              HasSubstr("book.rk.cl:3: spoils its reply, which is no exchange.Ack"));
}

TEST_F(Check, TellsWhatCLeavesUndefined) {
  const auto checked = check(
      "  if (!rk_leads(self)) return RK_OK;\n"
      "  state->last = Order_change(request) * 8388608;\n"
      "  state->orders = 1u << Order_change(request);\n"
      "  state->last = (rk_i32)(1e6f * (rk_f32)Order_change(request));\n"
      "  return RK_OK;",
      {"--lanes", "1", "--seed", "3"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output, HasSubstr("book.rk.cl:5: signed integer overflow: "));
  EXPECT_THAT(checked.output, HasSubstr("book.rk.cl:6: shift exponent "));
  EXPECT_THAT(checked.output, HasSubstr("is outside the range of representable values"));
  EXPECT_THAT(checked.output, Not(HasSubstr("the result is not"))) << "that follows from it";
}

TEST_F(Check, TellsAnOutcomeThatIsNone) {
  const auto checked = check("  return 7;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(
      checked.output,
      HasSubstr("book.rk.cl:3: returns 7, which is neither RK_OK nor a fault of 1 to 65535"));
}

TEST_F(Check, TellsAMessageThatDoesNotEnd) {
  const auto checked = check(
      "  while (Order_change(request) > 0) state->orders += 1;\n"
      "  return RK_OK;",
      {"--lanes", "1", "--seconds", "1"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output,
              AllOf(HasSubstr("book.rk.cl:3: does not end within 1 s of processor time (natively)"),
                    HasSubstr("\"change\": "), HasSubstr("after it were not run")));
}

TEST_F(CheckLanes, FindsNothingWhereEachLaneWritesItsPartOfTheReplyAtOnce) {
  const auto checked = check(
      "  RK_LET copies = Ack_put_legs(reply, 4);\n"
      "  for (rk_u32 i = rk_lane(self); i < 4; i += rk_lanes(self)) copies[i].quantity = i;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

TEST_F(CheckLanes, FindsNothingWhereAnotherLaneThanTheFirstWritesTheReply) {
  const auto checked = check(
      "  if (rk_lane(self) == rk_lanes(self) - 1) Ack_put_legs(reply, 3)[2].quantity = 7;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

TEST_F(CheckLanes, FindsNothingWhereOnlyOneLaneReadsWhatIsMalformed) {
  // Short messages, so that what is spoilt is read.
  schema_.replace(schema_.find("id: ulong; change"),
                  schema_.find("parts:") - schema_.find("id: ulong; change"), "");
  const auto checked = check(
      "  rk_flat_list parts = Order_parts(request);\n"
      "  for (rk_u32 i = rk_lane(self); i < parts.count; i += rk_lanes(self)) {\n"
      "    PartView part;\n"
      "    (void)Order_parts_at(&parts, i, &part);\n"
      "  }\n"
      "  return RK_OK;",
      {"--lanes", "8", "--count", "100", "--seed", "5"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

TEST_F(CheckLanes, FindsNothingWhereOneNaNIsNotTheOther) {
  const auto checked = check(
      "  const rk_f32 nan = rk_lanes(self) == 1 ? RK_FLAT_NAN : -RK_FLAT_NAN;\n"
      "  if (rk_leads(self)) reply->sum = state->sum = nan;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

TEST_F(CheckLanes, TellsADataRace) {
  const auto checked = check(
      "  const rk_u64 id = Order_id(request);\n"
      "  state->orders += id;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output, HasSubstr("book.rk.cl:5: data race: "));
  EXPECT_THAT(checked.output, HasSubstr("(with 8 lanes)"));
  EXPECT_THAT(checked.output, HasSubstr("if (rk_leads(self))"));
  EXPECT_THAT(checked.output, Not(HasSubstr("with 1 lane)")));
}

TEST_F(CheckLanes, TellsABarrierThatNotAllLanesReach) {
  const auto checked = check(
      "  if (rk_lane(self) < 2)\n"
      "    rk_barrier(self);\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output,
              HasSubstr("book.rk.cl:5: not all lanes reach this barrier: the other place is "));
}

TEST_F(CheckLanes, TellsAnUninitialisedValue) {
  const auto checked = check(
      "  rk_i32 last;\n"
      "  if (Order_change(request) == 3) last = 1;\n"
      "  if (rk_leads(self)) state->last = last;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output, HasSubstr("book.rk.cl:6: an uninitialised value is written"));
}

TEST_F(CheckLanes, TellsAResultThatDependsOnTheNumberOfLanes) {
  const auto checked = check(
      "  if (rk_leads(self)) state->last = (rk_i32)rk_lanes(self);\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output, HasSubstr("book.rk.cl:3: the result is not that of the native run: "
                                        "state->last: 1 and 8 (with 8 lanes)"));
}

TEST_F(CheckLanes, TellsASumWhoseOrderDependsOnTheNumberOfLanes) {
  const auto checked = check(
      "  RK_LET values = Order_values(request);\n"
      "  rk_f32 part = 0, sum;\n"
      "  for (rk_u32 i = rk_lane(self); i < values.count; i += rk_lanes(self)) part += "
      "values.at[i];\n"
      "  RK_TEAM_SUM(self, i, rk_lanes(self), sum, part);\n"
      "  if (rk_leads(self)) reply->sum = sum;\n"
      "  return RK_OK;");
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output, HasSubstr("the result is not that of the native run: reply->sum: "));
}

TEST_F(Check, RefusesWhatDoesNotBuild) {
  const auto misspelt =
      check_text("#include \"book.rk.h\"\nRK_ON(Book, Submitt) { return RK_OK; }\n");
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_THAT(misspelt.output, StartsWith("book.rk.cl:2: Book has no method Submitt"));
  const auto broken = check("  return no_such_thing(self);");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.output, HasSubstr("book.rk.cl:4"));
  EXPECT_THAT(broken.output, HasSubstr("no_such_thing"));
}

/// What `ringkernel_add_program` compiles: beside the compiler's words stands what to do.
TEST_F(Check, AUnitThatDoesNotBuildSaysWhatToDo) {
  schema_.replace(schema_.find("legs: [Leg] (max: 4)"), 20, "legs: [Leg]; note: string (max: 4)");
  write("book.rk.cl",
        "#include \"book.rk.h\"\nRK_ON(Book, Submit) {\n"
        "  reply->note = 0;\n"
        "  RK_LET legs = Ack_put_legs(reply, 1);\n"
        "  return RK_OK;\n}\n");
  write("book.fbs", schema_);
  const auto made = testing::run_child(
      {RK_RKC, "unit", path("book.rk.cl"), "--schema", path("book.fbs"), "-o", path("unit.cpp")},
      {});
  ASSERT_EQ(made.exit_code, 0) << made.output;
  for (const char* const compiler : {"/usr/bin/g++", "/usr/bin/clang++"}) {
    if (!std::filesystem::exists(compiler)) continue;
    const auto built = testing::run_child(
        {compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-all",
         "-Wno-extra", "-Wno-error", "-Wno-pedantic", "-fsyntax-only", path("unit.cpp")},
        {});
    EXPECT_NE(built.exit_code, 0);
    EXPECT_THAT(built.output,
                AllOf(ContainsRegex("book.rk.cl:3:[0-9]+: error"),
                      ContainsRegex("book.rk.cl:3:[0-9]+: warning: .*use Ack_put_note"),
                      ContainsRegex("book.rk.cl:4:[0-9]+: warning: .*for legs only with "
                                    "\\(max: n\\) in the schema"),
                      ContainsRegex("book.rk.cl:4:[0-9]+: error")));
  }
}

TEST_F(CheckLanes, RefusesWhatIsNoOpenClC) {
  const auto checked = check("  const auto one = static_cast<rk_u32>(1);\n  return one - 1;");
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_THAT(checked.output, HasSubstr("book.rk.cl:4"));
}

TEST_F(Check, SaysThatThereIsNoCompiler) {
  const auto checked = check_text("#include \"book.rk.h\"\nRK_ON(Book, Submit) { return RK_OK; }\n",
                                  {}, {{"RINGKERNEL_CXX", "/nonexistent/c++"}});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_THAT(checked.output, AllOf(HasSubstr("E6002"), HasSubstr("/nonexistent/c++")));
}

TEST_F(Check, SaysThatOclgrindIsNotInstalled) {
  // A PATH with all that a compiler needs, and nothing else.
  for (const char* const tool : {"c++", "as", "ld"})
    std::filesystem::create_symlink(std::string("/usr/bin/") + tool, path(tool));
  const auto checked = check_text(
      "#include \"book.rk.h\"\nRK_ON(Book, Submit) { state->orders += 1; return RK_OK; }\n", {},
      {{"PATH", folder_.path()}, {"RINGKERNEL_CXX", ""}});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_THAT(checked.output, AllOf(HasSubstr("in 1 handler, natively\n"),
                                    HasSubstr("Oclgrind is not installed: data races"),
                                    HasSubstr("apt install oclgrind")));
}

}  // namespace
}  // namespace ringkernel
