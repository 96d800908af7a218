/// Which executors hold a device's compute units, over the whole process. A CPU device runs a
/// work-group to its end on one of them; where the executors have more than there are units, a
/// launch asks those that have been resident longest to leave, and the driver starts the slice when
/// they have. NVIDIA's GPUs have units enough, but their driver builds a program only while no
/// kernel runs: a hold has all of them leave, and keeps them out.
///
/// Threading: any thread. Members are called with this lock held; they must not wait for it.
/// Ownership: a member withdraws before it is gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace ringkernel::opencl {

class Residency {
 public:
  class Member {
   public:
    /// Whether all slices have returned. Must not wait for anybody who launches: false if unsure.
    virtual bool try_returned() = 0;
    /// Ends the slice when it has done one pass of its work, whatever is left. Does not wait.
    /// False: not asked, because what an earlier slice was asked with is still on its way.
    [[nodiscard]] virtual bool try_ask_to_leave(std::uint32_t slice) = 0;
    /// Whether the slice can see that it was asked. Does not wait.
    virtual bool was_told() = 0;

   protected:
    ~Member() = default;
  };

  /// A slice of `member` with `work_groups` is about to be launched; at most `limit` of all
  /// executors are to be resident, which is no less than these.
  /// False: not yet, because those who have to leave do not know of it. If it were launched now, it
  /// might take the unit that is needed to tell them.
  [[nodiscard]] bool try_launch(Member& member, std::uint32_t slice, std::size_t work_groups,
                                std::size_t limit);
  /// From its construction, which waits until no slice is resident, to its end `try_launch` says
  /// "not yet". A slice whose op takes long is not waited for: from then on the driver waits. Of
  /// nothing: does nothing.
  class Hold {
   public:
    explicit Hold(Residency* residency,
                  std::chrono::nanoseconds patience = std::chrono::seconds(2)) noexcept;
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    Residency* const residency_;
  };

  /// Asks a slice of the member to leave: the one launched last, or one that still runs before it.
  void ask_to_leave(Member& member, std::uint32_t slice) noexcept;
  /// Behind that: asks the one launched last again, if others have asked it and were overwritten.
  void ask_again(Member& member) noexcept;
  /// Room for as many as are ever resident at once: launches need no memory then.
  void reserve();
  /// Its slices have returned, or it will launch no more.
  void withdraw(const Member& member);

 private:
  struct Resident {
    Member* member;
    std::uint32_t slice;  // launched last
    std::size_t work_groups;
    bool was_asked;  // to leave
  };

  void forget_returned_locked(const Member* launching);
  void ask_all_locked() noexcept;

  std::mutex mutex_;
  std::vector<Resident> residents_;  // those resident longest first
  int holds_ = 0;
};

}  // namespace ringkernel::opencl
