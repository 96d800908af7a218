#include "bridge/tick_clock.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace ringkernel::bridge {
namespace {

using Moment = TickClock::Moment;

constexpr std::uint64_t first_window_ns = 200'000;
constexpr std::uint64_t window_ns_max = 100'000'000;

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
  constexpr int looks_max = 10;  // two that agree, also where the machine is now and then away
  if (!counts_ticks(source)) return;
  looking_.test_and_set(std::memory_order_acquire);  // pairs with the release below, as ever
  for (int looks = 0; looks < looks_max && ns_of_ticks(read_ticks()) == 0; ++looks) {
    while (now_ns() - last_.base.ns < first_window_ns) continue;
    observe(look(*this));
  }
  looking_.clear(std::memory_order_release);
}

void TickClock::look_again(const Rate& known) const noexcept {
  // acquire: last_, of whoever looked last; pairs with the release
  if (looking_.test_and_set(std::memory_order_acquire)) return;
  if (last_.base.ns == known.base.ns) observe(look(*this));  // nobody has since
  looking_.clear(std::memory_order_release);
}

void TickClock::observe(const Moment& now) const noexcept {
  constexpr double change_max = 0.01;
  const auto window_ns = static_cast<double>(distance(last_.base.ns, now.ns));
  const double ns_per_tick = window_ns / static_cast<double>(distance(last_.base.ticks, now.ticks));
  // Not so if one of them is no number, either.
  const bool agree = ns_per_tick > 0 && std::abs(ns_per_tick / last_.ns_per_tick - 1) < change_max;
  // The longer the window, the better the rate, and the longer it will do.
  constexpr double times = 16;
  const double good_ns =
      std::clamp(agree ? window_ns * times : 0, static_cast<double>(first_window_ns),
                 static_cast<double>(window_ns_max));
  last_ = {.base = now, .ns_per_tick = ns_per_tick, .good_ns = static_cast<std::uint64_t>(good_ns)};
  Rate rate = last_;
  if (!agree) rate.ns_per_tick = 0;
  rate_.store(rate);
}

std::uint64_t TickClock::Rate::at(std::uint64_t ticks) const noexcept {
  constexpr double far_ns = 1e18;  // whoever is further away is no clock, but must do no harm
  const double since_ns =
      std::clamp(static_cast<double>(distance(base.ticks, ticks)) * ns_per_tick, -far_ns, far_ns);
  return base.ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(since_ns));
}

std::uint64_t TickClock::sample_ns() const noexcept {
  Rate rate;
  if (!rate_.load(rate) || rate.base.ns == 0) return now_ns();
  const std::uint64_t ns = rate.ns_per_tick != 0 ? rate.at(read_ticks()) : now_ns();
  if (distance(rate.base.ns, ns) < static_cast<std::int64_t>(rate.good_ns)) [[likely]]
    return ns;
  look_again(rate);
  return now_ns();
}

std::uint64_t TickClock::ns_of_ticks(std::uint64_t ticks) const noexcept {
  Rate rate;
  return rate_.load(rate) && rate.ns_per_tick != 0 ? rate.at(ticks) : 0;
}

}  // namespace ringkernel::bridge
