// Binary schemas that nobody vouches for.
#include <gtest/gtest.h>

#include "program/schema.hpp"
#include "support/stress.hpp"
#include "unit/program/files.hpp"
#include "unit/program/mutations.hpp"

namespace ringkernel::program::test {
namespace {

TEST(UnsoundSchema, IsRefusedWhereItIsNoSchemaAtAll) {
  const auto error_of = [](std::size_t bytes) {
    return Schema::from_binary(std::vector<std::byte>(bytes), {"x.bfbs", {}}).error();
  };
  EXPECT_EQ(
      error_of(0).detail,
      "x.bfbs: these bytes are no binary schema, which `flatc -b --schema` makes of its text");
  EXPECT_EQ(
      error_of(100).detail,
      "x.bfbs: these bytes are no binary schema, which `flatc -b --schema` makes of its text");
  EXPECT_EQ(error_of(schema_bytes_max + 1).detail,
            "x.bfbs: a binary schema of 1048577 bytes, at most 1048576");
  EXPECT_TRUE(error_of(0) == Errc::invalid_argument);
}

// Most pass the verifier of FlatBuffers, or would fell a generator that trusts it.
TEST(UnsoundSchema, NeverFellsTheReader) {
  Mutator mutator(1);
  const int mutants = static_cast<int>(ringkernel::test::scaled(4000, 400));
  int refused = 0;
  for (const std::string name : {"trading", "sensor"}) {
    const std::vector<std::byte> good = binary_of(name);
    for (int i = 0; i < mutants; ++i)
      refused += Schema::from_binary(mutator.mutate(good), {name, {}}).has_error() ? 1 : 0;
  }
  EXPECT_GT(refused, mutants);
}

TEST(UnsoundSchema, TellsWhatIsWrong) {
  std::vector<std::byte> bytes = binary_of("trading");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  bytes[text.find("exposure")] = std::byte{';'};
  EXPECT_NE(Schema::from_binary(bytes, {"x", {}}).error().detail.find("';xposure' is no name"),
            std::string::npos);
}

}  // namespace
}  // namespace ringkernel::program::test
