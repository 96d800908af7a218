/// An arena with one executor and one running ring kernel, laid out by hand as a runtime does it,
/// and the host's part in it. A value: slices can be run on copies and their bytes compared.
///
/// Threading: distinct objects safe, shared objects unsafe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ring/geometry.hpp"
#include "ringkernel/protocol/control_block.h"
#include "ringkernel/protocol/record.h"
#include "ringkernel/protocol/telemetry_block.h"

namespace ringkernel::test {

/// A reply as it came out of the output ring.
struct RingReply {
  rk_record_header header;
  std::vector<std::byte> payload;
};

struct ArenaSizes {
  std::uint64_t input_bytes = 64 * 1024;
  std::uint64_t output_bytes = 64 * 1024;
  std::uint64_t room_bytes = 64 * 1024;  ///< for tensors and graphs
  std::uint64_t position = 0;            ///< where both rings begin
};

class ArenaImage {
 public:
  static constexpr std::uint64_t executor_offset = RK_LINE_BYTES;

  explicit ArenaImage(const ArenaSizes& sizes = {});

  [[nodiscard]] std::span<std::byte> bytes();
  [[nodiscard]] rk_executor_host_line& host();
  [[nodiscard]] const rk_executor_device_line& device();
  [[nodiscard]] rk_kernel_host_line& kernel();
  [[nodiscard]] const rk_kernel_device_line& kernel_device();
  [[nodiscard]] const rk_telemetry_block& telemetry();
  [[nodiscard]] RingView input();
  [[nodiscard]] RingView output();

  [[nodiscard]] std::uint64_t room_offset() const { return room_offset_; }
  [[nodiscard]] std::byte* room() { return bytes().data() + room_offset_; }

  /// Puts a request into the input ring and rings; false where it has no space. `header` has the
  /// lengths; `fill` writes the payload.
  bool send(rk_record_header header, const std::function<void(std::byte*)>& fill);
  /// A request for `echo`.
  bool send(std::span<const std::byte> payload, std::uint64_t correlation_id);
  /// The next look at the doorbells finds the kernel rung.
  void ring();

  /// Takes every reply out of the output ring and releases their space.
  [[nodiscard]] std::vector<RingReply> take_replies();

  /// As if the slice did not know its core: the one thing in which builds of the kernels differ.
  void forget_core() { at<rk_executor_device_line>(host().device_line).core = 0; }

 private:
  struct alignas(RK_LINE_BYTES) Line {
    std::byte bytes[RK_LINE_BYTES] = {};
  };

  template <class Struct>
  Struct& at(std::uint64_t offset) {
    return *reinterpret_cast<Struct*>(bytes().data() + offset);
  }

  std::vector<Line> lines_;
  std::uint64_t room_offset_ = 0;
};

}  // namespace ringkernel::test
