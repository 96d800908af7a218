/// An execution of a function as a C caller wants it.
///
/// Threading: any thread.
/// Ownership: borrows the caller's memory, and keeps the resident tensors that it names.
#pragma once

#include <boost/container/static_vector.hpp>
#include <memory>
#include <span>
#include <vector>

#include "capi/objects.hpp"
#include "capi/requests.hpp"

namespace ringkernel::capi {

struct Execution {
  boost::container::static_vector<TensorView, graph_inputs_max> inputs;
  ExecuteOptions options;
  std::span<ringkernel_tensor> results;  ///< empty where all go into resident tensors
  std::vector<std::shared_ptr<ResidentObject>> residents;
};

/// Fills `execution`, which is new. E2007; message_too_large, with what results need.
[[nodiscard]] Result<void> read_execution(const ringkernel_execution* given,
                                          const FunctionSignature& signature, Execution& execution);

/// What comes with the reply, to places that have room for it.
void copy_results(const FunctionResult& result, std::span<ringkernel_tensor> places) noexcept;

template <class Body>
ringkernel_status with_function(const ringkernel_function* handle, Body&& body) noexcept {
  return guarded([&]() -> Result<void> {
    RK_TRY(object, Functions::table().find(handle, "function"));
    return body(*object);
  });
}

}  // namespace ringkernel::capi
