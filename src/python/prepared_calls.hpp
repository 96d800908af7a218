/// Prepared calls as Python makes them, and the requests that one kernel is asked again and again,
/// prepared.
///
///     if (PreparedCalls::Entry* entry = calls.take(request)) {
///       const ScopeGuard giving_back([&] { calls.give_back(*entry); });
///       entry->call.call_into(...);
///     }
///
/// A request is prepared when it comes for the second time: what is asked once does not pay for it.
///
/// Threading: any thread. An entry belongs to whoever took it; somebody who finds it taken makes a
/// plain call.
/// Memory ordering: all is guarded by the interpreter's lock, or, where it has none, by the mutex;
/// but for what is in an entry that is taken.
#pragma once

#include <array>
#include <optional>

#include "python/nanobind.hpp"
#include "ringkernel/kernel.hpp"

namespace ringkernel::python {

/// Makes a call whose results go to `results`. One that was short the last time and can run at once
/// keeps the interpreter's lock: to give it up and take it again costs as much as a small op.
/// `is_short` remembers that. False: it would have had to wait, which it was not to.
[[nodiscard]] bool run(PreparedCall& call, std::span<const ElementsOut> results,
                       std::span<const Elements> operands, const SendOptions& options,
                       bool may_wait, bool& is_short);

class PreparedCalls {
 public:
  struct Entry {
    Request request;  ///< without its elements
    std::optional<PreparedCall> call;
    TensorDesc result;
    bool is_taken = false;
    bool is_short = false;  ///< for `run`
  };

  /// Null: it is not prepared, or somebody else is calling it.
  [[nodiscard]] Entry* take(Kernel& kernel, const Request& request);
  void give_back(Entry& entry) noexcept;

 private:
  nb::ft_mutex mutex_;
  std::array<Entry, 16> entries_;
  std::size_t count_ = 0;
  std::size_t next_ = 0;  // the one that makes room
};

}  // namespace ringkernel::python
