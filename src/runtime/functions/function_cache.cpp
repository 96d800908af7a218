#include "runtime/functions/function_cache.hpp"

#include <algorithm>
#include <functional>

namespace ringkernel {

std::size_t FunctionCache::hash_of(const FunctionKey& key) noexcept {
  constexpr std::size_t odd = 0x9e3779b97f4a7c15;
  std::size_t hash = std::hash<std::string_view>()(key.content);
  for (const TensorDesc& desc : key.inputs) {
    hash = hash * odd + static_cast<std::size_t>(desc.dtype) + desc.shape.rank();
    for (const std::uint32_t extent : desc.shape.dims()) hash = hash * odd + extent;
  }
  return hash;
}

FunctionCache::Entries::iterator FunctionCache::look_up(std::size_t hash, const FunctionKey& key) {
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found) {
    const Entry& entry = *found->second;
    if (entry.content == key.content && std::ranges::equal(entry.inputs, key.inputs))
      return found->second;
  }
  return entries_.end();
}

std::optional<CompiledFunction> FunctionCache::find(const FunctionKey& key) {
  const std::size_t hash = hash_of(key);
  const std::lock_guard lock(mutex_);
  const auto found = look_up(hash, key);
  if (found == entries_.end()) {
    ++misses_;
    return std::nullopt;
  }
  ++hits_;
  entries_.splice(entries_.begin(), entries_, found);
  return found->function;
}

CompiledFunction FunctionCache::keep(const FunctionKey& key, const CompiledFunction& function) {
  const std::size_t hash = hash_of(key);
  Entries evicted;  // end behind the lock
  const std::lock_guard lock(mutex_);
  if (closed_) return function;
  if (const auto earlier = look_up(hash, key); earlier != entries_.end()) return earlier->function;
  Entries kept;  // what needs memory comes first
  kept.push_front(
      {hash, std::string(key.content), {key.inputs.begin(), key.inputs.end()}, function});
  by_hash_.emplace(hash, kept.begin());
  entries_.splice(entries_.begin(), kept);
  bytes_ += function.signature().arena_bytes;
  evict(evicted);
  return function;
}

void FunctionCache::evict(Entries& evicted) {
  while (!entries_.empty() && (entries_.size() > functions_max_ || bytes_ > bytes_max_)) {
    const auto last = std::prev(entries_.end());
    const auto [first, end] = by_hash_.equal_range(last->hash);
    by_hash_.erase(
        std::find_if(first, end, [&](const auto& place) { return place.second == last; }));
    bytes_ -= last->function.signature().arena_bytes;
    evicted.splice(evicted.end(), entries_, last);
    ++evictions_;
  }
}

void FunctionCache::close() {
  Entries all;  // end behind the lock
  const std::lock_guard lock(mutex_);
  closed_ = true;
  by_hash_.clear();
  all.swap(entries_);
  bytes_ = 0;
}

void FunctionCache::add_to(RuntimeMetrics& metrics) const {
  const std::lock_guard lock(mutex_);
  metrics.functions_cached = entries_.size();
  metrics.function_cache_bytes = bytes_;
  metrics.function_cache_hits = hits_;
  metrics.function_cache_misses = misses_;
  metrics.function_cache_evictions = evictions_;
}

}  // namespace ringkernel
