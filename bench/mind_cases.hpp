/// The cases of `async` that go through the C interface of the MIND runtime.
///
/// Threading: one thread, at first.
/// Ownership: names live as long as the process.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

/// `BACKEND_mind`, an op that is waited for, and `BACKEND_mind_async_COUNT`, of as many that are
/// given before anybody waits.
[[nodiscard]] std::span<const Case> mind_cases();

}  // namespace bench
