#include "ringkernel/diagnostic.hpp"

#include <gtest/gtest.h>

namespace ringkernel {
namespace {

std::string text_at(const SourcePosition& at) {
  const Diagnostic diagnostic{.message = "no such thing",
                              .at = at,
                              .notes = {{.severity = Severity::note, .message = "see there"}}};
  return diagnostic.text();
}

TEST(Diagnostic, SaysWhereAsFarAsThatIsKnown) {
  EXPECT_EQ(text_at({}), "no such thing");
  EXPECT_EQ(text_at({.file = "a.mlir"}), "a.mlir: no such thing");
  EXPECT_EQ(text_at({.file = "a.mlir", .line = 12}), "a.mlir:12: no such thing");
  EXPECT_EQ(text_at({.file = "a.mlir", .line = 12, .column = 3}), "a.mlir:12:3: no such thing");
  EXPECT_EQ(text_at({.line = 12, .column = 3}), "12:3: no such thing");
  EXPECT_EQ(text_at({.file = "a.mlir", .column = 3}), "a.mlir: no such thing");
}

TEST(Diagnostic, NamesTheNodeOfAModelWithoutLines) {
  EXPECT_EQ(text_at({.node = "conv"}), "node 'conv': no such thing");
  EXPECT_EQ(text_at({.file = "a.onnx", .node = "conv"}), "a.onnx: node 'conv': no such thing");
}

}  // namespace
}  // namespace ringkernel
