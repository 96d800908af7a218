/// Room in a vector ahead of need, for what must not throw later.
///
/// Threading: as the vector.
/// Errors: std::bad_alloc; nothing has changed then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ringkernel {

/// Room for `count` items. Grows as `push_back` does: one by one it costs no more than those.
template <class Item>
void reserve_growing(std::vector<Item>& items, std::size_t count) {
  if (count > items.capacity()) items.reserve(std::max(count, 2 * items.capacity()));
}

}  // namespace ringkernel
