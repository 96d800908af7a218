// Writes each device program as the OpenCL backend hands it to a driver, for compilers of devices
// that are not here: NAME.cl into the folder that is named. Prints the options for a GPU, and the
// bytes of local memory that a work-group gets.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "backend/opencl/program.hpp"
#include "kernels/flatten.hpp"
#include "kernels/rk_workspace.h"

int main(int argument_count, char** arguments) {
  using namespace ringkernel;
  if (argument_count != 2) return 2;
  for (const KernelSource& source : kernel_sources()) {
    const std::filesystem::path path(source.name);
    const bool is_program = path.parent_path() == "kernels/programs";
    if (path.extension() != ".cl" ||
        !(is_program || path.filename() == "self_test.cl" || path.filename() == "copier.cl"))
      continue;
    const auto text = flatten(kernel_sources(), source.name);
    if (!text.has_value()) {
      std::fprintf(stderr, "%s\n", text.error().text().c_str());
      return 1;
    }
    std::ofstream file(arguments[1] / path.filename(), std::ios::binary);
    if (!(file << *text)) return 1;
  }
  std::printf("%s %s\n%d\n", opencl::language_option(120).value().c_str(), opencl::gpu_option,
              RK_SLICE_BYTES);
  return 0;
}
