/// Outcomes of plain messages that nobody has received yet, and those who wait for one.
///
/// An outcome that meets a waiting receiver never gets into the box. So outcomes are handed over in
/// the order in which they came, and receivers are served in the order in which they asked.
///
/// Threading: any thread. The own lock is innermost: completions are called without it.
/// Memory ordering: the lock's. The count of those who wait is BridgeDemand::receivers, which
/// Bridge::sleep looks at; whoever adds to it fences and wakes.
/// Ownership: borrows completions until they are called or taken back.
#pragma once

#include <atomic>
#include <boost/circular_buffer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>

#include "bridge/channel/pending.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::bridge {

class Mailbox {
 public:
  /// Somebody who waits without a thread.
  struct Receiving {
    std::uint64_t ticket;
    std::uint64_t deadline_ns;
    Completion* completion;
  };
  using Receivings = std::list<Receiving>;

  /// Room for all outcomes that there can be: putting one in needs no memory. `waiting` counts
  /// those who wait for one, threads and receivers.
  Mailbox(std::uint32_t places, std::atomic<std::uint64_t>& waiting)
      : waiting_(waiting), ids_(places) {}

  /// Takes outcomes in: `give(completion, id)` for each that a receiver waits for.
  template <class Give>
  void put(std::span<const MessageId> ids, Give&& give) noexcept;

  /// Moves outcomes to `ids`, as many as there are and fit. Returns how many.
  /// Errors: the reason given to `close`, if there is none.
  [[nodiscard]] Result<std::size_t> take(std::span<MessageId> ids);
  /// Sleeps until there is an outcome or the box is closed; no longer than `limit`. False: it was
  /// in vain. The thread is counted among those who wait.
  bool wait(std::optional<std::chrono::nanoseconds> limit);

  /// Adds the receiver that the list contains; or takes an outcome for it, if there is one.
  struct Added {
    std::uint64_t ticket = 0;  ///< for `remove`
    MessageId id = 0;          ///< what there was already
    std::optional<Error> closed;

    [[nodiscard]] bool waits() const noexcept { return id == 0 && !closed; }
  };
  [[nodiscard]] Added add(Receivings& receiving);
  /// False if it has been served meanwhile.
  bool remove(std::uint64_t ticket);
  /// Takes out the receivers whose time is over; `note(deadline_ns)` for each of the others.
  template <class Note>
  [[nodiscard]] Receivings take_overdue(std::uint64_t now_ns, Note&& note);

  /// Nobody waits from here on. Takes out the receivers that do.
  [[nodiscard]] Receivings close(const Error& reason);

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return ids_.size();
  }

 private:
  /// The receiver that has waited longest; none: `ids` are in the box now.
  [[nodiscard]] Completion* next_receiver_or_keep(std::span<const MessageId> ids) noexcept;

  std::atomic<std::uint64_t>& waiting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  boost::circular_buffer<MessageId> ids_;
  Receivings receivers_;
  std::uint64_t next_ticket_ = 1;
  bool closed_ = false;
  Error close_reason_;
};

template <class Give>
void Mailbox::put(std::span<const MessageId> ids, Give&& give) noexcept {
  while (!ids.empty()) {
    Completion* const completion = next_receiver_or_keep(ids);
    if (completion == nullptr) break;
    give(*completion, ids.front());
    ids = ids.subspan(1);
  }
  if (!ids.empty() && waiting_.load() != 0) changed_.notify_all();
}

template <class Note>
Mailbox::Receivings Mailbox::take_overdue(std::uint64_t now_ns, Note&& note) {
  Receivings overdue;
  const std::lock_guard lock(mutex_);
  for (auto next = receivers_.begin(); next != receivers_.end();) {
    const auto here = next++;
    if (here->deadline_ns > now_ns)
      note(here->deadline_ns);
    else
      overdue.splice(overdue.end(), receivers_, here);
  }
  waiting_.fetch_sub(overdue.size());
  return overdue;
}

}  // namespace ringkernel::bridge
