/// Requests and replies to and from FlatBuffers bytes. The only layer that knows FlatBuffers.
///
/// Threading: any thread. `plan` keeps a small cache per thread; its result points into it and is
/// valid until the next `plan` on the same thread.
/// Errors: nothing is written before the request is known to be right.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ringkernel/limits.hpp"
#include "ringkernel/message.hpp"

namespace ringkernel::codec {

/// The longest payload that the largest ring takes.
inline constexpr std::size_t message_bytes_max =
    RK_RING_RECORD_MAX(ring_bytes_max) - sizeof(rk_record_header);

/// What the op makes of the request's inputs, if everything about the request is right.
/// Errors: invalid_argument (an operand without its elements), and those of `infer`. Of resident
/// tensors it believes what the views say.
[[nodiscard]] Result<Inference> check(const Request& request);

/// The operand of a command; its offset is 0. `place` is RK_PLACE_*.
[[nodiscard]] rk_operand make_operand(const TensorDesc& desc, rk_u8 place) noexcept;

struct Skeleton;  // the constant bytes of one kind of request, cached

/// Where the parts of an encoded request will lie: exactly the numbers of the record header.
struct Plan {
  std::uint32_t payload_bytes = 0;
  std::uint32_t command_offset = 0;
  std::uint32_t prefix_offset = 0;
  std::uint32_t prefix_bytes = 0;
  std::uint32_t reply_bytes = 0;
  std::uint32_t residents = 0;  ///< bit i: input i is a resident tensor; result_bit: the result is
  const Skeleton* skeleton = nullptr;
};

inline constexpr std::uint32_t result_bit = 1u << inputs_max;

/// Where the resident tensors of one request lie in the arena: its inputs, then its result.
using Offsets = std::array<std::uint64_t, inputs_max + 1>;

/// Checks the request and lays it out. A request like an earlier one of this thread (same op,
/// shapes and attributes) costs a comparison. Errors: those of `check`, message_too_large.
[[nodiscard]] Result<Plan> plan(const Request& request);

/// Writes exactly `plan.payload_bytes` to `payload`, which is 64-byte aligned: a FlatBuffers
/// Request, byte for byte what the FlatBuffers builder makes.
void encode(const Plan& plan, const Request& request, std::byte* payload) noexcept;

/// Bytes of operands, `offset` bytes from the beginning of the payload.
struct Piece {
  std::uint64_t offset = 0;
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};

/// The same with operands in pieces. Bytes of operands that no piece covers are left as they are.
void encode(const Plan& plan, std::span<const Piece> pieces, std::byte* payload) noexcept;

/// Behind either, where the plan has residents: they lie at `offsets`; the others of these are not
/// read.
void place(const Plan& plan, const Offsets& offsets, std::byte* payload) noexcept;

/// What the op of the plan gives.
[[nodiscard]] const TensorDesc& result_of(const Plan& plan) noexcept;

/// Verifies a reply's FlatBuffer like any foreign bytes and gives its tensor, which borrows them.
/// Errors: truncated_message, malformed_message, message_too_large.
[[nodiscard]] Result<TensorView> read_reply(std::span<const std::byte> payload);

/// Whether the reply is byte for byte the one that the request asked for, but for its data, which
/// begin at `plan.prefix_bytes`: verifying it would find nothing.
[[nodiscard]] bool is_reply_to(const Plan& plan, std::span<const std::byte> payload) noexcept;

/// What such a reply holds: the result, or nothing if that went into a resident tensor.
[[nodiscard]] const TensorDesc& reply_of(const Plan& plan) noexcept;

/// What a device fault means to users: index_out_of_bounds is E6001, with the index and its
/// position from the detail and, where the request is at hand, its op and shapes; others keep their
/// code.
[[nodiscard]] Error fault_error(Errc fault, std::uint64_t detail, const Request* request);

}  // namespace ringkernel::codec
