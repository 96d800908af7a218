// Puts a mark around each OpenCL function that the backend calls.
#include "backend/opencl/cl.hpp"
#include "stress/allocation/injection.hpp"

namespace ringkernel::test::injection {
namespace {

template <auto member, class Function>
struct Watched;

template <auto member, class Result, class... Args>
struct Watched<member, opencl::Entry<Result (*)(Args...)>> {
  static inline opencl::Entry<Result (*)(Args...)> original;

  static Result call(Args... args) {
    const InDriver inside;
    return original(args...);
  }
  static void install(opencl::Api& api, const char* name) {
    original = api.*member;
    if (original != nullptr) api.*member = {name, reinterpret_cast<void*>(&call)};
  }
};

}  // namespace

void watch_driver() {
  if (!opencl::load_library().api) return;
  auto& api = const_cast<opencl::Api&>(opencl::cl());  // made by new, as a value that may change
#define RK_CL_FUNCTION(name) \
  Watched<&opencl::Api::name, decltype(opencl::Api::name)>::install(api, #name);
#include "backend/opencl/functions.def"
#undef RK_CL_FUNCTION
}

}  // namespace ringkernel::test::injection
