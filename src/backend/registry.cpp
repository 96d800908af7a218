#include "backend/registry.hpp"

#include <algorithm>
#include <string>

#include "backend/native/native.hpp"
#include "backend/opencl/opencl.hpp"

namespace ringkernel::backend {

std::span<const Backend> backends() noexcept {
  static const Backend all[] = {
      Backend(*rk_backend_opencl(RK_BACKEND_ABI_VERSION)),
      Backend(*rk_backend_native(RK_BACKEND_ABI_VERSION)),
  };
  return all;
}

Result<Backend> find_backend(std::string_view name) {
  const auto found = std::ranges::find(backends(), name, &Backend::name);
  if (found != backends().end()) return *found;
  std::string text = "no backend is called '" + std::string(name) + "'; there are:";
  for (const Backend& backend : backends()) text.append(" ").append(backend.name());
  return Error(Errc::backend_unavailable, std::move(text));
}

Result<Backend> best_backend() {
  const auto best = std::ranges::max_element(backends(), {}, &Backend::score);
  if (best->score() > 0) return *best;
  return Error(Errc::backend_unavailable, "no backend can serve on this machine");
}

}  // namespace ringkernel::backend
