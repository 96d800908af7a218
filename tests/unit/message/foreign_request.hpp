/// A request as a client in another language builds it: straight from the schema, in its own order,
/// with nothing filled in that the runtime fills in. Tests spoil one thing at a time.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "ringkernel/message.hpp"
#include "schemas/message_generated.h"

namespace ringkernel::test {

using Bytes = std::vector<std::byte>;  // malloc aligns it well enough for a FlatBuffer

inline Bytes to_bytes(const flatbuffers::FlatBufferBuilder& builder) {
  const auto* begin = reinterpret_cast<const std::byte*>(builder.GetBufferPointer());
  return {begin, begin + builder.GetSize()};
}

inline rk_operand operand(std::initializer_list<rk_u32> dims, rk_u8 dtype = RK_DTYPE_F32) {
  rk_operand result{};
  result.dtype = dtype;
  result.rank = static_cast<rk_u8>(dims.size());
  std::copy(dims.begin(), dims.end(), result.dims);
  return result;
}

struct ForeignRequest {
  rk_command command{};
  std::vector<std::vector<float>> operands;

  /// add of f32[2, 3] and f32[3].
  static ForeignRequest add() {
    ForeignRequest request;
    request.command.op = static_cast<rk_u16>(Op::add);
    request.command.input_count = 2;
    request.command.inputs[0] = operand({2, 3});
    request.command.inputs[1] = operand({3});
    request.operands = {{1, 2, 3, 4, 5, 6}, {10, 20, 30}};
    return request;
  }

  /// An op with one operand of the given shape, elements 1, 2, 3 ...
  static ForeignRequest unary(Op op, std::initializer_list<rk_u32> dims) {
    ForeignRequest request;
    request.command.op = static_cast<rk_u16>(op);
    request.command.input_count = 1;
    request.command.inputs[0] = operand(dims);
    std::size_t count = 1;
    for (const rk_u32 dim : dims) count *= dim;
    request.operands.emplace_back();
    for (std::size_t i = 0; i < count; ++i)
      request.operands[0].push_back(static_cast<float>(i + 1));
    return request;
  }

  [[nodiscard]] Bytes bytes(const char* identifier = schema::RequestIdentifier()) const {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<schema::Data>> data;
    for (const std::vector<float>& elements : operands) {
      const auto* raw = reinterpret_cast<const std::uint8_t*>(elements.data());
      const auto vector = builder.CreateVector(raw, elements.size() * sizeof(float));
      data.push_back(schema::CreateData(builder, vector));
    }
    const auto list = builder.CreateVector(data);
    const auto struct_bytes = std::bit_cast<schema::Command>(command);
    builder.Finish(schema::CreateRequest(builder, &struct_bytes, list), identifier);
    return to_bytes(builder);
  }
};

/// The code of reading `bytes`; `ok` if they are accepted.
inline Errc read_error(std::span<const std::byte> bytes) {
  const auto request = Request::from_bytes(bytes);
  return request ? Errc::ok : static_cast<Errc>(request.error().code.value());
}

inline std::string read_detail(std::span<const std::byte> bytes) {
  const auto request = Request::from_bytes(bytes);
  return request ? "accepted" : request.error().text();
}

}  // namespace ringkernel::test
