/// A message in the hands of a device program.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "rk_actor.h"

namespace ringkernel::program::test {

/// Aligned as in a ring, and not one byte longer: a sanitizer sees what is read behind it.
class Block {
 public:
  explicit Block(std::size_t bytes) : bytes_(bytes) {
    void* block = nullptr;
    if (posix_memalign(&block, 64, bytes == 0 ? 1 : bytes) != 0) std::abort();
    data_.reset(static_cast<rk_u8*>(block));
  }
  explicit Block(std::span<const rk_u8> from) : Block(from.size()) {
    std::copy(from.begin(), from.end(), data_.get());
  }

  [[nodiscard]] rk_u8* data() const { return data_.get(); }
  [[nodiscard]] std::span<rk_u8> span() const { return {data_.get(), bytes_}; }
  [[nodiscard]] std::vector<rk_u8> copy() const { return {data(), data() + bytes_}; }

 private:
  struct Free {
    void operator()(rk_u8* block) const { std::free(block); }
  };
  std::size_t bytes_;
  std::unique_ptr<rk_u8, Free> data_;
};

/// One message, with a reply and a state in blocks of their own.
struct DeviceMessage {
  DeviceMessage(std::span<const rk_u8> payload, std::uint32_t behaviour, std::uint32_t method,
                std::size_t reply_bytes, std::size_t state_bytes, rk_u8 background = 0)
      : request(payload), reply(reply_bytes), state(state_bytes) {
    std::fill(reply.span().begin(), reply.span().end(), background);
    std::fill(state.span().begin(), state.span().end(), rk_u8{0});
    message.payload = request.data();
    message.payload_bytes = static_cast<rk_u32>(payload.size());
    message.selector = method;
    message.reply = reply.data();
    message.reply_bytes = static_cast<rk_u32>(reply_bytes);
    message.state = state.data();
    message.state_bytes = static_cast<rk_u32>(state_bytes);
    message.behaviour = behaviour;
  }

  Block request;
  Block reply;
  Block state;
  rk_message message{};
};

/// Bytes of AckOut and of ReportOut.
inline constexpr std::size_t ack_bytes = 80;
inline constexpr std::size_t ack_bytes_without_legs = 40;
inline constexpr std::size_t ack_bytes_with_one_leg = 52;
inline constexpr std::size_t report_bytes = 312;

using Entry = rk_u32 (*)(rk_message*);

}  // namespace ringkernel::program::test
