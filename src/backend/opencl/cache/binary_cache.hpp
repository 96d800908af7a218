/// Built programs, kept on disk for the next process (backend/cache/cache_place.hpp).
/// `RINGKERNEL_CACHE=1` in the environment keeps them also where the driver has a cache of its own
/// (docs/decisions/0007).
///
/// Threading: any thread.
/// Memory ordering: the counts stand alone; they publish nothing.
/// Errors: none. A program that is not there, or not to be trusted, is built.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "backend/cache/cache_folder.hpp"
#include "backend/opencl/cl.hpp"
#include "backend/opencl/query.hpp"

namespace ringkernel::opencl {

/// A program that is ready, and under which key the cache lacks it.
struct BuiltProgram {
  ClProgram program;
  std::string missing_key;  ///< empty: nothing to store
};

class BinaryCache {
 public:
  explicit BinaryCache(const FoundDevice& found);

  /// What else than the source decides what `device` builds; empty if nothing is kept.
  [[nodiscard]] std::string key(std::string_view options, std::string_view source) const;

  /// The program under `key`, ready to use; none if it has to be built.
  ClProgram load(cl_context context, const std::string& key, const std::string& options);

  /// Stores a program that the cache lacks, once. Only after it ran: until then PoCL's binary has
  /// not the code that a launch executes.
  void store(BuiltProgram& built);

  [[nodiscard]] uint64_t hits() const noexcept { return read(hits_); }
  [[nodiscard]] uint64_t misses() const noexcept { return read(misses_); }
  [[nodiscard]] uint64_t rejected() const noexcept { return read(rejected_); }

 private:
  using Count = std::atomic<uint64_t>;
  // relaxed: a count that orders nothing
  static uint64_t read(const Count& count) noexcept {
    return count.load(std::memory_order_relaxed);
  }
  static void add_one(Count& count) noexcept { count.fetch_add(1, std::memory_order_relaxed); }

  cl_device_id device_;
  std::string device_key_;
  std::optional<backend::CacheFolder> folder_;  // none: nothing is kept
  Count hits_ = 0;
  Count misses_ = 0;
  Count rejected_ = 0;
};

}  // namespace ringkernel::opencl
