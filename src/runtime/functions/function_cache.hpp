/// The compiled functions that a runtime remembers: by what they were made of, least recently used
/// last.
///
/// Threading: any thread. Nothing is compiled, and no function ends, while the lock is held.
/// Ownership: a cached function lives on as long as somebody else has it.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ringkernel/compiled_function.hpp"
#include "ringkernel/telemetry.hpp"

namespace ringkernel {

/// What a function was made of.
struct FunctionKey {
  std::string_view content;
  std::span<const TensorDesc> inputs;
};

class FunctionCache {
 public:
  FunctionCache(std::uint32_t functions_max, std::uint64_t bytes_max) noexcept
      : functions_max_(functions_max), bytes_max_(bytes_max) {}

  /// The function of this key, which counts as a hit, or nothing: a miss.
  [[nodiscard]] std::optional<CompiledFunction> find(const FunctionKey& key);

  /// Remembers a function, and forgets the least recently used ones beyond the limits, itself
  /// included if it is too large. Returns the function of this key: an earlier one if another
  /// thread was faster.
  [[nodiscard]] CompiledFunction keep(const FunctionKey& key, const CompiledFunction& function);

  /// Forgets all, and remembers nothing from here on.
  void close();

  void add_to(RuntimeMetrics& metrics) const;

 private:
  struct Entry {
    std::size_t hash;
    std::string content;
    std::vector<TensorDesc> inputs;
    CompiledFunction function;
  };
  using Entries = std::list<Entry>;

  [[nodiscard]] static std::size_t hash_of(const FunctionKey& key) noexcept;
  // The lock is held by the callers of both.
  [[nodiscard]] Entries::iterator look_up(std::size_t hash, const FunctionKey& key);
  void evict(Entries& evicted);

  const std::uint32_t functions_max_;
  const std::uint64_t bytes_max_;
  mutable std::mutex mutex_;
  Entries entries_;  // used last first
  std::unordered_multimap<std::size_t, Entries::iterator> by_hash_;
  std::uint64_t bytes_ = 0;  // of the arena, of all entries
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t evictions_ = 0;
  bool closed_ = false;
};

}  // namespace ringkernel
