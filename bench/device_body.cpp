#include "device_body.hpp"

#include <cstring>

#include "kernels/flatten.hpp"
#include "kernels/rk_turn_state.h"
#include "kernels/rk_workspace.h"
#include "measurement.hpp"
#include "ringkernel/protocol/command.h"

namespace bench {
namespace {

namespace rk = ringkernel;

// The arena begins with the fault that was seen, the request and the reply, as `entry` has them.
constexpr std::uint64_t command_offset = 64;
constexpr std::uint64_t first_operand = 4096;

constexpr const char* entry = R"(
RK_KERNEL void rk_repeat(RK_GLOBAL rk_u8* arena, rk_u64 arena_bytes, rk_u32 repeats,
                          RK_GLOBAL rk_u8* workspace, RK_LOCAL rk_turn* turn) {
  rk_message message;
  message.payload = arena;
  message.payload_bytes = 640;
  message.selector = 64;
  message.reply = arena + 2048;
  message.reply_bytes = 640;
  message.arena = arena;
  message.arena_bytes = arena_bytes;
  message.workspace = workspace;
  rk_u32 fault = 0;
  turn->packed = 0;
#if defined(RK_RESUMES)
  message.turn = turn;
  for (rk_u32 i = 0; i < repeats; ++i) {  // as the executor does, without a clock
    rk_u32 verdict = RK_AGAIN;
    for (turn->step = 0, turn->command = 0; verdict == RK_AGAIN;) {
      rk_turn_begin(turn, 0, 200000);
      verdict = rk_handle(&message);
    }
    fault |= verdict;
  }
#else
  for (rk_u32 i = 0; i < repeats; ++i) fault |= rk_handle(&message);
#endif
  *(RK_GLOBAL rk_u32*)arena = fault;
})";

std::string source_of(std::string_view program) {
  const std::string name = "kernels/programs/" + std::string(program) + ".cl";
  return rk::flatten(rk::kernel_sources(), name).value() + entry;
}

std::uint64_t bytes_of(const rk::TensorDesc& desc) { return (desc.bytes() + 4095) / 4096 * 4096; }

rk_operand operand_at(const rk::TensorDesc& desc, std::uint64_t offset) {
  const rk::Shape& shape = desc.shape;
  rk_operand operand{};
  operand.offset = offset;
  operand.place = RK_PLACE_ARENA;
  operand.dtype = static_cast<rk_u8>(desc.dtype);
  operand.rank = static_cast<rk_u8>(shape.rank());
  operand.element_count = static_cast<rk_u32>(shape.element_count());
  for (std::size_t dim = 0; dim < rk::rank_max; ++dim) operand.dims[dim] = shape[dim];
  return operand;
}

/// The command with its operands one behind the other, the output last.
rk_command command_for(rk::Op op, std::span<const rk::TensorDesc> inputs,
                       const rk::OpAttributes& attributes) {
  const rk::Inference inference = rk::infer(op, inputs, attributes).value();
  rk_command command{};
  command.op = static_cast<rk_u16>(op);
  command.input_count = static_cast<rk_u8>(inputs.size());
  command.output_count = 1;
  command.attrs = inference.attrs;
  std::uint64_t offset = first_operand;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    command.inputs[i] = operand_at(inputs[i], offset);
    offset += bytes_of(inputs[i]);
  }
  command.output = operand_at(inference.output, offset);
  return command;
}

std::uint64_t end_of(const rk_command& command) {
  return command.output.offset + (command.output.element_count * sizeof(float) + 63) / 64 * 64;
}

}  // namespace

SharedMemory::SharedMemory(cl_context context, std::size_t bytes)
    : context_(context),
      data_(static_cast<std::byte*>(
          clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, 128))) {
  if (data_ == nullptr)
    throw std::runtime_error("clSVMAlloc: no fine-grained SVM, which these figures need");
}

SharedMemory::~SharedMemory() { clSVMFree(context_, data_); }

DeviceBody::DeviceBody(std::string_view program, rk::Op op, std::span<const rk::TensorDesc> inputs,
                       const rk::OpAttributes& attributes)
    : command_(command_for(op, inputs, attributes)),
      session_(source_of(program).c_str(), "-cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt"),
      kernel_(session_.kernel("rk_repeat")),
      memory_(session_.context(), end_of(command_)),
      workspace_(session_.buffer(RK_WORKSPACE_BYTES)) {
  std::memset(memory_.data(), 0, first_operand);
  std::memcpy(memory_.data() + command_offset, &command_, sizeof command_);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::uint32_t row = 0;
    if (inputs[i].dtype == rk::DType::i32)
      for (std::int32_t& element : elements<std::int32_t>(command_.inputs[i]))
        element = static_cast<std::int32_t>((row += 40'503) % inputs[0].shape[0]);
    if (inputs[i].dtype != rk::DType::f32) continue;
    int number = static_cast<int>(i);
    for (float& element : elements<float>(command_.inputs[i])) {
      element = static_cast<float>(number % 17 - 8) / 8;
      number += 7;
    }
  }
  const cl_ulong arena_bytes = end_of(command_);
  check(clSetKernelArgSVMPointer(kernel_.get(), 0, memory_.data()), "clSetKernelArgSVMPointer");
  check(clSetKernelArg(kernel_.get(), 1, sizeof arena_bytes, &arena_bytes), "clSetKernelArg");
  const cl_mem workspace = workspace_.get();
  check(clSetKernelArg(kernel_.get(), 3, sizeof workspace, &workspace), "clSetKernelArg");
  check(clSetKernelArg(kernel_.get(), 4, sizeof(rk_turn), nullptr), "clSetKernelArg");
}

double DeviceBody::run(std::uint32_t repeats) {
  check(clSetKernelArg(kernel_.get(), 2, sizeof repeats, &repeats), "clSetKernelArg");
  const std::size_t one = 1;
  const Stopwatch watch;
  check(clEnqueueNDRangeKernel(session_.queue(), kernel_.get(), 1, nullptr, &one, &one, 0, nullptr,
                               nullptr),
        "clEnqueueNDRangeKernel");
  check(clFinish(session_.queue()), "clFinish");
  const double seconds = watch.us() * 1e-6 / repeats;
  rk_u32 fault = 0;
  std::memcpy(&fault, memory_.data(), sizeof fault);
  if (fault != 0) throw std::runtime_error("the op gave fault " + std::to_string(fault));
  return seconds;
}

}  // namespace bench
