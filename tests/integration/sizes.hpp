/// Sizes that several of these tests use.
///
/// Threading: constants.
/// Units: bytes.
#pragma once

#include <cstddef>

#include "ringkernel/tensor.hpp"

namespace ringkernel::test {

/// Two of these fill an input ring of 4 KiB: 64 bytes of header each, and half the ring is the
/// most.
inline constexpr std::size_t half_ring = 2048 - 64;

inline constexpr TensorDesc four_floats{DType::f32, {4}};

}  // namespace ringkernel::test
