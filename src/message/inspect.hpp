/// Foreign FlatBuffers bytes: verified before anything in them is followed, and explained when they
/// are refused.
///
/// Threading: any thread; pure.
/// Errors: message_too_large, truncated_message, malformed_message, unknown_field.
#pragma once

#include <span>

#include "ringkernel/limits.hpp"
#include "ringkernel/result.hpp"
#include "schemas/message_generated.h"

namespace ringkernel::codec {

/// Why the verifier refused `bytes`: truncated_message if a part of it ends beyond the last byte,
/// else malformed_message. `root` describes the table that the bytes should hold.
[[nodiscard]] Error explain_refusal(std::span<const std::byte> bytes,
                                    const flatbuffers::TypeTable& root);

/// unknown_field if a table of the verified `bytes` sets a field that its schema does not have,
/// truncated_message if one states to be larger than the bytes are.
[[nodiscard]] Result<void> check_fields(std::span<const std::byte> bytes,
                                        const flatbuffers::TypeTable& root);

/// Everything the verifier takes for granted.
[[nodiscard]] Result<void> check_extent(std::span<const std::byte> bytes);

/// The root table of `bytes`, verified within the limits of limits.hpp.
template <class Root>
[[nodiscard]] Result<const Root*> verified_root(std::span<const std::byte> bytes,
                                                const flatbuffers::TypeTable& root) {
  RK_TRY_VOID(check_extent(bytes));
  const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(begin, bytes.size(), verifier_depth_max, verifier_tables_max);
  if (!verifier.VerifyBuffer<Root>(schema::RequestIdentifier())) [[unlikely]]
    return explain_refusal(bytes, root);
  return flatbuffers::GetRoot<Root>(begin);
}

}  // namespace ringkernel::codec
