/// The cases of `async`.
///
/// Threading: one thread, at first.
/// Ownership: names live as long as the process.
#pragma once

#include <span>

#include "cases.hpp"

namespace bench {

/// `BACKEND_execute_PAUSE` and `BACKEND_async_execute_PAUSE`, in us, for pauses of 0, 100 and 1000
/// us between the requests of one coroutine.
[[nodiscard]] std::span<const Case> async_cases();

}  // namespace bench
