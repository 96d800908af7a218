/// One op of the program `core` on the OpenCL device, without rings: a kernel of one work-item, as
/// the resident one is, built from the same text with the same options, hands one message to the
/// program again and again. Operands lie in the arena, as resident tensors do.
///
/// Threading: one thread.
/// Errors: exceptions derived from std::exception.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "opencl.hpp"
#include "ringkernel/op.hpp"

namespace bench {

/// Fine-grained memory that host and device share.
class SharedMemory {
 public:
  SharedMemory(cl_context context, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  cl_context context_;
  std::byte* data_;
};

class DeviceBody {
 public:
  /// `program` is `core` or `echo`. Elements of f32 operands are small numbers, those of i32 ones
  /// rows of the first operand in no order.
  DeviceBody(std::string_view program, ringkernel::Op op,
             std::span<const ringkernel::TensorDesc> inputs,
             const ringkernel::OpAttributes& attributes = {});

  /// Seconds for one message, over `repeats` of them in one launch. Throws if the op faults.
  [[nodiscard]] double run(std::uint32_t repeats);

  [[nodiscard]] std::span<const float> input(std::size_t index) const {
    return elements<float>(command_.inputs[index]);
  }
  [[nodiscard]] std::span<const std::int32_t> indices(std::size_t index) const {
    return elements<std::int32_t>(command_.inputs[index]);
  }
  [[nodiscard]] std::span<const float> output() const { return elements<float>(command_.output); }

 private:
  template <class T>
  [[nodiscard]] std::span<T> elements(const rk_operand& operand) const {
    return {reinterpret_cast<T*>(memory_.data() + operand.offset), operand.element_count};
  }

  rk_command command_;
  Session session_;
  Kernel kernel_;
  SharedMemory memory_;
  Buffer workspace_;
};

}  // namespace bench
