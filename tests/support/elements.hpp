/// The elements of a tensor of any type as floats, which must represent them exactly.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "ringkernel/tensor.hpp"

namespace ringkernel::test {

namespace detail {
template <Element T>
std::vector<std::byte> encode(std::span<const float> elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const T element = static_cast<T>(elements[i]);
    std::memcpy(&bytes[i * sizeof(T)], &element, sizeof(T));
  }
  return bytes;
}
template <Element T>
std::vector<float> decode(const void* data, std::size_t count) {
  std::vector<float> elements(count);
  for (std::size_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, static_cast<const std::byte*>(data) + i * sizeof(T), sizeof(T));
    elements[i] = static_cast<float>(element);
  }
  return elements;
}
}  // namespace detail

/// The bytes of a tensor of these elements.
[[nodiscard]] inline std::vector<std::byte> encoded(std::span<const float> elements, DType dtype) {
  if (dtype == DType::i32) return detail::encode<std::int32_t>(elements);
  if (dtype == DType::i64) return detail::encode<std::int64_t>(elements);
  return detail::encode<float>(elements);
}

/// The elements of a tensor with these bytes.
[[nodiscard]] inline std::vector<float> decoded(const TensorDesc& desc, const void* data) {
  const auto count = static_cast<std::size_t>(desc.element_count());
  if (desc.dtype == DType::i32) return detail::decode<std::int32_t>(data, count);
  if (desc.dtype == DType::i64) return detail::decode<std::int64_t>(data, count);
  return detail::decode<float>(data, count);
}

}  // namespace ringkernel::test
