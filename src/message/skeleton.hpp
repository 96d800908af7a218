/// The constant bytes of one kind of request: everything of its FlatBuffer but the operands' data.
///
/// Requests that agree in op, shapes and attributes differ in nothing else, so the buffer is built
/// once by the FlatBuffers builder and then only copied around the data.
///
/// Threading: distinct objects safe, shared objects unsafe.
#pragma once

#include <memory>
#include <vector>

#include "message/codec.hpp"

namespace ringkernel::codec {

struct Skeleton {
  /// Bytes of the payload that `encode` fills from an operand.
  struct Gap {
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
  };

  Request kind;           ///< op, descriptors and attributes; its views point nowhere
  bool reads_attributes;  ///< whether another request's may differ
  Plan plan;
  TensorDesc result;
  /// Ascending; `kind.input_count` of them. That of a resident tensor is empty.
  std::array<Gap, inputs_max> gaps{};
  std::vector<std::byte> constant;      ///< the payload without the gaps, in order
  std::vector<std::byte> reply_prefix;  ///< the reply up to its data
  TensorDesc output;                    ///< what the reply holds
};

/// Which parts of the request are resident tensors, as in Plan::residents.
[[nodiscard]] inline std::uint32_t residents_of(const Request& request) noexcept {
  std::uint32_t residents = request.output != 0 ? result_bit : 0;
  for (std::uint32_t i = 0; i < inputs_max && i < request.input_count; ++i)
    if (request.inputs[i].tensor != 0) residents |= 1u << i;
  return residents;
}

/// Checks the request and builds its skeleton.
[[nodiscard]] Result<std::unique_ptr<const Skeleton>> make_skeleton(const Request& request);

/// The same for a request that is known to be right. Errors: message_too_large.
[[nodiscard]] Result<std::unique_ptr<const Skeleton>> make_skeleton(const Request& request,
                                                                    const Inference& inference);

}  // namespace ringkernel::codec
