/// Tensors and requests of C callers: what they ask for, and where results go.
///
/// Threading: any thread.
/// Ownership: everything borrows the caller's memory, and keeps the resident tensors that it names.
/// Errors: as ringkernel.h says them; nothing has been sent by then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "capi/objects.hpp"

namespace ringkernel::capi {

/// A tensor of the caller's, as errors name it: "elements", or one of a list, "request->inputs[1]".
struct Place {
  static constexpr std::size_t alone = ~std::size_t{0};

  const char* name;
  std::size_t number = alone;

  [[nodiscard]] std::string text() const;
};

/// The request and the descriptor of its reply, from the caller's.
struct Asked {
  Request request;
  std::size_t input_count = 0;  ///< of the caller's
  TensorDesc reply;             ///< none where the result goes into a resident tensor
  std::array<std::uint8_t, inputs_max> numbers{};  ///< which of the caller's inputs each operand is
  std::array<std::shared_ptr<ResidentObject>, inputs_max + 1> residents{};  ///< kept meanwhile
};

/// Whether a request's operands have elements already, or only their types and shapes are looked
/// at.
enum class Contents : std::uint8_t { here, later };

/// Fills `asked`, which is large and is new.
[[nodiscard]] Result<void> read_request(const ringkernel_request* given, Asked& asked,
                                        Contents contents = Contents::here);

[[nodiscard]] Result<TensorDesc> to_desc(const ringkernel_tensor& tensor, const Place& place);
/// Type, shape and elements.
[[nodiscard]] Result<TensorView> read_tensor(const ringkernel_tensor& tensor, const Place& place);
/// Type and elements: the shape is known. Where their number is no whole one, E3007.
[[nodiscard]] Result<Elements> read_elements(const ringkernel_tensor& tensor, const Place& place);

using capi::check_room;  // for bytes
/// Whether a tensor of that kind finds room; how much it needs where it does not.
[[nodiscard]] Result<void> check_room(ringkernel_tensor& result, const TensorDesc& desc);
/// The same of several, all of which are told what they need where one finds none.
[[nodiscard]] Result<void> check_rooms(std::span<ringkernel_tensor> results,
                                       std::span<const TensorDesc> descs);

/// What the result is, without its elements.
void describe(const TensorDesc& desc, ringkernel_tensor& result) noexcept;
/// With its elements; there is room.
void copy_result(const TensorView& view, ringkernel_tensor& result) noexcept;

/// Calls `use` with the elements as a span of what they are.
template <class Use>
auto with_elements(const Elements& elements, Use&& use) {
  const auto count = static_cast<std::size_t>(elements.count);
  switch (elements.dtype) {
    case DType::i32: return use(std::span(static_cast<const std::int32_t*>(elements.data), count));
    case DType::i64: return use(std::span(static_cast<const std::int64_t*>(elements.data), count));
    default: return use(std::span(static_cast<const float*>(elements.data), count));
  }
}

/// `read(bytes)`, all elements of a tensor of this kind, into a result that has room for them.
template <class Read>
[[nodiscard]] Result<void> read_into(const TensorDesc& desc, ringkernel_tensor* result,
                                     Read&& read) {
  if (result == nullptr) return null_argument("result");
  RK_TRY_VOID(check_room(*result, desc));
  RK_TRY_VOID(read(std::span(static_cast<std::byte*>(result->data), desc.bytes())));
  describe(desc, *result);
  return {};
}

using capi::take;  // for bytes
[[nodiscard]] Result<void> take(const Reply& reply, ringkernel_tensor& result);

}  // namespace ringkernel::capi
