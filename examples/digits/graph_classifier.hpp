/// The network as one graph: a digit is one message, and the weights stay on the device.
///
/// Threading: a classifier belongs to one thread; all of them share the function.
/// Errors: what the runtime refuses is thrown as `boost::system::system_error`.
#pragma once

#include <memory>

#include "classifier.hpp"
#include "ringkernel/ringkernel.hpp"

namespace digits {

/// Compiles the network. The function copies the weights.
[[nodiscard]] ringkernel::CompiledFunction compile_network(ringkernel::RingKernelRuntime& runtime,
                                                           const Network& network);

[[nodiscard]] std::unique_ptr<Classifier> make_graph_classifier(
    const ringkernel::CompiledFunction& function);

}  // namespace digits
