#include "backend/opencl/self_test/layout.hpp"

#include <cstddef>
#include <iterator>

#include "backend/opencl/copy_queue.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"
#include "ringkernel/protocol/layout.h"

namespace ringkernel::opencl {

namespace {

struct Figure {
  const char* name;
  std::size_t value;
};

constexpr Figure host_figures[] = {
#define RK_LAYOUT_TYPE(type, bytes) {"sizeof " #type, sizeof(type)},
#define RK_LAYOUT_FIELD(type, field, offset) {#type "." #field, offsetof(type, field)},
#include "ringkernel/protocol/layout.def"
};

}  // namespace

Result<void> compare_layout(std::span<const uint32_t> figures) {
  if (figures.size() != std::size(host_figures))
    return Error(Errc::protocol_mismatch, "the device reports another number of fields");
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (figures[i] == host_figures[i].value) continue;
    return Error(Errc::protocol_mismatch, std::string(host_figures[i].name) + ": host " +
                                              std::to_string(host_figures[i].value) + ", device " +
                                              std::to_string(figures[i]));
  }
  return {};
}

Result<void> check_layout(cl_context context, cl_device_id device, const std::string& options,
                          BinaryCache& cache) {
  RK_TRY(built, build_program(context, device, "kernels/layout_probe.cl", options, cache));
  RK_TRY(kernel, make_kernel(built.program.get(), "rk_layout_probe"));
  RK_TRY(queue, make_queue(context, device));
  std::vector<uint32_t> figures(std::size(host_figures));
  const std::size_t bytes = figures.size() * sizeof(uint32_t);
  RK_TRY(memory, make_buffer(context, bytes));
  RK_TRY_VOID(set_memory_argument(kernel.get(), 0, memory.get()));
  const Drain drain(queue.get());
  RK_TRY(ran, enqueue_one(queue.get(), kernel.get()));
  RK_TRY(read, enqueue_read(queue.get(), memory.get(), 0, figures.data(), bytes));
  RK_TRY_VOID(finish(read));
  cache.store(built);
  return compare_layout(figures);
}

}  // namespace ringkernel::opencl
