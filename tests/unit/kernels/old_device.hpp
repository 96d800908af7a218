/// A device that gets its kernels as OpenCL C 1.2, whatever else it has, and its memory as a plain
/// buffer: what the oldest devices offer.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: as the backend and the driver name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "backend/opencl/cache/binary_cache.hpp"
#include "backend/opencl/cl.hpp"

namespace ringkernel::test {

class OldDevice {
 public:
  /// The first device of a platform whose name begins so; null if there is none.
  [[nodiscard]] static const opencl::FoundDevice* find(const std::string& platform);

  /// Kernels are built with `more_options` besides (" -DRK_GPU").
  [[nodiscard]] static Result<std::unique_ptr<OldDevice>> open(const opencl::FoundDevice& found,
                                                               const std::string& more_options);

  /// Runs one slice of `program` ("core") on a copy of `arena`, and brings the copy back.
  Result<void> run_slice(const std::string& program, std::span<std::byte> arena,
                         std::uint64_t executor_offset, std::uint32_t slice);

  /// Runs the kernel `name` of an embedded source once, with such a copy as its first argument;
  /// `bind` sets the others.
  Result<void> run(const std::string& source, const char* name, std::span<std::byte> memory,
                   const std::function<Result<void>(cl_kernel)>& bind);

  [[nodiscard]] const std::string& options() const noexcept { return options_; }
  [[nodiscard]] const opencl::BinaryCache& cache() const noexcept { return cache_; }

 private:
  struct Built {
    opencl::BuiltProgram program;
    opencl::ClKernel kernel;
  };

  OldDevice(const opencl::FoundDevice& found, opencl::Context context, opencl::Queue queue,
            opencl::Buffer workspace, std::string options);

  Result<Built*> built(const std::string& source, const char* name);

  cl_device_id id_;
  opencl::BinaryCache cache_;
  opencl::Context context_;
  opencl::Queue queue_;
  opencl::Buffer workspace_;
  std::string options_;
  std::map<std::string, Built> built_;
};

}  // namespace ringkernel::test
