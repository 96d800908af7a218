/// A thread that is inside the driver for others: it does jobs in their order, and asks what has
/// ended. Nobody who has a deadline waits in the driver, which may never come back. They hand over
/// what is to be done, and read atomic words that this thread writes.
///
/// Threading: any thread may post and ask. The thread sleeps without a timer while there is nothing
/// to do, and while it does not watch.
/// Memory ordering: the mutex orders jobs, and what was written before `post` or `ask` with what
/// the thread does then. No wake-up is lost: what the thread sleeps for changes with the mutex
/// held, and it looks at all of it, with the mutex, before it sleeps.
/// Ownership: jobs refer to what outlives this. The destructor has the thread do what was posted
/// and waits for it, for ever if the driver does: whoever has a deadline leaves it to
/// `wait_for_driver`.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/opencl/driver_call.hpp"

namespace ringkernel::opencl {

class DriverThread {
 public:
  using Job = std::function<void()>;

  /// `look` asks the driver what has ended. False: there is nothing to ask for. Neither it nor a
  /// job throws. `linger`: how long it stays awake behind jobs, where waking it costs more.
  explicit DriverThread(std::function<bool()> look,
                        std::chrono::nanoseconds linger = std::chrono::nanoseconds(0));
  DriverThread(const DriverThread&) = delete;
  DriverThread& operator=(const DriverThread&) = delete;
  ~DriverThread();

  /// Where it throws nothing has happened; with few jobs waiting it does not, unless copying the
  /// job does.
  void post(Job job);
  /// Has it look, once more behind this, unless it has been inside the driver ever since.
  void ask() noexcept;

  /// While one is alive the thread looks again and again: closely at first, then at leisure. For
  /// drivers that call nobody back.
  class Watch {
   public:
    explicit Watch(DriverThread& thread) noexcept;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();

   private:
    DriverThread& thread_;
  };

  /// Which call of the driver it has been inside of for long; may be "".
  [[nodiscard]] std::string stuck_text() const { return call_->text(); }

 private:
  void run();

  const std::function<bool()> look_;
  const std::chrono::nanoseconds linger_;
  const std::shared_ptr<DriverCall> call_ = std::make_shared<DriverCall>();
  std::atomic<bool> is_called_{false};  // by a job or the end, for the thread that lingers
  std::mutex mutex_;                    // guards what follows
  std::condition_variable changed_;
  std::vector<Job> jobs_;
  std::uint32_t watches_ = 0;
  std::uint64_t watches_ever_ = 0;  // a new one has it look closely again
  bool is_asked_ = false;
  bool is_closing_ = false;
  std::vector<Job> doing_;  // the thread's alone
  std::thread thread_;      // last: it uses the others
};

}  // namespace ringkernel::opencl
