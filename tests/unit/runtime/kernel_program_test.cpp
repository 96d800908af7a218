#include "runtime/kernel_program.hpp"

#include <gmock/gmock.h>

#include <string>

namespace ringkernel::detail {
namespace {

using ::testing::HasSubstr;

program::Behaviour make_behaviour(std::uint32_t first_id) {
  program::Behaviour behaviour;
  behaviour.name = "Book";
  behaviour.full_name = "trading.Book";
  for (const char* name : {"Submit", "Drop"}) {
    program::Method method;
    method.name = name;
    method.full_name = std::string("trading.Book.") + name;
    method.id = first_id++;
    method.request = "trading.Order";
    method.reply = "trading.Ack";
    method.reply_bytes = 64;
    behaviour.methods.push_back(method);
  }
  return behaviour;
}

class KernelProgramTest : public ::testing::Test {
 protected:
  KernelProgramTest() { program.begin({echo, 1, &behaviour}); }

  const DefinitionPointer echo = program::Definition::built_in("echo");
  const program::Behaviour behaviour = make_behaviour(7);
  KernelProgram program{"trading"};
};

TEST_F(KernelProgramTest, FindsAMethodByEitherOfItsNames) {
  EXPECT_EQ(program.find_method("Submit").value().id, 7u);
  EXPECT_EQ(program.find_method("trading.Book.Drop").value().id, 8u);
  EXPECT_EQ(program.find_method("Drop").value().reply_bytes, 64u);
}

TEST_F(KernelProgramTest, NamesTheMethodsThereAre) {
  const auto found = program.find_method("Sell");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error(), Errc::unknown_method);
  EXPECT_THAT(found.error().detail, HasSubstr("'Sell'; it has: Submit, Drop"));
}

TEST_F(KernelProgramTest, RefusesTypesThatAreNotTheMethods) {
  EXPECT_TRUE(program.find_method("Submit", "trading.Order", "trading.Ack"));
  const auto found = program.find_method("Submit", "trading.Order", "trading.Fill");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error(), Errc::invalid_argument);
  EXPECT_THAT(found.error().detail, HasSubstr("wants trading.Fill"));
}

TEST_F(KernelProgramTest, ASwapReplacesWhatItHas) {
  const program::Behaviour next = make_behaviour(70);
  program.adopt({echo, 2, &next});
  EXPECT_EQ(program.current().version, 2u);
  EXPECT_EQ(program.find_method("Submit").value().id, 70u);
  EXPECT_EQ(program.method_name(71), "trading.Book.Drop");
  EXPECT_EQ(program.method_name(7), "");
}

TEST_F(KernelProgramTest, SaysWhatAFaultOfItsVersionMeans) {
  const auto speaking = [](const char* text) {
    return program::Definition::of(
               {.name = "trading",
                .source = Source::text("book.rk.cl", std::string("RK_FAULT_TEXT(3, \"") + text +
                                                         "\")\nRK_ON_BYTES { return 0; }\n")})
        .value();
  };
  EXPECT_EQ(program.fault_text(3, 1), "");
  program.adopt({speaking("too late"), 2, &behaviour});
  EXPECT_EQ(program.fault_text(3, 2), "too late");
  EXPECT_EQ(program.fault_text(4, 2), "");
  EXPECT_EQ(program.fault_text(3, 1), "") << "what that one meant is not known any more";
  program.adopt({speaking("too early"), 65536 + 5, &behaviour});
  EXPECT_EQ(program.fault_text(3, 5), "too early") << "a reply has 16 bits of the version";
}

TEST_F(KernelProgramTest, KeepsItsBehaviourWhereANewProgramHasNone) {
  program.adopt({echo, 2, nullptr});
  EXPECT_EQ(program.current().version, 1u);
  EXPECT_EQ(program.find_method("Submit").value().id, 7u);
}

TEST_F(KernelProgramTest, SaysWhichMethodsTheMessagesAreOf) {
  EXPECT_THAT(program.takes_methods_only().detail,
              HasSubstr("program 'trading' takes messages of methods, which trading.Book has: "
                        "Submit, Drop"));
}

TEST(KernelProgram, WithoutASchemaThereAreNoMethods) {
  KernelProgram plain("echo");
  EXPECT_EQ(plain.current().version, 0u) << "not begun";
  plain.begin({program::Definition::built_in("echo"), 1, nullptr});
  EXPECT_FALSE(plain.takes_ops());
  EXPECT_FALSE(plain.has_methods());
  EXPECT_EQ(plain.find_method("Submit").error(), Errc::unsupported_operation);
  EXPECT_EQ(plain.interface().error(), Errc::unsupported_operation);
  EXPECT_EQ(plain.method_name(7), "");
  KernelProgram ops("core");
  ops.begin({program::Definition::built_in("core"), 1, nullptr});
  EXPECT_TRUE(ops.takes_ops());
}

}  // namespace
}  // namespace ringkernel::detail
