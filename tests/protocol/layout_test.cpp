// The protocol headers mean the same in C11 as in C++20.
#include <gmock/gmock.h>

#include <span>
#include <string>
#include <vector>

#include "protocol/c_layout.h"
#include "ringkernel/protocol/layout.h"

namespace {

struct Figure {
  const char* name;
  std::size_t value;
};

constexpr Figure layout[] = {
#define RK_LAYOUT_TYPE(type, bytes) {"sizeof " #type, sizeof(type)},
#define RK_LAYOUT_FIELD(type, field, offset) {#type "." #field, offsetof(type, field)},
#include "ringkernel/protocol/layout.def"
};

TEST(Layout, IsTheSameInCAndCpp) {
  const std::span<const std::size_t> in_c(rk_c_layout, rk_c_layout_count);
  ASSERT_EQ(in_c.size(), std::size(layout));
  for (std::size_t i = 0; i < in_c.size(); ++i)
    EXPECT_EQ(in_c[i], layout[i].value) << layout[i].name;
}

}  // namespace
