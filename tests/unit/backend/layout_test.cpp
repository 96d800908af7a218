#include "backend/opencl/self_test/layout.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/sources.hpp"
#include "ringkernel/protocol/command.h"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/doorbell.h"
#include "ringkernel/protocol/record.h"
#include "ringkernel/protocol/ring.h"
#include "ringkernel/protocol/telemetry_block.h"

namespace ringkernel::opencl {
namespace {

using testing::HasSubstr;

/// What a device reports that agrees with the host.
std::vector<uint32_t> right_figures() {
  return {
#define RK_LAYOUT_TYPE(type) static_cast<uint32_t>(sizeof(type)),
#define RK_LAYOUT_FIELD(type, field) static_cast<uint32_t>(offsetof(type, field)),
#include "kernels/layout_fields.def"
#undef RK_LAYOUT_FIELD
#undef RK_LAYOUT_TYPE
  };
}

std::set<std::string> listed_fields() {
  return {
#define RK_LAYOUT_TYPE(type) #type,
#define RK_LAYOUT_FIELD(type, field) #type "." #field,
#include "kernels/layout_fields.def"
#undef RK_LAYOUT_FIELD
#undef RK_LAYOUT_TYPE
  };
}

/// What the protocol headers assert, read from their text: lines "RK_LAYOUT(type, ..." and
/// "RK_FIELD(type, field, ...". For the records of attrs.def op_attrs.h has them: lines
/// "RK_RECORD(record)", "RK_WORD(record, word, ..." and "RK_WORDS(record, words, ...".
std::set<std::string> asserted_fields() {
  std::set<std::string> names;
  for (const KernelSource& source : kernel_sources()) {
    if (!source.name.starts_with("include/ringkernel/protocol/")) continue;
    std::istringstream lines{std::string(source.text)};
    for (std::string line; std::getline(lines, line);) {
      std::ranges::replace_if(
          line, [](char c) { return c == '(' || c == ',' || c == ')'; }, ' ');
      std::istringstream words(line);
      std::string macro, type, field;
      words >> macro >> type >> field;
      if (macro == "RK_RECORD") names.insert({"rk_attrs_" + type, "rk_op_attrs." + type});
      if (macro == "RK_WORD" || macro == "RK_WORDS") names.insert("rk_attrs_" + type + "." + field);
      if (type.find("##") != std::string::npos) continue;  // the macros that expand these
      if (macro == "RK_LAYOUT") names.insert(type);
      if (macro == "RK_FIELD") names.insert(type + "." + field);
    }
  }
  return names;
}

TEST(Layout, ListsEveryFieldThatTheProtocolHeadersAssert) {
  EXPECT_EQ(listed_fields(), asserted_fields());
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
