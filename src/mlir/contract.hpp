/// Sums of products, and windows that move over images: what matmul, conv2d and max_pool are for.
///
/// Threading: any thread; pure but for the builder's graph.
/// Errors: E6003 for what these ops do not have; those of Builder.
#pragma once

#include "mlir/loops.hpp"

namespace ringkernel::mlir {

/// The sum of a * b over the loops `reduced`; a term over the others that they have, if it can be
/// in the order that is wanted.
[[nodiscard]] Result<Term> contracted(Builder& builder, const Term& a, const Term& b,
                                      const Loops& reduced, const Loops& wanted,
                                      const Integers& extents);

/// The sum of images * filter over the loops `reduced`, which are inner ones of the windows, and
/// channels.
[[nodiscard]] Result<Term> convolved(Builder& builder, const Walked& images, const Term& filter,
                                     const Loops& reduced, const Integers& extents);

/// `op` (max or add) over the windows of the images; `reduced` are their inner loops.
[[nodiscard]] Result<Term> pooled(Builder& builder, Op op, const Walked& images,
                                  const Loops& reduced, const Integers& extents);

}  // namespace ringkernel::mlir
