#include "foundation/hash.hpp"

#include <gtest/gtest.h>

namespace ringkernel {
namespace {

// From the tables of the hash's authors.
TEST(Hash, IsTheOneThatIsPublished) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

TEST(Hash, GoesOnWhereItEnded) { EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar")); }

}  // namespace
}  // namespace ringkernel
