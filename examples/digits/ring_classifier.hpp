/// The network as a chain of calls to two resident ring kernels, one per layer.
///
/// Threading: a classifier belongs to one thread; several share a runtime.
/// Errors: what the runtime refuses is thrown as `boost::system::system_error`.
#pragma once

#include <memory>

#include "classifier.hpp"
#include "ringkernel/ringkernel.hpp"

namespace digits {

/// Launches and activates the ring kernels of worker `number`. The network must outlive it.
[[nodiscard]] std::unique_ptr<Classifier> make_ring_classifier(
    ringkernel::RingKernelRuntime& runtime, std::size_t number, const Network& network);

}  // namespace digits
