// Mistakes in handlers: each is an error on every backend and with every compiler, and says where.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringkernel/typed.hpp"
#include "shop_generated.h"
#include "shop_program.hpp"
#include "support/backends.hpp"
#include "support/environment.hpp"

namespace ringkernel::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* other_handlers =
    "RK_ON(Till, Total) { return RK_OK; }\n"
    "RK_ON(Shelf, Put) { return RK_OK; }\n";

class ProgramMistakes : public OnEachBackend {
 public:
  /// The compilers to build with: natively those of these that are there.
  static std::vector<const char*> compilers() {
    std::vector<const char*> there;
    for (const char* const compiler : {"g++", "clang++"})
      if (is_of_host_threads(GetParam()) &&
          access((std::string("/usr/bin/") + compiler).c_str(), X_OK) == 0)
        there.push_back(compiler);
    if (there.empty()) there.push_back("");  // a backend's own, or the one that there is
    return there;
  }

  /// Builds what these lines are the handler Till.Buy of, from line 3 on.
  static Result<ProgramInfo> add_handler(RingKernelRuntime& runtime, const std::string& lines) {
    ProgramDesc program = shop_program();
    program.source = Source::text("wrong.rk.cl", "#include \"shop.rk.h\"\nRK_ON(Till, Buy) {\n" +
                                                     lines + "}\n" + other_handlers);
    program.compiled = nullptr;
    return runtime.add_program(program);
  }

  /// The same for a program of bytes, from line 2 on.
  static Result<ProgramInfo> add_bytes_handler(RingKernelRuntime& runtime,
                                               const std::string& lines) {
    return runtime.add_program(
        {.name = "wrong",
         .source = Source::text("wrong.rk.cl", "RK_ON_BYTES {\n" + lines + "}\n"),
         .reply_bytes = 8});
  }

  /// Adds the program once with each compiler, and hands the error's text to `check`.
  template <class Add, class Check>
  void refuse(const Add& add, const Check& check) {
    for (const char* const compiler : compilers()) {
      SCOPED_TRACE(compiler);
      std::optional<testing::Variable> chosen;
      if (*compiler != '\0') chosen.emplace("RINGKERNEL_CXX", compiler);
      auto runtime = open();
      const Result<ProgramInfo> added = add(runtime);
      ASSERT_FALSE(added);
      EXPECT_EQ(added.error(), Errc::build_failed);
      check(added.error().text());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, ProgramMistakes, ::testing::ValuesIn(backend_names()),
                         backend_label);

/// Those that a compiler finds in one pass: a build each would take long.
TEST_P(ProgramMistakes, AreErrorsWithTheirLinesAndWhatStandsThere) {
  refuse(
      [](RingKernelRuntime& runtime) {
        return add_handler(runtime,
                           "  reply->id = Purchase_ident(request);\n"        // 3
                           "  reply->purchases = Item_count(request);\n"     // 4
                           "  reply->lines = 0;\n"                           // 5
                           "  Line* lines = Receipt_put_lines(reply, 1);\n"  // 6
                           "  RK_LET same = Receipt_put_lines(reply, 1);\n"  // 7
                           "  same[0].price = 1;\n  return RK_OK;\n");
      },
      [&](const std::string& text) {
        EXPECT_THAT(text,
                    AllOf(HasSubstr("wrong.rk.cl:3:"), HasSubstr("did you mean 'Purchase_id'?"),
                          HasSubstr(" reply->id = Purchase_ident(request);")));
        EXPECT_THAT(text, AllOf(HasSubstr("wrong.rk.cl:4:"), HasSubstr("ItemView"),
                                HasSubstr(" reply->purchases = Item_count(request);")));
        EXPECT_THAT(text, HasSubstr("wrong.rk.cl:5: the reply has no member lines: "
                                    "use Receipt_put_lines"));
        EXPECT_THAT(text, HasSubstr("wrong.rk.cl:5:10:"));
        EXPECT_THAT(text, Not(HasSubstr("wrong.rk.cl:7:")));
        // Where memory is all of a kind, the pointer is right; where a pointer may be of any kind,
        // as with Intel's driver, too.
        const bool has_address_spaces =
            !is_of_host_threads(GetParam()) && text.find("__generic") == std::string::npos;
        EXPECT_EQ(text.find("wrong.rk.cl:6:") != std::string::npos, has_address_spaces) << text;
        EXPECT_EQ(text.find("changes address space") != std::string::npos, has_address_spaces);
        EXPECT_EQ(text.find("declared with RK_LET") != std::string::npos, has_address_spaces);
      });
}

/// By itself: GCC looks for it in what is right otherwise.
TEST_P(ProgramMistakes, AMethodWithoutAReturnDoesNotBuild) {
  refuse(
      [](RingKernelRuntime& runtime) {
        return add_handler(runtime, "  if (Purchase_id(request) == 0) return RK_OK;\n");
      },
      [](const std::string& text) {
        EXPECT_THAT(text, AllOf(HasSubstr("wrong.rk.cl:4:1"), HasSubstr("non-void function")));
      });
}

TEST_P(ProgramMistakes, AHandlerOfBytesWithoutAReturnDoesNotBuild) {
  refuse(
      [](RingKernelRuntime& runtime) {
        return add_bytes_handler(runtime, "  if (rk_request_length(self) == 1) return RK_OK;\n");
      },
      [](const std::string& text) {
        EXPECT_THAT(text, AllOf(HasSubstr("wrong.rk.cl:3:1"), HasSubstr("non-void function")));
      });
}

TEST_P(ProgramMistakes, AFaultThatIsNotReturnedDoesNotBuild) {
  refuse(
      [](RingKernelRuntime& runtime) {
        return add_bytes_handler(runtime,
                                 "  if (rk_request_length(self) == 1) rk_fault(self, 1, 0);\n"
                                 "  return RK_OK;\n");
      },
      [](const std::string& text) {
        EXPECT_THAT(text, AllOf(HasSubstr("wrong.rk.cl:2:"), HasSubstr("rk_fault")));
      });
}

/// Numbers of the runtime's own faults among them.
TEST_P(ProgramMistakes, WhatNoHandlerMayReturnIsToldAsItIs) {
  auto runtime = open();
  const auto bytes =
      add_bytes_handler(runtime, "  return *(RK_GLOBAL const rk_u32*)rk_request_bytes(self);\n");
  ASSERT_TRUE(bytes) << bytes.error().text();
  Kernel of_bytes = active(runtime, "bytes", {.program = "wrong"});
  const auto error_of = [&](std::uint32_t number) {
    return of_bytes.call(std::as_bytes(std::span(&number, 1))).error();
  };
  // The last three as of rk_fault(self, 0, 0), with code 65536, and with the largest.
  for (const auto& [returned, text] : {std::pair(1u, "1"),
                                       {11u, "11"},
                                       {14u, "14"},
                                       {0x10000u, "code 0"},
                                       {0x20000u, "code 65536"},
                                       {0xffffffffu, "code 4294901759"}}) {
    const Error error = error_of(returned);
    EXPECT_EQ(error, Errc::bad_outcome);
    EXPECT_EQ(error.fault_code, 0u);
    EXPECT_EQ(
        error.text(),
        std::string("bad_outcome: a handler returned neither RK_OK nor a fault of 1 to 65535: "
                    "kernel 'bytes': ") +
            text);
  }
  EXPECT_EQ(error_of(0x10001).fault_code, 1u);
  EXPECT_EQ(error_of(0x1ffff).fault_code, 65535u);
  const auto added = add_handler(runtime, "  return 1;\n");
  ASSERT_TRUE(added) << added.error().text();
  Kernel till = active(runtime, "till", {.program = "shop", .behaviour = "Till"});
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(shop::CreatePurchaseDirect(builder, 1));
  const auto receipt = till.call<shop::Receipt>("Buy", typed<shop::Purchase>(builder));
  ASSERT_FALSE(receipt);
  EXPECT_THAT(receipt.error().text(), HasSubstr("kernel 'till', shop.Till.Buy: 1"));
}

/// With what hides handlers from the scan, a compiler is asked.
TEST_P(ProgramMistakes, AHandlerByHandIsNone) {
  for (const char* const hidden : {"", "#if 1\n#endif\n"})
    refuse(
        [&](RingKernelRuntime& runtime) {
          ProgramDesc program = shop_program();
          program.source = Source::text(
              "hand.rk.cl", std::string("#include \"shop.rk.h\"\n") + hidden +
                                "static rk_u32 Till_Buy(rk_self* self) { return RK_OK; }\n" +
                                other_handlers);
          program.compiled = nullptr;
          return runtime.add_program(program);
        },
        [&](const std::string& text) {
          EXPECT_THAT(text, HasSubstr("shop.fbs:24: no RK_ON(Till, Buy) in hand.rk.cl"));
          EXPECT_EQ(text.find("no_handler_for_Till_Buy") != std::string::npos, *hidden != '\0')
              << text;
        });
}

}  // namespace
}  // namespace ringkernel::test
