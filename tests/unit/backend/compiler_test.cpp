// Programs compiled at run time: what comes out, what is kept for the next process, and what is
// said where it does not go.
#include <gmock/gmock.h>

#include <cstring>
#include <thread>

#include "backend/native/compiler.hpp"
#include "compiler_fixture.hpp"
#include "kernels/rk_actor.h"
#include "kernels/rk_hosted_abi.h"

namespace ringkernel::native {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* doubling = R"(
RK_FN rk_u32 twice(rk_u32 value) { return value + value; }
RK_FN rk_u32 rk_handle(rk_message* message) {
  rk_u32 value;
  if (rk_request_length(message) != 4) return rk_fault(message, 7, rk_request_length(message));
  rk_copy_bytes((rk_bytes)&value, rk_request_bytes(message), 4);
  value = twice(value);
  rk_copy_bytes(rk_reply_bytes(message), (rk_const_bytes)&value, 4);
  return RK_OK;
})";

/// What the handler makes of `value`.
rk_u32 answer_of(const CompiledProgram& program, rk_u32 value) {
  rk_u32 reply = 0;
  rk_message message{};
  message.payload = reinterpret_cast<rk_const_bytes>(&value);
  message.payload_bytes = sizeof value;
  message.reply = reinterpret_cast<rk_bytes>(&reply);
  message.reply_bytes = sizeof reply;
  EXPECT_EQ(program.hosted().handler(&message), RK_OK);
  return reply;
}

/// A program that gives `value`, so that each has another text.
std::string giving(rk_u32 value) {
  return "RK_FN rk_u32 rk_handle(rk_message* message) {\n  const rk_u32 value = " +
         std::to_string(value) +
         "u;\n  rk_copy_bytes(message->reply, (rk_const_bytes)&value, 4);\n  return RK_OK;\n}";
}

TEST_F(CompilerTest, CompilesAHandlerThatCanBeCalled) {
  const auto program = compile(CompilerTest::program(doubling));
  ASSERT_TRUE(program.has_value()) << program.error().text();
  EXPECT_FALSE((*program)->was_kept());
  EXPECT_EQ(answer_of(**program, 21), 42u);
  rk_message message{};
  message.payload_bytes = 3;
  EXPECT_EQ((*program)->hosted().handler(&message), RK_FAULT_HANDLER_BASE + 7);
  EXPECT_EQ(message.fault_detail, 3u);
}

TEST_F(CompilerTest, TakesTheNextOneFromTheCache) {
  ASSERT_TRUE(compile(CompilerTest::program(doubling)).has_value());
  const auto again = compile(CompilerTest::program(doubling));
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_TRUE((*again)->was_kept());
  EXPECT_EQ(answer_of(**again, 4), 8u);
  const auto other = compile(CompilerTest::program(giving(1)));
  ASSERT_TRUE(other.has_value()) << other.error().text();
  EXPECT_FALSE((*other)->was_kept());
}

TEST_F(CompilerTest, KeepsObjectsAndNoFailures) {
  const auto entries = [this] {
    return std::distance(fs::directory_iterator(cache()), fs::directory_iterator());
  };
  ASSERT_TRUE(compile(CompilerTest::program(doubling)).has_value());
  const auto before = entries();  // the compiler's version may be among them
  ASSERT_TRUE(compile(CompilerTest::program(giving(1))).has_value());
  EXPECT_EQ(entries(), before + 1);
  EXPECT_FALSE(compile(CompilerTest::program("wrong")).has_value());
  EXPECT_EQ(entries(), before + 1);
}

TEST_F(CompilerTest, KeepsNothingWhereThereIsNoCache) {
  here_.cache_folder.clear();
  for (int i = 0; i < 2; ++i) {
    const auto program = compile(CompilerTest::program(doubling));
    ASSERT_TRUE(program.has_value()) << program.error().text();
    EXPECT_FALSE((*program)->was_kept());
  }
  EXPECT_FALSE(fs::exists(cache()));
  EXPECT_TRUE(fs::is_empty(scratch()));
}

TEST_F(CompilerTest, CompilesAgainWhatIsDamagedInTheCache) {
  ASSERT_TRUE(compile(CompilerTest::program(doubling)).has_value());
  for (const auto& entry : fs::directory_iterator(cache()))
    fs::resize_file(entry, fs::file_size(entry) - 1);
  const auto again = compile(CompilerTest::program(doubling));
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_FALSE((*again)->was_kept());
  const auto third = compile(CompilerTest::program(doubling));
  ASSERT_TRUE(third.has_value()) << third.error().text();
  EXPECT_TRUE((*third)->was_kept());
}

TEST_F(CompilerTest, TakesNothingThatAnotherCompilerHasMade) {
  ASSERT_TRUE(compile(CompilerTest::program(doubling)).has_value());
  pretend("echo I am not asked for nothing; exit 1");
  const auto other = compile(CompilerTest::program(doubling));
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().detail, HasSubstr("I am not asked for nothing"));
}

TEST_F(CompilerTest, GivesEachProgramItsOwnHandlerThoughDescriptorsReturn) {
  std::vector<std::shared_ptr<const CompiledProgram>> programs;
  for (rk_u32 value = 1; value <= 5; ++value) {
    auto program = compile(CompilerTest::program(giving(value)));
    ASSERT_TRUE(program.has_value()) << program.error().text();
    programs.push_back(*program);
  }
  for (rk_u32 value = 1; value <= 5; ++value) EXPECT_EQ(answer_of(*programs[value - 1], 0), value);
}

TEST_F(CompilerTest, NamesFileAndLineOfTheUserAndNoneOfOurs) {
  const auto program = compile(CompilerTest::program(
      "RK_FN rk_u32 rk_handle(rk_message* message) {\n  return message->no_such_thing;\n}"));
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::build_failed);
  EXPECT_THAT(program.error().detail,
              AllOf(HasSubstr("program 'book'"), HasSubstr("book.rk.cl:3:"),
                    HasSubstr("no_such_thing"), Not(HasSubstr("compile-"))));
  EXPECT_EQ(left_behind(), 0u);
}

TEST_F(CompilerTest, NamesAFunctionThatIsNowhere) {
  const auto program = compile(CompilerTest::program(
      "extern \"C\" rk_u32 nowhere_to_be_found(void);\n"
      "RK_FN rk_u32 rk_handle(rk_message* message) {\n  return nowhere_to_be_found();\n}"));
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::build_failed);
  EXPECT_THAT(program.error().detail,
              AllOf(HasSubstr("nowhere_to_be_found"), Not(HasSubstr("compile-"))));
}

TEST_F(CompilerTest, WarningsAreNoErrors) {
  const auto program = compile(CompilerTest::program(
      "#warning something is odd\n"
      "RK_FN rk_u32 rk_handle(rk_message* message) { int unused; return RK_OK; }"));
  EXPECT_TRUE(program.has_value()) << program.error().text();
}

TEST_F(CompilerTest, SaysErrorsAndNoWarningsWhicheverCompilerItIs) {
  for (const char* const compiler : {"g++", "clang++"}) {
    if (find_in_path(compiler, here_.path).empty()) continue;
    here_.compiler = compiler;
    const auto program = compile(CompilerTest::program(
        "#warning something is odd\n"
        "static rk_u32 odd(rk_u32 value) { return value / 0; }\n"
        "RK_FN rk_u32 rk_handle(rk_message* message) { return odd(nothing); }"));
    ASSERT_FALSE(program.has_value()) << compiler;
    EXPECT_THAT(program.error().detail,
                AllOf(HasSubstr("book.rk.cl:4:"), HasSubstr("nothing"), Not(HasSubstr("warning:")),
                      Not(HasSubstr("something is odd")), Not(HasSubstr("/ 0"))));
  }
}

TEST(CompilerWords, AreKeptWhereTheyAreAnError) {
  EXPECT_EQ(without_warnings("a b.cl:1:2: warning: odd\n    1 | odd\n"
                             "a b.cl:3:10: fatal error: gone.h: No such file\n    3 | gone\n"),
            "a b.cl:3:10: fatal error: gone.h: No such file\n    3 | gone\n");
}

TEST_F(CompilerTest, SaysWhatWasTriedWhereThereIsNoCompiler) {
  here_.path = (folder_.path() / "bin").string() + ":relative::/no/such/folder";
  const auto program = compile(CompilerTest::program(doubling));
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::backend_unavailable);
  EXPECT_THAT(program.error().detail,
              AllOf(HasSubstr("c++, g++, clang++"), HasSubstr("PATH=" + here_.path),
                    HasSubstr("RINGKERNEL_CXX"), HasSubstr("ringkernel_add_program()")));
}

TEST_F(CompilerTest, TakesWhatItHasKeptWhereThereIsNoCompilerAnyMore) {
  ASSERT_TRUE(compile(CompilerTest::program(doubling)).has_value());
  here_.path = folder_.path() / "bin";
  const auto kept = compile(CompilerTest::program(doubling));
  ASSERT_TRUE(kept.has_value()) << kept.error().text();
  EXPECT_TRUE((*kept)->was_kept());
  EXPECT_EQ(answer_of(**kept, 5), 10u);
  EXPECT_TRUE(compile(CompilerTest::program(giving(1))).error() == Errc::backend_unavailable);
  here_.compiler = "no-such-compiler";
  EXPECT_TRUE(compile(CompilerTest::program(doubling)).error() == Errc::backend_unavailable);
}

TEST_F(CompilerTest, TakesNoOtherCompilerThanTheOneThatIsAskedFor) {
  for (const char* const asked : {"/no/such/compiler", "no-such-compiler", "./relative", "/tmp"}) {
    here_.compiler = asked;
    const auto program = compile(CompilerTest::program(doubling));
    ASSERT_FALSE(program.has_value()) << asked;
    EXPECT_TRUE(program.error() == Errc::backend_unavailable);
    EXPECT_THAT(program.error().detail, HasSubstr(std::string("RINGKERNEL_CXX=") + asked));
  }
}

TEST_F(CompilerTest, FindsTheCompilerByItsNameInTheAbsoluteFoldersOfThePath) {
  pretend("echo the right one; exit 1");
  fs::rename(here_.compiler, folder_.path() / "bin" / "g++");
  here_.compiler.clear();
  here_.path = "relative:" + (folder_.path() / "bin").string();
  const auto program = compile("");
  ASSERT_FALSE(program.has_value());
  EXPECT_THAT(program.error().detail, HasSubstr("bin/g++ says:\nthe right one"));
  here_.compiler = "g++";
  EXPECT_THAT(compile("").error().detail, HasSubstr("the right one"));
}

TEST_F(CompilerTest, LooksIntoNoFolderThatDependsOnWhereTheProcessWorks) {
  pretend("echo the wrong one; exit 1");
  fs::rename(here_.compiler, folder_.path() / "bin" / "g++");
  here_.compiler.clear();
  here_.path = "bin";
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const auto program = compile("");
  fs::current_path(before);
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::backend_unavailable) << program.error().text();
}

TEST_F(CompilerTest, RefusesAnObjectOfAnotherInterface) {
  const auto refused = [this](const std::string& body) {
    const auto program = compile(CompilerTest::program(
        "#include \"rk_hosted_abi.h\"",
        "extern \"C\" __attribute__((visibility(\"default\")))\n"
        "const rk_hosted_program* rk_program_query(rk_u32) {\n"
        "  static rk_hosted_program program = {RK_HOSTED_ABI, sizeof(rk_hosted_program),\n"
        "                                      sizeof(rk_message), 0, 0, 0};\n" +
            body + "return &program; }"));
    if (program.has_value()) return std::string("not refused");
    EXPECT_TRUE(program.error() == Errc::protocol_mismatch) << program.error().text();
    return program.error().detail;
  };
  EXPECT_THAT(refused("return 0;"), HasSubstr("another interface, this library 2"));
  EXPECT_THAT(refused("program.abi += 1;"), HasSubstr("interface 3, this library 2"));
  EXPECT_THAT(refused("program.struct_bytes -= 1;"), HasSubstr("describes itself in 31 bytes"));
  EXPECT_THAT(refused("program.message_bytes += 8;"),
              HasSubstr("this library of " + std::to_string(sizeof(rk_message))));
  EXPECT_THAT(refused(""), HasSubstr("names no handler"));
}

rk_u32 handle_nothing(rk_message*) { return 0; }

template <rk_u32 Abi>
const rk_hosted_program* query(rk_u32) {
  static const rk_hosted_program program{
      Abi, sizeof(rk_hosted_program), sizeof(rk_message), RK_HOSTED_PLAIN, handle_nothing, nullptr};
  return &program;
}

TEST(CompiledBuilds, AreTakenIfTheProcessorRunsThemAndTheHostCanCallThem) {
  constexpr rk_u32 above_all = 5;
  const auto ours = query<RK_HOSTED_ABI>;
  const auto others = query<RK_HOSTED_ABI + 1>;
  const rk_compiled_program end{0, 0, 0, nullptr};
  const rk_compiled_program taken[] = {
      {above_all, 0, 0, ours}, {0, 0, 0, others}, {0, 0, 0, ours}, end};
  ASSERT_NE(find_compiled(taken), nullptr);
  EXPECT_EQ(find_compiled(taken)->handler, handle_nothing);
  const rk_compiled_program too_new[] = {{above_all, 0, 0, ours}, end};
  EXPECT_EQ(find_compiled(too_new), nullptr);
  const rk_compiled_program too_old[] = {{0, 0, 0, others}, end};
  EXPECT_EQ(find_compiled(too_old), nullptr);
  EXPECT_EQ(find_compiled(&end), nullptr);
  EXPECT_EQ(find_compiled(nullptr), nullptr);
}

TEST_F(CompilerTest, SaysWhatTheLinkerSaysOfAnObjectThatIsNone) {
  pretend("while [ \"$1\" != -o ]; do shift; done; echo rubbish > \"$2\"");
  const auto program = compile("");
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::build_failed);
  EXPECT_THAT(program.error().detail,
              AllOf(HasSubstr("could not be loaded: "), HasSubstr("too short")));
}

TEST_F(CompilerTest, SaysThatAnObjectHasNoQuery) {
  const auto program = compile("extern \"C\" int nothing() { return 0; }");
  ASSERT_FALSE(program.has_value());
  EXPECT_TRUE(program.error() == Errc::build_failed);
  EXPECT_THAT(program.error().detail, HasSubstr("has no symbol rk_program_query"));
}

TEST_F(CompilerTest, LeavesNeitherFilesNorDescriptorsBehind) {
  const std::string good = CompilerTest::program(doubling);
  ASSERT_TRUE(compile(good).has_value());
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(compile(good).has_value());
    EXPECT_FALSE(compile(CompilerTest::program("wrong")).has_value());
    EXPECT_TRUE(compile(CompilerTest::program(giving(100))).has_value());
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(left_behind(), 0u);
}

TEST_F(CompilerTest, CompilesOnManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (rk_u32 value = 0; value < 4; ++value)
    threads.emplace_back([this, value] {
      const auto program = compile(CompilerTest::program(giving(value / 2)));
      ASSERT_TRUE(program.has_value()) << program.error().text();
      EXPECT_EQ(answer_of(**program, 0), value / 2);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left_behind(), 0u);
}

TEST(Processor, IsWhatDecidesWhichCodeItRuns) {
  const std::string first =
      "processor\t: 0\nvendor_id\t: Someone\nmodel name\t: A 3000\ncpu MHz\t\t: 2800.1\n"
      "flags\t\t: fpu avx2\n";
  EXPECT_EQ(processor_of(first + "\nprocessor\t: 1\nflags\t\t: fpu\n\n"),
            "vendor_id\t: Someone\nmodel name\t: A 3000\nflags\t\t: fpu avx2\n");
  EXPECT_EQ(processor_of("processor\t: 0\nmodel name\t: B\n"), "");
  EXPECT_EQ(processor_of(""), "");
}

}  // namespace
}  // namespace ringkernel::native
