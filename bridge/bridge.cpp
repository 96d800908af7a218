#include "bridge/bridge.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "bridge/channel/late.hpp"
#include "foundation/assert.hpp"
#include "foundation/memory_error.hpp"

namespace ringkernel::bridge {
namespace {

/// Longest sleep of a loop that nobody needs: as good as for ever, and no sum with the clock
/// overflows.
constexpr std::uint64_t sleep_ns_max = 3600ull * 1'000'000'000;
/// Between two tries of what could not be done for lack of memory.
constexpr std::uint64_t late_pause_ns = 1'000'000;

}  // namespace

void WatchList::push(std::unique_ptr<Watch> watch) noexcept {
  watch->next_ = std::move(first_);
  first_ = std::move(watch);
}

std::size_t WatchList::poll(std::uint64_t now_ns) noexcept {
  std::size_t over = 0;
  for (std::unique_ptr<Watch>* next = &first_; *next != nullptr;) {
    bool is_over = false;
    (void)with_memory([&] { is_over = (*next)->poll(now_ns); });
    if (is_over) {
      *next = std::move((*next)->next_);
      ++over;
    } else {
      next = &(*next)->next_;
    }
  }
  return over;
}

Bridge::Bridge(const Clock& clock, const IdleLimits& idle) : clock_(clock), idle_(idle) {}

Bridge::~Bridge() { stop(); }

void Bridge::start() {
  Late::add(*this);
  thread_ = std::thread([this] { loop(); });
}

void Bridge::stop() noexcept {
  stopping_.store(true, std::memory_order_release);  // pairs with loop
  io_context_.stop();
  if (thread_.joinable()) thread_.join();
  Late::remove(*this);
  (void)poll_watches();  // what was watched while the loop ended
  const std::lock_guard lock(duty_mutex_);
  served_.clear();  // whoever still calls serve_channels finds nothing
}

void Bridge::add(Executor& executor) {
  const std::lock_guard lock(duty_mutex_);
  served_.push_back({&executor, {}});
}

void Bridge::add(std::shared_ptr<Channel> channel) {
  const std::lock_guard lock(duty_mutex_);
  // A launch that the shutdown has left behind: nobody serves it. acquire: pairs with stop
  if (stopping_.load(std::memory_order_acquire)) return;
  for (Served& served : served_) {
    if (served.executor != &channel->executor()) continue;
    const std::uint32_t kernel = channel->kernel();
    if (kernel >= served.channels.size()) served.channels.resize(kernel + 1);
    served.channels[kernel] = std::move(channel);
    return;
  }
  RK_ASSERT(false, "the channel's executor was not added");
}

void Bridge::remove(const Channel& channel) noexcept {
  std::shared_ptr<Channel> last;  // goes after the lock
  const std::lock_guard lock(duty_mutex_);
  for (Served& served : served_) {
    if (channel.kernel() >= served.channels.size()) continue;
    auto& place = served.channels[channel.kernel()];
    if (place.get() == &channel) last = std::move(place);
  }
}

void Bridge::remove(const Executor& executor) noexcept {
  const std::lock_guard lock(duty_mutex_);
  std::erase_if(served_, [&](const Served& served) { return served.executor == &executor; });
}

void Bridge::watch(std::unique_ptr<Watch> watch) noexcept {
  {
    const std::lock_guard lock(watch_mutex_);
    watches_.push(std::move(watch));
  }
  full_fence();  // pairs with the fence in sleep
  wake();
  // Either the last poll of `stop` came behind the push, or this sees that the loop is ending.
  if (stopping_.load(std::memory_order_acquire)) (void)poll_watches();
}

std::size_t Bridge::do_work() { return serve_channels(Drain::needed) + poll_watches(); }

std::size_t Bridge::serve_channels(Drain drain) {
  const std::unique_lock lock(duty_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return 0;
  const std::uint64_t now_ns = clock_.now_ns();
  std::size_t work = 0;
  for (Served& served : served_) {
    served.executor->check();
    (void)served.executor->poll_outputs([&](std::uint32_t kernel) {
      if (kernel >= served.channels.size() || served.channels[kernel] == nullptr) return true;
      // Beside a pipeline that drains for itself the loop would get in the way, and never sleep.
      if (drain == Drain::needed && !served.channels[kernel]->needs_bridge()) return false;
      const auto delivered = served.channels[kernel]->try_drain();
      work += delivered.value_or(0);
      return delivered.has_value();  // somebody else leads: look again next time
    });
    for (const std::shared_ptr<Channel>& channel : served.channels)
      if (channel != nullptr) work += channel->do_housekeeping(now_ns);
  }
  return work;
}

std::size_t Bridge::poll_watches() noexcept {
  const std::unique_lock lock(watch_mutex_, std::try_to_lock);
  return lock.owns_lock() ? watches_.poll(clock_.now_ns()) : 0;
}

void Bridge::wake() noexcept {
  // relaxed: ordered by the caller's full fence and the one in sleep
  if (!asleep_.load(std::memory_order_relaxed)) return;
  if (asleep_.exchange(false)) io_context_.stop();  // until the loop restarts it
}

std::uint64_t Bridge::needed_at_ns() const {
  {
    const std::lock_guard lock(watch_mutex_);
    if (!watches_.empty()) return 0;
  }
  if (Late::is_any()) return clock_.now_ns() + late_pause_ns;
  std::uint64_t earliest_ns = no_deadline;
  const std::lock_guard lock(duty_mutex_);
  for (const Served& served : served_) {
    for (const std::shared_ptr<Channel>& channel : served.channels) {
      if (channel == nullptr) continue;
      if (channel->needs_bridge()) return 0;
      earliest_ns = std::min(earliest_ns, channel->next_deadline_ns());
    }
  }
  return earliest_ns;
}

void Bridge::loop() {
  while (!stopping_.load(std::memory_order_acquire)) {  // pairs with stop
    std::size_t work = 0;
    // Without memory the loop goes on: what could not be done is done in a later turn.
    (void)with_memory([&] { work = do_work(); });
    if (Late::is_any()) work += Late::try_all();
    if (work != 0) {
      idle_.reset();
      continue;
    }
    const std::uint64_t sleep_ns = idle_.idle();
    if (sleep_ns != 0) sleep(sleep_ns);
  }
}

void Bridge::sleep(std::uint64_t sleep_ns) {
  io_context_.restart();
  asleep_.store(true);
  full_fence();  // pairs with the fence before wake: either it sees "asleep" or we see its need
  const std::uint64_t needed_ns = needed_at_ns();
  if (needed_ns != 0) {
    const std::uint64_t now_ns = clock_.now_ns();
    sleep_ns = needed_ns > now_ns ? std::min(needed_ns - now_ns, sleep_ns_max) : 0;
  }
  // `stop` stops it, too, at whatever moment.
  if (!stopping_.load(std::memory_order_acquire) && sleep_ns != 0)  // pairs with stop
    (void)io_context_.run_one_for(std::chrono::nanoseconds(sleep_ns));
  if (!asleep_.exchange(false)) idle_.reset();  // woken, not timed out
}

}  // namespace ringkernel::bridge
