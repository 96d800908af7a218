#include "backend/opencl/self_test/layout.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/sources.hpp"
#include "ringkernel/protocol/layout.h"

namespace ringkernel::opencl {
namespace {

using testing::HasSubstr;

/// What a device reports that agrees with the host.
std::vector<uint32_t> right_figures() {
  return {
#define RK_LAYOUT_TYPE(type, bytes) static_cast<uint32_t>(sizeof(type)),
#define RK_LAYOUT_FIELD(type, field, offset) static_cast<uint32_t>(offsetof(type, field)),
#include "ringkernel/protocol/layout.def"
  };
}

/// A field of the list, and how many bytes it has.
struct Listed {
  std::string type;
  std::string field;
  std::size_t offset;
  std::size_t bytes;
};

/// For each type of the list one without a field, as its size, and then its fields.
std::vector<Listed> listed() {
  return {
#define RK_LAYOUT_TYPE(type, bytes) {#type, {}, bytes, 0},
#define RK_LAYOUT_FIELD(type, field, offset) {#type, #field, offset, sizeof(type{}.field)},
#include "ringkernel/protocol/layout.def"
  };
}

// So no field is missing in it, and no compiler has to fill up.
TEST(Layout, ListsEveryByteOfEveryStruct) {
  std::map<std::string, std::size_t> sizes, ends;
  for (const Listed& row : listed()) {
    if (row.type == "rk_op_attrs") continue;  // a union
    if (row.field.empty()) {
      sizes[row.type] = row.offset;
      continue;
    }
    EXPECT_EQ(row.offset, ends[row.type]) << row.type << "." << row.field;
    ends[row.type] = row.offset + row.bytes;
  }
  EXPECT_EQ(ends, sizes);
  EXPECT_GT(sizes.size(), 15u);
}

/// The structs that the protocol headers define, by their text: lines "} name;" and, for the
/// records of attrs.def, "RK_RECORD(name)".
std::set<std::string> defined_structs() {
  std::set<std::string> names;
  for (const KernelSource& source : kernel_sources()) {
    if (!source.name.starts_with("include/ringkernel/protocol/")) continue;
    std::istringstream lines{std::string(source.text)};
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("} rk_")) names.insert(line.substr(2, line.find(';') - 2));
      if (line.starts_with("RK_RECORD("))
        names.insert("rk_attrs_" + line.substr(10, line.find(')') - 10));
    }
  }
  return names;
}

TEST(Layout, ListsEveryStructOfTheProtocolHeaders) {
  std::set<std::string> names;
  for (const Listed& row : listed()) names.insert(row.type);
  EXPECT_EQ(names, defined_structs());
}

TEST(Layout, AcceptsAgreement) { EXPECT_TRUE(compare_layout(right_figures()).has_value()); }

TEST(Layout, RefusesAnyFigureThatDiffers) {
  const std::vector<uint32_t> right = right_figures();
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::vector<uint32_t> wrong = right;
    wrong[i] += 4;
    const auto result = compare_layout(wrong);
    ASSERT_FALSE(result.has_value()) << i;
    EXPECT_TRUE(result.error() == Errc::protocol_mismatch);
  }
}

TEST(Layout, NamesTheStructAndFieldThatDiffers) {
  std::vector<uint32_t> figures = right_figures();
  figures[0] += 64;
  EXPECT_THAT(compare_layout(figures).error().detail,
              HasSubstr("sizeof rk_executor_host_line: host 128, device 192"));
  figures = right_figures();
  figures[2] += 4;
  EXPECT_THAT(compare_layout(figures).error().detail,
              HasSubstr("rk_executor_host_line.version: host 4, device 8"));
}

TEST(Layout, RefusesAnotherNumberOfFields) {
  std::vector<uint32_t> figures = right_figures();
  figures.pop_back();
  EXPECT_TRUE(compare_layout(figures).error() == Errc::protocol_mismatch);
}

}  // namespace
}  // namespace ringkernel::opencl
