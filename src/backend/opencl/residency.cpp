#include "backend/opencl/residency.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "foundation/memory_error.hpp"

namespace ringkernel::opencl {

bool Residency::try_launch(Member& member, std::uint32_t slice, std::size_t work_groups,
                           std::size_t limit) {
  const std::lock_guard lock(mutex_);
  if (holds_ != 0) return false;
  forget_returned_locked(&member);
  // Whoever was told is as good as gone.
  const auto stays = [](const Resident& resident) {
    return !resident.was_asked || !resident.member->was_told();
  };
  std::size_t staying = 0;
  for (const Resident& resident : residents_)
    if (stays(resident)) staying += resident.work_groups;
  for (Resident& resident : residents_) {
    if (staying + work_groups <= limit) break;
    if (resident.was_asked) continue;
    if (!resident.member->try_ask_to_leave(resident.slice)) return false;
    resident.was_asked = true;
    if (resident.member->was_told()) staying -= resident.work_groups;
  }
  if (staying + work_groups > limit) return false;
  residents_.push_back({&member, slice, work_groups, false});
  return true;
}

Residency::Hold::Hold(Residency* residency, std::chrono::nanoseconds patience) noexcept
    : residency_(residency) {
  if (residency == nullptr) return;
  constexpr std::chrono::microseconds pause(50);  // no driver says when a slice has returned
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(residency->mutex_);
  ++residency->holds_;
  for (;;) {
    residency->forget_returned_locked(nullptr);
    if (residency->residents_.empty()) return;
    residency->ask_all_locked();
    if (std::chrono::steady_clock::now() - begin >= patience) return;
    lock.unlock();
    std::this_thread::sleep_for(pause);
    lock.lock();
  }
}

Residency::Hold::~Hold() {
  if (residency_ == nullptr) return;
  const std::lock_guard lock(residency_->mutex_);
  --residency_->holds_;
}

void Residency::forget_returned_locked(const Member* launching) {
  std::erase_if(residents_, [&](const Resident& resident) {
    return resident.member == launching || resident.member->try_returned();
  });
}

void Residency::ask_to_leave(Member& member, std::uint32_t slice) noexcept {
  const std::lock_guard lock(mutex_);
  for (Resident& resident : residents_) {
    if (resident.member != &member || (resident.slice == slice && resident.was_asked)) continue;
    bool is_asked = false;
    (void)with_memory([&] { is_asked = member.try_ask_to_leave(slice); });
    if (resident.slice == slice) resident.was_asked = is_asked;
  }
}

void Residency::ask_again(Member& member) noexcept {
  const std::lock_guard lock(mutex_);
  for (Resident& resident : residents_)
    if (resident.member == &member && resident.was_asked)
      (void)with_memory([&] { resident.was_asked = member.try_ask_to_leave(resident.slice); });
}

void Residency::ask_all_locked() noexcept {
  for (Resident& resident : residents_) {
    if (resident.was_asked) continue;
    bool is_asked = false;  // a copy that asks may lack memory: not yet
    (void)with_memory([&] { is_asked = resident.member->try_ask_to_leave(resident.slice); });
    resident.was_asked = is_asked;
  }
}

void Residency::reserve() {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t residents_usual = 64;  // no CPU keeps so many, and others need no count
  residents_.reserve(residents_usual);
}

void Residency::withdraw(const Member& member) {
  const std::lock_guard lock(mutex_);
  std::erase_if(residents_, [&](const Resident& resident) { return resident.member == &member; });
}

}  // namespace ringkernel::opencl
