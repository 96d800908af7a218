/// When messages pass the stations of their way, taken for some of them: it costs a good part of
/// what a message of a pipeline takes.
///
///     submitted --host queue--> room in the ring --device--> reply found --delivery--> received
///
/// Where the device has a clock that the host knows, `device` consists of
///
///     room in the ring --to device--> taken --executor--> answered --to host--> reply found
///
/// Threading: Sampler: one thread at a time. Latencies: as Histogram; `total` and `delivery` are
/// recorded by any thread, the others by whoever has the channel's consume lock.
/// Memory ordering: histograms of relaxed counts.
/// Units: nanoseconds of the channel's clock.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include "foundation/histogram.hpp"

namespace ringkernel::bridge {

/// Picks one message in `every` at random: a fixed distance could fall into step with the traffic.
/// Of dense traffic it picks fewer, because thousands a second say no less than millions: it
/// doubles the distance until a tick of the coarse clock has about `tick_samples_max`, and forgets
/// that when none was picked for `rest_ns`.
class Sampler {
 public:
  static constexpr std::uint32_t tick_samples_max = 64;
  static constexpr std::uint64_t rest_ns = 100'000'000;

  /// 0: none. 1: each one, however dense.
  explicit Sampler(std::uint32_t every) noexcept : every_(every) {
    if (every_ != 0) left_ = draw();
  }

  /// `now_ns` is coarse.
  [[nodiscard]] bool next(std::uint64_t now_ns) noexcept {
    if (every_ == 0) return false;
    if (--left_ != 0 && (thinner_ == 0 || now_ns - tick_ns_ < rest_ns)) return false;
    if (every_ != 1) thin_out(now_ns);
    left_ = draw();
    return true;
  }

 private:
  static constexpr std::uint32_t thinner_max = 10;

  void thin_out(std::uint64_t now_ns) noexcept {
    if (now_ns != tick_ns_) {
      if (now_ns - tick_ns_ >= rest_ns) thinner_ = 0;
      tick_ns_ = now_ns;
      if (tick_samples_ < tick_samples_max / 4 && thinner_ != 0) --thinner_;
      tick_samples_ = 0;
    } else if (tick_samples_ == tick_samples_max) {
      if (thinner_ != thinner_max) ++thinner_;
      tick_samples_ = tick_samples_max / 2;
    }
    ++tick_samples_;
  }

  /// 1 to 2 * distance - 1, the distance on average (xorshift32).
  std::uint64_t draw() noexcept {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    random_ ^= random_ << 5;
    return 1 + random_ % (2 * (std::uint64_t{every_} << thinner_) - 1);
  }

  std::uint32_t every_;
  std::uint32_t random_ = 0x9e3779b9u;
  std::uint64_t left_ = 0;
  std::uint64_t tick_ns_ = 0;       // the coarse clock at the last sample
  std::uint32_t tick_samples_ = 0;  // since then, at the distance of now
  std::uint32_t thinner_ = 0;       // the distance is `every_`, doubled so often
};

struct Latencies {
  Histogram total;       ///< submission to receiver
  Histogram host_queue;  ///< until there is room in the input ring
  Histogram device;      ///< until the reply is found in the output ring
  Histogram to_device;   ///< of this, until the executor takes it
  Histogram executor;    ///< until the executor has answered
  Histogram to_host;     ///< until the reply is found
  Histogram delivery;    ///< until the receiver has it

  struct Free {
    void operator()(Latencies* latencies) const noexcept { std::free(latencies); }
  };
  using Pointer = std::unique_ptr<Latencies, Free>;
  /// Zeroed memory, most of which is never touched and so never there.
  [[nodiscard]] static Pointer make() {
    void* const memory = std::calloc(1, sizeof(Latencies));
    if (memory == nullptr) throw std::bad_alloc();
    return Pointer(static_cast<Latencies*>(memory));  // calloc makes objects of trivial types
  }
};

static_assert(std::is_trivial_v<Latencies>);

/// When a message came; of most, to a few milliseconds.
struct Stamp {
  std::uint64_t accepted_ns = 0;  ///< or first tried, while there was no room
  std::uint64_t sampled_ns = 0;   ///< exact, and its other times are taken too; 0: not so
};

}  // namespace ringkernel::bridge
