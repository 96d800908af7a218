/// A command with inline operands, built by hand as the codec would lay it out, with guard bytes
/// around everything that a program may write.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: the op must accept the operands; a test that wants a bad command spoils it afterwards.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <vector>

#include "ringkernel/op.hpp"
#include "support/reference_ops.hpp"
#include "unit/kernels/programs.hpp"

namespace ringkernel::test {

inline constexpr Outcome success{0, 0};

/// The answer to a message that the device refuses.
[[nodiscard]] constexpr Outcome refusal(Errc fault, rk_u64 detail) {
  return {static_cast<rk_u32>(fault), detail};
}

/// A tensor of floats, or of integers that floats represent exactly.
struct Tensor {
  Shape shape;
  std::vector<float> elements;
  DType dtype = DType::f32;

  [[nodiscard]] TensorDesc desc() const { return {dtype, shape}; }
  [[nodiscard]] Values values() const { return {shape, {elements.begin(), elements.end()}}; }
};

/// From 1 to `limit`.
[[nodiscard]] inline std::uint32_t random_up_to(std::mt19937& random, std::uint32_t limit) {
  return std::uniform_int_distribution<std::uint32_t>(1, limit)(random);
}

/// Normally distributed elements.
[[nodiscard]] Tensor random_tensor(const Shape& shape, std::mt19937& random);

class HandBuiltMessage {
 public:
  static constexpr rk_u32 command_offset = 64;

  HandBuiltMessage(Op op, std::span<const Tensor> inputs, const OpAttributes& attributes = {});

  [[nodiscard]] rk_command& command();
  /// What the executor would pass on; tests may change the copy.
  [[nodiscard]] MessageMemory memory();
  [[nodiscard]] std::span<rk_u8> arena();

  /// Runs `core`, lane after lane.
  [[nodiscard]] Outcome run(const Programs& programs, rk_u32 lanes = 1);
  /// Forgets what was written to reply and arena.
  void reset();

  /// The bytes of an input, to be overwritten with whatever a float does not represent.
  [[nodiscard]] rk_u8* input(std::size_t i);

  /// The result that lies in the reply.
  [[nodiscard]] std::vector<float> result() const;
  [[nodiscard]] std::span<const rk_u8> result_bytes() const;
  [[nodiscard]] const Shape& result_shape() const { return result_.shape; }
  /// No byte outside of reply and arena has changed.
  [[nodiscard]] bool guards_are_intact() const;
  /// No byte of reply or arena has changed either.
  [[nodiscard]] bool nothing_was_written() const;

 private:
  /// Bytes aligned as in a ring, allocated to the byte so that AddressSanitizer sees the end.
  class Bytes {
   public:
    explicit Bytes(std::size_t size);
    [[nodiscard]] rk_u8* data() const { return data_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

   private:
    struct Delete {
      void operator()(rk_u8* bytes) const { ::operator delete (bytes, std::align_val_t{64}); }
    };
    std::unique_ptr<rk_u8[], Delete> data_;
    std::size_t size_;
  };

  [[nodiscard]] static std::size_t payload_size(std::span<const Tensor> inputs);
  [[nodiscard]] rk_u8* reply() const;

  Bytes payload_;
  TensorDesc result_;
  rk_op_attrs attrs_;
  Bytes written_;  // guard, reply, guard, arena, guard
};

}  // namespace ringkernel::test
