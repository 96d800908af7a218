/// Helpers for testing the shape rules: infer, and check the shape or the error and what it says.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "ringkernel/op.hpp"
#include "support/attributes.hpp"

namespace ringkernel::test {

inline std::string op_name(Op op) {
  return std::string(find_op(static_cast<std::uint16_t>(op))->name);
}

/// Names the instances of a test that has an op as parameter.
inline std::string op_name_of(const testing::TestParamInfo<Op>& instance) {
  return op_name(instance.param);
}

inline Result<Inference> infer_f32(Op op, const std::vector<Shape>& shapes,
                                   const OpAttributes& attributes = {}) {
  std::vector<TensorDesc> inputs;
  for (const Shape& shape : shapes) inputs.push_back({DType::f32, shape});
  return infer(op, inputs, attributes);
}

/// `parts` are the pieces of context that the text must carry.
inline void expect_error(const Result<Inference>& result, Errc code,
                         const std::vector<std::string>& parts) {
  ASSERT_FALSE(result.has_value()) << "gave " << result.value().output.text();
  EXPECT_EQ(result.error().code, make_error_code(code)) << result.error().text();
  for (const std::string& part : parts)
    EXPECT_THAT(result.error().detail, testing::HasSubstr(part));
}

inline void expect_shape(const Result<Inference>& result, const Shape& shape) {
  ASSERT_TRUE(result.has_value()) << result.error().text();
  EXPECT_EQ(result->output, (TensorDesc{DType::f32, shape})) << result->output.text();
}

}  // namespace ringkernel::test
