/// Pointers that are no handles.
#pragma once

#include <cstdint>
#include <vector>

namespace ringkernel::test {

/// Null, small numbers, the last address, an object that is none, and handles of another kind.
template <class Handle>
std::vector<Handle*> no_handles(const void* of_another_kind) {
  static int object = 0;
  std::vector<Handle*> pointers;
  for (const std::uintptr_t number : {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{2},
                                      ~std::uintptr_t{0}, reinterpret_cast<std::uintptr_t>(&object),
                                      reinterpret_cast<std::uintptr_t>(of_another_kind)})
    pointers.push_back(reinterpret_cast<Handle*>(number));
  return pointers;
}

}  // namespace ringkernel::test
