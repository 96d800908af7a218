/// The system's C++ compiler: where it is, what it is, and with which flags it is called.
///
/// Threading: any thread. `Toolchain::find` blocks while a compiler tells its version. It is asked
/// once; by each process, if it is a script.
/// Errors: Errc::backend_unavailable where there is none, with what was tried and the other way.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cache/cache_folder.hpp"
#include "ringkernel/result.hpp"

namespace ringkernel::native {

/// What of a process's surroundings a compile depends on.
struct Surroundings {
  std::string compiler;  ///< `$RINGKERNEL_CXX`: an absolute path, or a name to look for in `path`
  std::string path;      ///< `$PATH`
  std::vector<std::string> variables;  ///< "NAME=value": others that the compiler gets to see
  std::string cache_folder;            ///< where objects are kept; empty: nowhere
  std::vector<std::string> scratch;    ///< where files of a compile may lie, the best first
  std::chrono::milliseconds deadline{60'000};  ///< for a compile, and for a question to a compiler

  /// Those of this process. One that runs with more rights than its user has no compiler.
  static Surroundings of_process();
};

class Toolchain {
 public:
  /// `kept`: where the version may be kept for the next process; null: nowhere.
  static Result<Toolchain> find(const Surroundings& surroundings, const backend::CacheFolder* kept);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// The words of a command that makes `object` from `source`.
  [[nodiscard]] std::vector<std::string> command(const std::string& source,
                                                 const std::string& object) const;

  /// All that decides what is made from a text, and whether this machine can run it; empty if that
  /// cannot be said.
  [[nodiscard]] const std::string& key() const noexcept { return key_; }

  /// Tells later processes that find no compiler whose objects there are.
  void remember(const backend::CacheFolder& kept) const;
  /// The key of the one that was remembered, for a process that asks for none by name; empty: it
  /// does, or there is none.
  [[nodiscard]] static std::string remembered_key(const Surroundings& surroundings,
                                                  const backend::CacheFolder& kept);

 private:
  std::string path_;
  std::string compiler_;  // what it says that it is
  std::string key_;
};

/// The program `name` in the first folder of `path` ($PATH) that has it; empty: none has. Folders
/// that are not absolute do not count.
[[nodiscard]] std::string find_in_path(const std::string& name, std::string_view path);

/// What the compiler said, without its warnings: only what fails is to be read.
[[nodiscard]] std::string without_warnings(std::string_view words);

/// The environment of the compiler: its files go below `folder`, its words are English.
[[nodiscard]] std::vector<std::string> compiler_variables(const Surroundings& surroundings,
                                                          const std::string& folder);

/// What of the processor's description (as /proc/cpuinfo has it) decides which code it runs; empty
/// if nothing does.
[[nodiscard]] std::string processor_of(std::string_view description);

}  // namespace ringkernel::native
