#include "observe/error_log.hpp"

#include <algorithm>
#include <string>

#include "foundation/memory_error.hpp"
#include "ringkernel/limits.hpp"

namespace ringkernel::detail {

void ErrorLog::note(std::string_view kernel, const Error& error, std::uint64_t now_ns) noexcept {
  const std::lock_guard lock(mutex_);
  ++counts_.all;
  if (!with_memory([&] { keep(kernel, error, now_ns); })) ++counts_.missing;
}

void ErrorLog::keep(std::string_view kernel, const Error& error, std::uint64_t now_ns) {
  auto found = std::ranges::find_if(kinds_, [&](const Kind& kind) {
    return kind.last.code == error.code && kind.record.kernel == kernel;
  });
  if (found == kinds_.end()) {
    if (kinds_.size() == errors_max) {
      ++counts_.missing;
      return;
    }
    Kind kind{{}, error};
    kind.record.kernel = kernel;
    kind.record.first_ns = now_ns;
    found = kinds_.insert(kinds_.end(), std::move(kind));
  } else {
    found->last = error;
  }
  ++found->record.count;
  found->record.last_ns = now_ns;
}

std::vector<ErrorRecord> ErrorLog::records() const {
  const std::lock_guard lock(mutex_);
  std::vector<ErrorRecord> records;
  records.reserve(kinds_.size());
  for (const Kind& kind : kinds_) {
    records.push_back(kind.record);
    records.back().code = kind.last.code.value();
    records.back().text = kind.last.text();
  }
  return records;
}

ErrorLog::Counts ErrorLog::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace ringkernel::detail
