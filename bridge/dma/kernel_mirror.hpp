/// One ring kernel whose rings exist twice: on the host, where channels work on them, and on the
/// device. It knows how far each side is, says what to copy, and publishes on the host what came
/// back, as the device would if the memory were one.
///
/// Input: the records behind the position that the device knows, then the position. Output: the
/// position, then the bytes below it, which the copies' order makes complete; the host sees whole
/// records only.
///
/// Threading: one thread at a time, the copy agent's session.
/// Memory ordering: towards the host it stands in for the device, with the device's orders
/// (kernels/rk_ring.h, kernels/ring_kernel.cl); towards the device, for the host, with the order of
/// the copies (docs/PROTOCOL.md, "Two memories").
/// Ownership: borrows the host's arena.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bridge/dma/copy_list.hpp"
#include "ring/geometry.hpp"
#include "ringkernel/protocol/control_block.h"

namespace ringkernel::bridge {

class KernelMirror {
 public:
  /// `host_offset`, `device_offset`: where the kernel's two lines lie in the arena. `in_any_order`:
  /// no slice runs beside the copies of a batch.
  KernelMirror(std::byte* arena, std::uint64_t host_offset, std::uint64_t device_offset,
               bool in_any_order) noexcept;

  /// Staging and copies that `send`, and `ask`, take at most.
  static constexpr std::uint64_t staging_bytes_max = 1024;
  static constexpr std::size_t copies_max = 10;

  /// Adds what the host has changed and the device does not know: run state, requests (at most
  /// about `bytes_max` of them), space in the output ring. True if its doorbell has to be rung.
  [[nodiscard]] bool send(CopyList& copies, std::uint64_t bytes_max);
  /// Whether `send` left requests behind.
  [[nodiscard]] bool has_more() const noexcept { return has_more_; }

  /// Adds what the host wants to know: replies, up to `guess_max` bytes of them before it is known
  /// that they exist, and the state that the device obeys.
  void ask(CopyList& copies, std::uint64_t guess_max);
  struct News {
    bool any = false;        ///< something was published on the host
    bool ring_host = false;  ///< replies, or the end of the kernel
    bool ring_self = false;  ///< the host has given back space that the device waits for
    bool ask_again = false;  ///< replies are missing: the device may say why
  };
  /// Publishes what was asked for; the batch has ended.
  [[nodiscard]] News absorb();

  /// Whether the device owes something. A device that waits for space that only the host's
  /// receivers can give back owes nothing.
  [[nodiscard]] bool awaits_device() const noexcept;
  /// Whether the device has not obeyed the last state yet.
  [[nodiscard]] bool awaits_state() const noexcept { return obeyed_ != epoch_; }
  /// Whether a running slice, or the next one, would find something to do.
  [[nodiscard]] bool has_work_for_device() const noexcept;

 private:
  void attach(CopyList& copies);
  void send_places(CopyList& copies);
  void ask_for_replies(CopyList& copies, std::uint64_t guess_max);
  void send_state(CopyList& copies);
  [[nodiscard]] bool send_requests(CopyList& copies, std::uint64_t bytes_max);
  [[nodiscard]] bool send_released(CopyList& copies);
  void absorb_line(News& news);
  void absorb_replies(News& news);
  void give_back_requests();
  /// Tells the host whether the device waits for space. True if the host has given some meanwhile.
  [[nodiscard]] bool note_blocked();
  void count_reply() noexcept;
  [[nodiscard]] bool is_blocked() const noexcept;
  [[nodiscard]] bool is_broken() const noexcept { return fault_ != 0; }
  /// Adds the bytes between two positions of a ring: one range, or two where it wraps.
  template <class Add>
  static void for_each_range(const RingView& ring, std::uint64_t from, std::uint64_t to, Add&& add);

  /// The first words of the device's line; the others are its own notes.
  struct DeviceWords {
    rk_u32 state_epoch;
    rk_u32 fault;
  };

  std::byte* const arena_;
  const std::uint64_t host_offset_;
  const std::uint64_t device_offset_;
  const bool in_any_order_;
  rk_kernel_host_line& host_;
  rk_kernel_device_line& device_;

  std::uint32_t state_ = RK_KERNEL_ABSENT;  // sent
  std::uint32_t epoch_ = 0;                 // sent
  std::uint32_t obeyed_ = 0;                // published on the host
  std::uint32_t fault_ = 0;                 // published on the host
  RingView input_;
  RingView output_;
  std::uint64_t input_offset_ = 0;
  std::uint64_t output_offset_ = 0;

  // Positions of the input ring: answered <= sent.
  std::uint64_t sent_ = 0;      // the device knows of requests up to here
  std::uint64_t answered_ = 0;  // their replies have come; the host has the space back
  bool has_more_ = false;
  // Of the output ring: released <= fetched <= known.
  std::uint64_t known_ = 0;           // the device has published up to here
  std::uint64_t fetched_ = 0;         // the host sees up to here
  std::uint64_t released_ = 0;        // the device knows that it has the space back
  std::uint64_t unanswered_ = 0;      // requests between answered and sent
  std::uint64_t expected_bytes_ = 0;  // of their replies, without padding
  bool blocked_noted_ = false;

  // What the batch under way will bring; null: not asked for.
  const DeviceWords* line_read_ = nullptr;
  const rk_u64* position_read_ = nullptr;
  std::uint64_t read_end_ = 0;                 // the bytes below were asked for behind the position
  const std::byte* staged_replies_ = nullptr;  // those bytes; null: they come to their place
  bool stalled_ = false;                       // the last batch brought nothing: ask why
};

}  // namespace ringkernel::bridge
