#include "bridge/tick_clock.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace ringkernel::bridge {
namespace {

using Moment = TickClock::Moment;

#if defined(__x86_64__)
constexpr const char* source_of_ticks = "tsc";
std::uint64_t read_ticks() noexcept { return __builtin_ia32_rdtsc(); }
#else
constexpr const char* source_of_ticks = nullptr;  // no counter that kernels read, too
std::uint64_t read_ticks() noexcept { return 0; }
#endif

/// Of several tries the one that nothing came between.
Moment look(const Clock& clock) noexcept {
  constexpr int tries = 5;
  Moment best{};
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < tries; ++i) {
    const std::uint64_t before = read_ticks();
    const std::uint64_t ns = clock.now_ns();
    const std::uint64_t taken = read_ticks() - before;
    if (taken < shortest) {
      shortest = taken;
      best = {before + taken / 2, ns};
    }
  }
  return best;
}

bool counts_ticks(const char* source) {
  std::string name;
  return source_of_ticks != nullptr && std::ifstream(source) >> name && name == source_of_ticks;
}

/// What may be negative: a moment before the base.
std::int64_t distance(std::uint64_t from, std::uint64_t to) noexcept {
  return static_cast<std::int64_t>(to - from);
}

}  // namespace

void TickClock::start(const char* source) {
  constexpr std::uint64_t first_rate_ns = 200'000;
  if (!counts_ticks(source)) return;
  first_ = look(*this);
  while (now_ns() - first_.ns < first_rate_ns) continue;
  is_running_ = true;
  refresh();
}

void TickClock::refresh() noexcept {
  if (is_running_) observe(look(*this));
}

void TickClock::observe(const Moment& now) noexcept {
  constexpr double change_max = 0.01;  // a clock that is being adjusted changes by 0.0005
  if (!is_running_) return;
  const double ns_per_tick = static_cast<double>(distance(first_.ns, now.ns)) /
                             static_cast<double>(distance(first_.ticks, now.ticks));
  Rate known;
  const bool is_first = !rate_.load(known) || known.ns_per_tick == 0;
  is_running_ = ns_per_tick > 0 &&  // not so if it is no number either
                (is_first || std::abs(ns_per_tick / known.ns_per_tick - 1) < change_max);
  rate_.store({.base = now, .ns_per_tick = is_running_ ? ns_per_tick : 0});
}

std::uint64_t TickClock::sample_ns() const noexcept {
  const std::uint64_t ns = ns_of_ticks(read_ticks());
  return ns != 0 ? ns : now_ns();
}

std::uint64_t TickClock::ns_of_ticks(std::uint64_t ticks) const noexcept {
  Rate rate;
  if (!rate_.load(rate) || rate.ns_per_tick == 0) return 0;
  constexpr double far_ns = 1e18;  // whoever is further away is no clock, but must do no harm
  const double since_ns = std::clamp(
      static_cast<double>(distance(rate.base.ticks, ticks)) * rate.ns_per_tick, -far_ns, far_ns);
  return rate.base.ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(since_ns));
}

}  // namespace ringkernel::bridge
