#include "backend/opencl/residency.hpp"

#include <algorithm>

namespace ringkernel::opencl {

bool Residency::try_launch(Member& member, std::uint32_t slice, std::size_t work_groups,
                           std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::erase_if(residents_, [&](const Resident& resident) {
    return resident.member == &member || resident.member->try_returned();
  });
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
