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
  /// `program` is `core` or `echo`. Operands are f32, their elements small numbers.
  DeviceBody(std::string_view program, ringkernel::Op op, std::span<const ringkernel::Shape> inputs,
             const ringkernel::OpAttributes& attributes = {});

  /// Seconds for one message, over `repeats` of them in one launch. Throws if the op faults.
  [[nodiscard]] double run(std::uint32_t repeats);

  [[nodiscard]] std::span<const float> input(std::size_t index) const {
    return floats(command_.inputs[index]);
  }
  [[nodiscard]] std::span<const float> output() const { return floats(command_.output); }

 private:
  [[nodiscard]] std::span<float> floats(const rk_operand& operand) const;

  rk_command command_;
  Session session_;
  Kernel kernel_;
  SharedMemory memory_;
};

}  // namespace bench
