/// From an op as it is named to a request that is known to be right.
///
/// Threading: any thread; pure.
/// Errors: as mind_runtime.hpp says of ops.
#pragma once

#include <string>

#include "ringkernel/mind_runtime.hpp"

namespace ringkernel::mind {

/// For errors, and for what only a gpu allows.
struct Place {
  std::string backend;
  BackendTarget target = BackendTarget::automatic;
};

/// Checks everything that the descriptors of the tensors decide.
[[nodiscard]] Result<detail::MindCall> make_call(const detail::MindOpName& name,
                                                 std::span<const Tensor> inputs,
                                                 std::span<const Tensor> outputs,
                                                 const OpOptions& options, const Place& place);

/// "add(f32[4], f32[4])".
[[nodiscard]] std::string describe(const Request& request);

}  // namespace ringkernel::mind
