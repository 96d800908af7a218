/// How often durations were seen, in log-linear buckets as an HdrHistogram has them: exact below
/// 256 ns, from there on 128 buckets for each doubling, so that a duration is known to less than a
/// hundredth of itself. What takes longer than 2^42 ns, more than an hour, counts as that long.
///
/// Threading: `record` from any thread, or `record_alone` by one at a time; `assign` and `clear` by
/// the only thread that changes the object; everything else beside them.
/// Memory ordering: counts are relaxed, each stands alone. A group's mark may be seen before its
/// counts or after them: it says where to look.
/// Ownership: zeroed memory is an empty histogram, also shared memory. 36 KiB, of which pages that
/// no duration falls into are never touched.
/// Units: nanoseconds.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ringkernel {

class Histogram {
 public:
  static constexpr std::uint32_t group_buckets = 128;
  static constexpr std::uint32_t groups = 36;
  static constexpr std::uint32_t buckets = groups * group_buckets;

  /// The bucket of a duration, and the longest duration that falls into a bucket.
  [[nodiscard]] static constexpr std::uint32_t bucket_of(std::uint64_t ns) noexcept {
    if (ns < exact) return static_cast<std::uint32_t>(ns);
    ns = std::min(ns, longest);
    const auto shift = static_cast<std::uint32_t>(std::bit_width(ns)) - exact_bits;
    return (shift + 1) * group_buckets + static_cast<std::uint32_t>(ns >> shift) - group_buckets;
  }
  [[nodiscard]] static constexpr std::uint64_t longest_of(std::uint32_t bucket) noexcept {
    if (bucket < exact) return bucket;
    const std::uint32_t shift = bucket / group_buckets - 1;
    const std::uint64_t mantissa = bucket % group_buckets + group_buckets;
    return ((mantissa + 1) << shift) - 1;
  }

  void record(std::uint64_t ns) noexcept {
    const std::uint32_t bucket = bucket_of(ns);
    const std::uint64_t mark = mark_of(bucket);
    const std::atomic_ref marks(used_);
    if ((marks.load(std::memory_order_relaxed) & mark) == 0)
      marks.fetch_or(mark, std::memory_order_relaxed);
    std::atomic_ref(counts_[bucket]).fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(sum_ns_).fetch_add(ns, std::memory_order_relaxed);
  }

  /// The same by one thread at a time, for less.
  void record_alone(std::uint64_t ns) noexcept {
    const std::uint32_t bucket = bucket_of(ns);
    const auto change = [](std::uint64_t& word, std::uint64_t value) {
      std::atomic_ref(word).store(value, std::memory_order_relaxed);
    };
    if ((used_ & mark_of(bucket)) == 0) change(used_, used_ | mark_of(bucket));
    change(counts_[bucket], counts_[bucket] + 1);
    change(sum_ns_, sum_ns_ + ns);
  }

  /// Makes this what `from` is at this moment.
  void assign(const Histogram& from) noexcept {
    const std::uint64_t marks = load(used_) | load(from.used_);
    std::atomic_ref(used_).store(marks, std::memory_order_relaxed);
    for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
      if (skip(marks, bucket)) continue;
      std::atomic_ref(counts_[bucket]).store(load(from.counts_[bucket]), std::memory_order_relaxed);
    }
    std::atomic_ref(sum_ns_).store(load(from.sum_ns_), std::memory_order_relaxed);
  }

  void clear() noexcept {
    visit([this](std::uint32_t bucket, std::uint64_t) {
      std::atomic_ref(counts_[bucket]).store(0, std::memory_order_relaxed);
    });
    std::atomic_ref(sum_ns_).store(0, std::memory_order_relaxed);
    std::atomic_ref(used_).store(0, std::memory_order_relaxed);
  }

  /// Calls `visit(bucket, count)` for buckets that are not empty, shortest durations first.
  template <class Visit>
  void visit(Visit&& visit) const {
    const std::uint64_t marks = load(used_);
    for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
      if (skip(marks, bucket)) continue;
      if (const std::uint64_t count = load(counts_[bucket]); count != 0) visit(bucket, count);
    }
  }

  /// From its start on, behind which all is zero; the first `head_bytes` say how many.
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    constexpr std::uint64_t all = (std::uint64_t{1} << groups) - 1;
    const auto groups_used = static_cast<std::size_t>(std::bit_width(load(used_) & all));
    return head_bytes + groups_used * group_buckets * sizeof(std::uint64_t);
  }
  static constexpr std::size_t head_bytes = 2 * sizeof(std::uint64_t);

  [[nodiscard]] std::uint64_t count(std::uint32_t bucket) const noexcept {
    return load(counts_[bucket]);
  }
  /// Of all durations, unrounded.
  [[nodiscard]] std::uint64_t sum_ns() const noexcept { return load(sum_ns_); }

 private:
  static constexpr std::uint32_t exact_bits = 8;
  static constexpr std::uint64_t exact = std::uint64_t{1} << exact_bits;
  static constexpr std::uint64_t longest = (std::uint64_t{1} << 42) - 1;
  static_assert(exact == std::uint64_t{2} * group_buckets);

  static constexpr std::uint64_t mark_of(std::uint32_t bucket) noexcept {
    return std::uint64_t{1} << bucket / group_buckets;
  }
  static std::uint64_t load(const std::uint64_t& word) noexcept {
    // Of memory that may be mapped for reading only: nothing is stored through it.
    return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_relaxed);
  }
  /// Goes past a group that is empty: moves `bucket` to its last one.
  static bool skip(std::uint64_t marks, std::uint32_t& bucket) noexcept {
    if ((marks >> bucket / group_buckets & 1) != 0) return false;
    bucket |= group_buckets - 1;
    return true;
  }

  std::uint64_t used_;  // bit g: a bucket of group g may not be empty
  std::uint64_t sum_ns_;
  std::uint64_t counts_[buckets];
};
static_assert(Histogram::bucket_of(~std::uint64_t{0}) == Histogram::buckets - 1);
static_assert(sizeof(Histogram) ==
              Histogram::head_bytes + Histogram::buckets * sizeof(std::uint64_t));

}  // namespace ringkernel
