/// The same order book as a service would write it without ringkernel: a class behind a mutex.
///
/// Threading: shared objects safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

class PlainBook {
 public:
  struct Trade {
    std::uint64_t maker;
    std::uint32_t price;
    std::uint32_t quantity;
  };
  struct Report {
    std::uint32_t filled = 0;
    std::size_t trade_count = 0;
    std::array<Trade, 8> trades;
  };

  /// Nothing: the book is full.
  std::optional<Report> submit(std::uint64_t id, bool buys, std::uint32_t limit,
                               std::uint32_t quantity) {
    const std::lock_guard lock(mutex_);
    if (resting_ == 1023) return std::nullopt;
    Report report;
    std::uint32_t& best = buys ? ask_ : bid_;
    while (report.filled < quantity && best != 0 && (buys ? best <= limit : best >= limit)) {
      std::deque<Resting>& level = levels_[best];
      Resting& maker = level.front();
      const std::uint32_t traded = std::min(quantity - report.filled, maker.quantity);
      if (report.trade_count < report.trades.size())
        report.trades[report.trade_count++] = {maker.id, best, traded};
      report.filled += traded;
      maker.quantity -= traded;
      if (maker.quantity > 0) continue;
      level.pop_front();
      --resting_;
      while (best != 0 && (levels_[best].empty() || levels_[best].front().buys == buys))
        best = (best + (buys ? 1 : 511)) % 512;
    }
    if (report.filled < quantity) {
      levels_[limit].push_back({id, quantity - report.filled, buys});
      ++resting_;
      if (buys ? limit > bid_ : ask_ == 0 || limit < ask_) (buys ? bid_ : ask_) = limit;
    }
    return report;
  }

 private:
  struct Resting {
    std::uint64_t id;
    std::uint32_t quantity;
    bool buys;
  };
  std::mutex mutex_;
  std::array<std::deque<Resting>, 512> levels_;  // of one side each; level 0 stays empty
  std::uint32_t bid_ = 0, ask_ = 0;              // the best prices; 0: none
  std::size_t resting_ = 0;
};
