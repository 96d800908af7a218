// The names of MLIR's C API, of the version that RK_MAJOR, RK_MINOR and RK_PATCH say. Only what
// tells the version may be called.
#define RK_EXPORT extern "C" __attribute__((visibility("default")))

RK_EXPORT void LLVMGetVersion(unsigned* major, unsigned* minor, unsigned* patch) {
  *major = RK_MAJOR;
  *minor = RK_MINOR;
  *patch = RK_PATCH;
}

#define RK_MLIR(result, name, arguments) \
  RK_EXPORT void name() {}
#include "mlir/api.def"
#undef RK_MLIR
