#include "backend/opencl/program.hpp"

#include <algorithm>

#include "backend/opencl/query.hpp"
#include "kernels/flatten.hpp"

namespace ringkernel::opencl {

namespace {

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t bytes = 0;
  if (cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) !=
      CL_SUCCESS)
    return "no log";
  std::string log(bytes, '\0');
  cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  log.resize(std::min(log.find('\0'), log.size()));
  return log;
}

/// A list that a device of OpenCL 1.2 or 2.0 does not have. Oclgrind 21.10, of 1.2, has one, with
/// a 3.0 in it that its compiler refuses.
bool lists_c3(cl_device_id device) {
  if (device_version(device) < 300) return false;
  const auto versions = device_list<cl_name_version>(device, CL_DEVICE_OPENCL_C_ALL_VERSIONS);
  return versions.has_value() && std::ranges::any_of(*versions, [](const cl_name_version& entry) {
           return CL_VERSION_MAJOR(entry.version) == 3;
         });
}

}  // namespace

Result<std::string> language_option(unsigned newest) {
  if (newest >= 300) return std::string("-cl-std=CL3.0");
  if (newest >= 120) return std::string("-cl-std=CL1.2");
  return Error(
      Errc::backend_unavailable,
      "kernels need OpenCL C 1.2 or newer; the device's compiler has " +
          (newest == 0 ? "none that it names"
                       : std::to_string(newest / 100) + "." + std::to_string(newest / 10 % 10)));
}

std::string class_option(cl_device_type type) {
  return (type & CL_DEVICE_TYPE_CPU) != 0 ? "" : std::string(" ") + gpu_option;
}

bool takes_ptx_option(cl_device_id device) {
  constexpr cl_uint volta = 7;
  if (!is_nvidia(device)) return false;
  const auto capability = device_value<cl_uint>(device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV);
  return capability.has_value() && *capability >= volta;
}

Result<std::string> build_options(cl_device_id device) {
  RK_TRY(c_version, device_text(device, CL_DEVICE_OPENCL_C_VERSION));
  RK_TRY(options, language_option(lists_c3(device) ? 300 : version_number(c_version)));
  RK_TRY(floats, device_value<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG));
  if ((floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  RK_TRY(type, device_value<cl_device_type>(device, CL_DEVICE_TYPE));
  options += class_option(type);
  if (takes_ptx_option(device)) options += std::string(" ") + ptx_option;
  return options;
}

Result<BuiltProgram> build_program(cl_context context, cl_device_id device, std::string_view source,
                                   const std::string& options, BinaryCache& cache) {
  RK_TRY(text, flatten(kernel_sources(), source));
  return build_text(context, device, source, text, options, cache);
}

Result<BuiltProgram> build_text(cl_context context, cl_device_id device, std::string_view name,
                                const std::string& text, const std::string& options,
                                BinaryCache& cache) {
  std::string key = cache.key(options, text);
  if (ClProgram cached = cache.load(context, key, options); cached)
    return BuiltProgram{std::move(cached), {}};
  const char* start = text.c_str();
  const std::size_t length = text.size();
  cl_int status = CL_SUCCESS;
  ClProgram program(cl().clCreateProgramWithSource(context, 1, &start, &length, &status));
  RK_TRY_VOID(check("clCreateProgramWithSource", status));
  status = cl().clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (status != CL_SUCCESS)
    return Error(Errc::build_failed, std::string(name) + " with " + options +
                                         ": clBuildProgram: " + status_text(status) + "\n" +
                                         build_log(program.get(), device));
  return BuiltProgram{std::move(program), std::move(key)};
}

}  // namespace ringkernel::opencl
