// Programs that ringkernel_add_program has put into a library.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "quotes_program.hpp"
#include "shop_program.hpp"
#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

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
  EXPECT_TRUE(quotes.schema.source().is_empty());
  EXPECT_EQ(quotes.state_bytes, 0u);
  EXPECT_EQ(quotes.reply_bytes, 64u);
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

}  // namespace
}  // namespace ringkernel::test
