/// PoCL ends the process that loads a damaged entry of its cache, by an assertion, a signal or
/// `exit`, and so every process after it. While one is inside PoCL with programs, a file of its
/// own, the mark, lies in PoCL's folder. A mark that stays tells the next process that somebody
/// died there; a process whose main thread exits takes its marks along.
///
/// Threading: any thread. Processes meet by the lock (flock) of one more file: shared by those who
/// have a mark, exclusive for whoever looks. So a mark that is found belongs to nobody who lives.
/// Errors: a folder that cannot be written has no marks, and nothing is found.
#pragma once

#include <string>

#include "foundation/file.hpp"

namespace ringkernel::opencl {

class PoclMark {
 public:
  /// In `folder`; where that is empty: none.
  explicit PoclMark(const std::string& folder) noexcept;
  ~PoclMark();
  PoclMark(const PoclMark&) = delete;
  PoclMark& operator=(const PoclMark&) = delete;

 private:
  File lock_{-1};
  std::string path_;
};

/// Whether a process died within PoCL while it worked on `folder`. False while others are there.
bool has_dead_mark(const std::string& folder) noexcept;

/// Takes everything out of a folder with a dead mark.
void empty_marked_folder(const std::string& folder) noexcept;

}  // namespace ringkernel::opencl
