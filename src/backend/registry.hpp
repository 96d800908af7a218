/// The backends that are built in.
///
/// Threading: any thread; the list never changes.
#pragma once

#include <span>
#include <string_view>

#include "backend/backend.hpp"

namespace ringkernel::backend {

/// Every built-in backend, whether it can serve on this machine (`score() > 0`) or not.
std::span<const Backend> backends() noexcept;

/// Errc::backend_unavailable if no backend has this name; the detail lists those that exist.
Result<Backend> find_backend(std::string_view name);

/// The backend with the highest score. Errc::backend_unavailable if none can serve.
Result<Backend> best_backend();

}  // namespace ringkernel::backend
