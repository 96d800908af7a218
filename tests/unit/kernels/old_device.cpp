#include "unit/kernels/old_device.hpp"

#include <string_view>

#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/query.hpp"
#include "kernels/rk_workspace.h"

namespace ringkernel::test {

using opencl::check;
using opencl::cl;

namespace {

template <class Value>
Result<void> set_argument(cl_kernel kernel, cl_uint index, Value value) {
  return check("clSetKernelArg", cl().clSetKernelArg(kernel, index, sizeof value, &value));
}

}  // namespace

const opencl::FoundDevice* OldDevice::find(const std::string& platform) {
  for (const opencl::FoundDevice& found : opencl::discover().devices)
    if (std::string_view(found.description.platform).starts_with(platform)) return &found;
  return nullptr;
}

Result<std::unique_ptr<OldDevice>> OldDevice::open(const opencl::FoundDevice& found,
                                                   const std::string& more_options) {
  RK_TRY(options, opencl::build_options(found.id));
  if (const std::size_t at = options.find("CL3.0"); at != std::string::npos)
    options.replace(at, 5, "CL1.2");
  options += more_options;
  cl_int status = CL_SUCCESS;
  opencl::Context context(cl().clCreateContext(nullptr, 1, &found.id, nullptr, nullptr, &status));
  RK_TRY_VOID(check("clCreateContext", status));
  RK_TRY(queue, opencl::make_queue(context.get(), found.id));
  RK_TRY(workspace, opencl::make_buffer(context.get(), RK_WORKSPACE_BYTES));
  return std::unique_ptr<OldDevice>(new OldDevice(found, std::move(context), std::move(queue),
                                                  std::move(workspace), std::move(options)));
}

OldDevice::OldDevice(const opencl::FoundDevice& found, opencl::Context context, opencl::Queue queue,
                     opencl::Buffer workspace, std::string options)
    : id_(found.id),
      cache_(found),
      context_(std::move(context)),
      queue_(std::move(queue)),
      workspace_(std::move(workspace)),
      options_(std::move(options)) {}

Result<OldDevice::Built*> OldDevice::built(const std::string& source, const char* name) {
  if (const auto known = built_.find(source); known != built_.end()) return &known->second;
  RK_TRY(program, opencl::build_program(context_.get(), id_, source, options_, cache_));
  RK_TRY(kernel, opencl::make_kernel(program.program.get(), name));
  return &built_.emplace(source, Built{std::move(program), std::move(kernel)}).first->second;
}

Result<void> OldDevice::run(const std::string& source, const char* name,
                            std::span<std::byte> memory,
                            const std::function<Result<void>(cl_kernel)>& bind) {
  RK_TRY(built, this->built(source, name));
  cl_int status = CL_SUCCESS;
  const opencl::Buffer buffer(
      cl().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, memory.size(), nullptr, &status));
  RK_TRY_VOID(check("clCreateBuffer", status));
  RK_TRY_VOID(check("clEnqueueWriteBuffer",
                    cl().clEnqueueWriteBuffer(queue_.get(), buffer.get(), CL_TRUE, 0, memory.size(),
                                              memory.data(), 0, nullptr, nullptr)));
  RK_TRY_VOID(set_argument(built->kernel.get(), 0, buffer.get()));
  RK_TRY_VOID(bind(built->kernel.get()));
  RK_TRY(event, opencl::enqueue_one(queue_.get(), built->kernel.get()));
  RK_TRY_VOID(opencl::finish(event));
  cache_.store(built->program);
  return check("clEnqueueReadBuffer",
               cl().clEnqueueReadBuffer(queue_.get(), buffer.get(), CL_TRUE, 0, memory.size(),
                                        memory.data(), 0, nullptr, nullptr));
}

Result<void> OldDevice::run_slice(const std::string& program, std::span<std::byte> arena,
                                  std::uint64_t executor_offset, std::uint32_t slice) {
  return run("kernels/programs/" + program + ".cl", "rk_executor", arena,
             [&](cl_kernel kernel) -> Result<void> {
               RK_TRY_VOID(set_argument<cl_ulong>(kernel, 1, arena.size()));
               RK_TRY_VOID(set_argument<cl_ulong>(kernel, 2, executor_offset));
               RK_TRY_VOID(set_argument<cl_uint>(kernel, 3, slice));
               RK_TRY_VOID(set_argument(kernel, 4, workspace_.get()));
               RK_TRY_VOID(set_argument<cl_uint>(kernel, 6, 1));  // the program's version
               return check("clSetKernelArg",
                            cl().clSetKernelArg(kernel, 5, RK_SLICE_BYTES, nullptr));
             });
}

}  // namespace ringkernel::test
